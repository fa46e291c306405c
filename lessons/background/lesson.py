"""The model of the section on laying white behind a picture."""

from dataclasses import replace
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.paths import ASSETS
from splatscope.splat.files.images import crop_picture, to_bytes
from splatscope.splat.initialise import start_state
from splatscope.splat.parameters import COLOUR
from splatscope.splat.scenes import gaussians, scene_inputs, some_gaussians
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Look, Trainer
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Picture, Pictures, Several, Table, Verdict
from splatscope.tracing.job import KernelJob

COLOURS = {"white": (1.0, 1.0, 1.0), "orange": (0.9, 0.6, 0.1), "pink": (0.85, 0.4, 0.6), "grey": (0.5, 0.5, 0.5)}
WIDTH, HEIGHT = 8, 4
CENTRE = (3, 1)  # of the figure's Gaussian: a pixel
AT_CENTRE = CENTRE[1] * WIDTH + CENTRE[0]  # its thread
LAST = WIDTH * HEIGHT - 1  # thread
VISIBLE = 1 / 255  # more than this is a step of a screen
SIDE, BLOBS, ITERATIONS, LOOKS = 48, 60, 300, 15
RECORDED = ("layOnWhite",)


class Facts(TypedDict):
    """What the drawing knows of the recording. Pixels are row by row, colours 0 … 1."""

    width: int
    height: int
    T: list[float]  # [pixel]
    right: list[list[float]]  # [pixel][r, g, b]: C + T
    inSample: list[list[float]]  # [pixel][r, g, b]: by the sample's formula


