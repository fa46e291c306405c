"""Read submissions: for each student a folder with files `TASK.slang`, or an archive `STUDENT.zip` of such files.

They are not trusted: archives are unpacked in memory only, and nothing too large is unpacked.
"""

import hashlib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from splatscope.printable import printable
from splatscope.workers.sandbox.source_filter import MOST_BYTES

MOST_IN_ARCHIVE = 500  # files in one archive
MOST_DEPTH = 12  # levels of folders that are searched
MOST_NAME = 200  # characters


@dataclass(frozen=True)
class Submission:
    """A student's kernel for a task. `wrong` says why it cannot be read; "" if it can. Names are printable."""

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
    submissions: list[Submission] = []
    for path in sorted(folder.iterdir(), key=lambda path: path.name.casefold()):
        if path.is_dir():
            submissions += [_submission(path.name, file.stem, file) for file in sorted(_sources(path))]
        elif path.suffix.lower() == ".zip":
            submissions += _unzipped(path)
    return [
        replace(
            submission,
            student=printable(submission.student, MOST_NAME),
            task=printable(submission.task, MOST_NAME),
            wrong=printable(submission.wrong),
        )
        for submission in submissions
    ]


def _sources(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Yield the sources in a folder and below it. Links are not followed, and folders that cannot be read are left out."""
    try:
        children = list(folder.iterdir())
    except OSError:
        return
    for path in children:
        if path.is_symlink():
            continue
        if path.is_dir() and depth < MOST_DEPTH:
            yield from _sources(path, depth + 1)
        elif path.suffix == ".slang" and path.is_file():
            yield path


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
            members = [info for info in archive.infolist() if info.filename.endswith(".slang") and not info.is_dir()]
            for member in sorted(members[:MOST_IN_ARCHIVE], key=lambda info: info.filename):
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
