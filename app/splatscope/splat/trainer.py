"""Train on a device: dispatch iterations in batches, and report on the state on request."""

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download
from splatscope.gpu.device import adapter_of
from splatscope.gpu.kernel import BoundKernel, is_refused, submit, submit_timed
from splatscope.splat import densify, kernels
from splatscope.splat.binned import BinnedKernels
from splatscope.splat.parameters import FIELDS
from splatscope.splat.sample_kernels import SIMPLE_SCALE, TiledKernels
from splatscope.splat.scenes import from_ellipses
from splatscope.splat.state import HISTORY, AdamState, TrainingState

# The target duration of a submission. Displays share the device, and some drivers reset it after two seconds.
_SUBMIT_SECONDS = 0.05
_MOST_PER_SUBMIT = 256
_MOST_PER_FIRST_SUBMIT = 16  # the device waits while the host encodes them


class UnsupportedDevice(ValueError):  # noqa: N818
    """The device lacks something that these kernels need; the message says what to choose instead."""


@dataclass(frozen=True)
class Look:
    """The measured state of a run.

    Attributes:
        iteration: The number of iterations done.
        seconds: The device time that they took.
        psnr: In dB, for the picture as a screen shows it.
        loss: The mean over pixels of the squared error summed over channels.
        picture: (H, W, 3) float32.
        error: (H, W) float32 in 0 … 1, the root mean square over channels.
        list_lengths: (rows, columns) uint32; empty for the simple kernels.
        tile: Width and height of a tile in pixels, and the capacity of its list.
        ellipses: (N, 10) float32, as describe.slang lays them out.
        kernel_ms: Milliseconds of each kernel's latest timed dispatch, by entry point.
    """

    iteration: int
    seconds: float
    psnr: float
    loss: float
    picture: np.ndarray
    error: np.ndarray
    list_lengths: np.ndarray
    tile: tuple[int, int, int]
    ellipses: np.ndarray
    kernel_ms: dict[str, float]

    @property
    def overflowed_tiles(self) -> int:
        """The number of tiles that are touched by more Gaussians than fit in their list."""
        return int((self.list_lengths > self.tile[2]).sum())


@dataclass(frozen=True)
class Snapshot:
    """A run at one point in time, measured. Nothing in it changes when the run goes on.

    Attributes:
        look: Its picture, and what was measured.
        state: The state from which it can go on.
        adapter: The device's name.
    """

    look: Look
    state: TrainingState
    adapter: str

    @property
    def raw(self) -> np.ndarray:
        """Raw values of the direct model, (9, N) float32: of a run with the sample's model, those of the same ellipses."""
        if self.state.settings.uses_sample_model:
            return from_ellipses(self.look.ellipses)
        return self.state.splats.raw


def psnr_of(error: float) -> float:
    """Return the PSNR, in dB, of a mean squared error of values in 0 … 1."""
    return float(-10.0 * np.log10(max(error, 1e-12)))


