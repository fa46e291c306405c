"""Create a session: its document, the shell for its address, and its part in a walk."""

import panel as pn

from splatscope.paths import BUNDLE
from splatscope.web.assets import address, scripts
from splatscope.web.carriers.session import Session
from splatscope.web.classroom.walk_bar import join
from splatscope.web.lesson_page import record_ahead
from splatscope.web.serving import page_document
from splatscope.web.shell.pages import entry_of
from splatscope.web.shell.router import read_inputs, read_step
from splatscope.web.shell.shell import Shell, title
from splatscope.web.templates import TEMPLATES


def serve() -> Shell:
    """Return the shell of the session that is being created. `app/main.py` calls this once per session."""
    query = {name: values[0].decode(errors="replace") for name, values in pn.state.session_args.items() if values}
    document = pn.state.curdoc
    assert document is not None
    document.template_variables["bundle"] = address(BUNDLE.name)  # the same for the whole session, even if it is rebuilt meanwhile
    shell = _shell_of(query)
    session = Session(shell.router)
    session.servable()
    pn.state.on_session_destroyed(lambda _: session.close())
    document.title = title(entry_of(shell.page))
    if page_document.SESSION in query:
        document.template = TEMPLATES.get_template("session.html")
        document.template_variables["scripts"] = scripts()
    else:
        document.template = TEMPLATES.get_template("shell.html")
        document.template_variables.update(page_document.session_variables(shell))
    return shell


def _shell_of(query: dict[str, str]) -> Shell:
    """Return the shell for an address. When the session ends, it is closed and leaves its walk."""
    page, step, inputs = query.get("page", ""), read_step(query.get("step")), read_inputs(query)
    walk = join(query)
    if walk is not None:
        shell = Shell(*walk.begins(page, step, inputs), walk, notes_only=walk.window == "notes")
        walk.is_at(shell.page, shell.step, shell.inputs)
        if walk.role == "present":
            record_ahead.begin()  # the class will soon try other inputs on its own
        shell.param.watch(lambda *_: walk.is_at(shell.page, shell.step, shell.inputs), ["page", "step", "inputs"])
        shell.param.watch(lambda event: walk.marked(event.new), "mark", onlychanged=False)
        pn.state.on_session_destroyed(lambda _: walk.close())
    elif "walk" in query:
        shell = Shell(f"walk={query['walk']}")  # the home page reports that there is no such walk
    else:
        shell = Shell(page or "home", step, inputs)
    pn.state.on_session_destroyed(lambda _: shell.close())
    return shell
