"""The model of the section on blending."""

import base64
import re
from itertools import permutations
from typing import Any, ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.files.images import to_bytes
from splatscope.splat.parameters import ANGLE, COLOUR, OPACITY, POSITION
from splatscope.splat.scenes import gaussians, scene_inputs, sizes_of
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import FigureSpec, Lesson
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Bars, Picture, Pictures, Verdict
from splatscope.tracing.job import KernelJob

WIDTH, HEIGHT = 40, 30
# Where a layer lies, by its `shape`: centre and size in pixels, angle.
SHAPES = (
    (17, 13, 8.5, 5.0, 0.5),
    (25, 12, 7.0, 4.5, -0.6),
    (21, 20, 8.0, 4.0, 0.1),
    (14, 18, 5.5, 7.5, 0.3),
    (27, 18, 5.0, 7.0, -0.2),
    (20, 9, 9.0, 3.5, 0.0),
    (12, 11, 5.0, 5.0, 0.0),
    (30, 22, 6.0, 4.0, 0.9),
)
RECORDED = ("blendPixel", "transformPixelState", "alphaBlend", "preMult")
PROBE = 0.99
OPAQUE = 1 / 255  # T below which a pixel blends nothing more
PAPER = "the white paper"


class ChosenLayer(TypedDict):
    """A layer as the reader sets it."""

    colour: str  # "#rrggbb"
    alpha: float  # 0 … 1
    shape: int  # a place in SHAPES


class Layers(param.List):
    """One to eight layers, nearest first, each {colour: "#rrggbb", alpha: 0 … 1, shape: a place in SHAPES}, no shape twice."""

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        for layer in val:
            if not (isinstance(layer, dict) and layer.keys() == {"colour", "alpha", "shape"}):
                raise ValueError("A layer has a colour, an alpha and a shape.")
            if not re.fullmatch(r"#[0-9a-f]{6}", str(layer["colour"])):
                raise ValueError("A colour is written #rrggbb.")
            if isinstance(layer["alpha"], bool) or not isinstance(layer["alpha"], int | float) or not 0 <= layer["alpha"] <= 1:
                raise ValueError("An alpha is a number from 0 to 1.")
        shapes = [layer["shape"] for layer in val]
        if any(type(shape) is not int or shape not in range(len(SHAPES)) for shape in shapes) or len(set(shapes)) < len(shapes):
            raise ValueError(f"A shape is a whole number from 0 to {len(SHAPES) - 1}, and each another.")


class Place(param.List):
    """[x, y] of a pixel of the picture."""

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        if not all(isinstance(n, int) and 0 <= n < most for n, most in zip(val, (WIDTH, HEIGHT), strict=True)):
            raise ValueError("No such pixel.")


class Blend(TypedDict):
    """What one layer did to the recorded pixel."""

    alpha: float  # of the layer at this pixel
    before: list[float]  # r, g, b, T
    after: list[float]
    blended: bool  # or left out, for a pixel that was opaque already
    end: int  # the step that ends it


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    size: list[int]  # of the picture: width, height
    pixel: list[int]  # the recorded one: x, y
    picture: str  # RGB bytes in base 64
    layers: list[Blend]  # nearest first
    over: list[float]  # r, g, b of the pixel over white
    ellipses: list[list[float]]  # [layer]: centre and size in pixels, angle
    stack: list[ChosenLayer]


STACK: list[ChosenLayer] = [
    {"colour": "#d55e00", "alpha": 0.25, "shape": 0},
    {"colour": "#0072b2", "alpha": 0.7, "shape": 1},
    {"colour": "#f0e442", "alpha": 0.8, "shape": 2},
    {"colour": "#009e73", "alpha": 0.9, "shape": 3},
]


