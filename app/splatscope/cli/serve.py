"""`splatscope serve`: run `panel serve` on the app's folder."""

import argparse
import logging
import os
from typing import Annotated

import typer

from splatscope.cli.teaching import Lessons, Tasks, add_folders
from splatscope.paths import APP


def serve(
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 5006,
    address: Annotated[str | None, typer.Option(help="Address to listen on; by default all addresses of this machine.")] = None,
    unix_socket: Annotated[
        str | None,
        typer.Option(help="Listen on this socket file instead, for a proxy; whose pages may connect is left to the proxy."),
    ] = None,
    allow_unconfined: Annotated[
        bool,
        typer.Option(help="Run edited kernels even on a system without a sandbox. Only for yourself, with --address localhost."),
    ] = False,
    host: Annotated[
        list[str] | None,
        typer.Option(help="A further name of this server, such as books.example.org, to which it answers; * for any. Repeatable."),
    ] = None,
    proxy: Annotated[
        bool,
        typer.Option(help="A proxy is in front, and no way leads past it: visitors have the addresses that it forwards."),
    ] = False,
    frames: Annotated[
        list[str] | None,
        typer.Option(help="A site that may show pages in a frame, such as https://example.org; * for any. Repeatable."),
    ] = None,
    record_ahead: Annotated[
        bool,
        typer.Option(help="Record each section's main inputs while the server is idle, which takes minutes: for a class to come."),
    ] = False,
    lessons: Lessons = None,
    tasks: Tasks = None,
    show: Annotated[bool, typer.Option(help="Open a browser.")] = False,
) -> None:
    """Serve the app at /app, from a checkout or an installed package."""
    add_folders(lessons, tasks)
    from panel.command.serve import Serve

    from splatscope.web.lesson_page import record_ahead as ahead
    from splatscope.web.policy import FRAMES
    from splatscope.web.serving.hosts import NAMES
    from splatscope.workers.cluster import LOOPBACK
    from splatscope.workers.sandbox.supervisor import UNCONFINED

    parser = argparse.ArgumentParser()
    command = Serve(parser)
    arguments = [str(APP)]
    if proxy:
        arguments.append("--use-xheaders")
    for variable, values in ((NAMES, host), (FRAMES, frames)):
        if values:
            os.environ[variable] = " ".join([*os.environ.get(variable, "").split(), *values])
    if allow_unconfined:
        if not unix_socket and address not in LOOPBACK:
            raise typer.BadParameter(
                "Others could run code on this machine: add --address localhost.", param_hint="--allow-unconfined"
            )
        os.environ[UNCONFINED] = "1"
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
