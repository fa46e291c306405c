"""What the server does once, for all its pages: `panel serve app` calls these by name."""

import threading
from typing import Any

from splatscope.engine import pool


def on_server_loaded(server_context: Any) -> None:
    # In a thread: the workers take a second to start, and the first page need not wait for them.
    threading.Thread(target=pool.start, name="start workers").start()


def on_server_unloaded(server_context: Any) -> None:
    pool.stop()
