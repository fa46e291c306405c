"""Read submissions: for each student a folder with files `TASK.slang`, or an archive `STUDENT.zip` of such files.

They are not trusted: archives are unpacked in memory only, and nothing too large is unpacked.
"""

import hashlib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from splatscope.workers.sandbox.source_filter import MOST_BYTES

MOST_IN_ARCHIVE = 500  # files in one archive


@dataclass(frozen=True)
class Submission:
    """A student's kernel for a task. `wrong` says why it cannot be read; "" if it can."""

    student: str
    task: str
    source: str = ""
    wrong: str = ""

    @property
    def key(self) -> str:
        """A hash of the source, which identifies this version of the submission."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]


def submissions_in(folder: Path) -> list[Submission]:
    """Return all submissions in a folder, sorted by student and task. Raises OSError if the folder cannot be read."""
    found: list[Submission] = []
    for path in sorted(folder.iterdir(), key=lambda path: path.name.casefold()):
        if path.is_dir():
            files = sorted(file for file in path.rglob("*.slang") if file.is_file() and not file.is_symlink())
            found += [_submission(path.name, file.stem, file) for file in files]
        elif path.suffix.lower() == ".zip":
            found += _unzipped(path)
    return found


def _submission(student: str, task: str, file: Path) -> Submission:
    try:
        with file.open("rb") as opened:
            return _decoded(student, task, opened.read(MOST_BYTES + 1))
    except OSError as error:
        return Submission(student, task, wrong=f"{file.name} cannot be read: {error.strerror}.")


def _unzipped(path: Path) -> Iterator[Submission]:
    student = path.stem
    try:
        with zipfile.ZipFile(path) as archive:
            members = [one for one in archive.infolist() if one.filename.endswith(".slang") and not one.is_dir()]
            for member in sorted(members[:MOST_IN_ARCHIVE], key=lambda one: one.filename):
                with archive.open(member) as opened:
                    yield _decoded(student, PurePosixPath(member.filename).stem, opened.read(MOST_BYTES + 1))
    except Exception as error:  # a damaged or forged archive may raise anything
        yield Submission(
            student, "", wrong=f"{path.name} cannot be unpacked: {' '.join(str(error).split()) or type(error).__name__}."
        )


def _decoded(student: str, task: str, data: bytes) -> Submission:
    if len(data) > MOST_BYTES:
        return Submission(student, task, wrong=f"The file has more than {MOST_BYTES:,} bytes.")
    try:
        return Submission(student, task, data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Submission(student, task, wrong="The file is not text in UTF-8.")
