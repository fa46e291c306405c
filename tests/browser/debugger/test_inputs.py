"""The debugger page's inputs: typed values, array files, playground attributes, functions to record."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import opened, ready, stepper
from helpers.workbench import answer, edit, open_example, run, write
from splatscope.web.examples.gallery import BY_NAME


@pytest.fixture
def bench(turn_to) -> Page:
    return opened(turn_to("/app?page=debugger"))


def test_inputs_reach_the_kernel(bench):
    edit(bench)
    bench.get_by_label("data is filled with").select_option("values")
    bench.get_by_label("Values of data").fill("7 5, 3\n0x10 1")
    bench.get_by_label("Values of data").blur()
    run(bench)
    edit(bench)
    outputs = bench.get_by_test_id("outputs")
    expect(outputs).to_contain_text("1 3 5 7 16")
    expect(outputs).not_to_contain_text("before your changes")
    bench.get_by_label("Number of elements of data").fill("0")
    bench.get_by_label("Number of elements of data").blur()
    expect(outputs).to_contain_text("of the last run, before your changes")
    expect(outputs).to_have_class(re.compile(r"\bold\b"))
    bench.get_by_test_id("debugger-run").click()
    expect(bench.get_by_test_id("debugger-message")).to_contain_text("whole number from 1 to 1,048,576")


PARTLY = """RWStructuredBuffer<uint> data;
[shader("compute")] [numthreads(4, 1, 1)]
void computeMain(uint lane : SV_GroupIndex)
{
    data[lane] = lane;
    if (lane > 9)
        data[lane] = 0;
}
"""


def test_lines_that_no_thread_reached_are_named_beside_the_verdict(bench):
    write(bench, PARTLY)
    run(bench)
    expect(stepper(bench).locator("[data-verdict=ok]")).to_contain_text("Nothing found")
    expect(stepper(bench).get_by_test_id("note")).to_have_text(re.compile(r"^No thread reached line 7 of \S+$"))


def test_an_array_file_fills_a_buffer(bench, tmp_path):
    np.save(tmp_path / "keys.npy", np.arange(64)[::-1] + 100)
    edit(bench)
    with bench.expect_file_chooser() as chooser:
        bench.get_by_label("data is filled with").select_option("file")
    chooser.value.set_files(tmp_path / "keys.npy")
    row = bench.locator("[data-file=data]")
    expect(row).to_contain_text("keys.npy: int64, 64")
    run(bench)
    edit(bench)
    expect(bench.get_by_test_id("outputs")).to_contain_text(re.compile("64 elements100 101 102 103"))
    (tmp_path / "none.npy").write_bytes(b"not an array")
    with bench.expect_file_chooser() as chooser:
        row.get_by_role("button").click()
    chooser.value.set_files(tmp_path / "none.npy")
    expect(row).to_contain_text("none.npy is neither a .npy nor a .npz file")


def test_playground_attributes_fill_the_widgets_until_somebody_types(bench):
    source = BY_NAME["playground"].source
    write(bench, source)
    expect(bench.get_by_label("Number of elements of wave")).to_have_value("128")
    expect(bench.get_by_label("wave is filled with")).to_have_value("random")
    expect(bench.get_by_label("Groups, x")).to_have_value("4")
    expect(bench.get_by_label("Value of turns")).to_have_value("3.0")
    bench.get_by_label("Value of turns").fill("5")
    bench.get_by_label("Value of turns").blur()
    write(bench, source.replace("COUNT = 128", "COUNT = 64"))
    expect(bench.get_by_label("Number of elements of wave")).to_have_value("64")
    expect(bench.get_by_label("Groups, x")).to_have_value("2")
    expect(bench.get_by_label("Value of turns")).to_have_value("5")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[playground::BLACK(8, 8)] RWTexture2D<float> picture;", "BLACK] makes a texture"),
        ('void printMain() { printf("x"); }', "printf prints"),
    ],
)
def test_what_needs_a_texture_or_a_printer_is_refused_by_name(bench, line, said):
    write(bench, "import playground;\n" + line)
    expect(answer(bench)).to_contain_text(said)


def test_functions_to_record_are_chosen_and_their_cost_is_shown_before(bench):
    open_example(bench, "compare-and-swap")
    edit(bench)
    panel = bench.get_by_test_id("functions")
    expect(panel).to_contain_text(re.compile(r"all 2 functions, \d+ places, under 1 s to compile"))
    panel.locator("summary").click()
    expect(panel.get_by_role("checkbox", name="addMain")).to_be_disabled()
    panel.get_by_role("checkbox", name="atomicAdd").uncheck()
    expect(panel).to_contain_text("1 of 2 functions")
    steps = int(stepper(bench).get_attribute("data-steps"))
    run(bench)
    assert int(stepper(bench).get_attribute("data-steps")) < steps / 2


@pytest.mark.parametrize("path", ["/app?page=debugger", "/app?page=debugger&walk=whole&key=names-of-buffers"])
def test_each_buffer_shows_its_name_in_a_small_window(visit, path):
    page = ready(visit(path, width=1280, height=800))
    open_example(page, "tree-reduction")
    edit(page)
    rows = page.locator(".buf[data-buffer]")
    expect(rows.first).to_be_visible()
    for row in rows.all():
        name = row.locator("p > code")
        assert name.evaluate("el => el.scrollWidth <= el.clientWidth && el.clientWidth > 20"), row.get_attribute("data-buffer")
        boxes = [row.locator(part).first.bounding_box() for part in ("p > code", "p > input", "p > select")]
        assert boxes[0]["width"] > 20
        assert all(box["x"] + box["width"] <= 1280 for box in boxes)
