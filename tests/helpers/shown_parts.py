"""The page of components under test: a stream of frames, a figure, an action in the top bar."""

import functools
import io
from collections.abc import Callable
from dataclasses import dataclass

import panel as pn
from PIL import Image

from splatscope.services.drafts.inputs import inputs_of
from splatscope.services.recordings import check_source, record_source
from splatscope.tracing.job import PAGE_RECORDS, KernelJob
from splatscope.web.compare.compare import Compare
from splatscope.web.drawing.chart import Chart
from splatscope.web.examples.example import Example, fixed
from splatscope.web.examples.gallery import BY_NAME
from splatscope.web.lesson_page.inputs import SHIPPED
from splatscope.web.lesson_page.lesson_page import LessonPage
from splatscope.web.shell.page import Page
from splatscope.web.shell.shell import Shell
from splatscope.web.stepper.keys import KEYS
from splatscope.web.stepper.stepper import Stepper
from splatscope.web.theme.charts import SERIES, chart, follow_theme
from splatscope.web.widgets.controls import Controls, action, group, menu
from splatscope.web.widgets.frame import Frame
from splatscope.workers import worker_pool

SORT = """
groupshared uint keys[KEYS];
RWStructuredBuffer<uint> data;

[shader("compute")]
[numthreads(LANES, 1, 1)]
void sortMain(uint3 lid: SV_GroupThreadID)
{
    for (uint i = lid.x; i < KEYS; i += LANES)
        keys[i] = data[i];
    GroupMemoryBarrierWithGroupSync();
    for (uint turn = 0; turn < TURNS; turn++)
        for (uint k = 2; k <= KEYS; k *= 2)
            for (uint j = k / 2; j > 0; j /= 2)
            {
                for (uint i = lid.x; i < KEYS; i += LANES)
                {
                    uint l = i ^ j;
                    if (l < i) continue;
                    uint a = keys[i];
                    uint b = keys[l];
                    if (((i & k) == 0) == (a > b))
                    {
                        keys[i] = b;
                        keys[l] = a;
                    }
                }
                GroupMemoryBarrierWithGroupSync();
            }
    for (uint i = lid.x; i < KEYS; i += LANES)
        data[i] = keys[i];
}
"""
NAN_ACROSS_THREADS = """
groupshared float cells[8];
RWStructuredBuffer<float> weights;
RWStructuredBuffer<float> result;

float part(float w, float sum)
{
    float q = w / sum;
    return q * 2;
}

[shader("compute")]
[numthreads(8, 1, 1)]
void spread(uint3 lid: SV_GroupThreadID)
{
    uint lane = lid.x;
    float w = weights[lane];
    cells[lane] = part(w, weights[lane + 8]);
    GroupMemoryBarrierWithGroupSync();
    float near = cells[lane ^ 1] + cells[lane];
    if (lane < 4)
        near += 1;
    else
    {
        for (uint i = 0; i < lane; i++)
            near *= 0.5;
    }
    GroupMemoryBarrierWithGroupSync();
    result[lane] = near;
}
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel for the stepper, in addition to the debugger's examples."""

    source: str
    inputs: dict[str, dict]
    groups: tuple[int, int, int] = (1, 1, 1)
    records: int = PAGE_RECORDS


def sort_of(keys: int, lanes: int, turns: int = 1) -> Kernel:
    """Return a bitonic sort of any length, for measurements."""
    source = SORT.replace("KEYS", str(keys)).replace("LANES", str(lanes)).replace("TURNS", str(turns))
    return Kernel(source, {"data": {"fill": "shuffle", "count": keys, "seed": 1}}, records=4_000_000)


SHOWN = BY_NAME | {
    "nan-across-threads": Kernel(
        NAN_ACROSS_THREADS,
        {
            "weights": {"fill": "values", "count": 16, "values": "1 2 4 0 1 2 4 8  1 1 1 0 1 1 1 1"},
            "result": {"fill": "zeros", "count": 8},
        },
    ),
    "sort-256": sort_of(256, 128),
    "sort-512": sort_of(512, 256),
    "sort-long": sort_of(512, 256, turns=9),
}


def picture(red: int, green: int) -> bytes:
    """Return a PNG of 64 × 48 pixels of a single colour, so that any pixel identifies it."""
    out = io.BytesIO()
    Image.new("RGB", (64, 48), (red, green, 0)).save(out, "PNG")
    return out.getvalue()


def buttons(label: str, on_click: Callable[[], object] = lambda: None) -> Controls:
    """Return a form with one button."""
    return Controls(lambda *_: on_click(), {}, groups=[group("", action("press", label))])


def parts(shell: Shell) -> Page:
    """Build the page."""
    stream = Frame(data={"testid": "stream"}, alt="Frames")

    def burst() -> None:
        for number in range(1, 101):
            stream.show(picture(number, 0), iteration=number)

    button, extra = buttons("Burst", burst), buttons("An action")
    plot = chart(height=120)
    line = plot.line([0, 1, 2], [3, 1, 2], line_width=2.4)
    follow_theme(line.glyph, line_color=SERIES[0])

    return Page(page="parts", slots=[stream, button, Chart(plot)], actions=[extra])


async def job_of(example: Example | Kernel, source: str = "") -> KernelJob:
    """Return the job of an example's kernel, or of its changed kernel, with the example's inputs."""
    source = source or example.source
    interface = (await check_source(worker_pool, KernelJob(source))).interface
    records, inputs = getattr(example, "records", PAGE_RECORDS), inputs_of(interface, example.inputs)
    return KernelJob(source, entry=interface.entries[0], groups=example.groups, inputs=inputs, records=records)


async def both(compare: Compare, name: str) -> None:
    """Record an example without and with its fix."""
    example = BY_NAME[name]
    packed = [
        await record_source(worker_pool, await job_of(example, source))
        for source in (example.source, fixed(example, example.source))
    ]
    compare.show(*packed, names=("Before the fix", "With the fix"))


def compared(shell: Shell) -> Page:
    """Build a page with a comparison that a click replaces by another."""
    compare = Compare()
    compare.wait()
    pn.state.onload(functools.partial(both, compare, "missing-barrier"))
    other = buttons("Zero by zero", lambda: pn.state.execute(functools.partial(both, compare, "zero-by-zero")))
    return Page(page="compared", slots=[compare], actions=[other])


def stepping(shell: Shell) -> Page:
    """Build a page with a stepper on an example chosen from a menu."""
    stepper = Stepper()
    names = [(name, name) for name in SHOWN]

    async def show(name: str) -> None:
        await stepper.record(await job_of(SHOWN[name]))

    def choose(_: str, name: str) -> None:
        pn.state.execute(functools.partial(show, name))

    choice = Controls(choose, {}, groups=[group("", menu("example", "Example", names))], values={"example": names[0][0]})
    pn.state.onload(functools.partial(show, names[0][0]))
    page = Page(page="stepping", slots=[stepper], actions=[choice], keys=KEYS)
    page.on_close(stepper.close)
    return page


def carried(shell: Shell) -> Page:
    """Build a section's page in a session, which elsewhere is a stream's, and fill it."""
    lesson = LessonPage(shell.page.removeprefix("carried-"), {SHIPPED: "1"})
    lesson.page.page = shell.page  # no section, which would be streamed
    pn.state.onload(lesson.fill)
    return lesson.page


def nowhere(shell: Shell) -> Page:
    """Build an empty page."""
    return Page(page="nowhere", html="<p>Nowhere</p>")
