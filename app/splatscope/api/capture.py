"""`splatscope.capture`: record what a program dispatches through SlangPy."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import slangpy as spy

from splatscope.api.capturing.calls import Call, CallInterceptor
from splatscope.api.capturing.notes import take_notes
from splatscope.api.capturing.programs import NotCaptured
from splatscope.api.capturing.reading import Bound
from splatscope.api.errors import RecordError
from splatscope.api.record import SECONDS, record_on_worker
from splatscope.api.recording import Recording
from splatscope.gpu.kernel import CompileError
from splatscope.tracing.job import MOST_RECORDS, KernelJob

take_notes()  # from here on, since SlangPy keeps nothing that could be read later

MOST_CALLS = 32  # dispatches captured in one block, unless `when` selects some

When = Callable[[str, Any, dict[str, Any]], bool] | int | range


@dataclass(frozen=True)
class _Taken:
    """A dispatch whose inputs were copied: its number, its label, its job without inputs, and a function that returns them."""

    number: int
    label: str
    adapter: str
    job: KernelJob
    bound: Callable[[], Bound]


class Captured:
    """The dispatches that were captured in a block of code.

    They are recorded from the copied inputs when `recordings` or `missed` is first read. Each is recorded in a worker process, so
    one that crashes or hangs does no harm.
    """

    def __init__(
        self,
        device: spy.Device | None,
        kernel: Any,
        when: When | None,
        group: tuple[int, ...] | None,
        timeout: float,
        budget: int,
    ) -> None:
        self._device, self._kernel, self._when = device, kernel, when
        self._group, self._timeout, self._budget = group, timeout, budget
        self._seen = 0
        self._taken: list[_Taken] = []
        self._recordings: list[Recording] = []
        self._missed: list[tuple[int, str]] = []
        self._others: dict[str, bool] = {}  # names of other kernels that were dispatched, in order
        self._beyond = 0

    @property
    def recordings(self) -> list[Recording]:
        """A recording of each dispatch, as `splatscope.record` returns it, in dispatch order."""
        self._record_taken()
        return self._recordings

    @property
    def missed(self) -> list[str]:
        """One line for each dispatch that could not be captured or recorded, in dispatch order."""
        self._record_taken()
        lines = [line for _, line in sorted(self._missed)]
        if self._beyond:
            subject = "dispatch was" if self._beyond == 1 else "dispatches were"
            lines.append(f"{self._beyond:,} more {subject} not captured, after the first {MOST_CALLS}: choose with when.")
        if self._others and not self._seen:
            kernel = self._kernel if isinstance(self._kernel, str) else "this kernel"
            lines.append(f"No dispatch was of {kernel}: there were {', '.join(self._others)}.")
        return lines

    def __repr__(self) -> str:
        return f"<Captured: {len(self._taken) + len(self._recordings)} dispatches, {len(self._missed) + bool(self._beyond)} missed>"

    def _observe(self, call: Call) -> None:
        """Copy the inputs of a dispatch if it is wanted. Errors are noted and never reach the caller."""
        number, label = -1, call.name
        try:
            if self._device is not None and call.device is not self._device:
                return
            if not call.is_of(self._kernel):
                self._others[call.name] = True
                return
            number, self._seen = self._seen, self._seen + 1
            label = f"{call.name}, dispatch {number},"
            if not self._wants(number, call):
                return
            if self._when is None and number >= MOST_CALLS:
                self._beyond += 1
                return
            job, bound = call.take()
            taken = _Taken(number, label, call.device.info.adapter_name, job, bound)
            # The device copies the inputs of a pending dispatch when the program submits it. All others are copied already.
            self._taken.append(taken if call.pending else replace(taken, bound=_done(bound())))
        except NotCaptured as error:
            self._missed.append((number, f"{label} was not captured: {error}."))
        except Exception as error:
            self._missed.append((number, f"{label} was not captured: {_line(error)}"))

    def _wants(self, number: int, call: Call) -> bool:
        when = self._when
        if when is None:
            return True
        if isinstance(when, int):
            return number == when
        return number in when if isinstance(when, range) else bool(when(call.name, call.thread_count, call.vars))

    def _record_taken(self) -> None:
        while self._taken:
            self._record(self._taken.pop(0))

    def _record(self, taken: _Taken) -> None:
        try:
            bound = taken.bound()
            everywhere = self._group is None
            group = (0, 0, 0) if self._group is None else (*self._group, 0, 0)[:3]
            if any(index >= count for index, count in zip(group, bound.groups, strict=True)):
                raise ValueError(f"group {group} is not one of its {bound.groups} groups.")
            job = replace(taken.job, inputs=bound.inputs, groups=bound.groups, group=group, records=self._budget)
            recorded = record_on_worker(job, taken.adapter, self._timeout, everywhere)
        except (RecordError, CompileError, ValueError, RuntimeError, NotImplementedError) as error:
            self._missed.append((taken.number, f"{taken.label} was not recorded: {_line(error)}"))
        else:
            self._recordings.append(Recording(recorded))


def _done(bound: Bound) -> Callable[[], Bound]:
    return lambda: bound


def _line(error: Exception) -> str:
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return line if line.endswith(".") else f"{line}."


@contextmanager
def capture(
    device: spy.Device | None = None,
    kernel: Any = None,
    when: When | None = None,
    group: Sequence[int] | Literal["all"] = "all",
    *,
    timeout: float = SECONDS,
    budget: int = MOST_RECORDS,
) -> Generator[Captured]:
    """Record what a program dispatches through SlangPy while a block of code runs.

    Before each dispatch the device copies its inputs. The dispatch itself runs unchanged and leaves its own results. Later a worker
    records it from the copies. Captured are `kernel.dispatch`, compute passes, and functions of a `slangpy.Module`, with `map`,
    `bwds`, `set`, `append_to`, `dispatch` and the rest. If a program is loaded from source text, import this function before that.

    Args:
        device: The device whose dispatches are captured; by default all devices.
        kernel: The name of an entry point or a function, or the kernel, pipeline or function itself; by default all.
        when: Which of the dispatches of `kernel` to capture: a number or a range, counted from 0, or a predicate that is called
            with the name, the thread count (None if the arguments determine it) and the named inputs. By default the first 32.
        group: The workgroup to record, without the others. "all" checks all of them and records the first that has a finding.
        timeout: Seconds after which a recording is abandoned.
        budget: The number of 16-byte records that all threads of a recording share.

    Yields:
        `recordings`, and `missed`, which says for each dispatch that could not be captured why.

    Raises:
        ValueError: An argument is invalid.
    """
    if isinstance(group, str) and group != "all":
        raise ValueError(f"group is up to three numbers or “all”, not “{group}”.")
    chosen_group = None if isinstance(group, str) else tuple(int(number) for number in group)
    if chosen_group is not None and not (1 <= len(chosen_group) <= 3 and all(number >= 0 for number in chosen_group)):
        raise ValueError(f"group is up to three numbers from 0, or “all”, not {group}.")
    if not (when is None or isinstance(when, int | range) or callable(when)):
        raise ValueError(f"when is a number, a range or a predicate, not a {type(when).__name__}.")
    if timeout <= 0:
        raise ValueError(f"timeout is a number of seconds above 0, not {timeout:g}.")
    captured = Captured(device, kernel, when, chosen_group, timeout, budget)
    with CallInterceptor(captured._observe):
        yield captured
