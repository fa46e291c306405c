"""The program of the sandboxed processes, which compile and run untrusted sources. `supervisor` starts them and sends them jobs.

One process, the fork server, loads all code and forks the others. Each of these opens the device, confines itself, and only then
reads a source. The fork server has a minimal environment. Each forked process may write only to its own `scratch_folder`, which
contains its files and the driver's cache, so nothing passes from one source to the next. The fork server removes the folder when
the process has ended.

The arguments are the file descriptor of a socket and the name of a module with
    JOBS: dict[str, Callable[..., JobAnswer]]   the jobs by name
    warm_up(adapter: str) -> None            loads everything that these jobs load at first use
"""

import errno
import faulthandler
import glob
import importlib
import json
import os
import pickle
import select
import signal
import socket
import sys
import sysconfig
import tempfile
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import slangpy as spy

from splatscope.gpu.device import adapter_of, open_device, silence_compiler
from splatscope.gpu.precompiled import read_ahead
from splatscope.paths import PACKAGE, SHADERS
from splatscope.processes import die_with_parent
from splatscope.tracing.progress import progress_to
from splatscope.workers.sandbox import scratch_folder
from splatscope.workers.sandbox.landlock import restrict_files
from splatscope.workers.sandbox.limits import drop_capabilities, limit_resources
from splatscope.workers.sandbox.seccomp import restrict_calls
from splatscope.workers.sandbox.supervisor import MAX_ADAPTER_NAME, JobAnswer

# Environment variables for the folders of drivers' compiled kernels and other files.
CACHE_VARIABLES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR", "CUDA_CACHE_PATH", "__GL_SHADER_DISK_CACHE_PATH")
GIB = 2**30
MEMORY = 2 * GIB  # bytes of address space beyond the device's own; no limit on a GPU, whose driver maps more than it uses
FILE_SIZE = GIB // 4  # bytes; lavapipe keeps all memory of its buffers in one file, opened with the device
OPEN_FILES = 256
PROCESSOR_SECONDS = 600
PRIORITY = 5  # added to the niceness, so that pages and their recordings go before the kernels of strangers

# What drivers and the loaders of Vulkan and CUDA read while a device is opened. The threads that they start then keep these rights,
# and no others: name no folder here in which people keep files of their own.
_LIBRARIES = (
    "/usr/lib* /usr/local/lib* /lib /lib32 /lib64 /usr/local/nvidia /usr/local/cuda* /opt/rocm* /opt/amdgpu* "
    "/nix/store /run/opengl-driver /etc/ld.so.cache"
)
_CONFIGURATION = (
    "/etc/vulkan /etc/glvnd /etc/drirc /usr/share/vulkan /usr/share/glvnd /usr/share/drirc.d /usr/share/libdrm /usr/share/nvidia "
    "/usr/local/share/vulkan /usr/local/share/glvnd"
)
_KERNEL = (
    "/sys/dev /sys/class /sys/bus /sys/devices /proc/self /proc/cpuinfo /proc/meminfo /proc/devices /proc/modules "
    "/proc/driver/nvidia*"
)
_DEVICES = "/dev/dri /dev/kfd /dev/nvidia* /dev/null /dev/zero /dev/urandom"


def main(control: socket.socket, jobs: ModuleType) -> None:
    """Fork a process for each connection that arrives at `control`, until the other end is closed."""
    silence_compiler()
    read_ahead()
    os.nice(PRIORITY)
    mounts = scratch_folder.can_mount()
    with tempfile.TemporaryDirectory(prefix="splatscope-sandbox-", ignore_cleanup_errors=True) as parent:
        folder = Path(parent)
        removed = folder / "removed"
        removed.mkdir()
        alive: dict[int, int] = {}  # process by file descriptor (pidfd)
        is_open = True
        try:
            while is_open:
                ready, _, _ = select.select([control, *alive], [], [], None if mounts or not alive else scratch_folder.LOOK_EVERY)
                for handle in alive.keys() & ready:
                    _reap(handle, alive.pop(handle), folder, removed)
                for process in alive.values() if not mounts else ():
                    if scratch_folder.is_overfull(folder / str(process), process):
                        os.kill(process, signal.SIGKILL)
                if control in ready:
                    is_open = _fork(control, jobs, folder, alive, mounts)
        finally:
            for handle, process in alive.items():
                os.kill(process, signal.SIGKILL)
                _reap(handle, process, folder, removed)


def _fork(control: socket.socket, jobs: ModuleType, folder: Path, alive: dict[int, int], mounts: bool) -> bool:
    """Fork the process for a connection that has arrived, and send its pidfd; return False if `control` was closed instead."""
    adapter, handles, _, _ = socket.recv_fds(control, MAX_ADAPTER_NAME, 2)
    if len(handles) != 2:
        return False
    parent = os.getpid()
    if (process := os.fork()) == 0:
        control.close()
        for other in alive:
            os.close(other)
        faulthandler.enable(handles[1], all_threads=False)  # a compiler or driver that dies reports the cause
        own_folder = folder / str(os.getpid())
        _serve(Connection(handles[0]), jobs, own_folder, mounts, parent, adapter.decode(errors="replace").strip())
    for handle in handles:
        os.close(handle)
    handle = os.pidfd_open(process)
    alive[handle] = process
    socket.send_fds(control, [b"forked"], [handle])
    return True


