"""How many sessions there may be. Each holds the components of a page, some 0.3 MB."""

from weakref import WeakSet

from bokeh.server.contexts import ApplicationContext
from bokeh.server.session import ServerSession

from splatscope.web.serving.gate import visitor_of
from splatscope.workers import visitor
from splatscope.workers.errors import ServerBusy

MOST_SESSIONS = 250  # of one address, which may be that of a whole school
MOST_UNOPENED = 48  # of them that no browser has connected to yet, which takes a second; they expire after 15
MOST_TOGETHER = 1500

opened: WeakSet[ServerSession] = WeakSet()  # those that a browser has connected to


def require_room(context: ApplicationContext, session: str = "") -> None:
    """Check that the current visitor may have one more session, unless it is `session`, which exists.

    Raises:
        ServerBusy: There are too many, of this visitor or of all.
    """
    sessions = list(context.sessions)
    if any(existing.id == session for existing in sessions):
        return
    own = [existing for existing in sessions if _is_own(existing)]
    unopened = sum(existing not in opened for existing in own)
    if len(own) >= MOST_SESSIONS or unopened >= MOST_UNOPENED or len(sessions) >= MOST_TOGETHER:
        raise ServerBusy


def _is_own(session: ServerSession) -> bool:
    request = getattr(session.document.session_context, "request", None)
    return request is not None and visitor_of(request.remote_ip) == visitor.address()
