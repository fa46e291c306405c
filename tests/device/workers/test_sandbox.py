"""The sandbox: even with the source filter switched off, Linux keeps a page's source from all files and other learners."""

import asyncio
import contextlib
import json
import logging
import os
import platform
import re
import secrets
import select
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from helpers import hostile_jobs
from helpers.patience import PATIENCE
from splatscope.gpu.device import DeviceError
from splatscope.machine.environment import detect_environment
from splatscope.paths import APP, PACKAGE, SHADERS
from splatscope.services import recordings as recording
from splatscope.services import sandbox_jobs
from splatscope.services.recordings import check_source, record_source
from splatscope.tracing.job import KernelJob
from splatscope.tracing.progress import progress_to
from splatscope.web.debugger.debugger import Debugger
from splatscope.workers import worker_pool
from splatscope.workers.errors import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.sandbox import landlock, scratch_folder, seccomp
from splatscope.workers.sandbox import supervisor as sandbox
from splatscope.workers.sandbox.platform_support import missing_support, shortfalls
from splatscope.workers.sandboxed_job import SandboxedJob
from splatscope.workers.scheduler import Turn
from splatscope.workers.single_flight import SingleFlightCache
from tests.helpers.without_filter import without_filter

pytestmark = pytest.mark.skipif(bool(missing_support()), reason="this system cannot confine a process")

HELPERS = Path(hostile_jobs.__file__).parent
KERNEL = """
RWStructuredBuffer<uint> numbers;
[shader("compute")]
[numthreads(8, 1, 1)]
void kernelMain(uint lane : SV_GroupIndex)
{
    BODY
}
"""


def kernel(body: str = "numbers[lane] = lane;", before: str = "") -> str:
    return before + KERNEL.replace("BODY", body)


@pytest.fixture(scope="module")
def run():
    """Return `run(coroutine)`. All tests share one event loop and pool, so damage by one test shows in the next."""
    with asyncio.Runner() as runner:
        yield runner.run
        runner.run(worker_pool.close())


def forget(monkeypatch) -> None:
    """Empty the cache of recordings."""
    monkeypatch.setattr(recording, "_recordings", SingleFlightCache(2**20, lambda packed: len(packed.data)))


@pytest.fixture
def no_filter(monkeypatch):
    """Switch off the source filter, so that only the operating system protects."""
    without_filter(monkeypatch)
    forget(monkeypatch)


@pytest.fixture
def secret(tmp_path):
    """A word that exists only in files: in one that a compiler would quote, and in a module that it could import."""
    word = f"canary{secrets.token_hex(8)}"
    (tmp_path / "secret.h").write_text(f"{word} {word};\n")
    (tmp_path / "secret.slang").write_text(f"#error {word}\n")
    (tmp_path / "fine.slang").write_text(f"public static const uint {word} = 7;\n")
    (tmp_path / "link.h").symlink_to(tmp_path / "secret.h")
    return tmp_path, word


def reaching(folder) -> dict[str, str]:
    """Ways to access a file of that folder, by name. `__include` and imports take modules, the others text."""
    header, relative = folder / "secret.h", os.path.relpath(folder, SHADERS)
    return {
        "include": f'#include "{header}"\n',
        "in angles": f"#include <{header}>\n",
        "after a comment": f'#/**/include "{header}"\n',
        "over two lines": f'#inc\\\nlude "{header}"\n',
        "by a macro": f'#define WHERE "{header}"\n#include WHERE\n',
        "relative": f'#include "{relative}/secret.h"\n',
        "by a link": f'#include "{folder}/link.h"\n',
        "import": f'import "{folder}/secret";\n',
        "__import": f'__import "{folder}/secret";\n',
        "relative import": f'import "{relative}/secret";\n',
        "__include": f'__include "{folder}/secret.slang";\n',
        "a module that compiles": f'import "{folder}/fine";\n',
    }


def all_words(result) -> str:
    """Return all text of a result that a page could show."""
    if isinstance(result, recording.Checked):
        return json.dumps(asdict(result))
    return json.dumps(result.meta, default=str) + (zlib.decompress(result.data).decode("latin-1") if result.data else "")


