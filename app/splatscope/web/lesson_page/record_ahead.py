"""Record in advance what a class is going to ask for: each section with the inputs with which the book is published.

This starts with the first class, or as $SPLATSCOPE_RECORD_AHEAD says: 1 when the server starts, 0 never. It goes on only while no
visitor waits for a worker, since it takes processor time, and fills the workers with compiled kernels, until they are replaced.
"""

import asyncio
import logging
import os
from collections import Counter

from splatscope.gpu.device import DeviceError
from splatscope.services.lessons import record_lesson
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.textbook.input_grid import input_grid
from splatscope.web.lesson_page.first_recording import quizzes
from splatscope.workers import worker_pool
from splatscope.workers.errors import NoWorker, WorkerError

WHEN = "SPLATSCOPE_RECORD_AHEAD"
AT_START, NEVER = "1", "0"
PAUSE = 5.0  # seconds until it is tried again while no worker is up
QUIET = 5.0  # seconds without a visitor's job after which it goes on
log = logging.getLogger(__name__)
log.setLevel(logging.INFO)  # a teacher may be waiting for the line that says it is done
_running: list[asyncio.Task[None]] = []  # holds the one task


def begin() -> None:
    """Start recording in the background, unless that has been started before or is switched off."""
    if not _running and os.environ.get(WHEN) != NEVER:
        _running.append(asyncio.get_running_loop().create_task(_record_all()))


async def _record_all() -> None:
    """Record all sections, the first values of each first, because a class may already be reading."""
    grids = {name: input_grid(find_lesson(name)) for name in lesson_names()}
    count, missing = 0, Counter[str]()
    try:
        for number in range(max(map(len, grids.values()))):
            for name, inputs in grids.items():
                if number < len(inputs):
                    recorded = await _record(name, inputs[number])
                    count += recorded
                    missing[name] += not recorded
    except DeviceError as error:
        log.warning("Nothing more is recorded ahead: %s", error)
        return
    log.info("%d recordings have been made ahead. %s", count, _missing_words(missing))


def _missing_words(missing: Counter[str]) -> str:
    """Return how many recordings could not be made, and of which sections."""
    total = missing.total()
    if not total:
        return "None is missing."
    listed = ", ".join(f"{name} ({number})" for name, number in missing.items() if number)
    return f"{total} {'is' if total == 1 else 'are'} missing: {listed}. A reader who asks for one waits until it is made."


async def _record(name: str, inputs: dict[str, object]) -> bool:
    """Return whether a section could be recorded with these inputs. While no worker is up, or visitors use them, wait.

    Raises:
        DeviceError: No section can be recorded.
    """
    waits = False
    while True:
        while (unused := worker_pool.seconds_unused()) < QUIET:
            await asyncio.sleep(QUIET - unused)
        try:
            await record_lesson(worker_pool, find_lesson(name)(**inputs), quizzes(name), background=True)
        except NoWorker:
            if not waits:
                log.warning("Recording ahead waits for a worker.")
            waits = True
            await asyncio.sleep(PAUSE)
        except (WorkerError, ValueError) as error:  # a reader who asks for it sees the error
            log.warning("%s %s: %s", name, inputs, error)
            return False
        else:
            if waits:
                log.info("Recording ahead goes on.")
            return True
