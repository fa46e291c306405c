"""What a source is compiled with is asked for where it leaves something open, kept, and shown while stepping."""

from playwright.sync_api import Page, expect

from helpers.stepping import opened, ready, stepper
from helpers.workbench import answer, edit, run, write

SOURCE = """extern static const uint COUNT;
RWStructuredBuffer<float> seen;
[shader("compute")]
[numthreads(COUNT, 1, 1)]
void settingMain(uint i : SV_DispatchThreadID)
{
    seen[i] = GAIN * i;
}
"""


def test_a_macro_and_a_constant_are_given_on_the_page(turn_to):
    bench: Page = opened(turn_to("/app?page=debugger"))
    write(bench, SOURCE)
    expect(answer(bench)).to_contain_text("GAIN")
    settings = bench.get_by_test_id("compile-settings")
    count = bench.get_by_label("Value of the constant COUNT")
    expect(count).to_be_visible()  # it opens by itself, since the constant has no value
    settings.get_by_label("Macros, one per line").fill("GAIN=2.5")
    count.click()
    expect(answer(bench)).to_have_text("It compiles.")
    bench.get_by_test_id("debugger-run").click()
    expect(answer(bench)).to_contain_text("COUNT has no value")
    edit(bench)
    count.fill("4")
    count.press("Tab")
    expect(bench.get_by_test_id("controls")).to_contain_text("4 × 1 × 1 threads per group")
    run(bench)
    expect(stepper(bench).locator("[data-constant=GAIN] b")).to_have_text("2.5")
    expect(stepper(bench).locator("[data-constant=COUNT] b")).to_have_text("4")
    bench.reload()
    ready(bench)
    edit(bench)
    settings.locator("summary").click()
    expect(count).to_have_value("4")
