"""The location of a session: the page, the step and the inputs in its address."""

import param


class Location(param.Parameterized):
    """A location, from which a page is built. Back, Forward and links change it, so pages can watch it."""

    page = param.String(default="home", constant=True, doc="Name in the address; perhaps not the name of any page")
    step = param.Integer(default=-1, bounds=(-1, None), constant=True, doc="Step in the address; -1 if it names none")
    inputs = param.Dict(default={}, constant=True, doc="The other parameters of the address: the page's inputs, as texts by name")
    live = param.Boolean(default=True, constant=True, doc="Whether the page has a session, rather than only a document")
    mark = param.Parameter(default=None, doc="The latest mark of a kernel that this session has sent to the page of exercises")
