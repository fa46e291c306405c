"""`splatscope serve`: run `panel serve` on the app's folder."""

import argparse
import logging
import os
from typing import Annotated

import typer

from splatscope.paths import APP


def serve(
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 5006,
    address: Annotated[str | None, typer.Option(help="Address to listen on; by default all addresses of this machine.")] = None,
    unix_socket: Annotated[
        str | None,
        typer.Option(help="Listen on this socket file instead, for a proxy; whose pages may connect is left to the proxy."),
    ] = None,
    record_ahead: Annotated[
        bool,
        typer.Option(help="Record each section's main inputs while the server is idle, which takes minutes: for a class to come."),
    ] = False,
    show: Annotated[bool, typer.Option(help="Open a browser.")] = False,
) -> None:
    """Serve the app at /app, from a checkout or an installed package."""
    from panel.command.serve import Serve

    from splatscope.web.lesson_page import record_ahead as ahead

    parser = argparse.ArgumentParser()
    command = Serve(parser)
    arguments = [str(APP)]
    if unix_socket:
        arguments += ["--unix-socket", unix_socket, "--allow-websocket-origin", "*"]
    else:
        arguments += ["--port", str(port)]
    if address:
        arguments += ["--address", address]
    if record_ahead:
        os.environ[ahead.WHEN] = ahead.AT_START
    if show:
        arguments.append("--show")
    logging.getLogger("bokeh").handlers.clear()  # distributed adds a handler to the server's own, and each line would appear twice
    command.invoke(parser.parse_args(arguments))
