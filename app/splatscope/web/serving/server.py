"""The server's part of the app: its start and end, its socket, its handlers and its routes."""

import asyncio
import ctypes
import logging
import os
import secrets
import subprocess
from contextlib import suppress
from typing import Any

import panel as pn
from bokeh.settings import settings
from tornado.ioloop import IOLoop

from splatscope.services import sandbox_jobs
from splatscope.services.training import warm
from splatscope.services.warm_up import fill_cache, tile_jobs
from splatscope.textbook.contents import lesson_names
from splatscope.web import recording_files
from splatscope.web.assets import scripts
from splatscope.web.classroom import classroom
from splatscope.web.examples.gallery import example_jobs
from splatscope.web.lesson_page import record_ahead
from splatscope.web.serving import patches
from splatscope.web.serving.bounded_log import bound_log
from splatscope.web.serving.page_document import page_document
from splatscope.web.shell.pages import BY_NAME, PAGES
from splatscope.web.training import training_session
from splatscope.workers import visitor, worker_pool
from splatscope.workers.sandbox import supervisor as sandbox
from splatscope.workers.scheduler import Turn

log = logging.getLogger(__name__)
FIRST_VISIT = 2.0  # seconds after the start that are left to the first visitor: starting workers take all cores
_M_ARENA_MAX = -8  # in glibc's malloc.h
_cache_fillers: list[subprocess.Popen] = []


def on_server_loaded(server_context: Any) -> None:
    """Import all pages, and start the workers in the background: that takes a second, and longer to compile what is run first."""
    _limit_arenas()
    IOLoop.current().add_callback(bound_log)
    for entry in PAGES:
        entry.load()
    worker_pool.whose_turn = _turn
    IOLoop.current().add_callback(_warm_up)


def _limit_arenas() -> None:
    """Have all threads allocate from two arenas, where glibc would give each of eight per processor its own.

    Sections are prepared in threads, and an arena keeps what its threads have freed. With many arenas, a server that is read for
    hours grows, although Python holds no more than before.
    """
    with suppress(OSError, AttributeError, TypeError):  # not glibc; TypeError on Windows
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def on_server_unloaded(server_context: Any) -> None:
    """Write what outlives this server, and end all processes that it started."""
    for files in (classroom.durable, training_session.durable, recording_files.durable):
        files.flush()
    for process in _cache_fillers:
        process.kill()
    worker_pool.stop()


def _turn() -> Turn:
    """Return whom the current work is for. Sections are the same for all readers, and belong to no session."""
    document = pn.state.curdoc
    return Turn(visitor.address(), document.session_context.id if document and document.session_context else "")


async def _warm_up() -> None:
    await asyncio.sleep(FIRST_VISIT)
    try:
        await asyncio.gather(warm(worker_pool), warm(worker_pool))  # concurrently, so that two workers are ready
        for name in BY_NAME if scripts() else ():
            await page_document({"page": name})
        await worker_pool.run(sandbox.prepare, sandbox_jobs.__name__, untrusted=True)
        if "SPLATSCOPE_SCHEDULER" not in os.environ and os.environ.get(record_ahead.WHEN) != record_ahead.NEVER:
            _cache_fillers.append(fill_cache([*example_jobs(), *lesson_names(), *tile_jobs()]))
        if os.environ.get(record_ahead.WHEN) == record_ahead.AT_START:
            record_ahead.begin()
    except Exception as error:  # pages that need a device report it too
        log.warning("%s", error)


# Accept only sessions that this server created. `panel serve` reads the settings after this file has run, but Bokeh has already
# read and cached the key.
if settings.secret_key_bytes() is None and "BOKEH_SIGN_SESSIONS" not in os.environ:
    os.environ.update(BOKEH_SIGN_SESSIONS="yes", BOKEH_SECRET_KEY=secrets.token_urlsafe(48))
    vars(settings).pop("_secret_key_bytes", None)

patches.install()
