"""The model of the section on blending."""

import base64
import re
from typing import Any, ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.files.images import to_bytes
from splatscope.splat.scenes import gaussians, scene_inputs
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import FigureSpec, Lesson
from splatscope.textbook.query import RecordingQuery
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
    end: int  # the step that ends it


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    size: list[int]  # of the picture: width, height
    pixel: list[int]  # the recorded one: x, y
    picture: str  # RGB bytes in base 64
    layers: list[Blend]  # nearest first
    over: list[float]  # r, g, b of the pixel over white
    ellipses: list[tuple[float, float, float, float, float]]  # [layer]: centre and size in pixels, angle


class Blending(Lesson):
    """A stack of Gaussians over every pixel of a small picture; one pixel is recorded."""

    layers = Layers(
        default=[
            {"colour": "#d55e00", "alpha": 0.25, "shape": 0},
            {"colour": "#0072b2", "alpha": 0.7, "shape": 1},
            {"colour": "#f0e442", "alpha": 0.8, "shape": 2},
            {"colour": "#009e73", "alpha": 0.9, "shape": 3},
        ],
        bounds=(1, len(SHAPES)),
        label="Layers",
        doc=f"1 to {len(SHAPES)} layers, each with a colour #rrggbb, an alpha from 0 to 1 and a shape of its own",
    )
    pixel = Place(default=[19, 14], bounds=(2, 2), item_type=int, label="Pixel", doc=f"x below {WIDTH} and y below {HEIGHT}")

    unit: ClassVar[str] = "layer"
    figure: ClassVar[FigureSpec] = FigureSpec(options={"most": len(SHAPES)})

    def job(self) -> KernelJob:
        """Return the chosen stack over every pixel, a workgroup each; the chosen pixel's is recorded."""
        return self._job(self.layers)

    def _job(self, layers: list[ChosenLayer], name: str = "", **options: Any) -> KernelJob:
        inputs = scene_inputs((WIDTH, HEIGHT), raw(layers)) | {"picture": np.zeros((HEIGHT, WIDTH, 4), np.float32)}
        x, y = self.pixel
        given = {"entry": "blendPixel", "groups": (WIDTH, HEIGHT, 1), "group": (x, y, 0), "inputs": inputs, "functions": RECORDED}
        return self.kernel(name, **given | options)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps with which each layer is blended."""
        return [one["end"] for one in blends(query)]

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the picture, and what each layer did to the chosen pixel."""
        picture = query.output("picture")
        return {
            "size": [WIDTH, HEIGHT],
            "pixel": list(self.pixel),
            "picture": base64.b64encode(to_bytes(picture[..., :3]).tobytes()).decode(),
            "layers": blends(query),
            "over": [float(c) for c in picture[self.pixel[1], self.pixel[0], :3]],
            "ellipses": [SHAPES[layer["shape"]] for layer in self.layers],
        }

    # Questions

    def heaviest(self, query: RecordingQuery) -> Answer:
        """Answer which layer has the largest share of the pixel's light."""
        found = blends(query)
        shares = [one["before"][3] - one["after"][3] for one in found]
        best = int(np.argmax(shares))
        offered = sorted(sorted(range(len(shares)), key=lambda i: -shares[i])[:4])
        one = found[best]
        because = f"It takes {one['alpha']:.2f} of the {one['before'][3]:.2f} that reaches it: {shares[best]:.2f} of all the light."
        return Answer(f"layer {best + 1}", tuple(f"layer {i + 1}" for i in offered), one["end"], because)

    def paper(self, query: RecordingQuery) -> Answer:
        """Answer how much of the background shows through, in percent."""
        last = blends(query)[-1]
        left = last["after"][3]
        words = [f"{share:.0%}" for share in (left, left / 3, min(1.0, left + 0.2), 1 - left, 0.5 * (1 + left), left / 10)]
        offered = list(dict.fromkeys(words))[:4]
        because = f"That is T after the last layer, {left:.3f}: what all of them together let through."
        return Answer(words[0], tuple(sorted(offered, key=lambda word: int(word[:-1]))), last["end"], because)

    # Claims

    def back_to_front(self, experiment: Experiment) -> Verdict:
        """Try whether the list is blended back to front: blend two layers in both orders."""
        red, blue = (1.0, 0.0, 0.0, 0.5), (0.0, 0.0, 1.0, 0.5)
        found = {}
        for name, layers in (("id 0 red, id 1 blue", (red, blue)), ("id 0 blue, id 1 red", (blue, red))):
            inputs = {"layers": np.array(layers, np.float32), "result": np.zeros((1, 4), np.float32)}
            found[name] = experiment.run(self.kernel("two", entry="blendTwo", inputs=inputs))["result"][0]
        ran = "<br>".join(f"{name}: <b>({c[0]:g}, {c[1]:g}, {c[2]:g})</b>" for name, c in found.items())
        holds = found["id 0 red, id 1 blue"][0] < found["id 0 red, id 1 blue"][2]
        return Verdict(bool(holds), ran, "What is blended first weighs most, so it is the nearest. Ids rise with distance.")

    @param.depends("layers")
    def painter(self, experiment: Experiment) -> Verdict:
        """Try whether painting the same stack from the back gives another picture."""
        front = experiment.run(self._job(self.layers))["picture"]
        back = experiment.run(self._job(self.layers, "painter", entry="paintPixel"))["picture"]
        most = float(np.abs(front - back).max())
        step = float(np.abs(to_bytes(front).astype(int) - to_bytes(back)).max())
        pixels = WIDTH * HEIGHT
        ran = f"{pixels:,} pixels of your stack, both ways<br>largest difference <b>{most:.1e}</b>, <b>{step:g}</b> of 255 steps"
        said = "The two agree, but for rounding and for the layers that an opaque pixel leaves out."
        return Verdict(step > 1, ran, said)

    # What is tried

    @param.depends("layers", "pixel")
    def places(self, experiment: Experiment) -> Bars:
        """Show the share of light that a nearly opaque layer would have at each place of the stack."""
        many = len(self.layers) + 1
        given = scene_inputs((WIDTH, HEIGHT), raw(self.layers)) | {
            "at": np.array(self.pixel, np.float32),
            "opacity": np.float32(PROBE),
            "shares": np.zeros(many, np.float32),
        }
        shares = experiment.run(self.kernel("probe", entry="probePlace", groups=(many, 1, 1), inputs=given))["shares"]
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


def blends(query: RecordingQuery) -> list[Blend]:
    """Return what each layer did to the recorded pixel."""
    alphas = query.values(query.steps(kind="value", name="gval", function="blendPixel"))[:, 3]
    earlier = query.values(query.steps(kind="value", name="pixel.value", function="transformPixelState"))
    afters = query.values(query.steps(kind="value", name="state.value", function="blendPixel"))[1:]
    ends = query.steps(kind="value", name="state.finalCount", function="blendPixel")[1:]
    return [
        {"alpha": float(alpha), "before": [float(x) for x in before], "after": [float(x) for x in after], "end": int(end)}
        for alpha, before, after, end in zip(alphas, earlier, afters, ends, strict=True)
    ]