def _reap(handle: int, process: int, folder: Path, removed: Path) -> None:
    """Wait for the end of a process and remove its folder."""
    os.waitpid(process, 0)
    os.close(handle)
    with suppress(OSError):  # then it is tried again after the next process
        scratch_folder.remove(folder / str(process), removed)


def _serve(connection: Connection, jobs: ModuleType, own_folder: Path, mounts: bool, parent: int, adapter: str) -> None:
    """Confine this process, report that it is ready, and run the requested jobs. Never return."""
    try:
        die_with_parent()
        if os.getppid() == parent:
            _send(connection, *_outcome(_confine, jobs, own_folder, mounts, adapter))
        while True:
            name, arguments = pickle.loads(connection.recv_bytes())
            with progress_to(lambda stage: _send(connection, {"stage": stage}, [])):
                answer = _outcome(jobs.JOBS[name], *arguments)
            _send(connection, *answer)
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)


def _confine(jobs: ModuleType, own_folder: Path, mounts: bool, adapter: str) -> JobAnswer:
    """Open the device, load all code, and give up all rights that jobs do not need. Raises RuntimeError if that fails."""
    own_folder.mkdir()
    if mounts:
        scratch_folder.mount_private(own_folder)
    os.chdir(own_folder)
    tempfile.tempdir = str(own_folder)
    cache = own_folder / "cache"  # an empty cache costs a few tenths of a second, but no other source can have written to it
    cache.mkdir()
    os.environ.update(dict.fromkeys(CACHE_VARIABLES, str(cache)))
    devices = _matches(_DEVICES)
    drop_capabilities()
    restrict_files([*_driver_paths(), SHADERS], [own_folder], devices)
    if adapter:
        os.environ["SPLATSCOPE_DEVICE"] = adapter  # for jobs that name no device: a process has one set of driver options
    device = open_device(adapter or None)
    jobs.warm_up(adapter)

    limit_resources(MEMORY if adapter_of(device).is_software else 0, FILE_SIZE, OPEN_FILES, PROCESSOR_SECONDS)
    headers = [Path(name, "include") for name in _listed("CUDA_PATH")]
    restrict_files([SHADERS, *headers], [own_folder], devices)
    restrict_calls()
    if any(map(_opens, (__file__, "/", "/proc/self/environ"))):
        raise RuntimeError("The sandbox does not hold.")
    return {}, []


def _opens(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def _driver_paths() -> list[Path]:
    """Return the folders of drivers, compilers and Python modules on this machine."""
    python = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    manifests = _listed("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
    beside = [os.path.dirname(name) for name in manifests]  # the folders of the drivers that the manifests name
    shared = [os.path.join(name, "vulkan") for name in _listed("XDG_DATA_DIRS")]
    configured = [*manifests, *beside, *shared, *_listed("LD_LIBRARY_PATH", "CUDA_PATH")]
    system = _matches(f"{_LIBRARIES} {_CONFIGURATION} {_KERNEL}")
    return [*system, *map(Path, [*python, *configured]), PACKAGE, Path(spy.__file__).parent]


def _matches(patterns: str) -> list[Path]:
    return [Path(name) for pattern in patterns.split() for name in glob.glob(pattern)]


def _listed(*variables: str) -> list[str]:
    """Return the paths listed in these environment variables."""
    return [name for variable in variables for name in os.environ.get(variable, "").split(":") if name]


_EXHAUSTED = (errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOSPC)


def _outcome(job: Any, *arguments: Any) -> JobAnswer:
    """Run a job and return its answer or its error as a message of the protocol."""
    try:
        answer, parts = job(*arguments)
        return {"answer": answer, "parts": len(parts)}, parts
    except OSError as error:
        words = "A source from a page cannot read files, but this one tries to."
        if error.errno in _EXHAUSTED:
            words = f"The machine has not enough left for this ({error.strerror}): make it smaller, or try again later."
        return {"raised": "OSError", "message": words}, []
    except MemoryError:
        return {
            "raised": "MemoryError",
            "message": "This needs more memory than a page's kernel may use: make its arrays smaller.",
        }, []
    except Exception as error:
        return {"raised": type(error).__name__, "message": str(error).strip().partition("\n")[0] or type(error).__name__}, []


def _send(connection: Connection, head: dict[str, Any], parts: list[bytes]) -> None:
    connection.send_bytes(json.dumps(head, default=_to_plain).encode())
    for part in parts:
        connection.send_bytes(part)


def _to_plain(value: Any) -> Any:
    return value.item()  # NumPy's numbers


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), importlib.import_module(sys.argv[2]))
