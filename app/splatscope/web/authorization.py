"""Whether the app's `authorize_callback` admits a reader of what needs no session."""

import panel as pn
from bokeh.server.views.auth_request_handler import AuthRequestHandler
from panel.io.server import DocHandler, generate_session
from panel.io.state import set_curdoc


def is_authorized(handler: AuthRequestHandler) -> bool:
    """Return whether the callback admits who has sent a request, as Panel asks it for a document."""
    if pn.config.authorize_callback is None:
        return True
    session = generate_session(handler.application, handler.request, {}, initialize=False)
    with set_curdoc(session.document):  # from which the callback learns the user
        return bool(DocHandler._authorize(handler)[0])  # ty: ignore[invalid-argument-type] - it needs a request alone
