"""The page of components under test: a live render, a stream of frames, a figure, an action in the top bar."""

import asyncio
import functools
import io

import panel as pn
from PIL import Image

from splatscope.engine import pool
from splatscope.engine.recording import check_source, record_source
from splatscope.tracing.record import Job
from splatscope.ui.charts import SERIES, chart, follow_theme
from splatscope.ui.compare import Compare
from splatscope.ui.debugger_examples import BY_NAME, fixed
from splatscope.ui.frame import Frame
from splatscope.ui.inputs import inputs_of
from splatscope.ui.live import LiveRender
from splatscope.ui.page import Page
from splatscope.ui.shell import Shell


def picture(red: int, green: int) -> bytes:
    """64 × 48 pixels of one colour, as PNG, so that each can be told by reading any pixel back."""
    out = io.BytesIO()
    Image.new("RGB", (64, 48), (red, green, 0)).save(out, "PNG")
    return out.getvalue()


def parts(shell: Shell) -> Page:
    """Builds the page."""
    calls = {"made": 0, "running": 0, "most": 0}
    said = pn.pane.Str("")

    async def render(blended: int) -> bytes:
        calls["made"] += 1
        calls["running"] += 1
        calls["most"] = max(calls["most"], calls["running"])
        await asyncio.sleep(0.05)
        calls["running"] -= 1
        said.object = f"{calls['made']} renders, at most {calls['most']} at once"
        if blended == 13:
            raise ValueError("13 Gaussians are too many for this device: take 12")
        return picture(blended, calls["made"] % 256)

    live = LiveRender(render, total=200, count=200, alt="A test picture")
    stream = Frame(data={"testid": "stream"}, alt="Frames")

    def burst(_event: object) -> None:
        for number in range(1, 101):
            stream.show(picture(number, 0), iteration=number)

    button = pn.widgets.Button(name="Burst")
    button.on_click(burst)
    action = pn.widgets.Button(name="An action")

    plot = chart(height=120)
    line = plot.line([0, 1, 2], [3, 1, 2], line_width=2.4)
    follow_theme(line.glyph, line_color=SERIES[0])

    page = Page(page="parts", slots=[live, said, stream, button, pn.pane.Bokeh(plot)], actions=[action])
    page.on_close(live.close)
    return page


async def both(compare: Compare, name: str) -> None:
    """Records an example as it is and with its fix."""
    example, packed = BY_NAME[name], []
    for source in (example.source, fixed(example, example.source)):
        interface = (await check_source(pool, source)).interface
        job = Job(source, entry=interface.entries[0], inputs=inputs_of(interface, example.inputs))
        packed.append(await record_source(pool, job))
    compare.show(*packed, names=("As it was", "With the fix"))


def compared(shell: Shell) -> Page:
    """Builds the page of a comparison, and of another after a click."""
    compare = Compare()
    compare.wait()
    pn.state.onload(functools.partial(both, compare, "missing-barrier"))
    other = pn.widgets.Button(name="Zero by zero")

    async def turn(_event: object) -> None:
        await both(compare, "zero-by-zero")

    other.on_click(turn)
    return Page(page="compared", slots=[compare], actions=[other])
