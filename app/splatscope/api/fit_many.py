"""`splatscope.fit_many`: fit many pictures with all devices of this machine, or of a cluster.

A process of its own sends them to the workers of the pool, so that a notebook with an event loop of its own, and a script without
`if __name__ == "__main__":`, can do it, too.
"""

import asyncio
import csv
import io
import itertools
import os
import signal
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from splatscope import extra
from splatscope.api.device_calls import LIMIT
from splatscope.api.errors import FitError
from splatscope.api.fit import Fit, Picture, settings_of, size_of
from splatscope.api.pictures import as_file
from splatscope.api.progress_bar import progress_bar
from splatscope.api.splats import read_file, write_file
from splatscope.api.workers import run_on_worker
from splatscope.printable import cell, printable
from splatscope.processes import ChildError
from splatscope.splat.files.images import MAX_BYTES
from splatscope.tracing.progress import report_progress
from splatscope.workers.errors import JobTimeout, WorkerError, WorkerLost

if TYPE_CHECKING:
    from splatscope.splat.state import TrainingState
    from splatscope.splat.trainer import Snapshot, Trainer
    from splatscope.workers.pool import Pool

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
SLICE = 2.0  # seconds of device time between two reports of a run
TRIES = 3  # for a run whose worker is lost
PATIENCE = 4.0  # times the limits of a page, since nobody waits for a single picture
AT_ONCE = 32  # pictures that a worker takes at once
TABLE = "table.csv"
OWN_VARIABLES = "SPLATSCOPE_"
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class FitRow:
    """A picture in the table.

    Attributes:
        name: Its file's name; or "picture 3", counted from 1.
        width: Width in pixels, as fitted; 0 if it was not.
        height: Its height.
        gaussians: The number of Gaussians.
        psnr: In dB.
        seconds: Device time of the training.
        error: Why it was not fitted, in one line; "" if it was.
    """

    name: str
    width: int = 0
    height: int = 0
    gaussians: int = 0
    psnr: float = 0.0
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class FitTable:
    """The table of many pictures.

    Attributes:
        rows: A row for each picture, in the order in which they were given.
        seconds: How long all of it took, with starting the workers.
    """

    rows: list[FitRow] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def fitted(self) -> int:
        """The number of pictures that were fitted."""
        return sum(not row.error for row in self.rows)

    @property
    def pictures_per_second(self) -> float:
        """How many pictures were fitted in a second."""
        return self.fitted / self.seconds if self.seconds else 0.0

    def to_csv(self) -> str:
        """Return the table as text with commas, the names of the columns first."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow([column.name for column in fields(FitRow)])
        for row in self.rows:
            values = asdict(row) | {"psnr": f"{row.psnr:.4f}", "seconds": f"{row.seconds:.4f}"}
            writer.writerow([cell(str(value)) for value in values.values()])
        return text.getvalue()

    def __str__(self) -> str:
        return f"{self.fitted:,} of {len(self.rows):,} pictures in {self.seconds:.1f} s, {self.pictures_per_second:.2f} pictures/s"


def pictures_in(folder: Path) -> list[Path]:
    """Return the pictures of a folder by name. Raises ValueError if there is none."""
    try:
        pictures = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    except OSError as error:
        raise ValueError(f"{printable(str(folder))} cannot be read: {error.strerror}.") from None
    if not pictures:
        raise ValueError(f"{printable(str(folder))} has no pictures: it needs files that end in {', '.join(SUFFIXES)}.")
    return pictures


def fit_many(
    images: str | os.PathLike | Iterable[Any],
    *,
    gaussians: int | None = None,
    iterations: int | None = None,
    size: int | tuple[int, int] | None = None,
    seed: int | None = None,
    device: str | None = None,
    out: str | os.PathLike | None = None,
    callback: Callable[[FitRow], object] | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> FitTable:
    """Fit many pictures, as many at once as there are workers, and return a table. One that cannot be read is a row that says why.

    Args:
        images: A folder, of which all PNG, JPEG and WebP files are fitted; or pictures as `fit` takes them.
        gaussians: The number for each picture; this and what is not listed is as for `fit`.
        iterations: As for `fit`.
        size: As for `fit`.
        seed: As for `fit`.
        device: Part of an adapter's name, or None for the best. Workers spread over all devices of this name.
        out: A folder for `table.csv`, which grows while pictures are fitted, and for each picture a folder as `Fit.save_all` writes
            it.
        callback: Called with the row of each picture as soon as it is done.
        progress: Whether to show a progress bar; by default in a terminal and in a notebook.
        settings: As for `fit`.

    Raises:
        ValueError: A setting cannot be used, a file cannot be written, or the folder has no pictures.
        TypeError: There is no such setting.
        DeviceError: There is no such device.
        FitError: The workers cannot be reached.
        ImportError: `splatscope[app]` is not installed.
    """
    began = time.monotonic()
    chosen = {"blobs": gaussians, "iterations": iterations, "seed": seed} | settings
    job = Picture(b"", "", size_of(size), settings_of(chosen))
    if device and os.environ.get("SPLATSCOPE_SCHEDULER"):
        raise ValueError("The workers of a cluster have devices of their own: set SPLATSCOPE_DEVICE where they start.")
    sources = _sources(pictures_in(Path(images)) if isinstance(images, str | os.PathLike) else images)
    environment = {name: value for name, value in os.environ.items() if name.startswith(OWN_VARIABLES)}
    if device:
        environment["SPLATSCOPE_DEVICE"] = device
    rows: dict[int, FitRow] = {}
    table = None if out is None else Path(out) / TABLE
    if table is not None:
        write_file(table, FitTable().to_csv().encode())

    def take(report: "tuple[int, FitRow, Snapshot | None] | None") -> None:
        if report is None:
            return
        index, row, snapshot = report
        if out is not None and snapshot is not None:
            Fit.of(snapshot).save_all(Path(out) / sources[index].folder)
        rows[index] = row
        if table is not None:
            write_file(table, FitTable([row]).to_csv().partition("\r\n")[2].encode(), is_added=True)
        if bar is not None:
            so_far = FitTable(list(rows.values()), time.monotonic() - began)
            bar.update(len(rows), len(sources), f"pictures, {so_far.pictures_per_second:.2f} a second")
        if callback is not None:
            callback(row)

    with progress_bar("fitting", progress) as bar:
        try:
            run_on_worker(
                fit_all_here, sources, job, environment, out is not None, limit=LIMIT, kind="fit many", on_progress=take, each=True
            )
        except ChildError as error:
            raise FitError(f"The process that sends pictures to the workers was lost ({error}): try again.") from None
        except WorkerError as error:
            raise FitError(str(error)) from None
        except ModuleNotFoundError as error:
            raise extra.explain(error) from None
    result = FitTable([rows[index] for index in range(len(sources))], time.monotonic() - began)
    if table is not None:
        write_file(table, result.to_csv().encode())
    return result


@dataclass(frozen=True)
class _Source:
    """A picture to fit: a file, or its bytes, or why there is none; and the name of the folder for its results."""

    name: str
    folder: str
    path: Path | None = None
    data: bytes = b""
    error: str = ""


def _sources(images: Iterable[Any]) -> list[_Source]:
    sources, folders = [], {TABLE}
    for number, image in enumerate(images, 1):
        path = Path(image).absolute() if isinstance(image, str | os.PathLike) else None
        data, name, error = b"", path.name if path else "", ""
        if path is None:
            try:
                data, name = as_file(image)
            except (ValueError, TypeError) as problem:
                error = str(problem)
        name = printable(name or f"picture {number}")
        numbered = (f"{Path(name).stem}-{copy}" for copy in itertools.count(2))
        folder = next(free for free in itertools.chain([Path(name).stem], numbered) if free not in folders)
        folders.add(folder)
        sources.append(_Source(name, folder, path, data, error))
    return sources


# The rest of this module runs in a process of its own, which has the connection to the workers.


def fit_all_here(sources: list[_Source], job: Picture, environment: dict[str, str], is_kept: bool) -> None:
    """Fit all pictures on the workers of the pool. Report each as (its index, its row, its `Snapshot` if that is kept).

    Args:
        sources: The pictures.
        job: The size and the settings of all.
        environment: The script's variables that say which workers and devices to use. They may have changed since this process
            was started.
        is_kept: Whether results are returned.
    """
    for name in list(os.environ):
        if name.startswith(OWN_VARIABLES):
            del os.environ[name]
    os.environ |= environment
    try:
        asyncio.run(_fit_all(sources, job, is_kept))
    except* Exception as errors:
        raise errors.exceptions[0] from None


def _end() -> None:
    """End this process and its workers at once. If they outlived it, they would log that the scheduler is lost."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    os._exit(1)


