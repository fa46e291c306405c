"""Open a device and list adapters. A process opens one device, once.

A device belongs to the process that opened it, and waiting for it holds Python's global lock. So workers, sandboxed processes and
the child processes of scripts open one, never the process that serves pages.
"""

import contextlib
import ctypes
import functools
import os
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import slangpy as spy

from splatscope.gpu.wave_width import LANES, WIDTH, lanes_of
from splatscope.paths import SHADER_FOLDERS

BACKENDS = ("vulkan", "cuda", "d3d12", "metal")
SHADER_CACHE = "SPLATSCOPE_SHADER_CACHE"
"""An environment variable: a folder in which Slang keeps the code that it generates, for later processes. None by default."""
SHADER_CACHE_SIZE = 2**30  # bytes, at most

# SlangPy's functional calls need its own modules.
# Slang wrongly reports E41017, "use of uninitialized global variable", for shared memory that one function fills and another reads.
COMPILER_OPTIONS: "spy.SlangCompilerOptionsDict" = {
    "include_paths": [*SHADER_FOLDERS, spy.SHADER_PATH],
    "disable_warnings": ["41017"],
}


class DeviceError(RuntimeError):
    """No device could be opened; the message says which was requested and what to do."""


@dataclass(frozen=True)
class Adapter:
    """A description of a device.

    Attributes:
        name: In full, as the driver reports it.
        backend: One of `BACKENDS`.
        wave_size: Lanes per wave, see `lanes_of`.
        is_software: Whether it runs on the processor.
    """

    name: str
    backend: str
    wave_size: int
    is_software: bool

    @property
    def short_name(self) -> str:
        """See `short`."""
        return short(self.name)


def silence_compiler() -> None:
    """Keep Slang's warnings off this process's stdout. Warnings on a user's source are still returned with its diagnostics."""
    spy.Logger.get().level = spy.LogLevel.fatal


def prepare_for_recording() -> None:
    """Prepare this process to record a kernel and print the findings. Call it before a device is opened.

    It turns off Slang's warnings and the software driver's optimiser, which takes most of a recording's time and changes no result.
    """
    os.environ.setdefault("GALLIVM_PERF", "nopt")
    silence_compiler()


_WANTED = re.compile(r"(.*?)(?:#(\d{1,3}))?(?::(\d{1,3}))?(:serial)?", re.DOTALL)


@dataclass(frozen=True)
class Wanted:
    """Which device to open.

    Attributes:
        name: A backend, or part of an adapter's name, in lower case; "" for the first that opens.
        number: Which of the adapters that match, counted from 0; None for any of them.
        lanes: Lanes per wave of the software driver; None for its default.
        serial: Whether the software driver runs workgroups one after another.
    """

    name: str
    number: int | None = None
    lanes: int | None = None
    serial: bool = False

    @classmethod
    def parse(cls, text: str) -> "Wanted":
        """Read `H100`, `H100#1` (the second of two), `vulkan`, `llvmpipe:4` (waves of four lanes) or `llvmpipe:serial`."""
        match = _WANTED.fullmatch(text.strip().lower())
        assert match is not None  # any text is a name
        name, number, lanes, serial = match.groups()
        return cls(name, int(number) if number else None, int(lanes) if lanes else None, bool(serial))


@functools.cache
def open_device(wanted: str | None = None) -> spy.Device:
    """Open a device, or return the one opened before.

    Args:
        wanted: See `Wanted.parse`. None stands for $SPLATSCOPE_DEVICE, or else the first device that opens, hardware before
            software. If several match, a server's worker processes ($SPLATSCOPE_WORKER) spread over them. A device with options
            must be the first that its process opens.

    Raises:
        DeviceError: There is no such device, it cannot be opened, it has no such wave width, this process loaded the software
            driver with other options, or it has opened another adapter: Slang 2026.12 takes the types of one device for those
            of the other, and crashes.
    """
    request = Wanted.parse(wanted or os.environ.get("SPLATSCOPE_DEVICE") or "")
    if request.lanes is not None and request.lanes not in LANES:
        raise DeviceError(f"The software driver has waves of 4, 8 or 16 lanes, not of {request.lanes}: ask for one of these.")
    if request.lanes or request.serial:
        _refuse_other_options(request)
    if request.lanes:  # the driver reads these variables once, when it is loaded
        os.environ[WIDTH] = str(32 * request.lanes)
        os.environ["MESA_SHADER_CACHE_DIR"] = _cache_of_waves(request.lanes)
    if request.serial:
        os.environ["LP_NUM_THREADS"] = "0"
    for backend, adapter in _candidates(request):
        if is_software(adapter.name):
            _refuse_other_options(request)
        key = backend, bytes(adapter.luid)
        if _opened and key not in _opened:
            continue
        try:
            device = _opened.get(key) or spy.Device(
                type=getattr(spy.DeviceType, backend),
                adapter_luid=adapter.luid,
                compiler_options=COMPILER_OPTIONS,
                enable_hot_reload=False,  # otherwise a file saved meanwhile would replace the program of a running job
                shader_cache_path=os.environ.get(SHADER_CACHE) or None,
                shader_cache_size=SHADER_CACHE_SIZE,
            )
        except RuntimeError:
            continue
        if is_software(adapter.name):
            _software[:] = [(request.lanes, request.serial)]
        _opened[key] = device
        return device
    name = request.name if request.number is None else f"{request.name}#{request.number}"
    if _opened and any(True for _ in _candidates(request)):
        adapter_name = next(iter(_opened.values())).info.adapter_name
        raise DeviceError(f"This process works on {adapter_name}: open “{name}” in another process.")
    if request != Wanted(""):
        raise DeviceError(f"No device is called “{name}”. This machine has: {', '.join(sorted(adapter_names())) or 'none'}.")
    raise DeviceError("No GPU and no software Vulkan driver could be opened: `splatscope doctor` says what to install.")


