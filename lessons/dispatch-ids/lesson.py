"""The model of the section on threads and pixels."""

import time
from typing import Any, ClassVar, TypedDict

import numpy as np
import param
import slangpy as spy
from slangpy.slangpy import Shape

from splatscope.splat.files.images import to_bytes
from splatscope.splat.scenes import gaussians, scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import FigureSpec, Lesson
from splatscope.textbook.numbers import number
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Bars, Picture, Pictures, Several, Table, Verdict
from splatscope.tracing.job import KernelJob

WIDTH, HEIGHT = 16, 8
TILE = (8, 4)
GROUPS = 4
LANES = WIDTH * HEIGHT // GROUPS
ENTRIES = {"in a row": "inARow", "from a list": "fromAList", "by shape": "byShape"}
SAID = {"in a row": "in a row", "from a list": "from the sample's list", "by shape": "by shape"}
SCENE = gaussians(
    [(3, 2), (11, 2.5), (7, 4), (12.5, 6), (2, 6), (8, 1)],
    [(2.2, 1.2), (1.6, 1.6), (3.5, 1.4), (2.0, 1.0), (1.5, 1.5), (5.0, 2.5)],
    [0.4, 0.0, -0.5, 0.2, 0.0, 0.0],
    [(0.9, 0.35, 0.1), (0.1, 0.45, 0.75), (0.95, 0.75, 0.2), (0.0, 0.55, 0.4), (0.6, 0.3, 0.6), (0.85, 0.85, 0.8)],
    [0.8, 0.8, 0.6, 0.8, 0.7, 0.5],
)


class Facts(TypedDict):
    """What the drawing knows of the recording. Pixels are row by row."""

    width: int
    height: int
    wave: int  # threads in a wave
    owner: list[int]  # [pixel]: its thread, counted through all workgroups
    group: int  # the recorded one
    drawn: list[int]  # pixels in the order in which the recorded workgroup drew them
    steps: list[int]  # when it drew each
    found: list[int]  # [thread]: when it knew its pixel
    picture: list[list[float]]  # [pixel]: red, green and blue, once all workgroups have drawn


