"""`splatscope serve`: `panel serve` on the app's folder."""

import argparse

from panel.command.serve import Serve

from splatscope.paths import APP


def serve(port: int, address: str | None, show: bool) -> None:
    """Serve the app at /app until interrupted.

    Raises:
        SystemExit: the port is taken, or the app does not load.
    """
    parser = argparse.ArgumentParser()
    command = Serve(parser)
    arguments = [str(APP), "--port", str(port)]
    if address:
        arguments += ["--address", address]
    if show:
        arguments.append("--show")
    command.invoke(parser.parse_args(arguments))
