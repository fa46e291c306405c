"""The model of the section on scenes: Gaussians in space, seen by a camera that walks round them."""

import base64
from typing import Any, ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.duck import DUCK, NAMES, numbers
from splatscope.splat.files.images import to_bytes
from splatscope.splat.scenes import gaussians, scene_inputs
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Picture, Pictures, Scenes, Verdict
from splatscope.tracing.job import KernelJob

WIDTH, HEIGHT = 96, 64
TILE = (8, 4)
COUNT = len(DUCK)  # of Gaussians, and of threads
LAST = COUNT - 1  # thread
AWAY, FOCAL = 6.0, 95.0  # of the camera: from the origin, and its focal length in pixels
VISIBLE = 1 / 255  # a smaller alpha changes no colour by a step
ORDERS = ("by depth", "as listed")
RECORDED = ("drawScene", "project", "transformPixelState", "orderPair")
RECORDED += ("initShortList", "coarseRasterize", "padBuffer", "bitonicSort")  # these hold the other barriers of the modules
STAGES = ("seen", "center", "arrow", "covariance", "conic")  # the values of `project` at which the figure stops
LARGE = [i for i, one in enumerate(DUCK) if min(one.size) > 0.2]  # thinner ones are blurred by the size that all have at least
ROUND = tuple(range(-180, 181, 5))  # degrees of a walk round the scene


class Pixel(param.List):
    """[x, y] of a pixel of the picture."""

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        if not all(isinstance(n, int) and 0 <= n < most for n, most in zip(val, (WIDTH, HEIGHT), strict=True)):
            raise ValueError("No such pixel.")


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    size: tuple[int, int]  # of the picture in pixels
    picture: str  # RGB bytes in base 64
    pixel: list[int]  # x, y
    names: list[str]  # [Gaussian]
    numbers: list[list[float]]  # [row][Gaussian]
    centers: list[list[float]]  # [Gaussian]: x, y on the picture
    arrows: list[list[list[float]]]  # [Gaussian][axis]: a half axis on the picture, in pixels
    depths: list[float]  # [Gaussian]
    order: list[int]  # the list as it is blended
    alphas: list[list[float]]  # [thread][place in the list]
    ends: list[int]  # the steps of STAGES, of the sort, and of each turn of the loop