def test_no_way_to_a_file_leads_there(run, no_filter, secret, caplog, capfd):
    folder, word = secret
    ways = {name: kernel(before=lines) for name, lines in reaching(folder).items()}
    ways["what it found"] = kernel(f"numbers[lane] = {word};", f'import "{folder}/fine";\n')

    async def ask():
        seen = {}
        for name, source in ways.items():
            seen[name] = await check_source(worker_pool, KernelJob(source))
            with contextlib.suppress(WorkerError, ValueError):
                seen[f"{name}, recorded"] = await record_source(worker_pool, KernelJob(source, records=4000))
        # The same on an ordinary worker, which can: so the words would be seen.
        control = {name: await check_source(worker_pool, KernelJob(source), trusted=True) for name, source in ways.items()}
        return seen, control

    with caplog.at_level(logging.DEBUG):
        seen, control = run(ask())
    del seen["what it found"], seen["what it found, recorded"]  # those hold the word that they were given
    assert [name for name, result in seen.items() if word in all_words(result)] == []
    assert word not in caplog.text
    out, err = capfd.readouterr()
    assert word not in out + err
    assert control["a module that compiles"].interface is not None
    assert all(checked.interface is None for name, checked in seen.items() if "recorded" not in name)
    assert len([name for name, checked in control.items() if word in all_words(checked)]) >= 8


@pytest.mark.parametrize(
    "file", ["/etc/passwd", "/proc/self/environ", "/proc/self/maps", str(PACKAGE / "cli" / "main.py"), sys.executable]
)
def test_not_even_the_programs_own_files_are_read(run, no_filter, file):
    checked = run(check_source(worker_pool, KernelJob(kernel(before=f'#include "{file}"\n'))))
    assert checked.interface is None
    assert file in checked.error
    assert [d for d in checked.diagnostics if file not in d.message] == []


def test_shipped_modules_are_there(run):
    source = "import workgroup;\n" + kernel()
    checked = run(check_source(worker_pool, KernelJob(source)))
    assert checked.error == ""
    assert checked.interface.buffers["numbers"].parts == (("", "uint", 0),)


def test_what_comes_out_is_what_a_worker_of_ones_own_brings(run, monkeypatch):
    job = KernelJob(
        kernel("numbers[lane] = numbers[lane ^ 1] + 2;"), inputs={"numbers": np.arange(8, dtype=np.uint32)}, records=4000
    )

    async def both():
        inside = await record_source(worker_pool, job)
        forget(monkeypatch)
        return inside, await record_source(worker_pool, job, trusted=True)

    inside, outside = run(both())
    assert inside.meta["findings"] == outside.meta["findings"] == ["race"]
    assert inside.meta["events"] == outside.meta["events"]
    assert inside.meta["adapter"] == outside.meta["adapter"]


def test_the_filter_comes_first_in_words_of_its_own(run, secret):
    folder, _ = secret

    async def ask():
        checked = await check_source(worker_pool, KernelJob(kernel(before=f'#include "{folder}/secret.h"\n')))
        packed = await record_source(worker_pool, KernelJob(kernel(before="import nothing;\n")))
        return checked, packed

    checked, packed = run(ask())
    assert checked.error.startswith("#include is not allowed here")
    assert packed.meta["error"].startswith("There is no module nothing")


MACROS = "#define A0 x+x+x+x+x+x+x+x\n" + "".join(f"#define A{i} {'+'.join([f'A{i - 1}'] * 8)}\n" for i in range(1, 12))
BREAKING = {  # what it breaks, and the source
    "macros that grow": ("check", kernel("uint x = lane; numbers[lane] = A11;", MACROS)),
    "deep nesting": ("check", kernel(f"numbers[lane] = {'(' * 10_000}lane{')' * 10_000};")),
    "a great constant": ("check", kernel("numbers[lane] = c[lane];", "static const uint c[100000000] = {1};\n")),
    "generics without end": ("record", kernel("numbers[lane] = f<0>();", "uint f<let N : int>() { return f<N + 1>() + 1; }\n")),
    "great shared memory": (
        "record",
        kernel("big[lane] = lane; numbers[lane] = big[7 - lane];", "groupshared uint big[1000000000];\n"),
    ),
    "a pointer to nowhere": ("record", kernel("uint* p = (uint*)(uint64_t(lane) * 4096 + 64); *p = 3; numbers[lane] = *p;")),
}


