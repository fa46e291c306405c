"""An app of your own around a recording: `panel serve docs/panel_app.py`."""

import panel as pn

import splatscope
from splatscope.components import Stepper

SOURCE = """
groupshared uint sums[8];
RWStructuredBuffer<uint> values;

[numthreads(8, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    sums[lane] = values[lane];
    for (uint width = 1; width < 8; width *= 2)
        if (lane >= width)
            sums[lane] += sums[lane - width];
    values[lane] = sums[lane];
}
"""


@pn.cache  # one recording for all visitors
def record():
    """Record the kernel."""
    return splatscope.record(source=SOURCE, vars={"values": [1] * 8})


pn.extension()
recording = record()
stepper = Stepper(recording, height=640)
event = pn.widgets.IntSlider.from_param(stepper.param.step, name="Event")
thread = pn.widgets.IntSlider.from_param(stepper.param.thread, name="Thread")
where = pn.bind("After event **{}** of {}, thread {}.".format, stepper.param.step, recording.events, stepper.param.thread)
pn.Column("# A scan with a race", pn.Row(event, thread), pn.pane.Markdown(where), stepper, sizing_mode="stretch_width").servable()
