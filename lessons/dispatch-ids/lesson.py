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
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Bars, Picture, Pictures, Several, Table, Verdict
from splatscope.tracing.job import KernelJob

WIDTH, HEIGHT = 16, 8
TILE = (8, 4)
GROUPS = 4
ENTRIES = {"in a row": "inARow", "from a list": "fromAList", "by shape": "byShape"}
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
    owner: list[int]  # [pixel]: its thread, counted through all workgroups
    group: int  # the recorded one
    drawn: list[int]  # pixels in the order in which the recorded workgroup drew them
    steps: list[int]  # when it drew each


class DispatchIds(Lesson):
    """One small picture, and who draws which of its pixels."""

    arrangement = param.Selector(default="by shape", objects=list(ENTRIES), label="A thread finds its pixel")
    group = param.Selector(default=0, objects=list(range(GROUPS)), label="Recorded workgroup")

    unit: ClassVar[str] = "event"
    figure: ClassVar[FigureSpec] = FigureSpec(options={"picture": "picture"}, thread=9)

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
            functions=("inARow", "fromAList", "byShape", "draw", "countNear"),
        )

    def inputs(self) -> dict[str, np.ndarray]:
        """Return the inputs of the page's kernels."""
        return scene_inputs((WIDTH, HEIGHT), SCENE) | {
            "picture": np.zeros((HEIGHT, WIDTH, 4), np.float32),
            "owner": np.zeros((HEIGHT, WIDTH), np.uint32),
            "ids": listed_ids(),
            "gradients": np.zeros((HEIGHT, WIDTH), np.float32),
        }

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which a thread has drawn its pixel."""
        drawn = query.steps(kind="write", name="owner")
        return [int(step) for step in drawn]

    def facts(self, query: RecordingQuery) -> Facts:
        """Return which thread owns each pixel, and when the recorded ones were drawn."""
        owner = query.output("owner")
        return {
            "width": WIDTH,
            "height": HEIGHT,
            "owner": owner.ravel().tolist(),
            "group": int(self.group),
            "drawn": query.indices(query.steps(kind="write", name="owner")).tolist(),
            "steps": query.steps(kind="write", name="owner").tolist(),
        }

    # Questions

    def owner(self, query: RecordingQuery) -> Answer:
        """Answer which workgroup draws the pixel at the top right."""
        number = int(query.output("owner")[0, WIDTH - 1])
        group = number // 32
        because = f"Pixel ({WIDTH - 1}, 0) is drawn by thread {number % 32} of workgroup {group}."
        return Answer(str(group), tuple(str(i) for i in range(GROUPS)), 0, because)

    # Claims

    def one_dimension(self, experiment: Experiment) -> Verdict:
        """Try whether a functional call can have groups of a shape: the difference of both pictures."""
        module = self.module(experiment)
        shaped = module.shade.call_group_shape(Shape((TILE[1], TILE[0])))
        picture = shaped(spy.grid((HEIGHT, WIDTH)), 1.0, _result="numpy")
        raw = experiment.run(self.draw("by shape"))["picture"]
        difference = float(np.abs(picture - raw).max())
        ran = f"call_group_shape of <b>{TILE[1]} × {TILE[0]}</b>:<br>the kernel's picture within <b>{difference:.2g}</b>"
        return Verdict(
            difference > 1e-5, ran, "That was so once. A call's groups can be shaped, and a kernel's dispatch always could."
        )

    # Tried out

    def same_picture(self, experiment: Experiment) -> Several:
        """Show the picture and its workgroups in all three arrangements."""
        drawn = {arrangement: experiment.run(self.draw(arrangement)) for arrangement in ENTRIES}
        pictures = tuple(Picture(f"{name}: the picture", to_bytes(out["picture"][..., :3])) for name, out in drawn.items())
        owners = tuple(Picture("whose pixel, by workgroup", out["owner"] // 32, low=0, high=GROUPS - 1) for out in drawn.values())
        return Several((Pictures(pictures), Pictures(owners)))

    def functional(self, experiment: Experiment) -> Table:
        """Show picture, gradient and time of three functional calls beside the kernel's."""
        raw = experiment.run(self.draw("by shape"))["picture"]
        by_hand = float(experiment.run(self.kernel(entry="gradient", groups=(2, 2, 1), inputs=self.inputs()))["gradients"].sum())
        rows = [
            ("the kernel written by hand", "0", f"{by_hand:.6g}", f"{1e6 * experiment.seconds(self.draw('by shape')):.0f}\u2009µs")
        ]
        for name, (picture, gradient, seconds) in functional_calls(self.module(experiment), listed_ids()).items():
            rows.append((name, f"{np.abs(picture - raw).max():.2g}", f"{gradient:.6g}", f"{1e6 * seconds:.0f}\u2009µs"))
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
        inputs = self.inputs()
        blobs = experiment.device.create_buffer(usage=spy.BufferUsage.unordered_access, data=inputs["blobsBuffer"], struct_size=4)
        values = {"size": spy.uint2(WIDTH, HEIGHT), "blobCount": SCENE.shape[1], "maxWeight": 0.99, "sampleBackground": 0}
        module.shade = module.shade.set({"scene": values, "blobsBuffer": blobs})
        return module


def listed_ids() -> np.ndarray:
    """Return a pixel for each thread, tile by tile, as a host would list them: (128, 2) uint32."""
    tiles = [(x, y) for y in range(0, HEIGHT, TILE[1]) for x in range(0, WIDTH, TILE[0])]
    places = [(x, y) for y in range(TILE[1]) for x in range(TILE[0])]
    return np.array([(tx + x, ty + y) for tx, ty in tiles for x, y in places], np.uint32)


def functional_calls(module: Any, ids: np.ndarray) -> dict[str, tuple[np.ndarray, float, float]]:
    """Call `shade` three ways and return for each the picture, the gradient by the gain, and the seconds of a call."""
    device, found = module.device, {}
    shade, grid, listed = module.shade, spy.grid((HEIGHT, WIDTH)), spy.Tensor.empty(module.device, (len(ids),), "uint2")
    listed.copy_from_numpy(ids)
    ways = {
        "a grid": (shade, grid),
        "ids in a tensor": (shade, listed),
        "a grid in groups of 4 × 8": (shade.call_group_shape(Shape((4, 8))), grid),
    }
    for name, (call, pixels) in ways.items():
        shape = (len(ids),) if pixels is listed else (HEIGHT, WIDTH)
        gain = spy.Tensor.empty(device, (1,), "float").with_grads(zero=True)
        gain.copy_from_numpy(np.ones(1, np.float32))
        output = spy.Tensor.empty(device, shape, "float4").with_grads(zero=True)
        output.grad.copy_from_numpy(np.ones((*shape, 4), np.float32))
        call(pixels, gain, _result=output)
        call.bwds(pixels, gain, output)
        picture = output.to_numpy()
        began = time.perf_counter()
        for _ in range(20):
            call(pixels, gain, _result=output)
        device.wait()
        seconds = (time.perf_counter() - began) / 20
        if pixels is listed:
            unlisted = np.zeros((HEIGHT, WIDTH, 4), np.float32)
            unlisted[ids[:, 1], ids[:, 0]] = picture
            picture = unlisted
        found[name] = picture, float(gain.grad.to_numpy()[0]), seconds
    return found