@pytest.mark.parametrize("name", BREAKING)
def test_what_breaks_the_compiler_or_the_kernel_is_one_message_for_its_author(run, name):
    what, source = BREAKING[name]
    numbers = np.frombuffer(secrets.token_bytes(32), np.uint32)  # so that nobody has recorded it before
    innocent = KernelJob(kernel("numbers[lane] += lane;"), inputs={"numbers": numbers}, records=4000)

    async def together():
        ask = (
            check_source(worker_pool, KernelJob(source))
            if what == "check"
            else record_source(worker_pool, KernelJob(source, records=4000))
        )
        return await asyncio.gather(ask, record_source(worker_pool, innocent), return_exceptions=True)

    guilty, packed = run(together())
    assert packed.meta["findings"] == []
    assert packed.meta["events"] > 0
    words = guilty.meta["error"] if isinstance(guilty, recording.PackedRecording) else str(guilty)
    assert isinstance(guilty, recording.PackedRecording | WorkerLost)
    assert words
    assert "\n" not in words


def test_a_page_does_not_choose_the_cpu_target(run):
    with pytest.raises(DeviceError, match="No device is called “cpu”"):
        run(record_source(worker_pool, KernelJob(kernel(), records=4000), "cpu"))


def test_a_loop_without_end_is_found_not_waited_for(run):
    packed = run(record_source(worker_pool, KernelJob(kernel("while (true) numbers[lane] += 1;"), records=4000)))
    assert packed.meta["findings"] == ["timeout"]


def test_a_compiler_that_does_not_come_back_is_stopped(run, monkeypatch):
    monkeypatch.setattr(recording, "CHECK_LIMIT", 1.0)
    source = kernel("{" * 15_000 + "numbers[lane] = 1;" + "}" * 15_000)

    async def ask():
        with pytest.raises(JobTimeout, match="The compiler took longer than 1 s"):
            await check_source(worker_pool, KernelJob(source))
        monkeypatch.setattr(recording, "CHECK_LIMIT", 20.0)
        return await check_source(worker_pool, KernelJob(kernel()))

    assert run(ask()).interface is not None


async def worker_addresses() -> set[str]:
    await worker_pool.run(os.getpid)
    connection = worker_pool._connections[asyncio.get_running_loop()].result()
    return set(connection.scheduler.workers)


def test_a_kernel_crash_costs_no_worker(run):
    async def ask():
        before = await worker_addresses()
        with pytest.raises(WorkerLost, match=r"compiled the recorded kernel or ran it \(it touched memory that"):
            await record_source(worker_pool, KernelJob(BREAKING["a pointer to nowhere"][1], records=4000))
        after = await worker_addresses()
        return before, after

    before, after = run(ask())
    assert before == after


def test_what_a_driver_compiled_for_one_source_is_not_there_for_the_next():
    box = sandbox.Sandbox(sandbox_jobs.__name__)
    folders = []
    for _ in range(2):
        box.prepare("")
        process = box._ready[""]
        process.wait_until_ready()
        about = Path(f"/proc/self/fdinfo/{process._process}").read_text()
        number_of_process = re.search(r"Pid:\s*(\d+)", about)[1]
        own = Path(f"/proc/{number_of_process}/cwd")  # as that process sees it
        folders.append(os.readlink(own))
        assert any("mesa" in path.name for path in own.rglob("*"))  # the driver keeps there what it compiles
        assert not list(own.rglob("note"))
        (own / "cache" / "note").write_text("from one source to the next")
        box.run("record", (KernelJob(kernel(), records=4000), ""), 60.0)
    assert folders[0] != folders[1]


def test_no_process_reads_the_sources_of_two_sessions():
    box = sandbox.Sandbox(sandbox_jobs.__name__)
    served: dict[str, set[sandbox.SandboxedProcess]] = {}
    for session in "abba":
        with SandboxedJob(Turn("192.0.2.1", session)):
            box.run("check", (KernelJob(kernel()),), 20.0)
        served.setdefault(session, set()).add(box._kept)
    assert len(served["b"]) == 1
    assert not served["a"] & served["b"]


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_process_that_dies_while_it_starts_is_replaced_once(monkeypatch, deaths):
    box = sandbox.Sandbox(sandbox_jobs.__name__)
    wait, left = sandbox.SandboxedProcess.wait_until_ready, [deaths]

    def dies_first(process: sandbox.SandboxedProcess) -> None:
        if left[0]:
            left[0] -= 1
            process._kill()
        wait(process)

    monkeypatch.setattr(sandbox.SandboxedProcess, "wait_until_ready", dies_first)
    job = ("record", (KernelJob(kernel(), records=4000), ""), 60.0)
    if deaths == 2:
        with pytest.raises(WorkerError, match="does not start"):
            box.run(*job)
    assert box.run(*job)[1]


