"""Whether a page of this server has sent a request, or a page of another site that somebody has open."""

from urllib.parse import urlsplit

from tornado.httputil import HTTPServerRequest


def is_own(origin: str, request: HTTPServerRequest) -> bool:
    """Return whether an origin, as in a header, is that of this server, under the name that the request gives it."""
    try:
        return urlsplit(origin).netloc.lower() == request.host.lower()
    except ValueError:
        return False


def is_from_here(request: HTTPServerRequest) -> bool:
    """Return whether no other site has sent a request. Over plain HTTP, browsers leave the first header out."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("Origin")
    return origin is None or is_own(origin, request)
