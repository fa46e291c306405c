"""The location of a session: the page, the step and the inputs in its address."""

import param


class Location(param.Parameterized):
    """A location, from which a page is built. Pages can watch it, since Back, Forward and links change it."""

    page = param.String(default="home", constant=True, doc="Name in the address; may be one that no page has")
    step = param.Integer(default=-1, bounds=(-1, None), constant=True, doc="Step in the address; -1 where it names none")
    inputs = param.Dict(default={}, constant=True, doc="What else stands in the address: a page's inputs, as texts by name")
    live = param.Boolean(default=True, constant=True, doc="Whether a session shows the page, rather than a document alone")
