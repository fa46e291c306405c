"""One device of this process, opened once.

A device belongs to the process that opened it, and waiting for it holds Python's global lock: only worker processes and
the command line open one, never the process that serves pages.
"""

import ctypes
import functools
import os
import sys
from dataclasses import dataclass

import slangpy as spy

from splatscope.paths import SHADER_FOLDERS

BACKENDS = ("vulkan", "cuda", "d3d12", "metal")

# SlangPy's own modules serve its functional calls.
# E41017 "use of uninitialized global variable": shared memory that one function fills and another reads looks like that.
COMPILER_OPTIONS = {"include_paths": [*SHADER_FOLDERS, spy.SHADER_PATH], "disable_warnings": ["41017"]}


class DeviceError(RuntimeError):
    """No device could be opened; the message says which was wanted and what to do."""


@dataclass(frozen=True)
class Adapter:
    """What a page says of the device it ran on."""

    name: str
    backend: str
    wave_size: int
    is_software: bool

    @property
    def short_name(self) -> str:
        """`llvmpipe` for `llvmpipe (LLVM 15.0.6, 256 bits)`."""
        return self.name.split(" (")[0]


def prepare_for_recording() -> None:
    """Prepare this process to record a kernel and print what was found; to be called before a device is opened.

    The software driver's optimiser takes most of the time of a recording and changes no result. Warnings would go to stdout.
    """
    os.environ.setdefault("GALLIVM_PERF", "nopt")
    spy.Logger.get().level = spy.LogLevel.fatal


@functools.cache
def open_device(wanted: str | None = None) -> spy.Device:
    """Open the device called `wanted`: a backend or part of an adapter's name; None takes $SPLATSCOPE_DEVICE, else the best.

    Raises:
        DeviceError: nothing of that name, or it cannot be opened.
    """
    wanted = (wanted or os.environ.get("SPLATSCOPE_DEVICE") or "").lower()
    names = []
    for backend in [wanted] if wanted in BACKENDS else BACKENDS:
        # Hardware before software; the next backend is asked only if this one has nothing that opens.
        for adapter in sorted(_adapters(backend), key=lambda a: _is_software(a.name)):
            names.append(adapter.name)
            if wanted in adapter.name.lower() or wanted == backend:
                try:
                    return spy.Device(
                        type=getattr(spy.DeviceType, backend),
                        adapter_luid=adapter.luid,
                        compiler_options=COMPILER_OPTIONS,
                        enable_hot_reload=False,  # a file saved nearby would take the program away under a running job
                    )
                except RuntimeError:
                    continue
    if wanted:
        raise DeviceError(f"No device is called “{wanted}”. This machine has: {', '.join(sorted(set(names))) or 'none'}.")
    raise DeviceError("No GPU and no software Vulkan driver could be opened: `splatscope doctor` says what to install.")


def adapter_of(device: spy.Device) -> Adapter:
    """Describe an open device."""
    info = device.info
    return Adapter(info.adapter_name, info.type.name, info.limits.min_wave_size, _is_software(info.adapter_name))


def adapter_names() -> list[str]:
    """The adapters of all backends, each once; not all of them need open."""
    return list(dict.fromkeys(adapter.name for backend in BACKENDS for adapter in _adapters(backend)))


def _adapters(backend: str) -> list[spy.AdapterInfo]:
    if backend == "cuda" and not _has_cuda_driver():
        return []  # asked without a driver, slangpy prints a line of its own to standard output
    try:
        return spy.Device.enumerate_adapters(getattr(spy.DeviceType, backend))
    except RuntimeError:
        return []


def _has_cuda_driver() -> bool:
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def _is_software(name: str) -> bool:
    return any(word in name.lower() for word in ("llvmpipe", "lavapipe", "swiftshader", "basic render"))
