"""Serve the app beside Jupyter's notebooks: jupyter-server-proxy finds `server` through an entry point."""

import sys


def server() -> dict[str, object]:
    """Return the configuration for jupyter-server-proxy. Pages are at `splatscope/app`, below the Jupyter server's address.

    Unlike a port, a socket file in a private folder keeps other users of the machine out; Jupyter decides who may connect.
    """
    return {
        "command": [sys.executable, "-m", "splatscope", "serve", "--unix-socket", "{unix_socket}"],
        "unix_socket": True,
        "timeout": 60,
        "launcher_entry": {"title": "Splatscope", "path_info": "splatscope/app"},
    }
