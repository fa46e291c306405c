"""The model of the section on one Gaussian."""

import base64
from collections.abc import Iterable
from typing import Any, ClassVar, TypedDict

import numpy as np
import param

from splatscope.paths import ASSETS
from splatscope.splat.files.images import crop_picture, to_bytes
from splatscope.splat.initialise import start_state
from splatscope.splat.parameters import FIELDS, POSITION
from splatscope.splat.scenes import FISH, FISH_SIZE, MIN_SIZE, fish, scene_inputs, some_gaussians, zoomed
from splatscope.splat.settings import Settings
from splatscope.splat.state import AdamState
from splatscope.splat.thumbnail import Thumbnail
from splatscope.splat.trainer import Trainer
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Picture, Pictures, Scenes, Verdict
from splatscope.tracing.job import KernelJob

WIDTH, HEIGHT = 60, 40
LOW = (0.0, 0.0, -1.2, -1.2, -1.57, 0.0, 0.0, 0.0, -4.0)  # of the nine numbers
HIGH = (WIDTH - 1.0, HEIGHT - 1.0, 3.2, 3.2, 1.57, 1.0, 1.0, 1.0, 4.0)
DOTS = 240  # pixels of the picture that the bell curve shows

# The values whose steps the figure stops at, and what each is called in the drawing.
STAGES = ("raw.opacityLogit", "opacity", "offset", "turned", "distance", "falloff", "alpha", "layer", "color")
DISTANCE = STAGES.index("distance")

NUDGE = 0.2  # pixels by which a shape is moved to see which pixels notice
NOTICED = 1e-4  # change of α from which a pixel counts as having noticed

CROWD, CROWD_SIZE = 1000, (144, 96)
CROWD_AT = (0, 1, 3, 10, 30, 100, 300)  # iterations after which the thousand are drawn
PHOTOGRAPH = "coffee"
SHRUNK = 0.625  # the photograph is drawn smaller than it was fitted, so that the page stays light
PHOTOGRAPH_COUNTS = (1, 3, 10, 30, 100, 300, 1000, 2048)
EDGE = 48  # of 255: how far two neighbouring pixels part at what is counted as an edge


class Numbers(param.List):
    """The nine raw values of a Gaussian, in the order of `parameters.DIRECT`, each within LOW … HIGH."""

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        if any(isinstance(number, bool) or not isinstance(number, int | float) for number in val):
            raise ValueError("Each of the nine is a number.")
        if not all(low <= number <= high for low, number, high in zip(LOW, val, HIGH, strict=True)):
            raise ValueError("A number lies outside its range.")


class Pixel(param.List):
    """[x, y] of a pixel of the picture."""

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        if not all(isinstance(n, int) and 0 <= n < most for n, most in zip(val, (WIDTH, HEIGHT), strict=True)):
            raise ValueError("No such pixel.")


class Seen(TypedDict):
    """What the kernel finds out about the recorded pixel."""

    size: list[float]  # of the Gaussian, in pixels, along its two axes
    opacity: float
    offset: list[float]  # from the centre, in pixels
    turned: list[float]  # the same along the ellipse's axes
    scaled: list[float]  # the same in sizes
    distance: float  # in sizes
    falloff: float
    alpha: float
    layer: float  # alpha by the program's own function
    light: float  # the share of white paper that still shows
    color: list[float]  # r, g, b over white


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    size: list[int]  # of the picture: width, height
    pixel: list[int]  # the recorded one: x, y
    numbers: list[float]  # the nine raw values
    ranges: list[list[float]]  # [number]: the lowest and the highest
    thinnest: float  # what the kernel adds to each size, in pixels
    picture: str  # RGB bytes in base 64
    dots: list[list[float]]  # [pixel of the picture]: distance, fall-off, alpha
    seen: Seen
    ends: list[int]  # [stage]: the step that ends it


NUMBERS = [25.0, 19.0, 2.4, 1.4, 0.5, 0.9, 0.3, 0.1, 1.5]