class DispatchIds(Lesson):
    """One small picture, and who draws which of its pixels."""

    arrangement = param.Selector(default="in a row", objects=list(ENTRIES), label="How a thread finds its pixel")
    group = param.Selector(default=0, objects=list(range(GROUPS)), label="Workgroup that is recorded")

    unit: ClassVar[str] = "wave"
    figure: ClassVar[FigureSpec] = FigureSpec(control="arrangement", lockstep=True)

    def job(self) -> KernelJob:
        """Return the picture in the chosen arrangement; the chosen workgroup is recorded."""
        return self.draw(self.arrangement, int(self.group))

    def draw(self, arrangement: str, group: int = 0) -> KernelJob:
        """Return the kernel that draws the picture in this arrangement and records this workgroup."""
        across = WIDTH // TILE[0]
        shaped = arrangement == "by shape"
        return self.kernel(
            entry=ENTRIES[arrangement],
            groups=(across, GROUPS // across, 1) if shaped else (GROUPS, 1, 1),
            group=(group % across, group // across, 0) if shaped else (group, 0, 0),
            inputs=self.inputs(),
            functions=(ENTRIES[arrangement], "draw"),
        )

    def inputs(self) -> dict[str, np.ndarray | np.generic]:
        """Return the inputs of the page's kernels."""
        return scene_inputs((WIDTH, HEIGHT), SCENE) | {
            "picture": np.zeros((HEIGHT, WIDTH, 4), np.float32),
            "owner": np.zeros((HEIGHT, WIDTH), np.uint32),
            "ids": calcCompressedDispatchIDs(WIDTH, HEIGHT, *TILE),
            "gradients": np.zeros((HEIGHT, WIDTH), np.float32),
        }

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which all threads of a wave know their pixels, and those at which all have drawn them."""
        return [step for step, _, _ in moments(query)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the step at which the first wave has drawn its pixels."""
        return next(step for step, _, drew in moments(query) if drew)

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return what a wave's threads have found, or drawn, at each stop."""
        owner, group = query.output("owner"), int(self.group)
        said, done = [], 0
        for _, wave, drew in moments(query):
            first, last = wave.min(), wave.max()
            if drew:
                done += len(wave)
                said.append(f"Threads {first} to {last} have drawn their pixels: {done} of the workgroup's {LANES} have a colour.")
                continue
            rows, columns = np.nonzero((owner // LANES == group) & np.isin(owner % LANES, wave))
            where = f"{span('row', rows)}, {span('column', columns)}"
            low, high = group * LANES + first, group * LANES + last
            how = {
                "in a row": f"divide their numbers, {low} to {high}, by {WIDTH}",
                "from a list": f"look up places {low} to {high} of the list",
                "by shape": "are given their pixels by the device",
            }[self.arrangement]
            said.append(f"Threads {first} to {last} {how}: {where}.")
        return said

    def conclusion(self, query: RecordingQuery) -> str:
        """Say that each pixel was drawn, and by a workgroup of which shape."""
        rows, columns = np.nonzero(query.output("owner") // LANES == int(self.group))
        high, wide = (int(np.ptp(places)) + 1 for places in (rows, columns))
        return (
            f"Workgroup {self.group} has drawn {len(rows)} of the {WIDTH * HEIGHT} pixels, each once, in a block of {wide} × "
            f"{high}. Its outline is {2 * (wide + high)} long: the shorter it is, the fewer Gaussians touch the workgroup."
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return which thread owns each pixel, and when the recorded ones found and drew theirs."""
        writes, found = query.steps(kind="write", name="picture"), finds(query)
        known = np.zeros(LANES, np.int64)
        known[query.threads(found)] = found
        return {
            "width": WIDTH,
            "height": HEIGHT,
            "wave": wave_of(query),
            "owner": query.output("owner").ravel().tolist(),
            "group": int(self.group),
            "drawn": query.indices(writes).tolist(),
            "steps": writes.tolist(),
            "found": known.tolist(),
            "picture": np.round(query.output("picture")[..., :3].reshape(-1, 3).astype(float), 3).tolist(),
        }

    # Questions

    def owner(self, query: RecordingQuery) -> Answer:
        """Answer which workgroup draws the pixel at the top right."""
        number = int(query.output("owner")[0, WIDTH - 1])
        group = number // LANES
        wrong = {
            "0": "0 would be right if the first workgroup took the whole first row, as it does when the threads go in a row.",
            "1": "1 would be right if tiles were counted along the rows, as the dispatch by shape counts them.",
            "2": "2 would be right if tiles were counted down the columns, as the sample's list counts them.",
            "3": "3 is the last workgroup. It draws the pixel at the bottom right in all three arrangements.",
        }
        return Answer(
            str(group),
            tuple(str(i) for i in range(GROUPS)),
            0,
            f"Pixel ({WIDTH - 1}, 0) is drawn by thread {number % LANES} of workgroup {group}.",
            wrong={option: why for option, why in wrong.items() if option != str(group)},
            question=(
                f"{WIDTH} × {HEIGHT} pixels, four workgroups of {LANES} threads, pixels found {SAID[self.arrangement]}: "
                "which workgroup draws the pixel in the last column of the first row?"
            ),
        )

    # Claims

    def one_dimension(self, experiment: Experiment) -> Verdict:
        """Try whether a functional call can have groups of a shape: the difference of both pictures."""
        module = self.module(experiment)
        shaped = module.shade.call_group_shape(Shape((TILE[1], TILE[0])))
        picture = shaped(spy.grid((HEIGHT, WIDTH)), 1.0, _result="numpy")
        raw = experiment.run(self.draw("by shape"))["picture"]
        difference = float(np.abs(picture - raw).max())
        same = f"is off by up to **{number(difference, 2)}**" if difference else "is the **same**, to the last bit"
        ran = f"a call with `call_group_shape` {TILE[1]} × {TILE[0]}:\nbeside the kernel's picture, its own {same}"
        return Verdict(
            difference > 1e-5, ran, "That was so when the post was written. Today a call's workgroups can be given a shape."
        )

    # Tried out

    def same_picture(self, experiment: Experiment) -> Several:
        """Show the picture and its workgroups in all three arrangements."""
        drawn = {arrangement: experiment.run(self.draw(arrangement)) for arrangement in ENTRIES}
        pictures = tuple(Picture(f"{name}: the picture", to_bytes(out["picture"][..., :3])) for name, out in drawn.items())
        owners = tuple(
            Picture(f"{name}: the workgroup of each pixel", out["owner"] // LANES, low=0, high=GROUPS - 1)
            for name, out in drawn.items()
        )
        return Several((Pictures(pictures), Pictures(owners)))

    def listed(self, experiment: Experiment) -> Table:
        """Show some entries of the list, and which pixel the kernel drew for each."""
        ids = calcCompressedDispatchIDs(WIDTH, HEIGHT, *TILE)
        owner = experiment.run(self.draw("from a list"))["owner"]
        rows = []
        for thread in (0, 1, 3, 4, 31, 32, 64, 127):
            y, x = np.argwhere(owner == thread)[0]
            listed = f"({ids[thread][0]}, {ids[thread][1]})"
            rows.append((str(thread), str(thread // LANES), str(thread % LANES), listed, f"({x}, {y})"))
        return Table(("number", "workgroup", "thread in it", "`ids[number]`", "pixel it drew"), tuple(rows))

    def functional(self, experiment: Experiment) -> Table:
        """Show picture, gradient and time of three functional calls beside the kernel's."""
        raw = experiment.run(self.draw("by shape"))["picture"]
        by_hand = float(experiment.run(self.kernel(entry="gradient", groups=(2, 2, 1), inputs=self.inputs()))["gradients"].sum())
        rows = [
            (
                "the kernel, dispatched by hand",
                "0",
                number(by_hand, 6),
                f"{1e6 * experiment.seconds(self.draw('by shape')):.0f}\u2009µs",
            )
        ]
        ids = calcCompressedDispatchIDs(WIDTH, HEIGHT, *TILE)
        for name, (picture, gradient, seconds) in functional_calls(self.module(experiment), ids).items():
            rows.append((name, number(np.abs(picture - raw).max(), 2), number(gradient, 6), f"{1e6 * seconds:.0f}\u2009µs"))
        return Table(("call", "largest difference", "gradient", "time of a call, Python's share included"), tuple(rows))

    def list_lengths(self, experiment: Experiment) -> Bars:
        """Show the mean length of a tile's list by the tile's shape, for tiles of 32 pixels."""
        raw = some_gaussians(300, (64, 64), seed=4, spread=(0.8, 2.5))
        labels, means = [], []
        for width, height in ((8, 4), (4, 8), (16, 2), (32, 1)):
            tiles = 64 * 64 // 32
            inputs = scene_inputs((64, 64), raw) | {
                "lengths": np.zeros(tiles, np.uint32),
                "tileSize": np.array((width, height), np.uint32),
            }
            lengths = experiment.run(self.kernel("lists", entry="countLists", groups=(tiles // 32, 1, 1), inputs=inputs))["lengths"]
            labels.append(f"{width} × {height}")
            means.append(float(lengths.mean()))
        return Bars(tuple(labels), tuple(means), tuple(f"{mean:.1f} Gaussians" for mean in means))

    def waves(self, experiment: Experiment) -> Table:
        """Show how many threads a wave of this device has, and how many waves a workgroup."""
        adapter = experiment.adapter
        wave = adapter.wave_size
        rows = (
            ("this device", adapter.short_name),
            ("threads in a wave", str(wave)),
            ("waves in a workgroup of 32", str(-(-32 // wave))),
        )
        return Table(("", ""), rows)

    def module(self, experiment: Experiment) -> Any:
        """Return the page's kernel as a module whose functions Python can call, its Gaussians bound."""
        module = spy.Module.load_from_source(experiment.device, "dispatch_ids", self.source())
        raw = np.asarray(self.inputs()["blobsBuffer"])
        blobs = experiment.device.create_buffer(usage=spy.BufferUsage.unordered_access, data=raw, struct_size=4)
        values = {"size": spy.uint2(WIDTH, HEIGHT), "blobCount": SCENE.shape[1], "maxWeight": 0.99, "sampleBackground": 0}
        module.shade = module.shade.set({"scene": values, "blobsBuffer": blobs})
        return module


# Named as in the sample, whose post prints it.
def calcCompressedDispatchIDs(x_max: int, y_max: int, wg_x: int, wg_y: int) -> np.ndarray:
    """Return the pixel of each thread, workgroup by workgroup: (x_max · y_max, 2) uint32."""

    def grid(across: int, down: int) -> np.ndarray:
        """Return every (x, y) with x < across, y < down."""
        return np.stack(np.meshgrid(np.arange(across), np.arange(down), indexing="ij"), axis=-1)

    groups, places = grid(x_max // wg_x, y_max // wg_y), grid(wg_x, wg_y)
    pixels = groups[:, :, None, None] * (wg_x, wg_y) + places
    return pixels.reshape(-1, 2).astype(np.uint32)


def wave_of(query: RecordingQuery) -> int:
    """Return how many of the workgroup's threads make a wave."""
    return min(LANES, int(query.recording.trace.info.wave_size))


def finds(query: RecordingQuery) -> np.ndarray:
    """Return the step at which each thread knows its pixel, in the device's order."""
    return query.steps(kind="value", name="pixel", function=query.job.entry)


def moments(query: RecordingQuery) -> list[tuple[int, np.ndarray, bool]]:
    """Return the stops: the step, the threads of the wave, and whether they have drawn or only found their pixels.

    In lockstep threads do a line one after the other, so a wave has done it with its last thread.
    """
    found = []
    for drew, steps in ((False, finds(query)), (True, query.steps(kind="write", name="picture"))):
        threads = query.threads(steps)
        waves = threads // wave_of(query)
        found += [
            (int(steps[threads == threads[waves == wave].max()][-1]), threads[waves == wave], drew) for wave in np.unique(waves)
        ]
    return found


def span(name: str, numbers: np.ndarray) -> str:
    """Return a range of numbers as text: "row 3", "rows 0 to 3"."""
    low, high = int(numbers.min()), int(numbers.max())
    return f"{name} {low}" if low == high else f"{name}s {low} to {high}"


def functional_calls(module: Any, ids: np.ndarray) -> dict[str, tuple[np.ndarray, float, float]]:
    """Call `shade` three ways and return for each the picture, the gradient by the gain, and the seconds of a call."""
    device, found = module.device, {}
    listed = spy.Tensor.empty(device, Shape((len(ids),)), "uint2")
    listed.copy_from_numpy(ids)
    grid, tiles = spy.grid((HEIGHT, WIDTH)), module.shade.call_group_shape(Shape((TILE[1], TILE[0])))
    ways = {
        "a grid": (module.shade, grid, (HEIGHT, WIDTH)),
        "the sample's list of ids": (module.shade, listed, (len(ids),)),
        f"a grid, in workgroups of {TILE[1]} × {TILE[0]}": (tiles, grid, (HEIGHT, WIDTH)),
    }
    for name, (shade, pixels, shape) in ways.items():
        picture, gradient = shade_and_differentiate(device, shade, pixels, shape)
        if pixels is listed:
            unlisted = np.zeros((HEIGHT, WIDTH, 4), np.float32)
            unlisted[ids[:, 1], ids[:, 0]] = picture
            picture = unlisted
        output, began = spy.Tensor.empty(device, Shape(shape), "float4"), time.perf_counter()
        for _ in range(20):
            shade(pixels, 1.0, _result=output)
        device.wait()
        found[name] = picture, gradient, (time.perf_counter() - began) / 20
    return found


def shade_and_differentiate(device: spy.Device, shade: Any, pixels: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, float]:
    """Call `shade` for these pixels, then its derivative; return the picture, and the gradient by the gain."""
    gain = spy.Tensor.empty(device, Shape((1,)), "float").with_grads(zero=True)
    gain.copy_from_numpy(np.ones(1, np.float32))
    picture = spy.Tensor.empty(device, Shape(shape), "float4").with_grads(zero=True)
    picture.grad.copy_from_numpy(np.ones((*shape, 4), np.float32))
    shade(pixels, gain, _result=picture)
    shade.bwds(pixels, gain, picture)
    return picture.to_numpy(), float(gain.grad.to_numpy()[0])
