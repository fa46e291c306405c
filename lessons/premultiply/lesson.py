"""The model of the section on premultiplied colour."""

import base64
from functools import cache
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.paths import ASSETS
from splatscope.splat.files.images import crop_picture, to_bytes
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Picture, Pictures, Verdict
from splatscope.tracing.job import KernelJob

SIZE = (48, 36)
BACKGROUNDS = ("black", "white", "checkerboard", "photograph")
PHOTOGRAPH = "chelsea.jpg"
SPRITE = (80, 60)
TEXELS, ENLARGED = 12, 96
RED = (1.0, 0.2, 0.2)
CHANNELS = ("red", "green", "blue")
RECORDED = ("blendBoth", "blendAsItIs", "alphaBlend", "preMult")


def share(default: float, label: str) -> param.Number:
    """Return a parameter between 0 and 1."""
    return param.Number(default=default, bounds=(0.0, 1.0), label=label)


def photograph() -> str:
    """Return the photograph that is a background: RGB bytes in base 64."""
    picture = crop_picture((ASSETS / PHOTOGRAPH).read_bytes(), PHOTOGRAPH, *SIZE).pixels
    return base64.b64encode(picture.tobytes()).decode()


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    size: list[int]  # of a picture: width, height
    names: list[str]  # of the backgrounds
    chosen: int  # the background whose pixel is recorded
    pictures: dict[str, str]  # "straight" and "premultiplied": RGB bytes in base 64, background after background
    pixel: dict[str, list[float]]  # gval, wrong, right, through, straight and premultiplied: r, g, b and perhaps α or T
    stops: list[int]


