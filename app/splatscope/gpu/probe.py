"""Run a small kernel on each adapter, in separate processes because a driver may crash, hang or print.

`python -m splatscope.gpu.probe` prints the adapters as JSON; `python -m splatscope.gpu.probe vulkan 0` runs the kernel on one, and
`python -m splatscope.gpu.probe llvmpipe:4` opens the device of that name.
"""

import json
import os
import sys
from dataclasses import dataclass
from typing import Any

from splatscope.processes import ChildCrashed, ChildError, run_command

LIMIT_S = 120  # seconds: compiling can be slow on a busy machine, and a driver may hang

# Each thread reads a number that another wrote, so the result is right only if shared memory and barriers work.
KERNEL = """
groupshared uint cells[64];

[shader("compute")]
[numthreads(64, 1, 1)]
void mirror(uint3 thread : SV_DispatchThreadID, uint lane : SV_GroupIndex, uniform RWStructuredBuffer<uint> numbers)
{
    cells[lane] = 3 * thread.x + 1;
    GroupMemoryBarrierWithGroupSync();
    numbers[thread.x] = cells[63 - lane];
}
"""


@dataclass(frozen=True)
class Trial:
    """The outcome of the kernel on one adapter.

    Attributes:
        backend: One of `device.BACKENDS`.
        name: The adapter's name.
        wave_size: Lanes per wave; None if the kernel did not run.
        seconds: From opening the device to the result; None if the kernel did not run.
        message: What went wrong; "" if nothing did.
    """

    backend: str
    name: str
    wave_size: int | None
    seconds: float | None
    message: str

    @property
    def works(self) -> bool:
        """Whether the kernel ran with the right result."""
        return not self.message


def try_all() -> tuple[list[Trial], str]:
    """Run the kernel on every adapter of every backend. Return the outcomes, and why no adapter could be listed, or ""."""
    adapters, message = _child()
    if adapters is None:
        return [], message
    return [_try(backend, index, name) for backend, index, name in adapters], ""


def first_working() -> Trial | None:
    """Return the outcome on the first adapter that works, or None if none does."""
    adapters, _ = _child()
    return next((t for backend, index, name in adapters or () if (t := _try(backend, index, name)).works), None)


def opens(name: str, limit_s: float = LIMIT_S) -> bool:
    """Return whether `open_device(name)` opens a device."""
    opened, _ = ask([sys.executable, "-m", "splatscope.gpu.probe", name], limit_s)
    return opened is True


def why_none(trials: list[Trial], silence: str) -> str:
    """Return the results of `try_all` as the reason why no kernel runs."""
    return silence or "; ".join(f"{t.backend} {t.name}: {t.message}" for t in trials) or "no adapter is listed"


def _try(backend: str, index: int, name: str) -> Trial:
    outcome, message = _child(backend, str(index))
    if outcome is None:
        return Trial(backend, name, None, None, message)
    return Trial(backend, name, outcome["wave_size"], outcome["seconds"], outcome["message"])


def _child(*arguments: str) -> tuple[Any, str]:
    return ask([sys.executable, "-m", "splatscope.gpu.probe", *arguments])


def ask(command: list[str], limit_s: float = LIMIT_S) -> tuple[Any, str]:
    """Run a command that prints an answer and a message as JSON, and return both. If it fails, return None and how it ended."""
    try:
        answer, message = json.loads(run_command(command, limit_s))
    except ChildCrashed as crash:
        return None, f"the driver crashed (signal {crash.number})"
    except ChildError as error:
        return None, str(error)
    return answer, message


def _list_adapters() -> list[tuple[str, int, str]]:
    import slangpy as spy

    from splatscope.gpu.device import BACKENDS, numbered

    listed = []
    for backend in BACKENDS:
        try:
            adapters = spy.Device.enumerate_adapters(getattr(spy.DeviceType, backend))
        except RuntimeError:
            continue
        listed += [(backend, index, name) for index, name in enumerate(numbered([adapter.name for adapter in adapters]))]
    return listed


def _open(name: str) -> bool:
    from splatscope.gpu.device import open_device

    open_device(name)
    return True


def _run_kernel(backend: str, index: int) -> dict[str, object]:
    import time

    import numpy as np
    import slangpy as spy

    kind = getattr(spy.DeviceType, backend)
    start = time.perf_counter()
    device = spy.Device(type=kind, adapter_luid=spy.Device.enumerate_adapters(kind)[index].luid)
    module = device.load_module_from_source("mirror", KERNEL)
    kernel = device.create_compute_kernel(device.link_program([module], [module.entry_point("mirror")]))
    numbers = device.create_buffer(size=4 * 256, usage=spy.BufferUsage.unordered_access)
    kernel.dispatch([256, 1, 1], numbers=numbers)
    actual = numbers.to_numpy().view(np.uint32)
    expected = 3 * np.arange(256, dtype=np.uint32).reshape(4, 64)[:, ::-1].ravel() + 1
    wrong = int((actual != expected).sum())
    return {
        "wave_size": device.info.limits.min_wave_size,
        "seconds": round(time.perf_counter() - start, 3),
        "message": f"the kernel ran, but {wrong} of 256 numbers are wrong" if wrong else "",
    }


def main() -> None:
    """Print as JSON the adapters, or the outcome on the one that the command line names, and why there is none."""
    # Drivers print, some of them at exit. Their output goes to stderr, and only the answer to stdout.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    answer, message = None, ""
    try:
        match sys.argv[1:]:
            case [backend, index]:
                answer = _run_kernel(backend, int(index))
            case [name]:
                answer = _open(name)
            case _:
                answer = _list_adapters()
    except Exception as error:
        message = str(error).split("\n")[0].strip() or type(error).__name__  # the rest says where slangpy failed
    print(json.dumps([answer, message]), file=answers, flush=True)


if __name__ == "__main__":
    main()
