"""Call a function with a device: in a worker process, or with an open device in this one."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from splatscope.api.errors import FitError
from splatscope.api.workers import run_on_worker
from splatscope.processes import ChildCrashed, ChildError, ChildTimeout
from splatscope.tracing.progress import progress_to

if TYPE_CHECKING:
    import slangpy as spy

LIMIT = 600.0  # seconds from one report of a worker to the next
_Result = TypeVar("_Result")


def call_with_device(
    function: Callable[..., _Result],
    *args: Any,
    device: "spy.Device | str | None",
    on_report: Callable[[Any], None] = lambda report: None,
) -> _Result:
    """Return `function(device, *args)`.

    Args:
        function: A module-level function whose arguments and result can be pickled.
        args: Its further arguments.
        device: An open device, which this process uses; or part of an adapter's name, or None for the best, which a worker opens.
        on_report: Called with what the function reports. If it raises an error, the call ends with that.

    Raises:
        FitError: The worker was lost.
        Exception: Whatever the function raised.
    """
    if device is not None and not isinstance(device, str):
        with progress_to(on_report):
            return function(device, *args)
    name = device or os.environ.get("SPLATSCOPE_DEVICE", "")
    # Of a kind of its own, since workers that record open the software driver without its optimiser.
    kind = f"train on {name}"
    try:
        return run_on_worker(_call, name, function, args, limit=LIMIT, kind=kind, on_progress=on_report, each=True)
    except ChildTimeout:
        raise FitError(f"The device did not answer for {LIMIT:g} s: try fewer Gaussians, or a smaller picture.") from None
    except ChildCrashed as error:
        raise FitError(
            f"The process that used the device was ended ({error}): is there enough memory? Try again, or less."
        ) from None
    except ChildError as error:
        raise FitError(f"The process that used the device ended: {error}.") from None


def _call(name: str, function: Callable[..., _Result], args: tuple) -> _Result:
    from splatscope.gpu.device import open_device, silence_compiler

    silence_compiler()
    return function(open_device(name or None), *args)