def test_a_job_gives_way_to_others_who_wait():
    box = sandbox.Sandbox(sandbox_jobs.__name__)
    long = KernelJob(kernel("\n".join(f"numbers[lane] += lane * {n};" for n in range(3000))), records=400_000)
    job, started = SandboxedJob(), []

    def run() -> sandbox.JobAnswer:
        with job, progress_to(started.append):
            return box.run("record", (long, ""), 60.0)

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(run)
        while not started:
            time.sleep(0.05)
        time.sleep(1)
        job.stop()
        with pytest.raises(JobTimeout, match=r"After \d+ s this kernel was stopped, since others wait"):
            running.result(timeout=PATIENCE)
    assert box.run("record", (KernelJob(kernel(), records=4000), ""), 60.0)[1]


def test_each_recording_has_a_process_of_its_own_and_none_is_left():
    box = sandbox.Sandbox(sandbox_jobs.__name__)
    job = KernelJob(kernel(), records=4000)
    processes = []
    for _ in range(2):
        box.prepare("")
        processes.append(box._ready[""])
        box.run("record", (job, ""), 60.0)
    box.run("check", (KernelJob(kernel()),), 20.0)
    kept = box._kept
    box.run("check", (KernelJob(kernel()),), 20.0)
    assert processes[0] is not processes[1]
    assert box._kept is kept  # its author's next source may be compiled there, too
    with pytest.raises(ValueError, match=r"^a\.npz is neither [^\n]+$"):
        box.run("open", ("a.npz", b"text"), 20.0)
    assert box._kept is kept  # or a file opened
    kept._kill()
    select.select([kept._process], [], [], 60)
    box.run("check", (KernelJob(kernel()),), 20.0)  # the next caller does not notice
    kept = box._kept
    box._fork_server.close()
    with pytest.raises((EOFError, OSError)):  # those it forked die with the one that forked them
        kept._connection.recv_bytes()


# Jobs that fill a sandboxed process's folder, and what is left of it: run by `python -c`, after a filter or none.
FILLING = """
import json, os, sys, time
from pathlib import Path
from splatscope.workers.errors import WorkerLost
from splatscope.workers.sandbox.supervisor import Sandbox
from splatscope.workers.sandboxed_job import SandboxedJob
box, folder, answers = Sandbox("helpers.hostile_jobs"), Path(sys.argv[1]), {}
box.prepare("")
server = box._fork_server
for name in sys.argv[2:]:
    try:
        with SandboxedJob(name):
            answers[name] = box.run(name, (), 120.0)[0]["made"]
    except WorkerLost:
        answers[name] = "killed"
for process in filter(None, [box._kept, *box._ready.values()]):
    process.end()
(parent,) = folder.iterdir()
end = time.monotonic() + 120
while (kept := [name for _, folders, files in os.walk(parent) for name in folders + files]) != ["removed"]:
    if time.monotonic() > end:
        break
    time.sleep(0.1)
print(json.dumps([answers, kept, box._fork_server is server]))
"""
HOSTILE = ("fill", "fill_unseen", "litter", "nest")


def after_filling(tmp_path: Path, jobs: Iterable[str], first: str = "") -> tuple[dict[str, int | str], list[str], bool]:
    """Return what these jobs could make, what is left of it, and whether the fork server still lives."""
    environment = os.environ | {"PYTHONPATH": f"{APP}:{HELPERS.parent}", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", first + FILLING, tmp_path, *jobs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment)
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.skipif(not scratch_folder.can_mount(), reason="this system allows no mounts")
def test_the_folder_of_a_process_is_a_small_file_system_and_vanishes_with_it(tmp_path):
    made, kept, lives = after_filling(tmp_path, HOSTILE)
    assert 0 < made["fill"] <= scratch_folder.MAX_BYTES >> 20
    assert 0 < made["fill_unseen"] <= scratch_folder.MAX_BYTES >> 20
    assert 0 < made["litter"] <= scratch_folder.MAX_FILES
    assert made["nest"] == hostile_jobs.DEPTH
    assert kept == ["removed"]
    assert lives


def test_where_nothing_can_be_mounted_a_process_that_writes_too_much_is_killed(tmp_path):
    kind = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True).stdout.strip()
    jobs = [name for name in HOSTILE if not (name == "fill_unseen" and kind == "tmpfs")]  # there Linux counts no bytes
    made, kept, lives = after_filling(tmp_path, jobs, refusing("unshare"))
    assert made == dict.fromkeys(jobs, "killed")
    assert kept == ["removed"]
    assert lives


