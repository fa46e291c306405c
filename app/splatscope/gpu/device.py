"""Open devices and list adapters. A process opens each device once.

A device belongs to the process that opened it, and waiting for it holds Python's global lock. So only worker processes and the
command line open one, never the process that serves pages.
"""

import contextlib
import ctypes
import functools
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import slangpy as spy

from splatscope.paths import SHADER_FOLDERS

BACKENDS = ("vulkan", "cuda", "d3d12", "metal")

# SlangPy's functional calls need its own modules.
# Slang reports E41017, "use of uninitialized global variable", wrongly for shared memory that one function fills and another reads.
COMPILER_OPTIONS = {"include_paths": [*SHADER_FOLDERS, spy.SHADER_PATH], "disable_warnings": ["41017"]}


class DeviceError(RuntimeError):
    """No device could be opened; the message says which was requested and what to do."""


@dataclass(frozen=True)
class Adapter:
    """A description of a device.

    Attributes:
        name: In full, as the driver reports it.
        backend: One of `BACKENDS`.
        wave_size: Lanes per wave; the smallest where the device has several sizes.
        is_software: Whether it runs on the processor.
    """

    name: str
    backend: str
    wave_size: int
    is_software: bool

    @property
    def short_name(self) -> str:
        """The name without its parentheses: `llvmpipe` for `llvmpipe (LLVM 15.0.6, 256 bits)`."""
        return self.name.split(" (")[0]


def prepare_for_recording() -> None:
    """Prepare this process to record a kernel and print the findings. Call it before a device is opened.

    It turns off the software driver's optimiser, which takes most of a recording's time and changes no result, and Slang's
    warnings, which would go to stdout.
    """
    os.environ.setdefault("GALLIVM_PERF", "nopt")
    spy.Logger.get().level = spy.LogLevel.fatal


@functools.cache
def open_device(wanted: str | None = None) -> spy.Device:
    """Open a device, or return the one opened before.

    Args:
        wanted: A backend, or part of an adapter's name. None stands for $SPLATSCOPE_DEVICE, or else the first that opens,
            hardware before software. Of a software device, options may follow: "llvmpipe:4" has waves of four lanes,
            "llvmpipe:serial" runs workgroups one after another. It is the first device that the process opens.

    Raises:
        DeviceError: There is no such device, or it cannot be opened.
    """
    wanted = (wanted or os.environ.get("SPLATSCOPE_DEVICE") or "").lower()
    wanted, *options = wanted.split(":")
    for option in options:  # the driver reads these variables once, when it is loaded
        if option.isdecimal():
            os.environ["LP_NATIVE_VECTOR_WIDTH"] = str(32 * int(option))
            os.environ["MESA_SHADER_CACHE_DIR"] = _cache_of_waves(option)
        elif option == "serial":
            os.environ["LP_NUM_THREADS"] = "0"
    names = []
    for backend in [wanted] if wanted in BACKENDS else BACKENDS:
        # Hardware comes before software. The next backend is tried only if nothing opens on this one.
        for adapter in sorted(_adapters(backend), key=lambda a: _is_software(a.name)):
            names.append(adapter.name)
            if wanted in adapter.name.lower() or wanted == backend:
                try:
                    return spy.Device(
                        type=getattr(spy.DeviceType, backend),
                        adapter_luid=adapter.luid,
                        compiler_options=COMPILER_OPTIONS,
                        enable_hot_reload=False,  # a file saved meanwhile would replace the program of a running job
                    )
                except RuntimeError:
                    continue
    if wanted:
        raise DeviceError(f"No device is called “{wanted}”. This machine has: {', '.join(sorted(set(names))) or 'none'}.")
    raise DeviceError("No GPU and no software Vulkan driver could be opened: `splatscope doctor` says what to install.")


def _cache_of_waves(lanes: str) -> str:
    """Return the folder for what the driver compiles for waves of so many lanes: from the common one it takes code for others."""
    common = os.environ.get("MESA_SHADER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = f"splatscope-waves-of-{lanes}"
    folder = Path(common) if Path(common).name == name else Path(common, name)
    with contextlib.suppress(OSError):  # then nothing is kept
        folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def adapter_of(device: spy.Device) -> Adapter:
    """Describe an open device."""
    info = device.info
    return Adapter(info.adapter_name, info.type.name, info.limits.min_wave_size, _is_software(info.adapter_name))


def adapter_names() -> list[str]:
    """Return the names of the adapters of all backends, each once. Some of them may not open."""
    return list(dict.fromkeys(adapter.name for backend in BACKENDS for adapter in _adapters(backend)))


def _adapters(backend: str) -> list[spy.AdapterInfo]:
    if backend == "cuda" and not _has_cuda_driver():
        return []  # without a driver, slangpy would print a line to standard output
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
