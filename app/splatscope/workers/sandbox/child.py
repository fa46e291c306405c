"""The program of the sandboxed processes, which compile and run untrusted sources. `supervisor` starts them and sends them jobs.

One process, the fork server, loads all code and forks the others. Each of these opens the device, confines itself, and only then
reads a source. The fork server has a minimal environment. Each forked process may write only to its own folder, which contains its
files and the driver's cache, so nothing passes from one source to the next. These folders are in the fork server's temporary
folder, which is removed when it ends.

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
import shutil
import signal
import socket
import sys
import sysconfig
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import slangpy as spy

from splatscope.gpu.device import adapter_of, open_device, silence_compiler
from splatscope.paths import PACKAGE, SHADERS
from splatscope.processes import die_with_parent
from splatscope.tracing.progress import progress_to
from splatscope.workers.sandbox.landlock import restrict_files
from splatscope.workers.sandbox.limits import drop_capabilities, limit_resources
from splatscope.workers.sandbox.seccomp import restrict_calls
from splatscope.workers.sandbox.supervisor import JobAnswer

# Environment variables for the folders of drivers' compiled kernels.
CACHE_VARIABLES = ("HOME", "XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR", "CUDA_CACHE_PATH", "__GL_SHADER_DISK_CACHE_PATH")
GIB = 2**30
MEMORY = 2 * GIB  # bytes of address space beyond the device's own; no limit on a GPU, whose driver maps more than it uses
FILE_SIZE = GIB // 4  # bytes; lavapipe keeps all memory of its buffers in one file, opened with the device
OPEN_FILES = 256
PROCESSOR_SECONDS = 600
MAX_ADAPTER_NAME = 100  # characters

# Paths that drivers read while a device is opened. The threads that they start then keep these rights, and no others.
_SYSTEM = "/usr /lib /lib32 /lib64 /opt /sys /nix/store /run/opengl-driver /etc/ld.so.cache /etc/vulkan /etc/glvnd /etc/drirc"
_KERNEL = "/proc/self /proc/cpuinfo /proc/meminfo /proc/devices /proc/modules /proc/driver /dev/shm"
_DEVICES = ("/dev/dri", "/dev/kfd", "/dev/nvidia*", "/dev/null", "/dev/zero", "/dev/urandom")


def main(control: socket.socket, jobs: ModuleType) -> None:
    """Fork a process for each connection that arrives at `control`, until the other end is closed."""
    silence_compiler()
    with tempfile.TemporaryDirectory(prefix="splatscope-sandbox-", ignore_cleanup_errors=True) as folder:
        alive: set[int] = set()
        try:
            while _fork(control, jobs, Path(folder), alive):
                pass
        finally:
            for process in alive:  # before the folder that they write to is removed
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def _fork(control: socket.socket, jobs: ModuleType, folder: Path, alive: set[int]) -> bool:
    """Wait for a connection and fork the process that serves it; return False once `control` is closed."""
    adapter, handles, _, _ = socket.recv_fds(control, MAX_ADAPTER_NAME, 2)
    if len(handles) != 2:
        return False
    parent = os.getpid()
    if (process := os.fork()) == 0:
        control.close()
        faulthandler.enable(handles[1], all_threads=False)  # a compiler or driver that dies reports the cause
        _serve(Connection(handles[0]), jobs, folder, parent, adapter.decode(errors="replace").strip())
    alive.add(process)
    for handle in handles:
        os.close(handle)
    control.sendall(process.to_bytes(4, "little"))
    for other in [other for other in alive if os.waitpid(other, os.WNOHANG)[0]]:
        alive.remove(other)
        shutil.rmtree(folder / str(other), ignore_errors=True)
    return True


def _serve(connection: Connection, jobs: ModuleType, folder: Path, parent: int, adapter: str) -> None:
    """Confine this process, report that it is ready, and run the requested jobs. Never return."""
    try:
        die_with_parent()
        if os.getppid() == parent:
            _send(connection, *_outcome(_confine, jobs, folder, adapter))
        while True:
            name, arguments = pickle.loads(connection.recv_bytes())
            with progress_to(lambda stage: _send(connection, {"stage": stage}, [])):
                answer = _outcome(jobs.JOBS[name], *arguments)
            _send(connection, *answer)
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)


def _confine(jobs: ModuleType, folder: Path, adapter: str) -> JobAnswer:
    """Open the device, load all code, and give up all rights that jobs do not need. Raises RuntimeError if that fails."""
    own = folder / str(os.getpid())
    own.mkdir()
    os.chdir(own)
    tempfile.tempdir = str(own)
    cache = own / "cache"  # an empty cache costs a few tenths of a second, but no other source can have written to it
    cache.mkdir()
    os.environ.update(dict.fromkeys(CACHE_VARIABLES, str(cache)))
    devices = [Path(found) for pattern in _DEVICES for found in glob.glob(pattern)]
    drop_capabilities()
    restrict_files([*_driver_paths(), SHADERS], [own], devices)
    if adapter:
        os.environ["SPLATSCOPE_DEVICE"] = adapter  # for jobs that name no device: a process has one set of driver options
    device = open_device(adapter or None)
    jobs.warm_up(adapter)

    limit_resources(MEMORY if adapter_of(device).is_software else 0, FILE_SIZE, OPEN_FILES, PROCESSOR_SECONDS)
    headers = [Path(name, "include") for name in _listed("CUDA_PATH")]
    restrict_files([SHADERS, *headers], [own], devices)
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
    configured = [*manifests, *beside, *_listed("LD_LIBRARY_PATH", "XDG_DATA_DIRS", "CUDA_PATH")]
    return [*map(Path, [*_SYSTEM.split(), *_KERNEL.split(), *python, *configured]), PACKAGE, Path(spy.__file__).parent]


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
        if error.errno in _EXHAUSTED:  # the machine's fault, not the source's
            words = f"The machine has not enough left for this ({error.strerror}): try again later."
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