def test_what_a_process_leaves_is_removed_whatever_it_is(tmp_path, monkeypatch):
    folder, removed = tmp_path / "own", tmp_path / "removed"
    monkeypatch.setattr(hostile_jobs, "SHOWN", 0)
    for _ in range(2):
        folder.mkdir()
        removed.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        assert hostile_jobs.nest()[0]["made"] == hostile_jobs.DEPTH
        monkeypatch.chdir(tmp_path)
        scratch_folder.remove(folder, removed)
        assert os.listdir(tmp_path) == ["removed"]
        assert os.listdir(removed) == []
    scratch_folder.remove(folder, removed)  # a process that died before it made its folder


def test_a_drivers_threads_read_what_drivers_need_and_no_more(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{APP}:{HELPERS.parent}")
    box = sandbox.Sandbox("helpers.hostile_jobs")
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as shared:
        shared.write(b"secret")
        shared.flush()
        paths = ["/etc/ld.so.cache", "/proc/self/status"]
        refused = [shared.name, "/etc/passwd", "/sys/kernel/uevent_seqnum", "/usr/bin/env", __file__]
        assert [path for path in refused if not os.access(path, os.R_OK)] == []
        readable = [path for path in paths + refused if box.run("read_early", (path,), 60.0)[0]["read"]]
    assert readable == paths


# What a kernel could do that has taken over its process: run inside by `python -c`, after the same steps.
INSIDE = """
import ctypes, fcntl, os, platform, socket, struct, sys, threading
from pathlib import Path
from splatscope.workers.sandbox.system_calls import syscall
from splatscope.workers.sandbox.landlock import restrict_files
from splatscope.workers.sandbox.limits import drop_capabilities, limit_resources
from splatscope.workers.sandbox.seccomp import call_number, restrict_calls
own = Path(sys.argv[1])
drop_capabilities()
limit_resources(2**30, 2**20, 64, 30)
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
note = os.open(own / "of its own", os.O_CREAT | os.O_RDWR)
restrict_files([], [own], [])
restrict_calls()
owner = ctypes.create_string_buffer(struct.pack("i", os.getpid()))
ioctl = call_number("ioctl", platform.machine())
tries = {
    "write in its folder": lambda: (own / "note").write_text("x"),
    "read": lambda: Path("/etc/passwd").read_text(),
    "list": lambda: os.listdir("/"),
    "write": lambda: Path(sys.argv[2]).write_text("x"),
    "link": lambda: os.symlink("/etc/passwd", own / "link"),
    "climb": lambda: (own / ".." / "outside").read_text(),
    "environment": lambda: Path("/proc/self/environ").read_text(),
    "socket": lambda: socket.socket(),
    "udp": lambda: socket.socket(type=socket.SOCK_DGRAM),
    "unix": lambda: socket.socket(socket.AF_UNIX),
    "a pair of sockets": socket.socketpair,
    "a message to a socket": lambda: pair[0].sendto(b"x", sys.argv[2]),
    "a connection": lambda: pair[0].connect(sys.argv[2]),
    "a message with a file": lambda: socket.send_fds(pair[0], [b"x"], [0]),
    "a lease": lambda: fcntl.fcntl(note, 1024, 1),
    "a lock": lambda: fcntl.flock(note, fcntl.LOCK_EX),
    "an attribute": lambda: fcntl.ioctl(note, 0x40086602, struct.pack("l", 0x40)),
    "a generation": lambda: fcntl.ioctl(note, 0x40087602, struct.pack("l", 7)),
    "fork": os.fork,
    "run": lambda: os.execv("/bin/true", ["true"]),
    "signal": lambda: os.kill(os.getppid(), 0),
    "mode": lambda: os.chmod(sys.argv[2], 0o777),
    "memory": lambda: bytearray(2**31),
    "memory that is a file": lambda: os.memfd_create("x"),
    "a signal with each input": lambda: fcntl.fcntl(0, 10, 9),
    "an owner of signals": lambda: fcntl.fcntl(0, 8, os.getppid()),
    "an owner by ioctl": lambda: fcntl.ioctl(pair[0], 0x8901, owner),
    "an owner of a socket": lambda: fcntl.ioctl(pair[0], 0x8902, owner),
    "an owner by a long ioctl": lambda: syscall(ioctl, pair[0].fileno(), 0x1_0000_8901, owner),
    "signals by ioctl": lambda: fcntl.ioctl(pair[0], 0x5452, owner),
    "a thread": lambda: threading.Thread(target=print).start(),
    "room on a disk": lambda: os.posix_fallocate(os.open(own / "room", os.O_CREAT | os.O_WRONLY), 0, 100),
}
for name, attempt in tries.items():
    try:
        attempt()
        print(name)
    except (OSError, MemoryError, RuntimeError):
        pass
"""


def test_a_confined_process_can_do_nothing_but_write_to_its_folder(tmp_path):
    own, outside = tmp_path / "own", tmp_path / "outside"
    own.mkdir()
    outside.write_text("kept")
    done = subprocess.run([sys.executable, "-c", INSIDE, own, outside], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr == ""
    assert done.stdout.split("\n") == ["write in its folder", ""]
    assert outside.read_text() == "kept"


def refusing(call: str) -> str:
    """Return Python code after which Linux does not know a system call, as an old kernel or a strict container."""
    number = {"landlock_create_ruleset": 444, "unshare": seccomp.call_number("unshare", platform.machine())}[call]
    return f"""
import ctypes, struct
code = b"".join(struct.pack("HBBI", *i) for i in [(32, 0, 0, 0), (21, 0, 1, {number}), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)])
held = ctypes.create_string_buffer(code, len(code))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(held)), 16), 0, 0) == 0
"""


NO_LANDLOCK = refusing("landlock_create_ruleset")


def test_where_nothing_confines_the_doctor_says_so():
    code = NO_LANDLOCK + "from splatscope.cli.main import main\nmain(['doctor', '--json'])"
    report = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300).stdout)
    assert report["ok"]
    assert report["sandbox"] == "none"
    (missing,) = [m for m in report["missing"] if m["what"].startswith("a sandbox for edited kernels")]
    assert "Landlock" in missing["what"]
    assert missing["mend"] == detect_environment().sandbox_remedy()


