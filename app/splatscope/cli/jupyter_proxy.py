"""How Jupyter serves the app beside its notebooks: jupyter-server-proxy finds `server` by an entry point."""

import sys


def server() -> dict[str, object]:
    """Return what jupyter-server-proxy needs to know. Pages are at `splatscope/app`, below the address of the Jupyter server.

    A socket file in a folder of the user's own, unlike a port, keeps others on the machine out; Jupyter judges who may connect.
    """
    return {
        "command": [sys.executable, "-m", "splatscope.cli", "serve", "--unix-socket", "{unix_socket}"],
        "unix_socket": True,
        "timeout": 60,
        "launcher_entry": {"title": "Splatscope", "path_info": "splatscope/app"},
    }
