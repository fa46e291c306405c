"""The server's routes: the app's own, and of those that Bokeh and Panel add, the ones that it needs."""

from typing import Any

from bokeh.server.tornado import BokehTornado
from bokeh.server.views.metadata_handler import MetadataHandler
from panel.io.server import AutoloadJsHandler, ComponentResourceHandler, DocHandler, WSHandler

from splatscope.textbook.pixel import SAMPLE
from splatscope.web.assets import AssetHandler
from splatscope.web.lesson_page.first_recording import RecordingHandler
from splatscope.web.lesson_page.picture_handler import PictureHandler, PixelHandler
from splatscope.web.lesson_page.section_handler import SectionHandler
from splatscope.web.policy import document_policy
from splatscope.web.recording_files import RecordingFileHandler
from splatscope.web.search.search_handler import SearchHandler
from splatscope.web.serving.headers import Headers
from splatscope.web.serving.page_handler import PageHandler
from splatscope.web.serving.page_socket import Socket

HANDLERS = {WSHandler: Socket, DocHandler: PageHandler}
ROUTES = [
    (r"/assets/(.*)", AssetHandler),
    (r"/pictures/([0-9a-f]{16})", PictureHandler),
    (rf"/pictures/([0-9a-f]{{16}}|{SAMPLE})/(\d{{1,5}}),(\d{{1,5}})", PixelHandler),
    (r"/recordings/([0-9a-f]{16})", RecordingFileHandler),
    (r"/recordings/(.*)", RecordingHandler),
    (r"/search", SearchHandler),
    (r"/sections/([\w-]+)", SectionHandler),
]
# The first imports any module that an address names, the second makes scripts for other sites.
UNUSED = {ComponentResourceHandler, AutoloadJsHandler, MetadataHandler}


def below(prefix: str, route: str) -> str:
    """Return the pattern of a route that pages name relative to themselves: also below a folder, where an app may be served."""
    return f"{prefix}(?:/[^/]+)*?{route}"


class Routes(BokehTornado):
    """The app's routes and headers."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        document_policy()  # now, rather than with the first page, says that its setting is wrong
        self.add_transform(Headers)
        rules = [rule for rule in self.wildcard_router.rules if rule.target not in UNUSED]
        for rule in rules:
            rule.target = HANDLERS.get(rule.target, rule.target)
        self.wildcard_router.rules = rules
        self.wildcard_router.add_rules([(below(self.prefix, route), handler) for route, handler in ROUTES])
