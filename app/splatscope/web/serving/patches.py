"""All that the app replaces in Panel and Bokeh: three names, none of which has an option for it.

They were read in `READ_IN`. `tests/unit/web/test_patches.py` fails once other versions are installed, or once Panel needs the first
no longer.
"""

import bokeh.server.server
from panel.io import document

from splatscope.web.serving.gate import Gate
from splatscope.web.serving.outgoing_messages import write_all
from splatscope.web.serving.routes import Routes

READ_IN = {"panel": "1.9", "bokeh": "3.9"}


def install() -> None:
    """Replace them. Bokeh looks its two up when it builds the server, after this."""
    document._dispatch_msgs = write_all  # ty: ignore[invalid-assignment] - any function that is declared has its own type
    # `panel serve` builds Bokeh's own server and routes
    bokeh.server.server.HTTPServer = Gate  # ty: ignore[invalid-assignment] - likewise
    bokeh.server.server.BokehTornado = Routes  # ty: ignore[invalid-assignment] - likewise
