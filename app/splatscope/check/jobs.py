"""What a check runs on a kernel's text and inputs, in a process that can be ended: a sandboxed one, or a worker.

Nothing of a repository is parsed elsewhere. Answers are plain data, since those of a sandboxed process are not trusted.
"""

import errno
import gc
import io
import json
import os
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from splatscope.api.arrays import as_input
from splatscope.api.inputs_file import loaded, read_inputs
from splatscope.api.record import record_here, suggest_here
from splatscope.api.recording import Recording
from splatscope.gpu.device import DeviceError, open_device
from splatscope.gpu.kernel import CompileError
from splatscope.gpu.slang_types import SlangType
from splatscope.services import sandbox_jobs
from splatscope.slang.program import entries_of
from splatscope.slang.source import Source
from splatscope.tracing.bindings import ELEMENTS
from splatscope.tracing.cost import endless_loops
from splatscope.tracing.fixes import Cause, cause_of, replacements_of
from splatscope.tracing.inputs import flat
from splatscope.tracing.interface import read_interface
from splatscope.tracing.job import KernelJob
from splatscope.tracing.project import unpacked
from splatscope.tracing.textures import default_edges
from splatscope.workers.sandbox.supervisor import JobAnswer

ENTRIES, LOOPS, INPUTS = "entries", "loops", "inputs"
RECORD = "record"  # one of `supervisor.RUNS`: a sandboxed process is made for its adapter, and makes one recording
FIX = "fix"  # likewise one of `supervisor.RUNS`
RECORD_ON_DEFAULT = "record on the default device"  # in a sandboxed process that may make others
NO_MEMORY = "it needs more memory than a kernel may use in the sandbox: make its inputs or --budget smaller, or see --trusted"
_NO_FILE = "it is not there, or not in the repository"


@dataclass(frozen=True)
class Inputs:
    """The inputs of a kernel as its description gives them.

    Attributes:
        values: Values by name, in which `{"file": NAME}` stands for the contents of a file.
        folder: The folder in which names of files are looked up.
        file: The name of a file with further inputs; "" if there is none.
        where: The name of the file that describes the kernel, for messages.
        contents: The contents of all these files by path; None if they are read from the disk.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()
    file: str = ""
    where: str = ""
    contents: Mapping[Path, bytes] | None = None

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the inputs as a job has them. Raises ValueError if a file cannot be read or a value is of no use."""
        try:
            values = loaded(dict(self.values), self.folder, self._read)
            if self.file:
                values = read_inputs(self.folder / self.file, self._read) | values
            return flat({name: as_input(name, value) for name, value in values.items()})
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.where}: {error}") from None

    def _read(self, file: Path) -> bytes:
        if self.contents is None:
            return file.read_bytes()
        try:
            return self.contents[Path(os.path.normpath(file))]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, _NO_FILE) from None


def files_in(value: Any) -> list[str]:
    """Return the names in each `{"file": NAME}` in a value."""
    if isinstance(value, Mapping) and value.keys() == {"file"}:
        return [str(value["file"])]
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else []
    return [name for part in parts for name in files_in(part)]


def entries(text: str) -> list[str]:
    """Return the names of the entry points in a text."""
    return list(entries_of(Source(text)))


def _entries_job(text: str) -> JobAnswer:
    return {"entries": entries(text)}, []


def _loops_job(job: KernelJob) -> JobAnswer:
    """Return the entry point of a job, and the lines of its loops that have no budget."""
    with _placed(job) as placed_job:
        program = placed_job.program()
        return {"entry": program.entry, "lines": endless_loops(program)}, []


def _inputs_job(job: KernelJob, adapter: str) -> JobAnswer:
    """Return the inputs of a job's kernel as a description gives them: numbers 0, buffers and textures of their default size."""
    with _placed(job) as placed_job:
        interface = read_interface(open_device(adapter or None), placed_job)
    inputs: dict[str, Any] = {name: {"count": ELEMENTS} for name in interface.buffers}
    inputs |= {name: {"size": default_edges(texture.shape)} for name, texture in interface.textures.items()}
    types = {name: SlangType.parse(kind) for name, kind in interface.uniforms.items()}
    return {"inputs": inputs | {name: np.zeros(kind.shape, int).tolist() for name, kind in types.items() if kind}}, []


def _record_job(job: KernelJob, adapter: str, inputs: Inputs, everywhere: bool, seconds: float) -> JobAnswer:
    """Record and check a kernel. Return the fields of a `Summary`, or those of a `Refusal`."""
    try:
        with _placed(replace(job, inputs=inputs.arrays())) as placed_job:
            return _recorded(placed_job, adapter, everywhere, seconds)
    except CompileError as error:
        return {"refused": str(error), "file": error.file, "line": error.line}, []
    except MemoryError:
        return {"refused": f"{job.file} cannot be recorded: {NO_MEMORY}.", "file": "", "line": 0}, []
    except (ValueError, OSError, RuntimeError) as error:
        return {"refused": str(error), "file": "", "line": 0}, []
    finally:  # free the device's buffers, for which a sandboxed process has little room
        gc.collect()
        with suppress(DeviceError):
            open_device(adapter or None).wait()


def _recorded(job: KernelJob, adapter: str, everywhere: bool, seconds: float) -> JobAnswer:
    recording = Recording(record_here(job, adapter, everywhere, seconds))
    answer = {name: getattr(recording, name) for name in ("missed", "notes", "shortfalls", "events", "threads")}
    answer["findings"] = [finding.as_dict() for finding in recording.findings]
    return answer, [json.dumps(recording.trace.info.sources).encode()]


def _fix_job(
    job: KernelJob, adapter: str, inputs: Inputs, everywhere: bool, seconds: float, passed_over: Collection[Cause]
) -> JobAnswer:
    """Look for a change of a kernel that takes findings away. Return the fields of a `Change`, or {} if there is none."""
    with _placed(replace(job, inputs=inputs.arrays())) as placed_job:
        fix = suggest_here(placed_job, adapter, everywhere, seconds, passed_over)
    if fix is None:
        return {}, []
    gone, replacements = [cause_of(finding) for finding in fix.gone], replacements_of(job.source, fix.source)
    return {"patch": fix.patch, "replacements": replacements, "verdict": fix.verdict, "gone": gone}, []


@contextmanager
def _placed(job: KernelJob) -> Generator[KernelJob]:
    """Yield the job with its files, if it has any, in a temporary folder. Its `include` is then relative to that."""
    with unpacked(job) as unpacked_job:
        folders = [unpacked_job.include[0] / folder for folder in unpacked_job.include] if job.files else unpacked_job.include
        yield replace(unpacked_job, include=tuple(folders))


JOBS: dict[str, Callable[..., JobAnswer]] = {
    ENTRIES: _entries_job,
    LOOPS: _loops_job,
    INPUTS: _inputs_job,
    RECORD: _record_job,
    FIX: _fix_job,
    RECORD_ON_DEFAULT: _record_job,
}


def run_job(name: str, *arguments: Any) -> JobAnswer:
    """Run a job in this process, a worker."""
    return JOBS[name](*arguments)


def warm_up(adapter: str) -> None:
    """Load all that these jobs load at first use, while files can still be read."""
    from PIL import Image

    sandbox_jobs.warm_up(adapter)
    Image.init()
    buffer = io.BytesIO()
    np.savez(buffer, a=np.zeros(1))
    Inputs({}, Path("/"), "a.npz", "", {Path("/a.npz"): buffer.getvalue()}).arrays()
