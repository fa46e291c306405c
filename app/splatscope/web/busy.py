"""The answer of a server that has too much to do: 503, with the time after which to try again."""

from tornado.web import RequestHandler

from splatscope.workers.errors import RETRY_AFTER, ServerBusy

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="{seconds}">
<title>Splatscope is busy</title></head>
<body style="font: 16px/1.5 system-ui; margin: 20vh auto; max-width: 34em; padding: 0 1em">
<h1 style="font-size: 1.4em">The server is busy</h1><p>This page tries again in {seconds} seconds.</p></body></html>
"""


def send_busy(handler: RequestHandler, page: bool = False) -> None:
    """Answer that the server is busy: as a page that tries again by itself, or else as one line."""
    handler.set_status(503)
    handler.set_header("Retry-After", str(RETRY_AFTER))
    handler.set_header("Cache-Control", "no-store")
    handler.set_header("Content-Type", f"text/{'html' if page else 'plain'}; charset=utf-8")
    handler.finish(_PAGE.format(seconds=RETRY_AFTER) if page else f"{ServerBusy()}\n")