class Premultiply(Lesson):
    """One layer over four backgrounds, with and without preMult; the pixel in the middle of one of them is recorded."""

    r = share(1.0, "Red")
    g = share(0.2, "Green")
    b = share(0.2, "Blue")
    a = share(0.5, "Alpha")
    over = param.Selector(default="photograph", objects=list(BACKGROUNDS), label="Background")

    from_pixel: ClassVar = ("over",)
    unit: ClassVar[str] = "value"
    figure: ClassVar[FigureSpec] = FigureSpec(control="a", options={"photograph": photograph()})
    controls: ClassVar[dict[str, ControlSpec]] = {name: ControlSpec(live=True) for name in "rgba"}

    def layer(self) -> np.ndarray:
        """Return the chosen layer, its colour straight: (4,) float32."""
        if self.seen is not None:
            return self.seen.layers[self.seen.largest(1)[0]]
        return np.array([self.r, self.g, self.b, self.a], np.float32)

    def job(self) -> KernelJob:
        """Return the layer blended both ways over four backgrounds, a workgroup for each pixel."""
        width, height = SIZE
        count = len(BACKGROUNDS)
        inputs = {"given": self.layer(), "behind": np.concatenate([background(name, *SIZE) for name in BACKGROUNDS])}
        inputs |= {name: np.zeros((count, height, width, 4), np.float32) for name in ("premultiplied", "straight")}
        group = (width // 2, height // 2, BACKGROUNDS.index(self.over))
        return self.kernel(entry="blendBoth", groups=(width, height, count), group=group, inputs=inputs, functions=RECORDED)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which the pixel gets each of its values, and the last."""
        values = [
            int(query.steps(kind="value", name=name, function="blendBoth")[-1]) for name in ("gval", "wrong", "right", "through")
        ]
        return [*values, len(query)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the last step but one: the sums come next; at α = 1 the last, as both agree."""
        return self.stops(query)[-1 if self.a == 1 else -2]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return what each value of the pixel is, and at last what is too much in one of its sums."""
        found = pixel(query)
        alpha = found["gval"][3]
        where = {"black": "black", "white": "white", "checkerboard": "the checkerboard", "photograph": "the photograph"}
        behind = f"The share 1 − α = {1 - alpha:.2f} shows what lies behind, {where[self.over]}: {rgb(found['through'])}."
        if alpha == 1:
            behind = f"1 − α is 0: nothing of {where[self.over]} shows through."
        excess = np.subtract(found["straight"], found["premultiplied"])
        worst = int(np.argmax(excess))
        with_it, without = (found[name][worst] for name in ("premultiplied", "straight"))
        if alpha == 1 or not any(found["gval"][:3]):
            last = f"Both sums agree: {rgb(found['premultiplied'])}. "
            last += "A layer of α = 1 needs no `preMult`." if alpha == 1 else "A black layer adds nothing, whatever its α."
        elif excess[worst] < 0.005:
            last = f"With `preMult` the sums are {rgb(found['premultiplied'])}. Without it, they differ by less than 0.01."
        else:
            last = (
                f"With `preMult`, {CHANNELS[worst]} is {with_it:.2f}. Without it, {without:.2f}: too much by {excess[worst]:.2f}."
            )
            last += " A screen cuts it off at 1." if without > 1.005 else ""
        return [
            f"The layer's straight colour is {rgb(found['gval'])}. With α = {alpha:.2f} it covers {alpha:.0%} of the pixel.",
            f"Without `preMult` the layer adds its colour as it is: {rgb(found['wrong'])}.",
            f"With `preMult` it adds α times its colour: {rgb(found['right'])}.",
            behind,
            last,
        ]

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the pictures, and the values of the recorded pixel."""
        return {
            "size": list(SIZE),
            "names": list(BACKGROUNDS),
            "chosen": BACKGROUNDS.index(self.over),
            "pictures": {name: packed(query.output(name)) for name in ("straight", "premultiplied")},
            "pixel": pixel(query),
            "stops": self.stops(query),
        }

    # Questions

    def excess(self, query: RecordingQuery) -> Answer:
        """Answer how much green is too much without `preMult`."""
        found = pixel(query)
        colour, alpha = found["gval"][1], found["gval"][3]
        misconceptions = (
            (f"{alpha * colour:.2f}", "That is α·c: what the layer should add."),
            (f"{colour:.2f}", "That is c: all that the layer adds without `preMult`. Part of it, α·c, belongs there."),
            (
                f"{1 - alpha:.2f}",
                "That is 1 − α, the share that shows what lies behind. It has to be multiplied by the green.",
            ),
            (f"{alpha:.2f}", "That is α, the share that the layer covers."),
            ("0.00", "That would be right for α = 1, or for a layer without green."),
            ("1.00", "That would be right for a layer of full green that covers nothing."),
        )
        because = f"It adds {found['wrong'][1]:.2f} instead of {found['right'][1]:.2f}: the difference is (1 − α)·c."
        question = (
            f"A layer of green {colour:.2f} and α = {alpha:.2f} is blended without `preMult`. "
            "How much of the green that it adds is too much?"
        )
        too_much = found["wrong"][1] - found["right"][1]
        return answer_among(question, f"{abs(too_much):.2f}", misconceptions, self.stops(query)[2], because)

    def clipped(self, query: RecordingQuery) -> Answer:
        """Count the channels that exceed 1 without `preMult`."""
        found = pixel(query)
        sums = found["straight"]
        many = int(np.sum(np.array(sums) > 1 + 1e-6))
        said = ", ".join(f"{name} {value:.2f}" for name, value in zip(CHANNELS, sums, strict=True))
        count = f"The sums are {said}."
        misconceptions = [
            (str(n), "Each channel has a sum of its own, not only the brightest.")
            if n < many
            else (str(n), "A screen shows up to 1, and some channels still have room for the excess.")
            for n in range(4)
        ]
        misconceptions[0] = ("0", "That would be right with `preMult`: then the shares add up to one.")
        layer, behind = rgb(found["gval"]), rgb(found["through"])
        question = f"Without `preMult` the layer adds {layer}, and {behind} shows through. How many of the channels exceed 1?"
        return answer_among(question, str(many), misconceptions, self.stops(query)[-1], f"{count} A screen shows 1 at most.")

    # Claims

    @param.depends("r", "g", "b", "a")
    def dark_halo(self, experiment: Experiment) -> Verdict:
        """Count the pixels of a soft disc that are darker or brighter without `preMult`."""
        darker = brighter = 0
        for name in BACKGROUNDS:
            right, wrong = (self._soft_disc(experiment, name, premultiply) for premultiply in (True, False))
            darker += int(np.sum((wrong < right - 1e-4).any(axis=2)))
            brighter += int(np.sum((wrong > right + 1e-4).any(axis=2)))
        total = len(BACKGROUNDS) * SPRITE[0] * SPRITE[1]
        ran = f"the soft disc over four backgrounds, {total:,} pixels: without `preMult`"
        ran += f"\n**{darker:,}** are darker than with it\n**{brighter:,}** are brighter"
        return Verdict(
            darker > 0,
            ran,
            "It glows. Colour is added for parts of the pixel that the layer does not cover, so nothing can get darker.",
        )

    @param.depends("r")
    def extremes(self, experiment: Experiment) -> Verdict:
        """Try whether the error is largest below α = 0.3 and above 0.7: the excess of red by α."""
        alphas = np.array([0.1, 0.3, 0.5, 0.7, 0.9], np.float32)
        right, wrong = self._sweep(experiment, alphas)
        ran = "\n".join(f"α = {alpha:.1f}: **{diff:.2f}**" for alpha, diff in zip(alphas, wrong - right, strict=True))
        holds = bool(wrong[-1] - right[-1] > wrong[2] - right[2])
        return Verdict(holds, f"red that is too much\n{ran}", "It falls steadily from α = 0 to α = 1. Above 0.7 it is smallest.")

    def filtering(self, experiment: Experiment) -> Verdict:
        """Count the pixels of an enlarged disc that are too dark, from straight and from premultiplied texels."""
        found = {}
        for name, premultiply in (("straight", False), ("premultiplied", True)):
            picture = self._enlarged(experiment, (*RED, 1.0), "white", premultiply)
            found[name] = int(np.sum((picture < np.minimum(RED, 1.0) - 1 / 255).any(axis=2)))
        ran = "A red disc on white, enlarged: pixels darker than the red and the white"
        ran += "".join(f"\n{name} texels averaged: **{count:,}** of {ENLARGED**2:,}" for name, count in found.items())
        said = "The colour of invisible texels is averaged in, unless multiplying by their alpha has removed it first."
        return Verdict(found["straight"] > 0 and found["premultiplied"] == 0, ran, said)

    # What is tried

    @param.depends("r", "g", "b", "a", "over")
    def sprite(self, experiment: Experiment) -> Pictures:
        """Show the soft disc both ways, and the difference of the two."""
        wrong, right = (self._soft_disc(experiment, self.over, premultiply) for premultiply in (False, True))
        shown = (
            Picture("straight, as it is: it glows", to_bytes(wrong)),
            Picture("premultiplied", to_bytes(right)),
            Picture("too much in one channel, not clipped", (wrong - right).max(axis=2), low=0.0, high=1.0),
        )
        return Pictures(shown, lens=14, at=(SPRITE[0] * 3 // 4 - 2, SPRITE[1] // 3))

    @param.depends("r")
    def sweep(self, experiment: Experiment) -> Curves:
        """Show red by α both ways, and what is too much."""
        alphas = np.linspace(0, 1, 101, dtype=np.float32)
        right, wrong = self._sweep(experiment, alphas)
        curves = (Curve("straight", alphas, wrong), Curve("premultiplied", alphas, right), Curve("too much", alphas, wrong - right))
        return Curves("α", "red", curves)

    @param.depends("r", "g", "b", "over")
    def halo(self, experiment: Experiment) -> Pictures:
        """Show an enlarged disc from straight and from premultiplied texels, and what is missing."""
        colour = (self.r, self.g, self.b, 1.0)
        wrong, right = (self._enlarged(experiment, colour, self.over, premultiply) for premultiply in (False, True))
        shown = (
            Picture("straight texels averaged: a dark rim", to_bytes(wrong)),
            Picture("premultiplied texels averaged", to_bytes(right)),
            Picture("missing, in the channel with the most", (right - wrong).max(axis=2), low=0.0),
        )
        return Pictures(shown, lens=24, at=(ENLARGED * 3 // 4 + 4, ENLARGED // 3))

    def _soft_disc(self, experiment: Experiment, over: str, premultiply: bool) -> np.ndarray:
        return self._draw(experiment, "drawSoftDisc", SPRITE, over, premultiply, np.zeros((1, 4), np.float32), 1)

    def _enlarged(self, experiment: Experiment, colour: tuple[float, ...], over: str, premultiply: bool) -> np.ndarray:
        return self._draw(experiment, "enlarge", (ENLARGED, ENLARGED), over, premultiply, disc(colour), TEXELS)

    def _draw(
        self, experiment: Experiment, entry: str, size: tuple[int, int], over: str, premultiply: bool, texels: np.ndarray, side: int
    ) -> np.ndarray:
        inputs = {
            "size": np.array(size, np.uint32),
            "texelCount": np.array([side, side], np.uint32),
            "given": self.layer(),
            "premultiply": np.uint32(premultiply),
            "behind": background(over, *size),
            "texels": texels,
            "picture": np.zeros((size[1], size[0], 4), np.float32),
        }
        return experiment.run(self.kernel("sprites", entry=entry, groups=(*size, 1), inputs=inputs))["picture"][..., :3]

    def _sweep(self, experiment: Experiment, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inputs = {"given": np.array([self.r, self.g, self.b, 1], np.float32), "alphas": alphas}
        inputs |= {name: np.zeros_like(alphas) for name in ("premultiplied", "straight")}
        found = experiment.run(self.kernel("sweep", entry="blendAlphas", groups=(len(alphas), 1, 1), inputs=inputs))
        return found["premultiplied"], found["straight"]


@cache
def background(name: str, width: int, height: int) -> np.ndarray:
    """Return what lies behind, red in the lowest eight bits: (height · width,) uint32."""
    y, x = np.mgrid[:height, :width]
    match name:
        case "white":
            rgb = np.full((height, width, 3), 255)
        case "checkerboard":
            rgb = np.repeat(np.where((x // 6 + y // 6) % 2, 214, 120)[..., None], 3, axis=2)
        case "photograph":
            rgb = crop_picture((ASSETS / PHOTOGRAPH).read_bytes(), PHOTOGRAPH, width, height).pixels
        case _:
            rgb = np.zeros((height, width, 3))
    return (rgb.astype(np.uint32) << np.array([0, 8, 16], np.uint32)).sum(axis=2, dtype=np.uint32).ravel()


def disc(colour: tuple[float, ...]) -> np.ndarray:
    """Return a hard disc of straight texels, black and empty outside: (TEXELS², 4) float32."""
    y, x = np.mgrid[:TEXELS, :TEXELS] - (TEXELS - 1) / 2
    inside = np.hypot(x, y) < TEXELS / 2 - 1.2
    return (inside[..., None] * np.array(colour)).reshape(-1, 4).astype(np.float32)


def pixel(query: RecordingQuery) -> dict[str, list[float]]:
    """Return the values of the recorded pixel, and what it becomes."""
    names = ("gval", "wrong", "right", "through")
    found = {name: query.values(query.steps(kind="value", name=name, function="blendBoth"))[-1].tolist() for name in names}
    z, y, x = query.job.group[::-1]
    return found | {name: query.output(name)[z, y, x, :3].tolist() for name in ("straight", "premultiplied")}


def packed(pictures: np.ndarray) -> str:
    """Return pictures as text: their bytes in base 64."""
    return base64.b64encode(to_bytes(pictures[..., :3]).tobytes()).decode()


def rgb(colour: list[float]) -> str:
    """Return a colour in words."""
    return ", ".join(f"{name} {abs(value):.2f}" for name, value in zip(CHANNELS, colour, strict=False))