async def _fit_all(sources: list[_Source], job: Picture, is_kept: bool) -> None:
    from splatscope.workers.pool import Pool

    pool, waiting = Pool(), iter(enumerate(sources))
    pool.limit_factor = PATIENCE
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _end)  # the script was interrupted

    async def fit_some(at_once: int) -> None:
        while some := list(itertools.islice(waiting, at_once)):
            async for report in _fit(pool, some, job, is_kept):
                report_progress(report)

    try:
        workers = await pool.worker_count()
        async with asyncio.TaskGroup() as lanes:
            for _ in range(workers):
                lanes.create_task(fit_some(min(AT_ONCE, -(-len(sources) // workers))))
    finally:
        await pool.close()


async def _fit(
    pool: "Pool", sources: list[tuple[int, _Source]], job: Picture, is_kept: bool
) -> "AsyncGenerator[tuple[int, FitRow, Snapshot | None]]":
    """Yield the index and the row of each picture, and a `Snapshot` of its finished run if that is kept."""
    from splatscope.splat.batch import most_pictures

    alike: dict[tuple[int, ...], list[tuple[int, TrainingState]]] = {}  # those that can be fitted in one run, by their shape
    for index, source in sources:
        try:
            state = await _start(pool, source, job)
        except (ValueError, WorkerError) as error:
            yield index, FitRow(source.name, error=printable(str(error))), None
        else:
            alike.setdefault(state.target.shape, []).append((index, state))
    for of_one_shape in alike.values():
        most = most_pictures(of_one_shape[0][1])
        for first in range(0, len(of_one_shape), most):
            indices, states = zip(*of_one_shape[first : first + most], strict=True)
            names = [sources[index - sources[0][0]][1].name for index in indices]
            try:
                results = await _train(pool, states, names, is_kept)
            except WorkerError as error:
                results = [(FitRow(name, error=printable(str(error))), None) for name in names]
            for index, result in zip(indices, results, strict=True):
                yield index, *result


async def _start(pool: "Pool", source: _Source, job: Picture) -> "TrainingState":
    """Return the start of a picture's run. Raises ValueError or WorkerError if the picture cannot be read."""
    from splatscope.splat.initialise import fit_picture

    if source.error:
        raise ValueError(source.error)
    data = source.data if source.path is None else await asyncio.to_thread(read_file, source.path, MAX_BYTES)
    work = f"reading the picture {source.name}"
    return await pool.run(fit_picture, data, source.name, job.size, job.settings, file_work=work)


async def _train(
    pool: "Pool", states: "Sequence[TrainingState]", names: list[str], is_kept: bool
) -> "list[tuple[FitRow, Snapshot | None]]":
    """Train to the end, all in one run. Return the row of each, and a `Snapshot` of it if that is kept. Raises WorkerError."""
    from splatscope.services.training import TrainingRun
    from splatscope.splat.batch import join

    run, results_of = TrainingRun(pool, join(states)), partial(_results, names=names, is_kept=is_kept)
    try:
        while (results := await _patiently(lambda: run.train(SLICE, results_of))) is None:
            report_progress(None)
        return results
    finally:
        await run.close()


def _results(trainer: "Trainer", names: list[str], is_kept: bool) -> "list[tuple[FitRow, Snapshot | None]]":
    """Return what `_train` does, on the worker: pictures that nobody keeps are not sent."""
    from splatscope.splat.batch import split

    results: list[tuple[FitRow, Snapshot | None]] = []
    for name, part in zip(names, split(trainer.snapshot(), names), strict=True):
        height, width, _ = part.state.target.shape
        row = FitRow(name, width, height, part.state.settings.blobs, part.look.psnr, part.look.seconds)
        results.append((row, part if is_kept else None))
    return results


async def _patiently(work: Callable[[], Awaitable[_Result]]) -> _Result:
    """Return what a run returns. If its worker is lost, try again from the run's last snapshot."""
    for _ in range(TRIES - 1):
        with suppress(WorkerLost, JobTimeout):
            return await work()
    return await work()