class ScenesLesson(Lesson):
    """32 Gaussians in space. One tile of the picture is recorded."""

    turn = param.Integer(default=-35, bounds=(-180, 180), label="Walk round", doc="Degrees; the duck looks at you at 0")
    tilt = param.Integer(default=16, bounds=(-10, 80), label="Look down", doc="Degrees")
    order = param.Selector(
        default="by depth", objects=list(ORDERS), label="The list", doc="In which order the Gaussians are blended"
    )
    pixel = Pixel(default=[60, 16], bounds=(2, 2), item_type=int, label="Pixel", doc=f"x below {WIDTH} and y below {HEIGHT}")

    unit: ClassVar[str] = "stage"
    figure: ClassVar[FigureSpec] = FigureSpec(parts=("source", "findings"), lockstep=True)
    controls: ClassVar[dict[str, ControlSpec]] = {
        "turn": ControlSpec(live=True),
        "tilt": ControlSpec(live=True),
        "pixel": ControlSpec(kind="hidden"),
    }
    grid: ClassVar = {"turn": (-180, -120, -60, -35, 0, 60, 120), "tilt": (0, 16, 60), "pixel": ([60, 16], [57, 30], [40, 44])}

    def job(self) -> KernelJob:
        """Return the whole picture, a workgroup for each tile; that of the chosen pixel is recorded."""
        inputs = scene(self.turn, self.tilt) | {"byDepth": np.uint32(self.order == ORDERS[0])}
        x, y = self.pixel
        group = (x // TILE[0], y // TILE[1], 0)
        return self.kernel(entry="drawScene", groups=GROUPS, group=group, inputs=inputs, functions=RECORDED)

    # What the figure shows

    def chosen(self, query: RecordingQuery) -> int:
        """Choose the thread of the chosen pixel."""
        x, y = self.pixel
        return y % TILE[1] * TILE[0] + x % TILE[0]

    def stops(self, query: RecordingQuery) -> list[int]:
        """Stop where all have made each value of `project`, after the sort, after each Gaussian that is seen, and at the end."""
        ends = ends_of(query)
        seen = np.flatnonzero(taken(query).any(axis=0))
        written = query.steps(kind="write", name="picture", thread=LAST)
        return [*ends[: len(STAGES) + 1], *(ends[len(STAGES) + 1 + turn] for turn in seen), int(written[-1])]

    def opening(self, query: RecordingQuery) -> int:
        """Open where the half axes have become arrows on the picture."""
        return ends_of(query)[STAGES.index("arrow")]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Say for each stage what it makes, and for each Gaussian how many pixels take some of it."""
        depths, order, took = of_threads(query, "seen")[:, 2], order_of(query), taken(query)
        near, far = int(np.argmin(depths)), int(np.argmax(depths))
        first, last = NAMES[order[0]], NAMES[order[-1]]
        said = [
            f"Each thread looks at one Gaussian from the camera: {NAMES[near]} is nearest, {depths[near]:.2f} units away.",
            "Divided by its depth, a place in space becomes one on the picture. "
            f"The farthest is {NAMES[far]}, {depths[far]:.2f} away.",
            "Each half axis of an ellipsoid becomes an arrow on the picture: three arrows for each Gaussian.",
            "The squares of the three arrows are added: a covariance, which is an ellipse.",
            "Inverted, it is a conic. From here on, nothing knows any more that the Gaussians were in space.",
            f"The list is sorted. {capital(first)} comes first, {last} last."
            if self.order == ORDERS[0]
            else f"The list is as it was given. {capital(first)} comes first, {last} last, wherever they are.",
        ]
        for turn in np.flatnonzero(took.any(axis=0)):
            pixels = int(took[:, turn].sum())
            said.append(f"{capital(NAMES[order[turn]])}: {pixels} of {COUNT} pixels take{'s' if pixels == 1 else ''} some of it.")
        most = int(took.sum(axis=1).max())
        return [*said, f"The tile is drawn. The pixel with the most layers shows {most} of the {COUNT} Gaussians."]

    def conclusion(self, query: RecordingQuery) -> str:
        """Say how many of the Gaussians the tile shows, and how the list differs from that of the front."""
        shown = int(taken(query).any(axis=0).sum())
        if self.order != ORDERS[0]:
            wrong = out_of_order(np.array(order_of(query)), of_threads(query, "seen")[:, 2])
            return (
                f"{shown} of {COUNT} Gaussians show in this tile. {wrong} pairs of the list are in the wrong order for this camera."
            )
        return f"{shown} of {COUNT} Gaussians show in this tile. From elsewhere the list has another order, and is sorted anew."

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the picture, and what each thread made of its Gaussian."""
        x, y = self.pixel
        return {
            "size": (WIDTH, HEIGHT),
            "picture": base64.b64encode(to_bytes(query.output("picture")[..., :3]).tobytes()).decode(),
            "pixel": [x, y],
            "names": list(NAMES),
            "numbers": numbers().astype(float).round(5).tolist(),
            "centers": of_threads(query, "center").astype(float).round(3).tolist(),
            "arrows": of_threads(query, "arrow", 3).astype(float).round(3).tolist(),
            "depths": of_threads(query, "seen")[:, 2].astype(float).round(4).tolist(),
            "order": order_of(query),
            "alphas": layers_of(query)[..., 3].astype(float).round(4).tolist(),
            "ends": ends_of(query),
        }

    # Questions

    def nearest(self, query: RecordingQuery) -> Answer:
        """Answer which Gaussian is nearest to the camera."""
        depths, arrows = of_threads(query, "seen")[:, 2], of_threads(query, "arrow", 3)
        near, far, large = int(np.argmin(depths)), int(np.argmax(depths)), int(np.argmax((arrows**2).sum(axis=(1, 2))))
        question = "Of the 32 Gaussians, which has its centre nearest to this camera?"
        misconceptions = (
            (NAMES[large], "It is the largest on the picture. That says how big it is as much as how near."),
            (NAMES[far], "It is the farthest: it comes last in a list by depth."),
            (NAMES[0], "It comes first in the numbers. Their order says nothing about where a camera stands."),
            ("the head", "The head is the highest. Depth is measured along the line of sight."),
        )
        because = f"Its depth is {depths[near]:.2f}, that of the body {depths[0]:.2f}. Walk round, and another one is nearest."
        return answer_among(question, NAMES[near], misconceptions, ends_of(query)[0], because, rank=False)

    def shown(self, query: RecordingQuery) -> Answer:
        """Count the Gaussians of which the tile shows something."""
        shown = int(taken(query).any(axis=0).sum())
        layers = layers_of(query)[..., 3]
        most = int(taken(query).sum(axis=1).max())
        question = (
            "All 32 Gaussians are in the list of the marked tile. How many of them change a pixel there by a step of 255, "
            "before the light is used up?"
        )
        misconceptions = (
            (str(COUNT), "All are blended, but most lie beside the tile: their α there is next to nothing."),
            (str(most), "That is the number of the pixel with the most layers. Not all pixels show the same ones."),
            (str(int((layers > 0.5).any(axis=0).sum())), "These cover more than half of a pixel. Others show, too."),
            ("1", "Then the tile would have one colour that only fades."),
        )
        because = "A program for large scenes leaves the others out of the tile's list, as the coarse pass does."
        return answer_among(question, str(shown), misconceptions, self.stops(query)[-1], because)

    # Claims

    @param.depends("tilt")
    def anew(self, experiment: Experiment) -> Verdict:
        """Try whether a list that was sorted for the front paints other pictures on a walk round the scene."""
        front = np.argsort(depths_from(0, self.tilt), kind="stable")
        ranks = np.argsort(front).astype(np.uint32)
        worst, changed, counted = 0.0, 0, 0
        for turn in range(-150, 181, 30):
            inputs = scene(turn, self.tilt)
            kept, right = (
                experiment.run(self.kernel(entry="drawScene", groups=GROUPS, inputs=inputs | more))["picture"][..., :3]
                for more in ({"byDepth": np.uint32(0), "ranks": ranks}, {"byDepth": np.uint32(1)})
            )
            apart = np.abs(kept - right).max(axis=2)
            worst, changed, counted = max(worst, float(apart.max())), changed + int((apart > 8 / 255).sum()), counted + apart.size
        ran = (
            "12 pictures from all around, with the list of the view from the front and with each view's own\n"
            f"pixels that differ by more than 8\u00a0of\u00a0255: **{changed / counted:.0%}**; "
            f"the largest difference: **{worst:.2f}** of 1"
        )
        said = "What was in front is behind, and is painted over what covers it. Each camera needs the list in its own order."
        return Verdict(changed > 0, ran, said)

    @param.depends("turn", "tilt")
    def exact(self, experiment: Experiment) -> Verdict:
        """Try whether the flat Gaussians are what rays through the ones in space would gather."""
        apart = self._rays(experiment)["apart"]
        most = apart.max(axis=(1, 2))[LARGE]
        worst = LARGE[int(np.argmax(most))]
        ran = (
            f"α of {some_names()} at {WIDTH * HEIGHT:,} pixels, flat and where a ray comes nearest to the ellipsoid's centre\n"
            f"the largest difference: **{most.max():.3f}**, of {NAMES[worst]}; the smallest of the largest: {most.min():.3f}"
        )
        said = (
            "The arrows belong to the centre. Away from it, the lens bends what is large or near a little more than they say. "
            "Programs for scenes live with that, because it is small and an ellipse is quick."
        )
        return Verdict(bool(most.max() < VISIBLE), ran, said)

    @param.depends("turn", "tilt")
    def same(self, experiment: Experiment) -> Verdict:
        """Try whether the program for flat pictures draws the flattened scene, given its Gaussians nearest first."""
        inputs = scene(self.turn, self.tilt) | {"byDepth": np.uint32(1)}
        in_space = experiment.run(self.kernel(entry="drawScene", groups=GROUPS, inputs=inputs))["picture"][..., :3]
        inputs = scene_inputs((WIDTH, HEIGHT), self._flattened(experiment)) | {
            "targetBuffer": np.ones((HEIGHT, WIDTH, 4), np.float32),
            "outputBuffer": np.zeros((HEIGHT, WIDTH, 4), np.float32),
            "listLength": np.zeros(GROUPS[0] * GROUPS[1], np.uint32),
        }
        job = self.shader("training.slang", entry="imageMain", inputs=inputs, groups=GROUPS)
        flat = experiment.run(job)["outputBuffer"][..., :3]
        most = float(np.abs(in_space - flat).max())
        ran = (
            f"`imageMain`, which draws photographs, on {COUNT} flat Gaussians made of the ones in space\n"
            f"the largest difference from the figure's picture: **{255 * most:.2f} of 255**"
        )
        said = "Projection and sort come first, and end in nine numbers and an order. What follows is the book."
        return Verdict(most < 1.5 / 255, ran, said)

    def _rays(self, experiment: Experiment) -> dict[str, np.ndarray]:
        """Return what rays.slang finds: `apart` (32, HEIGHT, WIDTH), `seen` (32, 3) and `conics` (32, 3), float32."""
        inputs = scene(self.turn, self.tilt) | {"apart": np.zeros((COUNT, HEIGHT, WIDTH), np.float32)}
        inputs |= {name: np.zeros((COUNT, 3), np.float32) for name in ("seen", "conics")}
        del inputs["ranks"], inputs["picture"]
        return experiment.run(self.kernel("rays", entry="compareRays", groups=(*GROUPS[:2], COUNT), inputs=inputs))

    def _flattened(self, experiment: Experiment) -> np.ndarray:
        """Return the raw values of the flat Gaussians that the camera sees, nearest first: (9, 32) float32."""
        found, values = self._rays(experiment), numbers()
        xx, xy, yy = found["conics"].T
        precisions, axes = np.linalg.eigh(np.array(((xx, xy), (xy, yy)), float).transpose(2, 0, 1))
        angles = np.arctan2(axes[:, 1, 0], axes[:, 0, 0])
        raw = gaussians(found["seen"][:, :2], precisions**-0.5, angles, values[10:13].T, values[13])
        return raw[:, np.argsort(found["seen"][:, 2], kind="stable")]

    # Tried out

    def around(self, experiment: Experiment) -> Scenes:
        """Show the scene from all sides, sorted and as listed."""
        scenes, words = [], []
        for turn in range(-180, 180, 30):
            pictures = []
            for name, by_depth in zip(ORDERS, (1, 0), strict=True):
                inputs = scene(turn, 16) | {"byDepth": np.uint32(by_depth)}
                found = experiment.run(self.kernel(entry="drawScene", groups=GROUPS, inputs=inputs))["picture"]
                pictures.append(Picture(name, to_bytes(found[..., :3])))
            scenes.append(Pictures(tuple(pictures)))
            words.append(
                f"from {turn}°: {out_of_order(np.arange(COUNT), depths_from(turn, 16))} pairs of the list as given are wrong"
            )
        return Scenes(tuple(scenes), tuple(words), first=9)

    @param.depends("tilt")
    def swaps(self, experiment: Experiment) -> Curves:
        """Show how many pairs have changed places since the front, by degrees of a walk round the scene."""
        front = np.argsort(depths_from(0, self.tilt), kind="stable")
        turns = np.array(ROUND)
        pairs = np.array([out_of_order(front, depths_from(turn, self.tilt)) for turn in ROUND])
        all_pairs = COUNT * (COUNT - 1) // 2
        curve = Curve("pairs in another order", turns, pairs)
        return Curves("degrees from the front", f"of {all_pairs} pairs", (curve,), lines=((all_pairs, "all"),))


GROUPS = (WIDTH // TILE[0], HEIGHT // TILE[1], 1)


def scene(turn: float, tilt: float) -> dict[str, np.ndarray | np.generic]:
    """Return the inputs of kernel.slang but `byDepth`, for a camera at these degrees."""
    return {
        "scene.size": np.array((WIDTH, HEIGHT), np.uint32),
        "scene.maxWeight": np.float32(0.99),
        "scene.sampleBackground": np.uint32(0),
        "numbers": numbers().ravel(),
        "ranks": np.arange(COUNT, dtype=np.uint32),
        "picture": np.zeros((HEIGHT, WIDTH, 4), np.float32),
        "turn": np.float32(np.radians(turn)),
        "tilt": np.float32(np.radians(tilt)),
        "away": np.float32(AWAY),
        "focal": np.float32(FOCAL),
    }


def depths_from(turn: float, tilt: float) -> np.ndarray:
    """Return how far each Gaussian is in front of a camera at these degrees: (32,) float64."""
    a, b = np.radians((turn, tilt))
    forward = -np.array((np.cos(b) * np.sin(a), np.sin(b), np.cos(b) * np.cos(a)))
    return forward @ numbers()[:3] + AWAY


def out_of_order(order: np.ndarray, depths: np.ndarray) -> int:
    """Return how many pairs of a list stand the farther one first."""
    listed = depths[order]
    return int(np.triu(listed[:, None] > listed[None, :], 1).sum())


def of_threads(query: RecordingQuery, name: str, of_each: int = 1) -> np.ndarray:
    """Return the values of a variable of `project`: (threads, …), or (threads, of_each, …) if each thread sets it so often."""
    steps = query.steps(kind="value", name=name, function="project")
    steps = steps[np.argsort(query.threads(steps), kind="stable")]
    values = query.values(steps)
    return values.reshape(COUNT, of_each, *values.shape[1:]) if of_each > 1 else values


def layers_of(query: RecordingQuery) -> np.ndarray:
    """Return colour and alpha of each pixel's layers: (threads, places in the list, 4) float32."""
    steps = query.steps(kind="value", name="layer", function="drawScene")
    steps = steps[np.argsort(query.threads(steps), kind="stable")]
    return query.values(steps).reshape(COUNT, COUNT, 4)


def taken(query: RecordingQuery) -> np.ndarray:
    """Return which pixels take enough of which layer to change by a step: (threads, places in the list) bool."""
    steps = query.steps(kind="value", name="state.finalCount", function="drawScene")
    steps = steps[np.argsort(query.threads(steps), kind="stable")]
    blended = np.diff(query.values(steps).reshape(COUNT, COUNT + 1), axis=1) > 0
    return blended & (layers_of(query)[..., 3] >= VISIBLE)


def order_of(query: RecordingQuery) -> list[int]:
    """Return the list as the last thread walks it."""
    return query.values(query.steps(kind="value", name="id", function="drawScene", thread=LAST)).astype(int).tolist()


def ends_of(query: RecordingQuery) -> list[int]:
    """Return the steps at which the last thread ends each stage: those of STAGES, the sort, and each turn of the loop."""
    stages = [int(query.steps(kind="value", name=name, function="project", thread=LAST)[-1]) for name in STAGES]
    turns = query.steps(kind="value", name="state.finalCount", function="drawScene", thread=LAST)
    return [*stages, *(int(step) for step in turns)]


def some_names() -> str:
    """Return the names of the large Gaussians as a list in a sentence."""
    *others, last = (NAMES[i] for i in LARGE)
    return f"{', '.join(others)} and {last}"


def capital(words: str) -> str:
    """Return words with a capital at their beginning."""
    return words[0].upper() + words[1:]
