"""What `panel serve app` runs first; it then calls these hooks by name."""

from splatscope.web.serving.server import on_server_loaded, on_server_unloaded

__all__ = ["on_server_loaded", "on_server_unloaded"]
