"""Inside the sandbox: processes that compile and run what came from a page. `sandbox` starts them and speaks with them.

One process has loaded all the code there is and forks the others, which open the device and then shut themselves in. Its
environment is bare, and its folder, gone with it, is all that the others may write to: the driver's cache, temporary files.
"""

import glob
import json
import os
import pickle
import signal
import socket
import sys
import sysconfig
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import slangpy as spy

from splatscope.gpu.device import adapter_of, open_device
from splatscope.paths import PACKAGE, SHADERS
from splatscope.services.sandbox_jobs import JOBS, warm_up
from splatscope.tracing.progress import progress_to
from splatscope.workers.sandbox import confinement as confine
from splatscope.workers.sandbox.supervisor import Answer

GIB = 2**30
MEMORY = 2 * GIB  # of addresses, beyond the device's own; a GPU's driver maps what it likes, so there it has no bound
FILE = GIB // 4
FILES = 256
PROCESSOR_SECONDS = 600
MOST_NAME = 100  # characters of an adapter's name

# What drivers read while a device is opened; the threads they start then keep this, and nothing else.
_SYSTEM = "/usr /lib /lib32 /lib64 /opt /sys /nix/store /run/opengl-driver /etc/ld.so.cache /etc/vulkan /etc/glvnd /etc/drirc"
_KERNEL = "/proc/self /proc/cpuinfo /proc/meminfo /proc/devices /proc/modules /proc/driver /dev/shm"
_DEVICES = ("/dev/dri", "/dev/kfd", "/dev/nvidia*", "/dev/null", "/dev/zero", "/dev/urandom")


def main(control: socket.socket) -> None:
    """Fork a process for each connection that comes; end when there are no more to come."""
    spy.Logger.get().level = spy.LogLevel.fatal
    with tempfile.TemporaryDirectory(prefix="splatscope-sandbox-", ignore_cleanup_errors=True) as folder:
        cache = os.path.join(folder, "cache")
        for name in ("HOME", "XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR", "CUDA_CACHE_PATH", "__GL_SHADER_DISK_CACHE_PATH"):
            os.environ[name] = cache
        os.mkdir(cache)
        tempfile.tempdir = folder
        alive: set[int] = set()
        try:
            while _fork_one(control, Path(folder), alive):
                pass
        finally:
            for process in alive:  # or they would still write where nothing should be left
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def _fork_one(control: socket.socket, folder: Path, alive: set[int]) -> bool:
    """Wait for a connection and fork its process; False once there is nobody to ask for one."""
    adapter, handles, _, _ = socket.recv_fds(control, MOST_NAME, 1)
    if not handles:
        return False
    me = os.getpid()
    if (process := os.fork()) == 0:
        control.close()
        _live(Connection(handles[0]), folder, me, adapter.decode(errors="replace").strip())
    alive.add(process)
    os.close(handles[0])
    control.sendall(process.to_bytes(4, "little"))
    alive -= {other for other in alive if os.waitpid(other, os.WNOHANG)[0]}
    return True


def _live(connection: Connection, folder: Path, parent: int, adapter: str) -> None:
    """Shut this process in and answer; does not return."""
    try:
        confine.die_with_parent(signal.SIGKILL)
        if os.getppid() == parent:
            _say(connection, *_answered(_shut_in, folder, adapter))
        while True:
            work, arguments = pickle.loads(connection.recv_bytes())
            with progress_to(lambda stage: _say(connection, {"stage": stage}, [])):
                answer = _answered(JOBS[work], *arguments)
            _say(connection, *answer)
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)


def _shut_in(folder: Path, adapter: str) -> Answer:
    os.chdir(folder)
    devices = [Path(found) for pattern in _DEVICES for found in glob.glob(pattern)]
    confine.drop_capabilities()
    confine.restrict_files([*_driver_paths(), SHADERS], [folder], devices)
    device = open_device(adapter or None)
    warm_up(adapter)
    confine.restrict_memory(MEMORY if adapter_of(device).is_software else 0, FILE, FILES, PROCESSOR_SECONDS)
    headers = [Path(name, "include") for name in _listed("CUDA_PATH")]
    confine.restrict_files([SHADERS, *headers], [folder], devices)
    confine.restrict_calls()
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
    """Where drivers, compilers and Python's modules lie on this machine."""
    python = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    manifests = _listed("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
    beside = [os.path.dirname(name) for name in manifests]  # the drivers that they name
    configured = [*manifests, *beside, *_listed("LD_LIBRARY_PATH", "XDG_DATA_DIRS", "CUDA_PATH")]
    return [*map(Path, [*_SYSTEM.split(), *_KERNEL.split(), *python, *configured]), PACKAGE, Path(spy.__file__).parent]


def _listed(*variables: str) -> list[str]:
    return [name for variable in variables for name in os.environ.get(variable, "").split(":") if name]


def _answered(work: Any, *arguments: Any) -> Answer:
    try:
        answer, parts = work(*arguments)
        return {"answer": answer, "parts": len(parts)}, parts
    except OSError:
        return {"raised": "OSError", "message": "A source from a page reads no files, and this one asks for some."}, []
    except MemoryError:
        return {"raised": "MemoryError", "message": "This takes more memory than a page's kernel may have."}, []
    except Exception as error:
        return {"raised": type(error).__name__, "message": str(error).strip().partition("\n")[0] or type(error).__name__}, []


def _say(connection: Connection, head: dict[str, Any], parts: list[bytes]) -> None:
    connection.send_bytes(json.dumps(head, default=_plain).encode())
    for part in parts:
        connection.send_bytes(part)


def _plain(value: Any) -> Any:
    return value.item()  # NumPy's numbers


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
