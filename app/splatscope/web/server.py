"""What the server does once, for all its pages."""

import asyncio
import logging
import os
import subprocess
from typing import Any

from bokeh.server.urls import per_app_patterns
from panel.io.server import WSHandler
from tornado.ioloop import IOLoop

from splatscope.services.training import warm
from splatscope.services.warm_up import fill_cache, lessons, tile_jobs
from splatscope.web.examples.gallery import example_jobs
from splatscope.workers import worker_pool
from splatscope.workers.sandbox import supervisor as sandbox

log = logging.getLogger(__name__)
_filling: list[subprocess.Popen] = []


def on_server_loaded(server_context: Any) -> None:
    # Not waited for: the workers take a second to start and some more to compile what the first visitors will run.
    IOLoop.current().add_callback(_warm_up)


async def _warm_up() -> None:
    try:
        await asyncio.gather(warm(worker_pool), warm(worker_pool))  # at once, so that two workers are ready
        await worker_pool.run(sandbox.prepare, untrusted=True)
        if "SPLATSCOPE_SCHEDULER" not in os.environ:
            _filling.append(fill_cache([*example_jobs(), *lessons(), *tile_jobs()]))
    except Exception as error:  # pages say it too, when they need a device
        log.warning("%s", error)


def on_server_unloaded(server_context: Any) -> None:
    for process in _filling:
        process.kill()
    worker_pool.stop()


class PromptHandler(WSHandler):
    """A page's socket whose small messages leave at once; held back for the one before, some take 40 ms longer."""

    def open(self, *args: Any, **kwargs: Any) -> None:
        self.set_nodelay(True)
        super().open(*args, **kwargs)


# The list of routes is Bokeh's; the server is built from it after this file has run.
per_app_patterns[:] = [(route, PromptHandler if handler is WSHandler else handler) for route, handler in per_app_patterns]
