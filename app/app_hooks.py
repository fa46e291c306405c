"""What the server does once, for all its pages: `panel serve app` runs this file first, then calls the hooks by name."""

import threading
from typing import Any

from bokeh.server.urls import per_app_patterns
from panel.io.server import WSHandler

from splatscope.engine import pool


def on_server_loaded(server_context: Any) -> None:
    # In a thread: the workers take a second to start, and the server need not wait for them.
    threading.Thread(target=pool.start, name="start workers").start()


def on_server_unloaded(server_context: Any) -> None:
    pool.stop()


class PromptHandler(WSHandler):
    """A page's socket whose small messages leave at once; held back for the one before, some take 40 ms longer."""

    def open(self, *args: Any, **kwargs: Any) -> None:
        self.set_nodelay(True)
        super().open(*args, **kwargs)


# The list of routes is Bokeh's; the server is built from it after this file has run.
per_app_patterns[:] = [(route, PromptHandler if handler is WSHandler else handler) for route, handler in per_app_patterns]
