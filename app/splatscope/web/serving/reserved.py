"""What Bokeh and Panel would take from a request: a session, a token, the address of the server, the id of an element.

Panel puts some of it into documents as it is. No page of the app sends any, so it is dropped before they see it.
"""

from tornado.httputil import HTTPServerRequest

_PREFIX = "bokeh-"


def drop_reserved(request: HTTPServerRequest) -> None:
    """Remove the arguments and headers that Bokeh reserves from a request."""
    for values in (request.arguments, request.query_arguments, request.body_arguments, request.headers):
        for name in [name for name in values if name.lower().startswith(_PREFIX)]:
            del values[name]
