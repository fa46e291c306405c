"""`panel serve` on the package's own folder, at /app whatever that folder is called."""

import argparse

from bokeh.application.application import Application
from panel.command.serve import Serve

from splatscope.paths import PACKAGE

ROUTE = "/app"


class ServePackage(Serve):
    """A served folder's route is its name, which is `app` in a checkout and `splatscope` once installed."""

    def customize_applications(self, args: argparse.Namespace, applications: dict[str, Application]) -> dict[str, Application]:
        (application,) = applications.values()
        return super().customize_applications(args, {ROUTE: application})


def serve_package(port: int, address: str | None, show: bool) -> None:
    """Serve until interrupted.

    Raises:
        SystemExit: the port is taken, or the app does not load.
    """
    parser = argparse.ArgumentParser()
    command = ServePackage(parser)
    arguments = [str(PACKAGE), "--port", str(port)]
    if address:
        arguments += ["--address", address]
    if show:
        arguments.append("--show")
    command.invoke(parser.parse_args(arguments))
