"""The comparison on the training page: what one iteration costs with each kind of kernels, and why the next is faster."""

from __future__ import annotations

from typing import Any, TypedDict

import param

from splatscope.gpu.device import DeviceError
from splatscope.services.kernel_comparison import CountedTiming, TimingComparison, compare_kernels, shipped_comparison
from splatscope.splat.trainer import UnsupportedDevice
from splatscope.textbook.numbers import number
from splatscope.web.background import BackgroundTask
from splatscope.web.runtime.component import Component, Typed
from splatscope.web.runtime.receivers import receives
from splatscope.workers import worker_pool
from splatscope.workers.errors import WorkerError

TITLES = {
    "simple": "Every Gaussian for every pixel",
    "tiled": "A list for each tile",
    "binned": "Each Gaussian finds its tiles",
}
COUNTED = (
    ("tests", "(tile, Gaussian) tests", "Does this Gaussian touch that tile?"),
    ("listed", "(tile, Gaussian) pairs listed", "The total length of all lists."),
    ("reads", "Gaussians decoded", "From nine raw values to centre, shape, colour and opacity, each time by one thread."),
    ("forward", "(pixel, Gaussian) pairs, forward", "Evaluated in the forward pass."),
    ("backward", "(pixel, Gaussian) pairs, backward", "Evaluated in the backward pass."),
    ("atomics", "atomic additions", "To the buffer of gradients that all workgroups share."),
    ("tries", "compare-and-swaps for them", "One that finds an unexpected value is tried again."),
)


class Rung(TypedDict):
    """A kind of kernels.

    Attributes:
        ms: Milliseconds per iteration.
        gain: How many times faster than the previous kind; 0 for the first.
        kernels: The name and the milliseconds of each.
        counts: What was counted, an explanation, and the number.
    """

    name: str
    title: str
    why: str
    ms: float
    gain: float
    kernels: list[tuple[str, float]]
    counts: list[tuple[str, str, int]]


class KernelComparison(Component):
    """The comparison. It opens with the one that ships.

    This device's is measured when the button is first pressed, and then cached for the server's lifetime.
    """

    rungs = Typed(list[Rung], default=[], doc="From the slowest to the fastest")
    said = param.String(default="", doc="What was measured and where, or what went wrong")
    large = param.String(default="", doc="The two faster kinds at a size typical of training")
    here = param.Boolean(default=False, doc="Whether it was measured on this device")
    busy = param.Boolean(default=False)

    def __init__(self, **params: Any):
        """Start with the comparison that ships."""
        super().__init__(**params)
        self._show(shipped_comparison(), here=False)
        self._work = BackgroundTask()

    @receives("measure")
    def _measure(self) -> None:
        if not self.busy:
            self.param.update(busy=True, said="Compiling, measuring and counting on a worker. This may take half a minute.")
            self._work.start(self._fill())

    def close(self) -> None:
        """Stop waiting for a measurement."""
        self._work.cancel()

    async def _fill(self) -> None:
        try:
            comparison = await compare_kernels(worker_pool)
        except (WorkerError, DeviceError, UnsupportedDevice) as error:
            self.param.update(busy=False, said=f"Not measured here: {error} {_describe(shipped_comparison(), here=False)}")
            return
        self._show(comparison, here=True)

    def _show(self, comparison: TimingComparison, here: bool) -> None:
        self.param.update(
            busy=False, here=here, rungs=drawn(comparison), said=_describe(comparison, here), large=_large(comparison)
        )


def drawn(comparison: TimingComparison) -> list[Rung]:
    """Return what the browser draws for each kind of kernels."""
    pairs = zip([None, *comparison.timings], comparison.timings, strict=False)
    return [_panel(timing, before) for before, timing in pairs]


def _panel(timing: CountedTiming, before: CountedTiming | None) -> Rung:
    numbers = vars(timing.counts) | {"listed": timing.listed}
    return {
        "name": timing.kernels,
        "title": TITLES[timing.kernels],
        "ms": timing.total,
        "gain": before.total / timing.total if before else 0.0,
        "why": _why(timing, before),
        "kernels": list(timing.ms.items()),
        "counts": [(words, tip, numbers[name]) for name, words, tip in COUNTED],
    }


def _why(timing: CountedTiming, before: CountedTiming | None) -> str:
    """Return the reason in words, with the numbers measured on this device."""
    now = timing.counts
    if before is None:
        return (
            "Each pixel evaluates every Gaussian, forward and again backward, although most are nowhere near it. Autodiff also "
            "stores every step in between."
        )
    then = before.counts
    pairs = then.forward / now.forward
    if timing.kernels == "tiled":
        width, height = timing.tile
        return (
            f"A tile of {width} × {height} pixels first asks which Gaussians touch it, {now.tests:,} tests in all; "
            f"its pixels then evaluate those alone, {pairs:.1f} times fewer pairs, and undo the blend instead of storing it. But "
            f"Gaussians are decoded anew for each pair, and the sort, its barriers and {now.atomics:,} atomic additions take time."
        )
    return (
        f"Each Gaussian is decoded once, not {then.reads / now.reads:,.0f} times, and looks up the few tiles where it can be seen: "
        f"{then.tests / now.tests:.1f} times fewer tests, {pairs:.1f} times fewer pairs. A lane holds several pixels, and sums "
        f"their gradients in registers, then over the wave. Each tile keeps its sums for itself, and a Gaussian finds them side by "
        f"side: none of the {then.atomics:,} atomic additions is left."
    )


def _describe(comparison: TimingComparison, here: bool) -> str:
    device = f"{'here, on' if here else 'on an'} {comparison.adapter.short_name}"
    times = ", ".join(f"{number(timing.total, 2)} ms {timing.kernels}" for timing in comparison.timings)
    return (
        f"Measured {device}: {times}. "
        f"One iteration with {comparison.blobs} Gaussians on {comparison.size} × {comparison.size} pixels, the same for all three, "
        "the fastest of several runs taken in turn. The kernels did the counting: each ran once more with counters in it."
    )


def _large(comparison: TimingComparison) -> str:
    tiled, binned = comparison.large
    return (
        f"With {comparison.large_blobs:,} Gaussians on {comparison.large_size} × {comparison.large_size} pixels, where simple ones "
        f"would take far too long, tiled takes {tiled.total:.3g} ms and binned {binned.total:.3g} ms: "
        f"{tiled.total / binned.total:.1f} times faster, with {tiled.listed:,} ids in its lists for tiled "
        f"and {binned.listed:,} for binned."
    )
