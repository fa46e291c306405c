"""A notebook that records a kernel, executed: the stepper stands in the cell's output, without a server."""

import json

from playwright.sync_api import expect

from helpers.notebook import executed
from helpers.stepping import ready, stepper

RECORD = '''
import splatscope
source = """groupshared uint cells[8];
RWStructuredBuffer<uint> o;
[numthreads(8, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    cells[lane] = lane;
    o[lane] = cells[7 - lane];
}"""
recording = splatscope.record(source=source, vars={"o": [0] * 8})
'''


def test_an_executed_cell_shows_the_stepper_and_steps_without_a_server(tmp_path, from_disk):
    recorded, value, shown = executed(RECORD, "recording", "recording.show()")
    assert recorded == []
    assert value[0]["output_type"] == "execute_result"
    assert shown[0]["output_type"] == "display_data"
    for number, (output, *more) in enumerate((value, shown)):
        assert more == []
        file = tmp_path / f"cell{number}.html"
        file.write_text(f"<!doctype html><title>{json.dumps(number)}</title>{output['data']['text/html']}", encoding="utf-8")
        frame = from_disk(file).frame_locator("iframe")
        ready(frame)
        expect(frame.locator("[data-finding]").first).to_contain_text("Race on cells")
        step = int(stepper(frame).get_attribute("data-step"))
        frame.get_by_role("button", name="One event forward").click()
        expect(stepper(frame)).to_have_attribute("data-step", str(step + 1))


CLEAN = RECORD.replace("cells[lane] = lane;", "cells[lane] = lane; GroupMemoryBarrierWithGroupSync();").replace("8", "64")


def test_a_narrow_cell_shows_some_of_the_memory_where_nothing_was_found(tmp_path, from_disk):
    _, (output,) = executed(CLEAN.replace("7 - lane", "63 - lane"), "recording.show(height=600)")
    file = tmp_path / "cell.html"
    file.write_text(f"<!doctype html><title>Cell</title>{output['data']['text/html']}", encoding="utf-8")
    page = from_disk(file)
    page.set_viewport_size({"width": 1024, "height": 700})
    frame = page.frame_locator("iframe")
    ready(frame)
    expect(frame.get_by_text("Nothing found").first).to_be_visible()
    expect(frame.locator(".mem .cell").first).to_be_in_viewport()