def test_where_nothing_can_be_mounted_the_doctor_says_so():
    code = refusing("unshare") + "from splatscope.cli.main import main\nmain(['doctor', '--json'])"
    report = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300).stdout)
    assert report["ok"]
    assert report["sandbox"].startswith("Landlock")
    (missing,) = [m for m in report["missing"] if m["what"].startswith("a file system for each sandboxed process")]
    assert "TMPDIR" in missing["mend"]


@pytest.mark.parametrize(("version", "lacks"), [(5, True), (6, False)])
def test_a_linux_without_a_scope_of_signals_is_reported(monkeypatch, version, lacks):
    monkeypatch.setattr(landlock, "version", lambda: version)
    assert any("scope of signals" in what for what, _ in shortfalls()) is lacks


def test_where_nothing_confines_sources_run_only_if_the_operator_says_so():
    code = f"""{NO_LANDLOCK}
import os
from splatscope.workers.sandbox import supervisor as sandbox
from splatscope.tracing.job import KernelJob
jobs, arguments = "splatscope.services.sandbox_jobs", (KernelJob({kernel()!r}),)
for name, given in (("check", arguments), ("open", ("x.npz", b"no recording"))):
    try:
        sandbox.run_sandboxed(jobs, name, given, 20.0)
    except Exception as error:
        print(type(error).__name__, error)
os.environ[sandbox.UNCONFINED] = "1"
print(sorted(sandbox.run_sandboxed(jobs, "check", arguments, 20.0)[0]["interface"]["buffers"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    refused, read, allowed = done.stdout.strip().split("\n")
    assert refused.startswith("WorkerError Edited kernels do not run here: ")
    assert "--allow-unconfined" in refused
    assert read.startswith("ArchiveError x.npz"), "files are no kernels"
    assert allowed == "['numbers']"


async def on_the_page(source: str) -> Debugger:
    """The debugger page after a run of this source, as its browser would ask for it."""
    bench = Debugger()
    bench.receive({"type": "run", "source": source, "groups": [1, 1, 1]})
    await asyncio.gather(*bench._tasks.values())
    return bench


def test_an_edited_kernel_records_on_the_page(run):
    bench = run(on_the_page(kernel(f"numbers[lane] = {secrets.randbelow(10**6)};")))
    assert bench.error == ""
    assert bench.stepper.error == ""
    assert bench.stepper.meta["events"] > 0


def test_the_page_shows_nothing_of_a_file(run, no_filter, secret, caplog):
    folder, word = secret
    with caplog.at_level(logging.DEBUG):
        bench = run(on_the_page(kernel(before=f'#include "{folder}/secret.h"\n')))
    assert "secret.h" in bench.error
    assert not bench.stepper.recording
    shown = [bench.error, bench.notice, bench.stepper.error, *map(str, bench.diagnostics), str(bench.interface), caplog.text]
    assert [words for words in shown if word in words] == []