def published_numbers() -> tuple[list[float], ...]:
    """Return the numbers of a published book: each of the nine at five places of its range, the others as they are."""
    steps = [
        (low + (high - low) * part, i)
        for i, (low, high) in enumerate(zip(LOW, HIGH, strict=True))
        for part in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    return tuple([*NUMBERS[:i], round(value, 2), *NUMBERS[i + 1 :]] for value, i in steps)


class Gaussian(Lesson):
    """One Gaussian over a small picture. One pixel is recorded."""

    numbers = Numbers(
        default=NUMBERS,
        bounds=(FIELDS, FIELDS),
        label="Nine numbers",
        doc="nine numbers: x, y, two log sizes, an angle, red, green, blue, the logit of the opacity",
    )
    pixel = Pixel(default=[34, 21], bounds=(2, 2), item_type=int, label="Pixel", doc=f"x below {WIDTH} and y below {HEIGHT}")

    from_pixel: ClassVar = ()
    unit: ClassVar[str] = "line of the kernel"
    grid: ClassVar = {
        "numbers": published_numbers(),
        "pixel": ([2, 2], [16, 19], [25, 8], [25, 19], [25, 30], [28, 20], [40, 24], [48, 30]),
    }

    def take(self, seen: SeenPixel) -> None:
        """Take the Gaussian with the largest share of a pixel, and place the two on both sides of the figure's middle."""
        super().take(seen)
        away = seen.raw(seen.largest(1))[POSITION, 0] - seen.at
        self.pixel = [int(np.clip((size - far) // 2, 0, size - 1)) for size, far in zip((WIDTH, HEIGHT), away, strict=True)]

    def raw(self) -> np.ndarray:
        """Return the raw values of the Gaussian: (9, 1) float32."""
        if self.seen is None:
            return raw(self.numbers)
        (x, y), (across, down) = self.seen.at, self.pixel
        return self.seen.raw(self.seen.largest(1), (x - across, y - down))

    def job(self) -> KernelJob:
        """Return the Gaussian over every pixel, a workgroup each; the chosen pixel's is recorded."""
        inputs = scene_inputs((WIDTH, HEIGHT), self.raw()) | {
            "picture": np.zeros((HEIGHT, WIDTH, 4), np.float32),
            "curve": np.zeros((HEIGHT, WIDTH, 4), np.float32),
        }
        x, y = self.pixel
        return self.kernel(entry="splatPixel", groups=(WIDTH, HEIGHT, 1), group=(x, y, 0), inputs=inputs, functions=("splatPixel",))

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Stop where the nine numbers are read, and at each value that the kernel makes of them."""
        return [int(query.steps(kind="value", name=name, function="splatPixel")[-1]) for name in STAGES]

    def opening(self, query: RecordingQuery) -> int:
        """Open where the pixel knows how far away the Gaussian is, and the bell curve is about to answer."""
        return self.stops(query)[DISTANCE + 1]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Say for each value what it is and where it comes from."""
        now = seen(query)
        first, second = now["size"]
        turned, scaled = (tuple(map(signed, now[name])) for name in ("turned", "scaled"))
        return [
            "The kernel reads nine numbers. They are all that is stored of this Gaussian.",
            f"The log sizes stand for {first:.1f} and {second:.1f} pixels, the last number for an opacity of {now['opacity']:.3f}.",
            f"The pixel lies {away(*now['offset'])}.",
            f"Along the ellipse's own axes, that is {turned[0]} pixels on the first and {turned[1]} on the second.",
            f"Divided by the sizes: {scaled[0]} and {scaled[1]}. So the pixel is {now['distance']:.2f} sizes from the centre.",
            f"{now['distance']:.2f} sizes from the centre, the bell curve {fallen(now['falloff'])}.",
            f"Opacity {now['opacity']:.3f} times fall-off {part(now['falloff'])}: "
            f"α, the share of this pixel that the Gaussian covers, is {part(now['alpha'])}.",
            f"`eval`, which the whole program uses, gets there by a shortcut: α = {part(now['layer'])}.",
            f"White paper keeps the other {part(now['light'])}. The pixel's red, green and blue are {rgb(now['color'])}.",
        ]

    def conclusion(self, query: RecordingQuery) -> str:
        """Say what the Gaussian does to this pixel, and to how many others."""
        changed = int((to_bytes(query.output("picture")[..., :3]) < 255).any(axis=2).sum())
        (x, y), share = self.pixel, part(seen(query)["alpha"])
        return (
            f"This Gaussian covers {share} of pixel ({x}, {y}) and changes {changed:,} of {WIDTH * HEIGHT:,} pixels. "
            "Nine numbers and one curve decide about each of them."
        )

    def legend(self, query: RecordingQuery) -> str:
        """Return how to read the Gaussian of a trained picture, which cannot be moved."""
        if self.seen is None:
            return ""
        return (
            "A *size* is half the way from its centre to its outline; the *bell curve* in the chart says how much of it is left at "
            "each distance. The figure opens where the pixel knows its distance. Choose another pixel in the picture.\n"
            "- :dash: the outline, two sizes from the centre\n- :line: all that is as far from the centre as the chosen pixel"
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the picture, the bell curve that its pixels lie on, and what the recorded pixel found."""
        curve = query.output("curve").reshape(-1, 4)[:, :3]
        near = curve[curve[:, 0] <= 4.0]
        near = near[np.argsort(near[:, 0], kind="stable")]
        every = np.unique(np.linspace(0, len(near) - 1, min(DOTS, len(near))).astype(int)) if len(near) else []
        return {
            "size": [WIDTH, HEIGHT],
            "pixel": list(self.pixel),
            "numbers": [float(number) for number in (self.numbers if self.seen is None else self.raw()[:, 0])],
            "ranges": [[low, high] for low, high in zip(LOW, HIGH, strict=True)],
            "thinnest": MIN_SIZE,
            "picture": base64.b64encode(to_bytes(query.output("picture")[..., :3]).tobytes()).decode(),
            "dots": [[round(float(x), 3) for x in near[i]] for i in every],
            "seen": seen(query),
            "ends": self.stops(query),
        }

    # Questions

    def reach(self, query: RecordingQuery) -> Answer:
        """Answer how many pixels of the picture the Gaussian changes."""
        distance = query.output("curve").reshape(-1, 4)[:, 0]
        changed = int((to_bytes(query.output("picture")[..., :3]) < 255).any(axis=2).sum())
        now, pixels = seen(query), WIDTH * HEIGHT
        question = (
            f"The figure's Gaussian has sizes of **{now['size'][0]:.1f}** and **{now['size'][1]:.1f}** pixels and an opacity of "
            f"**{now['opacity']:.0%}**. How many of the {pixels:,} pixels does it change on a screen with 256 levels per colour?"
        )
        misconceptions = (
            (int((distance <= 2).sum()), "That would be right if a Gaussian ended at its outline, two sizes from the centre."),
            (int((distance <= 1).sum()), "Those lie within one size, where the bell is still above 0.6. Most of it is outside."),
            (pixels, "In theory it reaches everywhere: the bell curve is never zero. A screen cannot show so little."),
        )
        because = "A pixel changes wherever α is enough to move a colour by one step, and that reaches far beyond the outline."
        return answer_among(
            question,
            f"{changed:,}",
            ((f"{count:,}", why) for count, why in misconceptions),
            len(query),
            because if changed else "The Gaussian is as white as the paper, or too faint: no colour moves by a step.",
        )

    def paper(self, query: RecordingQuery) -> Answer:
        """Answer how much of the paper would show through two such Gaussians at the recorded pixel, or at one that is half covered.

        Where the Gaussian covers nothing or all of the chosen pixel, there is nothing to ask.
        """
        now = seen(query)
        alpha, light, where = now["alpha"], now["light"], "the chosen pixel"
        if not 0.05 <= alpha <= 0.95:
            alphas = query.output("curve").reshape(-1, 4)[:, 2]
            y, x = divmod(int(np.argmin(np.abs(alphas - alphas.max() / 2))), WIDTH)
            alpha, where = float(alphas[y * WIDTH + x]), f"pixel ({x}, {y})"
            light = 1 - alpha
        question = (
            f"At {where} the Gaussian covers α = **{alpha:.2f}**. A second one, exactly like it, is laid over it. "
            "How much of the white paper still shows there?"
        )
        misconceptions = (
            (light, "That is what one of them leaves. The second one covers its share of that."),
            (max(0.0, 1 - 2 * alpha), "A Gaussian covers a share of what the other one leaves, not of the whole."),
            (alpha, "That is α, the share that one of them covers. The paper shows in the rest."),
            (1 - light * light, "That is what the two cover together. The paper shows in the rest."),
        )
        return answer_among(
            question,
            f"{light * light:.0%}",
            ((f"{share:.0%}", why) for share, why in misconceptions),
            0,  # the figure has one Gaussian
            f"The first leaves {light:.3f} of the paper, and the second leaves the same share of that: "
            f"{light:.3f}² ≈ {light * light:.3f}. Blending, the next page, shows such layers.",
        )

    # A claim

    def sharp(self, experiment: Experiment) -> Verdict:
        """Try whether Gaussians keep a photograph's edges: count its edges, and those of the picture that 2,048 Gaussians make."""
        drawn, photograph = (
            edges(picture) for picture in (paint_photograph(experiment, PHOTOGRAPH_COUNTS[-1]), photograph_itself())
        )
        ran = (
            f"pairs of neighbouring pixels of the cup that differ by more than {EDGE}\u00a0of\u00a0255\n"
            f"in the photograph **{photograph:,}**, in the picture of {PHOTOGRAPH_COUNTS[-1]:,} Gaussians **{drawn:,}**"
        )
        said = "A Gaussian can be thin, nearly opaque, and lie over others: then its flank makes an edge."
        if drawn > photograph:
            said += " The picture has more edges than the photograph: where few Gaussians stand for fine detail, their flanks show."
        return Verdict(drawn >= photograph / 2, ran, said)

    # What is tried

    @param.depends("numbers")
    def edge(self, experiment: Experiment) -> Pictures:
        """Show the Gaussian beside a disc with a hard edge, and which pixels notice when either moves a little."""
        before, after = (self._shapes(experiment, dx) for dx in (0.0, NUDGE))
        change = after - before
        pictures = []
        for shape, name in enumerate(("your Gaussian", "a disc with a hard edge")):
            moved = change[..., shape]
            most = float(np.abs(moved).max())
            count = int((np.abs(moved) > NOTICED).sum())
            caption = f"moved by {NUDGE} of a pixel: {count:,} pixels notice, by {most:.2g} at most"
            pictures.append(Picture(f"{name}: α", before[..., shape], low=0.0, high=1.0))
            pictures.append(Picture(caption, moved, low=-(most or 1.0), high=most or 1.0, signed=True))
        return Pictures(tuple(pictures))

    def _shapes(self, experiment: Experiment, dx: float) -> np.ndarray:
        """Return α of the Gaussian and of the disc, both moved to the right by `dx` pixels: (HEIGHT, WIDTH, 2) float32."""
        moved = self.raw()
        moved[0] += dx
        inputs = scene_inputs((WIDTH, HEIGHT), moved) | {"alphas": np.zeros((HEIGHT, WIDTH, 2), np.float32)}
        return experiment.run(self.kernel("shapes", entry="drawShapes", groups=(WIDTH, HEIGHT, 1), inputs=inputs))["alphas"]

    def ten(self, experiment: Experiment) -> Scenes:
        """Show a fish of ten Gaussians, one after the other, the farthest first."""
        scenes, words = [], []
        for count in range(1, len(FISH) + 1):
            name = FISH[-count][0]
            picture = paint(experiment, fish(count), FISH_SIZE)
            scenes.append(Pictures((Picture(f"{count} of {len(FISH)} Gaussians", to_bytes(picture)),)))
            words.append(f"{count} of {len(FISH)} Gaussians: {name}")
        return Scenes(tuple(scenes), tuple(words), first=len(FISH) - 1)

    def thousand(self, experiment: Experiment) -> Scenes:
        """Show a thousand random Gaussians, and what training makes of them, by iterations."""
        target = crop_picture((ASSETS / f"{PHOTOGRAPH}.jpg").read_bytes(), PHOTOGRAPH, *CROWD_SIZE).pixels
        settings = Settings(size=CROWD_SIZE[0], blobs=CROWD, iterations=CROWD_AT[-1], growth=False, seed=1)
        state = start_state(settings, target, PHOTOGRAPH)
        state.splats = AdamState.start(some_gaussians(CROWD, CROWD_SIZE, seed=1, spread=(1.0, 5.0)))
        trainer = Trainer(experiment.device, state)
        scenes, words = [], []
        for iterations in CROWD_AT:
            trainer.advance(iterations - trainer.state.step)
            look = trainer.look()
            wrong = float(np.abs(look.picture - target / 255).mean())
            pictures = Picture("the photograph", target), Picture(f"{CROWD:,} Gaussians", to_bytes(look.picture))
            scenes.append(Pictures(pictures))
            times = "1 time" if iterations == 1 else f"{iterations} times"
            moved = f"all moved {times}" if iterations else "thrown at random"
            words.append(f"{CROWD:,} Gaussians, {moved}: colours are off by {wrong:.0%} on average")
        return Scenes(tuple(scenes), tuple(words))

    def photograph(self, experiment: Experiment) -> Scenes:
        """Show the photograph by more and more of its Gaussians."""
        scenes, words = [], []
        for count in PHOTOGRAPH_COUNTS:
            name = "1 Gaussian" if count == 1 else f"{count:,} Gaussians"
            scenes.append(Pictures((Picture(name, paint_photograph(experiment, count)),)))
            words.append(f"{name}: {FIELDS * count:,} numbers")
        photograph = photograph_itself()
        scenes.append(Pictures((Picture("the photograph", photograph),)))
        words.append(f"the photograph itself: {photograph.size:,} numbers")
        return Scenes(tuple(scenes), tuple(words), first=PHOTOGRAPH_COUNTS.index(300))  # not yet a cup: the rest is the reader's


def raw(numbers: list[float]) -> np.ndarray:
    """Return one Gaussian's nine raw values as the kernels read them: (9, 1) float32."""
    return np.array(numbers, np.float32).reshape(FIELDS, 1)


def seen(query: RecordingQuery) -> Seen:
    """Return what the kernel found out about the recorded pixel."""

    def of(name: str) -> np.ndarray:
        return np.asarray(query.values(query.steps(kind="value", name=name, function="splatPixel")[-1:])[0], float)

    return {
        "size": of("size").tolist(),
        "opacity": float(of("opacity")),
        "offset": of("offset").tolist(),
        "turned": of("turned").tolist(),
        "scaled": of("scaled").tolist(),
        "distance": float(of("distance")),
        "falloff": float(of("falloff")),
        "alpha": float(of("alpha")),
        "layer": float(of("layer")[3]),
        "light": float(of("pixel")[3]),
        "color": of("color")[:3].tolist(),
    }


def away(right: float, below: float) -> str:
    """Return where a pixel is, seen from the centre, in words."""
    x, y = round(right, 1), round(below, 1)
    across = f"{abs(x):.1f} pixels to the {'right' if x > 0 else 'left'} of the centre"
    down = f"{abs(y):.1f} {'below' if y > 0 else 'above'}"
    if x and y:
        return f"{across} and {down} it"
    if y:
        return f"{abs(y):.1f} pixels {'below' if y > 0 else 'above'} the centre"
    return across if x else "in the centre"


def signed(number: float) -> str:
    """Return a number with two digits and a true minus sign; never −0.00."""
    return f"{round(number, 2) + 0.0:.2f}".replace("-", "−")


def part(share: float) -> str:
    """Return a share from 0 to 1 with three digits; a small one is not said to be none."""
    if not share:
        return "0"
    return "less than 0.001" if share < 0.0005 else f"{share:.3f}"


def fallen(falloff: float) -> str:
    """Return how far the bell curve has fallen, in words."""
    share = part(falloff)
    return "is still at its top, 1" if share == "1.000" else f"has fallen from 1 to {share}"


def rgb(color: Iterable[float]) -> str:
    """Return a colour as three numbers with two digits."""
    return ", ".join(f"{part:.2f}" for part in color)


def paint(experiment: Experiment, values: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return the picture of these Gaussians over white, by the kernel that draws on the training page: (h, w, 3) float32."""
    width, height = size
    groups = -(-width // 8), -(-height // 4), 1
    inputs = scene_inputs(size, values) | {
        "targetBuffer": np.ones((height, width, 4), np.float32),
        "outputBuffer": np.zeros((height, width, 4), np.float32),
        "listLength": np.zeros(groups[0] * groups[1], np.uint32),
    }
    job = Lesson.shader("training.slang", entry="imageMain", inputs=inputs, groups=groups)
    return experiment.run(job)["outputBuffer"][..., :3]


def paint_photograph(experiment: Experiment, count: int) -> np.ndarray:
    """Return the nearest `count` Gaussians of the photograph at SHRUNK of its size: (h, w, 3) uint8."""
    whole = Thumbnail.load(ASSETS / f"{PHOTOGRAPH}.npz")
    values = zoomed(whole.raw[:, :count], (0, 0), SHRUNK)
    return to_bytes(paint(experiment, values, (int(SHRUNK * whole.width), int(SHRUNK * whole.height))))


def photograph_itself() -> np.ndarray:
    """Return the photograph at the size of `paint_photograph`: (h, w, 3) uint8."""
    whole = Thumbnail.load(ASSETS / f"{PHOTOGRAPH}.npz")
    file = ASSETS / f"{PHOTOGRAPH}.jpg"
    return crop_picture(file.read_bytes(), file.name, int(SHRUNK * whole.width), int(SHRUNK * whole.height)).pixels


def edges(picture: np.ndarray) -> int:
    """Return how many pairs of neighbouring pixels are more than EDGE of 255 apart in some colour."""
    steps = (np.abs(np.diff(picture.astype(int), axis=axis)).max(axis=2) for axis in (0, 1))
    return int(sum((step > EDGE).sum() for step in steps))