class Trainer:
    """A run on a device. The device holds the Gaussians; `save()` copies them back into `state`."""

    def __init__(self, device: spy.Device, state: TrainingState):
        self.device = device
        self.state = state
        self.run = kernels.make_buffers(device, state.settings, state.splats, state.target, state.pictures)
        binned = BinnedKernels(self.run) if state.settings.kernels == "binned" else None
        self.kernels = binned or TiledKernels(self.run)
        self._measure = kernels.measure(self.run)
        scale = {"SAMPLE_SCALE": SIMPLE_SCALE} if state.settings.kernels == "simple" else {}
        self._describe = kernels.describe(self.run, {"SAMPLE_MODEL": int(state.settings.uses_sample_model)} | scale)
        self.densifier = densify.Densifier(self.run, binned) if binned and state.settings.grows else None
        self._timestamps = device.create_query_pool(type=spy.QueryType.timestamp, count=32)
        self._per_submit = 1
        self.kernel_ms: dict[str, float] = {}  # milliseconds of each kernel's latest timed dispatch
        self._compile()
        self._begin()

    def advance(self, iterations: int, seconds: float = float("inf")) -> int:
        """Train for up to `iterations` more, or about `seconds` of device time, never past the end. Return how many were done."""
        state = self.state
        iterations = min(iterations, state.settings.iterations - state.step)
        if iterations <= 0:
            return 0
        started, done, left = time.perf_counter(), 0, seconds
        while done == 0 or (done < iterations and left > 0):
            stage = densify.next_stage(state.settings, state.step)
            done += self._train(min(iterations - done, (stage or state.settings.iterations) - state.step), left)
            if state.step == stage:
                self._add_gaussians()
            left = seconds - (time.perf_counter() - started)
        state.seconds += time.perf_counter() - started
        return done

    def _train(self, iterations: int, seconds: float) -> int:
        """Train for up to `iterations` more or about `seconds`, at least one iteration. Return how many were done."""
        # The first iteration is submitted alone, so that each of its kernels can be timed.
        started = last = time.perf_counter()
        self._submit(list(self._steps(1)))
        fitting = int(_SUBMIT_SECONDS / (time.perf_counter() - last))
        self._per_submit = max(self._per_submit, min(fitting, _MOST_PER_FIRST_SUBMIT))
        done, under_way = 1, None
        while done < iterations and time.perf_counter() - started < seconds:
            count = min(self._per_submit, iterations - done)
            submitted = submit(self.device, self._steps(count))
            done += count
            if under_way is not None:  # keep one submission queued behind the one that is running
                self.device.wait_for_submit(under_way)
                now = time.perf_counter()
                self._pace(now - last)
                last = now
            under_way = submitted
        self.device.wait()
        self.kernels.grow()
        return done

    def _add_gaussians(self) -> None:
        """Add Gaussians where the current picture is wrong."""
        assert self.densifier is not None  # `next_stage` names no iteration if nothing grows
        self._draw()
        self.densifier.add(self.state.step, self.state.generator)
        self._begin()

    def _begin(self) -> None:
        self._submit(self.kernels.begin())
        self.kernels.grow()

    def _draw(self) -> None:
        """Draw and measure the run. Submit `kernels.begin()` before the next iteration."""
        self._submit(drawing := [*self.kernels.drawing, self._measure, self._describe])
        if self.kernels.grow():
            self._submit(self.kernels.begin())
            self._submit(drawing)

    def _error(self) -> np.ndarray:
        return download(self.run.error_map, np.float32, (self.run.height, self.run.width))

    def look(self) -> Look:
        """Draw the picture, measure it, and append the result to the run's history."""
        run, state = self.run, self.state
        self._draw()
        list_lengths = self.kernels.list_lengths()
        self._submit(self.kernels.begin())
        loss, visible = (error / (run.width * run.height) for error in kernels.errors(run).sum(axis=0))
        psnr = psnr_of(visible / 3.0)
        self._remember(psnr, loss)
        return Look(
            iteration=state.step,
            seconds=state.seconds,
            psnr=psnr,
            loss=loss,
            picture=download(run.picture, np.float32, (run.height, run.width, 4))[..., :3],
            error=self._error(),
            list_lengths=list_lengths,
            tile=self.kernels.tile,
            ellipses=download(run.ellipses, np.float32, (state.settings.blobs, kernels.ELLIPSE_FLOATS)),
            kernel_ms=dict(self.kernel_ms),
        )

    def save(self) -> TrainingState:
        """Copy the Gaussians and their moments from the device into `state`, bit for bit, and return it."""
        shape = (FIELDS, self.state.settings.blobs)
        buffers = (self.run.raw, self.run.first_moment, self.run.second_moment)
        self.state.splats = AdamState(*(download(buffer, np.float32, shape) for buffer in buffers))
        return self.state

    def snapshot(self) -> Snapshot:
        """Look at the run, and copy its state."""
        look, state = self.look(), self.save()
        copied = replace(state, settings=state.settings.copy(), generator=copy.deepcopy(state.generator))
        return Snapshot(look, copied, adapter_of(self.device).name)

    def _pace(self, elapsed: float) -> None:
        """Adapt the duration of submissions after one that took `elapsed` seconds."""
        if elapsed < _SUBMIT_SECONDS:
            self._per_submit = min(2 * self._per_submit, _MOST_PER_SUBMIT)
        elif elapsed > 2 * _SUBMIT_SECONDS:
            self._per_submit = max(self._per_submit // 2, 1)

    def _steps(self, count: int) -> Iterator[BoundKernel]:
        """Return the kernels of the next `count` iterations, in order."""
        first = self.state.step + 1
        self.state.step += count
        return self.kernels.steps(first, count)

    def _submit(self, sequence: list[BoundKernel]) -> None:
        """Submit kernels, wait for them, and record how long each took."""
        if not sequence:
            return
        seconds = submit_timed(self.device, sequence, self._timestamps)
        self.kernel_ms |= {bound.kernel.name: 1e3 * took for bound, took in zip(sequence, seconds, strict=True)}

    def _compile(self) -> None:
        """Run one workgroup of every kernel with no Gaussians.

        Drivers compile a kernel at its first dispatch, which must not count as training time. This changes only buffers that
        are overwritten before they are read.

        Raises:
            UnsupportedDevice: The driver refuses a kernel.
        """
        densifying = self.densifier.bounds if self.densifier else []
        with_scene = [*self.kernels.bounds, *densifying, self._describe]
        for bound in with_scene:
            bound.set(scene=self.run.scene | {"blobCount": 0})
        try:
            self._submit([replace(bound, groups=spy.uint3(1, 1, 1)) for bound in (*with_scene, self._measure)])
        except RuntimeError as error:
            if not is_refused(error):
                raise
            kind, count = self.state.settings.kernels, self.state.settings.blobs
            instead = "choose the tiled ones" if kind == "binned" else "choose fewer of them"  # fewer need less private memory
            raise UnsupportedDevice(f"The device's driver refuses {kind} kernels for {count:,} Gaussians: {instead}.") from None
        for bound in with_scene:
            bound.set(scene=self.run.scene)
        self.kernel_ms.clear()

    def _remember(self, psnr: float, loss: float) -> None:
        row = np.array([(self.state.step, self.state.seconds, psnr, loss)], HISTORY)
        history = self.state.history
        if len(history) and history[-1]["iteration"] == self.state.step:
            history = history[:-1]
        self.state.history = np.concatenate([history, row])