_opened: dict[tuple[str, bytes], spy.Device] = {}  # this process's device, by backend and adapter
_software: list[tuple[int | None, bool]] = []  # the software driver's `lanes` and `serial`, once one of its devices is open


def _refuse_other_options(request: Wanted) -> None:
    """Raise DeviceError if the software driver was loaded with other options, since it would adopt only some of the new ones."""
    if _software and _software != [(request.lanes, request.serial)]:
        raise DeviceError("The software driver of this process runs with other options: open this device in another process.")


def _cache_of_waves(lanes: int) -> str:
    """Return a folder for the driver's compiled code for one wave width. In a shared one it would find code for other widths."""
    common = os.environ.get("MESA_SHADER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = f"splatscope-waves-of-{lanes}"
    folder = Path(common) if Path(common).name == name else Path(common, name)
    with contextlib.suppress(OSError):  # in that case nothing is cached
        folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


@dataclass(frozen=True)
class Available:
    """The devices that a process can open, determined without opening any.

    Attributes:
        turn: Identifies its default device among those of all machines; "" if there is none.
        name: The short name of its default device; "" if there is none.
        names: Short names of all adapters, for `open_device`.
        is_software: Whether the default device runs on the processor.
    """

    turn: str = ""
    name: str = ""
    names: tuple[str, ...] = ()
    is_software: bool = True


def available() -> Available:
    """Return the devices that this process can open."""
    names = tuple(dict.fromkeys(short(name) for name in adapter_names()))
    for _, adapter in _candidates(Wanted.parse(os.environ.get("SPLATSCOPE_DEVICE") or "")):
        turn = f"{platform.node()} {bytes(adapter.luid).hex()}"
        return Available(turn, short(adapter.name), names, is_software(adapter.name))
    return Available(names=names)


def short(name: str) -> str:
    """Return an adapter's name without its parentheses: `llvmpipe` for `llvmpipe (LLVM 15.0.6, 256 bits)`."""
    return re.sub(r" \(.*\)", "", name)


def in_turn(adapters: list[spy.AdapterInfo], asked: Wanted, turn: int) -> list[spy.AdapterInfo]:
    """Return the adapters of a backend that match, in the order in which to try them.

    Hardware comes before software. Equal adapters take turns: each worker, numbered `turn`, starts with a different one than its
    neighbours. Unequal adapters do not: a slow one beside a fast one would make every other run slow.
    """
    matches = sorted((a for a in adapters if asked.name in a.name.lower()), key=lambda a: is_software(a.name))
    if asked.number is not None:
        return matches[asked.number : asked.number + 1]
    equal = [a for a in matches if a.name == matches[0].name]
    first = turn % max(len(equal), 1)
    return [*equal[first:], *equal[:first], *(a for a in matches if a.name != matches[0].name)]


def _candidates(request: Wanted) -> Iterator[tuple[str, spy.AdapterInfo]]:
    """Yield backends and adapters to try. The next backend comes only if nothing opens on this one."""
    turn = int(os.environ.get("SPLATSCOPE_WORKER") or 0)
    if request.name in BACKENDS:
        request, backends = replace(request, name=""), (request.name,)
    else:
        backends = BACKENDS
    for backend in backends:
        for adapter in in_turn(_adapters(backend), request, turn):
            yield backend, adapter


def adapter_of(device: spy.Device) -> Adapter:
    """Describe an open device."""
    info = device.info
    return Adapter(info.adapter_name, info.type.name, lanes_of(device), is_software(info.adapter_name))


def adapter_names() -> list[str]:
    """Return the names of the adapters of all backends, each once, for `open_device`; `#0`, `#1` distinguish equal ones.

    Some of them may not open.
    """
    return list(dict.fromkeys(name for backend in BACKENDS for name in numbered([adapter.name for adapter in _adapters(backend)])))


def numbered(names: list[str]) -> list[str]:
    """Append `#0`, `#1` … to the names of a backend's adapters that occur more than once."""
    total, seen = Counter(names), Counter()
    numbered_names = []
    for name in names:
        numbered_names.append(name if total[name] == 1 else f"{name}#{seen[name]}")
        seen[name] += 1
    return numbered_names


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


def is_software(name: str) -> bool:
    """Return whether an adapter's name is that of a driver that runs on the processor."""
    return any(word in name.lower() for word in ("llvmpipe", "lavapipe", "swiftshader", "basic render"))