class Background(Lesson):
    """One Gaussian on white paper, by the functions of shaders/common/loss.slang."""

    T = param.Number(default=0.5, bounds=(0, 1), label="T at the centre")
    colour = param.Selector(default="white", objects=list(COLOURS), label="Colour of the Gaussian")
    target = param.Selector(default="ink on paper", objects=["ink on paper", "a full picture"], label="What to fit")

    unit: ClassVar[str] = "line"
    figure: ClassVar[FigureSpec] = FigureSpec(control="T", thread=AT_CENTRE, lockstep=True)
    controls: ClassVar[dict[str, ControlSpec]] = {"T": ControlSpec(live=True)}

    def job(self) -> KernelJob:
        """Return one Gaussian laid on white by both formulas, a thread for each of the 32 pixels."""
        raw = gaussians([CENTRE], [(1.8, 1.0)], [0.35], [COLOURS[self.colour]], [1 - self.T])
        inputs = scene_inputs((WIDTH, HEIGHT), raw, max_weight=1.0) | outputs(WIDTH * HEIGHT)
        return self.kernel(entry="layOnWhite", inputs=inputs, functions=RECORDED)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which all pixels have their layer, what they gathered, and each of the two results."""
        layers = query.steps(kind="value", name="layer", thread=LAST)
        writes = [query.steps(kind="write", name=name, thread=LAST) for name in ("gathered", "asItShould", "inSample")]
        return [int(steps[-1]) for steps in (layers, *writes)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the step with which both formulas have given their results."""
        return self.stops(query)[3]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return what each line of the kernel has done, with the numbers of the pixel at the Gaussian's centre."""
        covered = 1 - query.output("gathered")[:, 3]
        light, transmittance, right, in_sample = self._of_pixel(query, AT_CENTRE)
        return [
            f"Each pixel has its α, the share of it that the Gaussian covers: from {covered.min():.2f} to {covered.max():.2f}.",
            f"Blended over nothing, the pixel at the centre gathers C = {short(light)} in red "
            f"and lets T = {short(transmittance)} through.",
            f"White paper adds T: at the centre, red is {short(light)} + {short(transmittance)} = {short(right)}, as it should be.",
            f"At the centre the sample's formula gives {short(in_sample)}: C · T = {short(light * transmittance)} is missing.",
        ]

    def conclusion(self, query: RecordingQuery) -> str:
        """Say by how much the sample's formula darkens a pixel at most. How many it darkens is a question of the text."""
        off = (query.output("asItShould") - query.output("inSample")).max(axis=1)
        most = 255 * float(off.max())
        if not np.any(off > VISIBLE):
            return f"Here the two formulas agree in all {len(off)} pixels, to less than one of a screen's 255 steps."
        return (
            f"With T added, each pixel is right. The sample's formula makes them too dark, by up to {most:.0f} of 255 steps: "
            "most where T is nearest to ½."
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return each pixel's transmittance and both results."""
        right, in_sample = query.output("asItShould"), query.output("inSample")
        return {
            "width": WIDTH,
            "height": HEIGHT,
            "T": query.output("gathered")[:, 3].tolist(),
            "right": right[:, :3].tolist(),
            "inSample": in_sample[:, :3].tolist(),
        }

    def _of_pixel(self, query: RecordingQuery, pixel: int) -> tuple[float, float, float, float]:
        """Return C, T and both results of a pixel, of the red channel."""
        gathered = query.output("gathered")[pixel]
        return (gathered[0], gathered[3], *(query.output(name)[pixel, 0] for name in ("asItShould", "inSample")))

    # Questions

    def edge(self, query: RecordingQuery) -> Answer:
        """Answer how bright the sample's formula leaves the red channel of a pixel at the Gaussian's soft edge."""
        lights = query.output("gathered")[:, 3]
        pixel = int(np.argmin(np.abs(lights - (1 + lights[AT_CENTRE]) / 2)))
        light, transmittance, right, in_sample = self._of_pixel(query, pixel)
        question = (
            f"Pixel ({pixel % WIDTH}, {pixel // WIDTH}), at the Gaussian's soft edge, has gathered {light:.2f} of red and lets "
            f"T = {transmittance:.2f} of the light through. What does the sample's formula make of its red?"
        )
        misconceptions = (
            (f"{right:.2f}", "That is C + T, as it should be. The sample multiplies C by 1 − T before it adds T."),
            (f"{light:.2f}", "That is C alone: the paper behind the Gaussian sends light as well."),
            (f"{light * (1 - transmittance):.2f}", "That is C · (1 − T). The paper's T still has to be added."),
            (f"{transmittance:.2f}", "That is what the paper sends. The Gaussian sends light of its own."),
            ("1.00", "That would be bare paper, or a white Gaussian laid on white by the right formula."),
            ("0.00", "Only a black Gaussian that lets nothing through would be black."),
        )
        because = (
            f"C is {light:.2f} and T is {transmittance:.2f}, so {light * transmittance:.2f} is missing; right would be "
            f"{right:.2f}. In the figure it is the pixel that is marked."
        )
        answer = answer_among(question, f"{in_sample:.2f}", misconceptions, self.stops(query)[3], because)
        return replace(answer, thread=pixel)

    def visible(self, query: RecordingQuery) -> Answer:
        """Count the pixels in which the formulas differ by more than one step of eight bits."""
        off = np.abs(query.output("asItShould") - query.output("inSample")).max(axis=1)
        covered = int(np.sum(query.output("gathered")[:, 3] < 0.5))
        question = (
            f"The Gaussian is {self.colour}, with T = {self.T:g} at its centre. In how many of the figure's 32 pixels do the two "
            "formulas differ by more than one of a screen's 255 steps?"
        )
        misconceptions = (
            ("32", "Where T is close to 1 hardly anything was gathered, so hardly anything can be lost."),
            ("0", "A step is as small as 0.004. The formulas differ by C · T, which is up to 0.25."),
            (str(covered), "That counts pixels that are covered by more than half. Soft edges suffer just as much."),
            ("1", "Not only the centre: every pixel loses C · T."),
            ("16", "There is no reason for half of them: it depends on T, pixel by pixel."),
        )
        because = f"The largest difference is {255 * off.max():.0f} steps of 1/255; it is small only where T is close to 0 or 1."
        return answer_among(question, str(int(np.sum(off > VISIBLE))), misconceptions, self.stops(query)[3], because)

    # Claims

    def standard(self, experiment: Experiment) -> Verdict:
        """Try whether the sample's formula is the right one for premultiplied colour, on white and 65,535 other layers."""
        rng = np.random.default_rng(2)
        layers = np.r_[[(1, 1, 1, 0.5)], rng.random((65_535, 4))]
        found = self._sweep(experiment, layers)
        right, in_sample = found["asItShould"], found["inSample"]
        ran = (
            f"white, α = 0.5, on white: the claimed formula gives **{in_sample[0, 0]:g}**, C + T **{right[0, 0]:g}**\n"
            f"65,535 other layers: darker by up to **{(right - in_sample).max():.3f}**, never brighter"
        )
        said = (
            "For a straight colour, with `a` for the share that shines through, it is. This `rgb` was "
            "multiplied by its alpha when it was blended; over white it is `rgb + a`."
        )
        return Verdict(bool(np.allclose(right, in_sample, atol=VISIBLE)), ran, said)

    # Tried out

    def sweep(self, experiment: Experiment) -> Curves:
        """Show the brightness of white on white by T, by both formulas, and what is missing."""
        layers = np.ones((129, 4))
        layers[:, 3] = np.linspace(1, 0, 129)
        found = self._sweep(experiment, layers)
        x = found["gathered"][:, 3]
        curves = [Curve(label, x, found[name][:, 0]) for label, name in (("C + T", "asItShould"), ("the sample's", "inSample"))]
        lost = Curve("missing", x, found["asItShould"][:, 0] - found["inSample"][:, 0])
        return Curves("T", "white on white", (*curves, lost), height=240)

    def pictures(self, experiment: Experiment) -> Pictures:
        """Show a scene by both formulas, and how much darker the sample's is."""
        size = (64, 32)
        found = self._scene(experiment, some_gaussians(26, size, seed=21, spread=(2.0, 5.0)), size)
        right, in_sample = found["asItShould"][..., :3], found["inSample"][..., :3]
        return Pictures(
            (
                Picture("white adds T", to_bytes(right)),
                Picture("the sample's formula", to_bytes(in_sample)),
                Picture("darker by", (right - in_sample).max(axis=2), low=0.0, high=0.25),
            )
        )

    @param.depends("target")
    def training(self, experiment: Experiment) -> Several:
        """Show two trainings that differ in the background's formula: typical errors in steps of 255, pictures, error maps."""
        target = ink_on_paper(SIDE) if self.target == "ink on paper" else full_picture(SIDE)
        curves, drawn, maps, rows = [], [], [], []
        for background, words in (("correct", "C + T"), ("shipped", "the sample's")):
            looks, raw = train(experiment, target, background)
            last = looks[-1]
            errors = np.array([255 * 10 ** (-look.psnr / 20) for look in looks])
            curves.append(Curve(words, np.array([look.iteration for look in looks]), errors))
            drawn.append((f"{words}: off by {errors[-1]:.1f} steps", last.picture))
            maps.append((f"{words}: the error", last.error))
            found = self._scene(experiment, raw, (SIDE, SIDE))
            transmittance = found["gathered"][..., 3:]
            soft = np.mean((transmittance > 0.1) & (transmittance < 0.9))
            other = typical_error(found["inSample" if background == "correct" else "asItShould"][..., :3], target)
            over = np.mean((raw[COLOUR] > 1).any(axis=0))
            rows.append((words, f"{errors[-1]:.1f} steps", f"{soft:.0%}", f"{over:.0%}", f"{other:.1f} steps"))
        between = np.sqrt(np.mean((drawn[0][1] - drawn[1][1]) ** 2, axis=2))
        pictures = [  # each error under its picture
            Picture("the target", target),
            *(Picture(caption, to_bytes(picture)) for caption, picture in drawn),
            *(Picture(caption, map_, low=0.0, high=0.15) for caption, map_ in (("between the two runs", between), *maps)),
        ]
        head = (
            "trained with",
            "typical error",
            "pixels with T between 0.1 and 0.9",
            "Gaussians brighter than white",
            "error if drawn by the other formula",
        )
        return Several(
            (
                Curves("iteration", "typical error, in steps of 1/255", tuple(curves), log_y=True),
                Pictures(tuple(pictures)),
                Table(head, tuple(rows)),
            )
        )

    def _sweep(self, experiment: Experiment, layers: np.ndarray) -> dict[str, np.ndarray]:
        """Lay these layers (n, 4) on white by both formulas."""
        count = len(layers)
        inputs = {"layers": layers.astype(np.float32), "count": np.uint32(count)} | outputs(count)
        return experiment.run(self.kernel("sweep", entry="sweepLayers", groups=(-(-count // 64), 1, 1), inputs=inputs))

    def _scene(self, experiment: Experiment, raw: np.ndarray, size: tuple[int, int]) -> dict[str, np.ndarray]:
        """Draw these Gaussians: `gathered` (h, w, 4), `asItShould` and `inSample` (h, w, 3) float32."""
        width, height = size
        inputs = scene_inputs(size, raw) | outputs(height, width)
        groups = (-(-width // WIDTH), -(-height // HEIGHT), 1)
        return experiment.run(self.kernel("scene", entry="drawScene", groups=groups, inputs=inputs))


def short(value: float) -> str:
    """Return a number with at most three decimals."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def outputs(*shape: int) -> dict[str, np.ndarray]:
    """Return zeroed outputs of the page's kernels, each (*shape, 4) float32."""
    return {name: np.zeros((*shape, 4), np.float32) for name in ("gathered", "asItShould", "inSample")}


def train(experiment: Experiment, target: np.ndarray, background: str) -> tuple[list[Look], np.ndarray]:
    """Train over this background and return looks along the way, and the raw values (9, BLOBS) at the end."""
    settings = Settings(size=SIDE, blobs=BLOBS, iterations=ITERATIONS, kernels="tiled", background=background)
    trainer = Trainer(experiment.device, start_state(settings, target, ""))
    looks = [trainer.look()]
    for _ in range(LOOKS):
        trainer.advance(ITERATIONS // LOOKS)
        looks.append(trainer.look())
    return looks, trainer.save().splats.raw


def typical_error(picture: np.ndarray, target: np.ndarray) -> float:
    """Return the root of the mean squared error of what a screen shows, in its steps: `picture` floats in 0 … 1, `target` uint8."""
    return float(np.sqrt(np.mean((to_bytes(picture).astype(float) - target) ** 2)))


def ink_on_paper(side: int) -> np.ndarray:
    """Return four soft blots on white: (side, side, 3) uint8."""
    y, x = np.mgrid[:side, :side] / side
    picture = np.ones((side, side, 3))
    for cx, cy, radius, soft, ink in (
        (0.35, 0.35, 0.20, 0.06, (0.85, 0.3, 0.1)),
        (0.68, 0.60, 0.18, 0.02, (0.1, 0.45, 0.7)),
        (0.30, 0.75, 0.12, 0.10, (0.95, 0.8, 0.2)),
        (0.75, 0.22, 0.10, 0.10, (0.2, 0.2, 0.2)),
    ):
        cover = 1 / (1 + np.exp(3 * (np.hypot(x - cx, y - cy) - radius) / soft))
        picture += cover[..., None] * (np.array(ink) - picture)
    return to_bytes(picture)


def full_picture(side: int) -> np.ndarray:
    """Return a picture without white ground: (side, side, 3) uint8."""
    file = ASSETS / "shapes.png"
    return crop_picture(file.read_bytes(), file.name, side, side).pixels