def published_stacks() -> tuple[list[ChosenLayer], ...]:
    """Return the stacks of a published book: STACK in every order, with less of it, and with each layer's alpha changed."""
    orders = [list(order) for order in permutations(STACK)]
    fewer = [STACK[:count] for count in range(1, len(STACK))]
    fewer += [[layer for layer in STACK if layer is not left_out] for left_out in STACK]
    changed = [
        [layer | {"alpha": alpha} if layer is one else layer for layer in STACK]
        for one in STACK
        for alpha in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    return (*orders, *fewer, *changed)


class Blending(Lesson):
    """A stack of Gaussians over every pixel of a small picture; one pixel is recorded."""

    layers = Layers(
        default=STACK,
        bounds=(1, len(SHAPES)),
        label="Layers",
        doc=f"1 to {len(SHAPES)} layers, each with a colour #rrggbb, an alpha from 0 to 1 and a shape of its own",
    )
    pixel = Place(default=[19, 14], bounds=(2, 2), item_type=int, label="Pixel", doc=f"x below {WIDTH} and y below {HEIGHT}")

    from_pixel: ClassVar = ()
    unit: ClassVar[str] = "layer"
    figure: ClassVar[FigureSpec] = FigureSpec(options={"most": len(SHAPES), "shapes": [list(shape) for shape in SHAPES]})
    grid: ClassVar = {"layers": published_stacks(), "pixel": ([2, 2], [8, 14], [14, 8], [14, 20], [24, 10], [24, 18], [30, 14])}

    def take(self, seen: SeenPixel) -> None:
        """Take the Gaussians with the largest shares of a pixel as layers."""
        super().take(seen)
        trained = seen.raw(seen.largest(len(SHAPES)))
        colours, alphas = to_bytes(trained[COLOUR].T), 1 / (1 + np.exp(-trained[OPACITY].astype(float)))
        self.layers = [
            {"colour": f"#{bytes(colour).hex()}", "alpha": round(float(alpha), 4), "shape": shape}
            for shape, (colour, alpha) in enumerate(zip(colours, alphas, strict=True))
        ]

    def raw(self, layers: list[ChosenLayer]) -> np.ndarray:
        """Return the raw values of these layers: (9, layers) float32."""
        if self.seen is None:
            return raw(layers)
        (x, y), (across, down) = self.seen.at, self.pixel
        places = self.seen.largest(len(SHAPES))
        return self.seen.raw(places, (x - across, y - down))[:, [layer["shape"] for layer in layers]]

    def job(self) -> KernelJob:
        """Return the chosen stack over every pixel, a workgroup each; the chosen pixel's is recorded."""
        return self._job(self.layers)

    def _job(self, layers: list[ChosenLayer], name: str = "", entry: str = "blendPixel") -> KernelJob:
        inputs = scene_inputs((WIDTH, HEIGHT), self.raw(layers)) | {"picture": np.zeros((HEIGHT, WIDTH, 4), np.float32)}
        x, y = self.pixel
        return self.kernel(name, entry=entry, groups=(WIDTH, HEIGHT, 1), group=(x, y, 0), inputs=inputs, functions=RECORDED)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps with which each layer is blended."""
        return [one["end"] for one in blends(query)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the step that blends the second layer, the first that gets less than its α."""
        return self.stops(query)[:2][-1]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return for each layer which share of the pixel it covers, and what is left of T."""
        found = blends(query)
        said = [f"Layer {place} {done(one)}" for place, one in enumerate(found, 1)]
        said[-1] += f" White paper covers the last {found[-1]['after'][3]:.3f}."
        return said

    def conclusion(self, query: RecordingQuery) -> str:
        """Say what the layers cover together, and what is left for the paper."""
        many, left = len(self.layers), round(blends(query)[-1]["after"][3], 3)
        who = f"The {many} layers together cover" if many > 1 else "The layer covers"
        return (
            f"{who} {1 - left:.3f} of the pixel, the white paper the other {left:.3f}. The shares add up to 1: none counts twice."
        )

    def legend(self, query: RecordingQuery) -> str:
        """Return how to read the layers of a trained picture, which cannot be moved."""
        if self.seen is None:
            return ""
        return (
            "Each bar is the whole pixel. Each step blends one layer. The figure opens at the second. Choose another pixel in the "
            "picture.\n- **Grey** where nearer layers cover it\n- **Coloured** where this layer does (α·T)\n"
            "- **Empty** where light still comes through"
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the picture, and what each layer did to the chosen pixel."""
        picture = query.output("picture")
        return {
            "size": [WIDTH, HEIGHT],
            "pixel": list(self.pixel),
            "picture": base64.b64encode(to_bytes(picture[..., :3]).tobytes()).decode(),
            "layers": blends(query),
            "over": [float(c) for c in picture[self.pixel[1], self.pixel[0], :3]],
            "ellipses": ellipses(self.raw(self.layers)),
            "stack": self.layers,
        }

    # Questions

    def heaviest(self, query: RecordingQuery) -> Answer:
        """Answer what covers the largest share of the pixel once the stack is turned over: a layer, or the paper."""
        alphas = [one["alpha"] for one in blends(query)]
        shares, left = turned_over(alphas)
        best, boldest, last = int(np.argmax([*shares, left])), int(np.argmax(alphas)), len(alphas) - 1
        now = int(np.argmax([one["before"][3] - one["after"][3] for one in blends(query)]))

        def got(i: int) -> str:
            return f"layer {i + 1} has an α of {alphas[i]:.2f}, and covers {shares[i]:.3f}."

        misconceptions = (
            (f"layer {now + 1}", f"That would be right for the stack as it is now. Turned over, {got(now)}"),
            (f"layer {boldest + 1}", f"A layer's α is a share of what still comes through, not of the whole pixel: {got(boldest)}"),
            (f"layer {last + 1}", f"The nearest layer always gets its full α, but no more than that: {got(last)}"),
            ("layer 1", f"It lies behind all others then: {got(0)}"),
            (PAPER, f"It covers what all layers together leave: {left:.3f}."),
            *((f"layer {i + 1}", f"Multiply α by what still comes through: {got(i)}") for i in range(len(alphas))),
        )
        because = f"That is what all layers together leave: {left:.3f} of the pixel."
        if best <= last:
            came = shares[best] / alphas[best]
            because = f"{came:.3f} still comes through then, of which it covers {alphas[best]:.2f}: a share of {shares[best]:.3f}."
        question = (
            f"At this pixel the layers have α = {listed(alphas)}, the nearest first. Turn the stack over, so that "
            f"layer {last + 1} becomes the nearest: what covers the largest share of the pixel then?"
        )
        answer, see = PAPER, "Turn it over in the figure, and see."
        if best <= last:
            answer, there = f"layer {best + 1}", last + 1 - best
            if there != best + 1:
                see = f"Turn it over in the figure, and see. Layers are numbered from the nearest: there it is layer {there}."
        return answer_among(question, answer, misconceptions, 0, f"{because} {see}")

    def paper(self, query: RecordingQuery) -> Answer:
        """Answer whether more of the paper shows once the stack is turned over."""
        found = blends(query)
        now, alphas = found[-1]["after"][3], [one["alpha"] for one in found]
        _, turned = turned_over(alphas)
        words = ("less than now", "just as much", "more than now")
        wrong = (
            "The most opaque layer would cover more in front, but the others would cover less behind it.",
            "That would be right if no layer were left out. In one of the two orders, the pixel is opaque before the stack ends.",
            "The layers that move back would cover less, but those that move to the front cover more.",
        )
        which = 1 if abs(turned - now) < 1e-6 else 0 if turned < now else 2
        because = f"Each layer lets the share 1 − α through, and a product is the same in any order: {now:.3f} both ways."
        if which != 1:
            because = f"An opaque pixel leaves out what lies behind, so {turned:.5f} would come through, and {now:.5f} does now."
        question = (
            f"At this pixel the layers have α = {listed(alphas)}, and behind them is white paper. "
            "Does more of the paper show if the stack is turned over?"
        )
        reasons = {option: why for option, why in zip(words, wrong, strict=True) if option != words[which]}
        return Answer(words[which], words, found[-1]["end"], because, wrong=reasons, question=question)

    # Claims

    def back_to_front(self, experiment: Experiment) -> Verdict:
        """Try whether the layer that is blended last lies on top: blend two layers in both orders."""
        red, blue = (1.0, 0.0, 0.0, 0.5), (0.0, 0.0, 1.0, 0.5)
        found = {}
        for name, layers in (("red first, then blue", (red, blue)), ("blue first, then red", (blue, red))):
            inputs = {"layers": np.array(layers, np.float32), "result": np.zeros((1, 4), np.float32)}
            found[name] = experiment.run(self.kernel("two", entry="blendTwo", inputs=inputs))["result"][0]
        ran = "Red and blue, each of α = 0.5:\n" + "\n".join(
            f"{name}: **({c[0]:g}, {c[1]:g}, {c[2]:g})**" for name, c in found.items()
        )
        red_share, _, blue_share, _ = found["red first, then blue"]
        said = "This program blends from the front: the first gets its full α, the second only a share of what is left."
        return Verdict(bool(red_share < blue_share), ran, said)

    @param.depends("layers")
    def painter(self, experiment: Experiment) -> Verdict:
        """Try whether painting the same stack from the back gives the same picture."""
        front = experiment.run(self._job(self.layers))["picture"]
        back = experiment.run(self._job(self.layers, "painter", entry="paintPixel"))["picture"]
        most = float(np.abs(front - back).max())
        step = float(np.abs(to_bytes(front).astype(int) - to_bytes(back)).max())
        pixels = WIDTH * HEIGHT
        ran = f"{pixels:,} pixels of your stack, both ways\nlargest difference **{number(most, 2)}**, **{step:g}** of 255 steps"
        said = "The two agree, except for rounding and for the layers that an opaque pixel leaves out."
        return Verdict(step <= 1, ran, said)

    # What is tried

    @param.depends("layers", "pixel")
    def places(self, experiment: Experiment) -> Bars:
        """Show the share of light that a nearly opaque layer would have at each place of the stack."""
        many = len(self.layers) + 1
        inputs = scene_inputs((WIDTH, HEIGHT), self.raw(self.layers)) | {
            "at": np.array(self.pixel, np.float32),
            "opacity": np.float32(PROBE),
            "shares": np.zeros(many, np.float32),
        }
        shares = experiment.run(self.kernel("probe", entry="probePlace", groups=(many, 1, 1), inputs=inputs))["shares"]
        names = tuple("nearest of all" if place == 0 else f"behind layer {place}" for place in range(many))
        return Bars(names, tuple(map(float, shares)), tuple(f"{share:.3f}" for share in shares))

    @param.depends("layers")
    def turned(self, experiment: Experiment) -> Pictures:
        """Show the stack as it is, turned over, and the difference of the two."""
        as_is, over = (experiment.run(self._job(layers))["picture"][..., :3] for layers in (self.layers, self.layers[::-1]))
        difference = np.abs(as_is - over).max(axis=2)
        shown = [Picture("your stack", to_bytes(as_is)), Picture("turned over", to_bytes(over))]
        return Pictures((*shown, Picture("largest difference of a channel", difference, low=0.0)))


def raw(layers: list[ChosenLayer]) -> np.ndarray:
    """Return the raw values of these layers: (9, layers) float32."""
    shapes = np.array([SHAPES[layer["shape"]] for layer in layers])
    colours = [[int(layer["colour"][i : i + 2], 16) / 255 for i in (1, 3, 5)] for layer in layers]
    return gaussians(shapes[:, :2], shapes[:, 2:4], shapes[:, 4], colours, [layer["alpha"] for layer in layers])


def ellipses(trained: np.ndarray) -> list[list[float]]:
    """Return centre, size and angle of each Gaussian, from raw values (9, n)."""
    return np.round(np.concatenate([trained[POSITION], sizes_of(trained), trained[[ANGLE]]]).T.astype(float), 4).tolist()


def turned_over(alphas: list[float]) -> tuple[list[float], float]:
    """Return what each layer covers of the pixel if the last one is the nearest, and what is left for the paper."""
    left, shares = 1.0, [0.0] * len(alphas)
    for i in reversed(range(len(alphas))):
        if left < OPAQUE:
            break
        shares[i] = left * alphas[i]
        left -= shares[i]
    return shares, left


def blends(query: RecordingQuery) -> list[Blend]:
    """Return what each layer did to the recorded pixel."""
    alphas = query.values(query.steps(kind="value", name="gval", function="blendPixel"))[:, 3]
    earlier = query.values(query.steps(kind="value", name="pixel.value", function="transformPixelState"))
    afters = query.values(query.steps(kind="value", name="state.value", function="blendPixel"))[1:]
    counted = query.steps(kind="value", name="state.finalCount", function="blendPixel")
    counts, ends = query.values(counted).astype(int), counted[1:]
    return [
        {
            "alpha": float(alpha),
            "before": before.tolist(),
            "after": after.tolist(),
            "blended": bool(more),
            "end": int(end),
        }
        for alpha, before, after, more, end in zip(alphas, earlier, afters, np.diff(counts), ends, strict=True)
    ]


def done(blend: Blend) -> str:
    """Return what a layer did, in words that follow its name."""
    before, after = blend["before"][3], blend["after"][3]
    share = before - after
    if not blend["blended"]:
        return f"is left out: T was {before:.4f}, less than 1/255, so the pixel counts as opaque."
    if share < 0.0005:
        return f"covers less than 0.001 of the pixel: α is {blend['alpha']:.4f} here, and T was {before:.3f}. T is {after:.3f} now."
    return f"covers {blend['alpha']:.1%} of the {before:.3f} that came through: {share:.3f} of the pixel. T is {after:.3f} now."


def listed(alphas: list[float]) -> str:
    """Return numbers as a list in words."""
    words = [f"{alpha:.2f}" for alpha in alphas]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
