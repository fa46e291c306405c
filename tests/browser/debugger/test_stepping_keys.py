"""The debugger as engineers know it: keys, run to a line, call stack, what belongs to which kernel."""

import re

import pytest
from playwright.sync_api import Page, expect

from helpers.spoken import spoken
from helpers.stepping import ask, at, opened, press, ready, site, stepper
from helpers.workbench import KERNEL, edit, give, open_example, run, write
from splatscope.web.examples.gallery import BY_NAME

CALLS = """RWStructuredBuffer<uint> halves;
uint half_of(uint x)
{
    uint y = x / 2;
    return y;
}
uint both(uint x)
{
    uint z = half_of(x);
    return half_of(z) + 1;
}
[shader("compute")]
[numthreads(8, 8, 1)]
void main(uint3 lid : SV_GroupThreadID, uint lane_ : SV_GroupIndex)
{
    uint a = both(lane_);
    halves[lane_] = a;
}
"""


@pytest.fixture
def bench(turn_to) -> Page:
    page = opened(turn_to("/app?page=debugger"))
    write(page, CALLS)
    run(page)
    return page


def line(page: Page) -> int:
    return site(page)["line"]


def frames(page: Page) -> list[str]:
    expect(stepper(page)).to_have_attribute("data-painted", str(at(page)))
    return stepper(page).locator(".threads .vars .fn span:first-child").all_text_contents()


def test_the_keys_of_other_debuggers_step_over_into_and_out_of_calls(bench):
    choose = stepper(bench).locator(".filter-in")
    choose.fill("1,3")
    choose.press("Enter")
    choose.press("Escape")
    assert ask(bench, "root => splatscope.inspect(root).moment.thread") == 25
    press(bench, "Home", "F11")
    while line(bench) != 9 or frames(bench) != ["both", "main"]:  # into main, into both, into half_of and back
        press(bench, "F11")
        if line(bench) == 4:
            assert frames(bench) == ["half_of", "both", "main"]
            press(bench, "Shift+F11")
    press(bench, "F11", "F11")
    assert frames(bench)[0] in ("half_of", "both")
    press(bench, "Shift+F11", "Shift+F11")
    assert frames(bench) == []  # main alone is no stack
    press(bench, "Home", "F10", "F10")
    assert line(bench) == 16
    press(bench, "F10")
    assert line(bench) == 17
    press(bench, "Shift+F10")
    assert line(bench) == 16


def test_each_step_and_what_else_keys_do_is_spoken_once_the_reader_rests(bench):
    heard = bench.get_by_test_id("announcer").first
    press(bench, "Home", "ArrowRight", "ArrowRight")
    shown = stepper(bench).locator(".now").inner_text().replace("\u00a0", " ")
    assert re.match(r"event 2 of [\d,]+: thread \d+, line \d+", shown, re.IGNORECASE)
    expect(heard).to_contain_text(shown)
    moment = bench.get_by_role("slider", name="Position in the run")
    expect(moment).to_have_attribute("aria-valuetext", shown)
    press(bench, "b")
    expect(heard).to_have_text(re.compile(rf"^Breakpoint on line {line(bench)}\.$"))
    press(bench, "b")
    expect(heard).to_have_text(re.compile(rf"^No breakpoint on line {line(bench)}\.$"))
    bench.get_by_role("region", name="Source with").focus()
    press(bench, *["ArrowUp"] * (line(bench) - 13), "b")  # [numthreads(8, 8, 1)]
    expect(heard).to_contain_text("Breakpoint on line 13. Nothing is recorded on that line, so nothing stops there.")
    press(bench, "b")
    expect(heard).to_contain_text("No breakpoint on line 13.")
    press(bench, "o")
    expect(heard).to_have_text(re.compile("^In lockstep order"))
    press(bench, "Shift+t")
    expect(heard).to_have_text(re.compile(r"^Thread 63 is on line \d+: "))
    press(bench, "a")
    bench.keyboard.type("1 + 1")
    bench.keyboard.press("Enter")
    expect(heard).to_have_text("Watching 1 + 1: 2.")
    find = bench.get_by_role("searchbox", name="Find")
    find.fill("line == 17")
    find.press("Enter")
    expect(heard).to_have_text(re.compile("^Event .* line 17, writes|^Event .* line 17, halves"))
    find.fill("line == 1")
    find.press("Enter")
    expect(heard).to_have_text("line == 1: no event of this run matches.")
    on = bench.get_by_role("button", name="One event forward", exact=True)
    on.focus()
    bench.keyboard.press("/")
    expect(find).to_be_focused()
    bench.keyboard.press("Escape")
    expect(on).to_be_focused()


def test_each_row_of_the_table_of_threads_is_headed_by_its_thread(bench):
    heads = stepper(bench).locator("table.lanes tbody tr[data-thread] > :first-child")
    assert {head.evaluate("head => head.scope") for head in heads.all()} == {"row"}


def test_escape_in_a_field_of_a_pane_leads_back_to_where_the_reader_was(bench):
    on = bench.get_by_role("button", name="One event forward", exact=True)
    source = bench.get_by_role("region", name="Source with the line")
    watch = bench.get_by_role("textbox", name="Watch an expression")
    choose = bench.get_by_role("textbox", name="List only threads")
    on.focus()
    bench.keyboard.press("a")
    expect(watch).to_be_focused()
    bench.keyboard.insert_text("1 + 1")
    bench.keyboard.press("Escape")
    expect(on).to_be_focused()
    expect(watch).to_have_value("")
    choose.focus()
    bench.keyboard.press("Escape")
    expect(on).to_be_focused()
    watch.focus()
    choose.focus()
    watch.focus()
    bench.keyboard.press("Escape")
    expect(on).to_be_focused()  # two fields do not lead to each other
    bench.evaluate("document.activeElement.blur()")
    bench.keyboard.press("/")
    bench.keyboard.press("Escape")
    expect(source).to_be_focused()  # nothing had the focus before


def test_arrows_in_the_source_choose_a_line_for_a_breakpoint(bench):
    heard = bench.get_by_test_id("announcer").first
    press(bench, "Home")
    bench.get_by_role("region", name="Source with the line").focus()
    first = bench.get_by_test_id("stepper").get_attribute("data-step")
    bench.keyboard.press("ArrowDown")
    expect(heard).to_have_text(re.compile(r"^Line \d+: "))
    chosen = int(re.match(r"Line (\d+)", heard.inner_text())[1])
    for _ in range(17 - chosen):
        bench.keyboard.press("ArrowDown")
    for _ in range(chosen - 17):
        bench.keyboard.press("ArrowUp")
    expect(heard).to_have_text("Line 17: halves[lane_] = a;")
    assert stepper(bench).get_attribute("data-step") == first
    bench.keyboard.press("b")
    expect(heard).to_have_text("Breakpoint on line 17.")
    bench.keyboard.press("Shift+B")
    expect(bench.get_by_role("textbox", name="Stop on line 17 only if")).to_be_focused()
    bench.keyboard.press("Escape")
    expect(bench.get_by_role("region", name="Source with the line")).to_be_focused()
    bench.keyboard.press("Enter")
    assert line(bench) == 17


def test_home_and_end_in_a_memory_go_to_its_first_and_last_cell(bench):
    press(bench, "End")
    cells = stepper(bench).locator(".mem[data-memory=halves] .cell")
    cells.first.focus()
    there = at(bench)
    bench.keyboard.press("End")
    expect(cells.last).to_be_focused()
    bench.keyboard.press("Home")
    expect(cells.first).to_be_focused()
    assert at(bench) == there
    named = spoken(bench).one("region", "Memory, cell by cell").all("button")
    assert (named[0].name, named[0].description) == ("halves[0]: 1", "")
    press(bench, "Shift+Home")
    expect(cells.first).to_have_accessible_name("halves[0]: 0")


def test_what_is_followed_is_spoken_with_its_last_write(bench):
    heard = bench.get_by_test_id("announcer").first
    press(bench, "End")
    stepper(bench).locator(".mem[data-memory=halves] .cell").first.press("Enter")
    expect(heard).to_contain_text("Following halves[0]: last written by thread 0, line 17. W goes to that write.")
    variable = stepper(bench).locator("button[data-variable=a]")
    variable.press("Enter")
    expect(heard).to_contain_text(re.compile(r"^Following a: last written by thread \d+, line 16\. W goes to that write\.$"))
    expect(variable).to_have_attribute("aria-pressed", "true")
    variable.press("Enter")
    expect(heard).to_contain_text("Nothing is followed now.")
    expect(variable).to_have_attribute("aria-pressed", "false")
    bench.keyboard.press("s")
    expect(heard).to_contain_text("This is the end of the run.")


def test_arrow_keys_choose_the_order_and_the_view(bench):
    orders = bench.get_by_role("radiogroup", name="Order of the events").get_by_role("radio")
    assert [radio.get_attribute("tabindex") for radio in orders.all()] == ["0", "-1"]
    orders.first.focus()
    bench.keyboard.press("ArrowRight")
    expect(orders.nth(1)).to_be_focused()
    expect(orders.nth(1)).to_have_attribute("aria-checked", "true")
    views = bench.get_by_role("radiogroup", name="Edit or step").get_by_role("radio")
    views.first.focus()
    bench.keyboard.press("ArrowLeft")
    expect(views.last).to_be_focused()
    expect(bench.locator(".cm-content")).to_be_visible()


def test_a_line_that_is_clicked_is_run_to_and_f9_and_f5_stop_there(bench):
    press(bench, "Home")
    row = stepper(bench).locator('.ln-row[data-line="17"]')
    row.locator(".code").click()
    bench.get_by_role("button", name="Run to here").click()
    assert line(bench) == 17
    buttons = bench.get_by_role("button", name=re.compile("Breakpoint on line"))
    expect(buttons).to_have_count(1)  # of the line at hand: one on every line would be most of what a screen reader hears
    press(bench, "F9")
    expect(row.locator(".bp")).to_have_attribute("aria-pressed", "true")
    press(bench, "Home", "F5")
    press(bench, "F10")
    expect(buttons).to_have_count(2)  # the one that is set stays
    press(bench, "Home", "F5")
    assert line(bench) == 17
    there = at(bench)
    press(bench, "F5")
    assert at(bench) > there
    press(bench, "Home", "Control+F10")
    assert at(bench) == there
    stepper(bench).locator('.ln-row[data-line="9"] .code').click()
    press(bench, "F9")  # on the line just clicked
    expect(stepper(bench).locator('.ln-row[data-line="9"] .bp')).to_have_attribute("aria-pressed", "true")
    bench.keyboard.press("?")
    expect(bench.locator("#keys")).to_contain_text("Shift+F11".replace("+", ""))


def test_threads_are_listed_filtered_and_sorted_by_a_value(bench):
    press(bench, "End")
    bench.keyboard.press("a")
    bench.keyboard.type("(lid.x * 5) % 8")
    bench.keyboard.press("Enter")
    bench.keyboard.press("Escape")
    choose = stepper(bench).locator(".filter-in")
    choose.fill("lid.y == 3 && lid.x < 4")
    choose.press("Enter")
    rows = stepper(bench).locator("table.lanes tbody tr[data-thread]")
    expect(rows).to_have_count(4)
    announcer = stepper(bench).get_by_test_id("announcer")
    expect(announcer).to_contain_text("4 of 64 threads are listed.")
    expect(rows.first).to_contain_text("24 (0, 3)")
    stepper(bench).locator("th.watched .by").click()
    expect(stepper(bench).locator("th.watched")).to_have_attribute("aria-sort", "ascending")
    seen = stepper(bench).locator("td.watched").all_text_contents()
    assert seen == ["0", "2", "5", "7"]
    stepper(bench).locator("th.watched .by").click()
    expect(stepper(bench).locator("td.watched").first).to_have_text("7")
    choose.fill("nobody > 1")
    choose.press("Enter")
    expect(stepper(bench).locator(".threads > .wrong")).to_contain_text("No variable or memory is called nobody.")
    choose.fill("")
    expect(stepper(bench).locator(".threads .second .num")).to_have_text("64 done")
    expect(announcer).to_contain_text("All 64 threads are listed.")
    choose.fill("1,3")
    choose.press("Enter")
    expect(announcer).to_contain_text("Thread 25 (1, 3) is chosen.")


def test_breakpoints_and_watches_belong_to_their_kernel(bench):
    stepper(bench).locator('.ln-row[data-line="17"] .gut').click()
    bench.keyboard.press("a")
    bench.keyboard.type("lid")
    bench.keyboard.press("Enter")
    bench.keyboard.press("Escape")
    expect(stepper(bench).locator("[data-watch=lid] b")).to_have_text(re.compile(r"^\(\d, \d, 0\)$|^·$"))  # a vector, whole
    open_example(bench, "missing-barrier")
    expect(stepper(bench).locator("[data-watch]")).to_have_count(0)
    expect(bench.locator('.bp[aria-pressed="true"]')).to_have_count(0)
    edit(bench)
    expect(bench.get_by_test_id("outputs")).not_to_contain_text("halves")


def test_how_a_memory_is_read_belongs_to_its_kernel(bench):
    write(bench, KERNEL.replace("BODY", "data[t.x] = t.x;"))
    run(bench)
    memory = stepper(bench).locator(".mem[data-memory=data]")
    if not memory.evaluate("el => el.open"):
        memory.locator("summary h2").click()
    memory.locator("select.view").select_option("hex")
    write(bench, KERNEL.replace("BODY", "data[t.x] = t.x + 1;"))
    run(bench)
    expect(memory.locator("select.view")).to_have_value("hex")  # the same kernel, edited
    open_example(bench, "missing-barrier")
    expect(memory.locator("select.view")).to_have_value("")


def test_a_file_that_is_refused_leaves_no_inputs_of_the_last_kernel(bench, tmp_path):
    edit(bench)
    expect(bench.get_by_label("Number of elements of halves")).to_be_visible()
    file = tmp_path / "own.hlsl"
    file.write_text('#include "nowhere.hlsl"\n' + CALLS)
    give(bench, file)
    expect(bench.get_by_test_id("debugger-message")).to_contain_text("#include is not allowed here")
    expect(bench.get_by_label("Number of elements of halves")).to_have_count(0)
    expect(bench.get_by_test_id("outputs")).to_be_hidden()


def test_a_value_is_said_where_the_pointer_rests(bench):
    press(bench, "End")
    stepper(bench).locator('.ln-row[data-line="16"] .code').hover(position={"x": 4 * 8 + 45, "y": 8})
    expect(stepper(bench).locator('.ln-row[data-line="16"] .code')).to_have_attribute(
        "title", re.compile(r"^a = \d+ in thread \d+$")
    )


DEADLY = """RWStructuredBuffer<uint> flag;
[shader("compute")]
[numthreads(32, 1, 1)]
void main(uint3 t : SV_DispatchThreadID)
{
    uint old;
    InterlockedExchange(flag[t.x], 1, old);
    flag[t.x] = old;
}
"""


def test_a_compiler_that_dies_is_not_a_write_out_of_bounds(bench):
    write(bench, DEADLY)
    expect(bench.get_by_test_id("debugger-message")).to_have_text("It compiles.")
    bench.get_by_test_id("debugger-run").click()
    state = stepper(bench).locator("> .state.wrong")
    died = state.filter(has_text="died")
    expect(died.or_(stepper(bench).and_(bench.locator("[data-steps]")))).to_be_visible()
    if died.is_visible():  # the driver of this machine does not survive it
        expect(died).not_to_contain_text("out of bounds")
        expect(died).to_contain_text("The compiler or the driver died on this kernel as it is written")
        expect(died.get_by_role("button", name="Record only the entry point")).to_be_visible()


def test_many_watches_leave_the_transport_and_the_threads_where_they_are(turn_to):
    page = opened(turn_to("/app?page=debugger", width=1600, height=1000))
    before = stepper(page).locator(".dock").bounding_box()
    for i in range(17):
        page.keyboard.press("a")
        page.keyboard.type(f"thread + {i}")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
    expect(stepper(page).locator("[data-watch]")).to_have_count(17)
    assert stepper(page).locator(".dock").bounding_box() == before
    for name in (".watch-in", ".tblwrap"):
        box = stepper(page).locator(name).bounding_box()
        assert box["height"] > 20
        assert box["y"] + box["height"] <= before["y"], name


def test_the_chosen_thread_s_row_stays_in_view_when_the_list_loses_room(turn_to):
    page = opened(turn_to("/app?page=debugger"))
    rows, last = stepper(page).locator(".tblwrap"), stepper(page).locator("tr[data-thread='31']")
    page.keyboard.press("t")
    ask(page, "root => splatscope.inspect(root).pin(31)")
    expect(last).to_be_in_viewport(ratio=0.9)
    rows.evaluate("wrap => (wrap.style.maxHeight = `${wrap.clientHeight / 2}px`)")  # as by one more variable above
    page.wait_for_function(
        "([row, wrap]) => row.getBoundingClientRect().bottom <= wrap.getBoundingClientRect().bottom + 1",
        arg=[last.element_handle(), rows.element_handle()],
    )


TILES = """RWStructuredBuffer<float> result;
cbuffer Scene { uint count; float scale; };
#define T 4
static const uint WIDTH = T + 1;
groupshared float As[T][WIDTH];
[shader("compute")]
[numthreads(4, 4, 1)]
void main(uint3 lid : SV_GroupThreadID)
{
    As[lid.y][lid.x] = lid.y * 10 + lid.x;
    GroupMemoryBarrierWithGroupSync();
    float here = As[lid.x][lid.y] * scale;
    result[lid.y * T + lid.x] = here;
}
"""


@pytest.fixture
def tiles(turn_to) -> Page:
    page = opened(turn_to("/app?page=debugger"))
    write(page, TILES)
    expect(page.get_by_test_id("debugger-message")).to_have_text("It compiles.")
    page.get_by_label("Value of Scene.scale").fill("2.5")
    page.get_by_label("Value of Scene.scale").press("Tab")
    run(page)
    press(page, "End")
    return page


def watched(page: Page, text: str) -> str:
    page.keyboard.press("a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    value = stepper(page).locator(f"[data-watch='{text}'] b")
    expect(value).not_to_be_empty()
    return value.text_content()


def test_an_array_of_two_dimensions_is_drawn_and_watched_as_one(tiles):
    grid = stepper(tiles).locator(".mem[data-memory=As]")
    expect(grid).to_contain_text("float[4][5]")
    assert grid.locator(".grid").evaluate("el => el.style.getPropertyValue('--columns')") == "5"
    assert grid.locator(".cell").nth(7).get_attribute("title") == "As[1][2]"
    assert watched(tiles, "As[3][3]") == "33"
    assert watched(tiles, "As[lid.y][T - 1]").endswith("3")
    assert watched(tiles, "As[2][4]") == "·"  # the padding is never written
    find = stepper(tiles).locator(".find")
    find.fill("write As[2][1]")
    find.press("Enter")
    assert ask(tiles, "root => splatscope.inspect(root).moment.recording.thread[splatscope.inspect(root).moment.event]") == 9
    find.fill("line == 13 && thread == 6")
    find.press("Enter")
    assert (site(tiles)["line"], site(tiles)["thread"]) == (13, 6)


def test_what_the_host_gave_is_shown_and_watched(tiles):
    expect(stepper(tiles).locator("[data-uniform='Scene.scale'] b")).to_have_text("2.5")
    expect(stepper(tiles).locator("[data-constant=WIDTH] b")).to_have_text("5")
    assert watched(tiles, "scale * 2") == "5"
    assert watched(tiles, "WIDTH, b") == "0b101"
    assert watched(tiles, "lid.yx").startswith("(")


def test_memory_is_read_in_hex_and_as_a_picture_and_as_structs(tiles):
    memory = stepper(tiles).locator(".mem[data-memory=result]")
    memory.locator("summary h2").click()
    memory.locator("select.view").select_option("hex")
    expect(memory.locator(".cell").nth(1)).to_have_text("0x41c80000")  # 25.0
    memory.locator("select.view").select_option("struct")
    memory.locator(".view-in").fill("float2 place, uint id, float w")
    memory.locator(".view-in").press("Tab")
    expect(memory.locator(".part")).to_have_count(4)
    assert memory.locator(".part").all_text_contents() == ["place.x", "place.y", "id", "w"]
    expect(memory.locator(".cell").nth(1)).to_have_text("25")
    expect(memory.locator(".cell").nth(2)).to_have_text(str(0x42480000))
    memory.locator("select.view").select_option("picture")
    picture = memory.locator("canvas.picture")
    expect(picture).to_be_visible()
    assert picture.evaluate("canvas => [canvas.width, canvas.height]") == [8, 8]
    expect(picture).to_have_attribute("title", "0 black, 82.5 white")


def test_the_address_restores_an_edited_kernel(tiles):
    assert "#kernel=" in tiles.url
    press(tiles, "Home", "ArrowRight", "ArrowRight")
    tiles.wait_for_url(re.compile(r"step=2.*#kernel="))
    tiles.evaluate("sessionStorage.clear()")
    tiles.reload()
    ready(tiles)
    expect(stepper(tiles)).to_have_attribute("data-step", "2")
    expect(stepper(tiles).locator("[data-uniform='Scene.scale'] b")).to_have_text("2.5")


def test_while_another_kernel_compiles_its_source_is_on_screen(tiles):
    tiles.get_by_test_id("debugger-reading").evaluate(
        """el => { window.seen = []
        const note = () => { if (!el.hidden) window.seen.push(el.innerText) }
        new MutationObserver(note).observe(el, {attributes: true, childList: true, subtree: true}) }"""
    )
    open_example(tiles, "missing-barrier")
    expect(tiles.get_by_test_id("debugger-reading")).to_be_hidden()
    entry = re.search(r"void (\w+)\(", BY_NAME["missing-barrier"].source)[1]
    assert any(f"void {entry}(" in text for text in tiles.evaluate("window.seen"))


LONG = """RWStructuredBuffer<uint> data;
uint busy(uint n)
{
    uint sum = 0;
    for (uint i = 0; i < 400; i++)
        sum += i;
    return sum;
}
[shader("compute")]
[numthreads(1024, 1, 1)]
void main(uint lane_ : SV_GroupIndex)
{
    data[lane_ % 4] = busy(lane_);
}
"""


def test_a_full_recording_is_not_called_clean_and_offers_what_helps(turn_to):
    page = opened(turn_to("/app?page=debugger"))
    write(page, LONG)
    run(page)
    findings = page.get_by_test_id("findings")
    expect(findings.locator("[data-verdict]")).to_have_attribute("data-verdict", "note")
    expect(findings).to_contain_text("The recording was full before the end")
    expect(findings).to_contain_text("Nothing was looked at")  # it was full before any thread came to the store
    before = stepper(page).get_attribute("data-recording")
    findings.get_by_role("button", name=re.compile(r"Leave out busy: \d+% of the events")).click()
    expect(stepper(page)).not_to_have_attribute("data-recording", before)
    ready(page)
    expect(findings).to_contain_text("busy was not recorded: it was not chosen.")
    expect(findings).not_to_contain_text("The recording was full")


WIDE = """RWStructuredBuffer<uint> bits;
groupshared uint words[64];
uint mixed(uint x) { return x * 3 + 1; }
[shader("compute")]
[numthreads(64, 1, 1)]
void main(uint t : SV_GroupIndex)
{
    words[t] = t * 77777777;
    GroupMemoryBarrierWithGroupSync();
    uint total = 0;
    for (uint i = 0; i < 3; i++)
    {
        total += words[(t + i) & 63] + (i * 3u) + (total >> 2) - min(total, 7u) + countbits(words[t]) + mixed(t);
        uint square = i * i;
        bits[t] = square;
    }
}
"""


def test_every_digit_of_a_word_in_hex_or_binary_is_visible(turn_to):
    page = opened(turn_to("/app?page=debugger"))
    write(page, WIDE)
    run(page)
    press(page, "End")
    memory = stepper(page).locator(".mem[data-memory=words]")
    for view, last in (("hex", "0x241010cf"), ("binary", "00100100 00010000 00010000 11001111")):
        memory.locator("select.view").select_option(view)
        cells = memory.locator(".cell")
        expect(cells.last).to_have_text(last)
        assert cells.evaluate_all("cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).length") == 0


def test_nothing_covers_the_code_or_the_condition_of_a_breakpoint(turn_to):
    page = opened(turn_to("/app?page=debugger"))
    write(page, WIDE)
    run(page)
    press(page, "Home")
    rows = stepper(page).locator(".ln-row")
    row = rows.nth(12)
    row.locator(".code").click(position={"x": 80, "y": 8})
    press(page, "Shift+B")
    page.keyboard.type("t == 14")
    page.keyboard.press("Enter")
    press(page, "F5")
    row.locator(".code").click(position={"x": 80, "y": 8})
    expect(row.locator(".note")).to_have_text("thread 14")
    edges = row.evaluate(
        """row => {
            row.closest(".srcwrap").scrollLeft = 1e6  // a line may be wider than the pane: at its end nothing is covered
            return [".run-here", ".code", ".when", ".note"].flatMap(one => {
                const box = row.querySelector(one).getBoundingClientRect()
                return [box.left, box.right]
            })
        }"""
    )
    assert edges == sorted(edges)
    now = stepper(page).locator(".now")
    assert now.evaluate("el => el.scrollHeight <= el.clientHeight + 1"), now.text_content()


def test_a_local_of_the_previous_iteration_is_not_shown_and_stops_no_breakpoint(turn_to):
    page = opened(turn_to("/app?page=debugger"))
    write(page, WIDE)
    run(page)
    press(page, "Home")
    row = stepper(page).locator('.ln-row[data-line="13"]')
    row.locator(".code").click(position={"x": 80, "y": 8})
    press(page, "Shift+B")
    page.keyboard.type("square == 1")
    page.keyboard.press("Enter")
    press(page, "F5")
    expect(stepper(page).locator(".now")).to_contain_text("No further breakpoint is reached")
    assert at(page) == ask(page, "root => splatscope.inspect(root).moment.recording.length")


NOT_A_NUMBER = """RWStructuredBuffer<float> first;
groupshared float second[8];
[shader("compute")]
[numthreads(8, 1, 1)]
void main(uint t : SV_GroupIndex)
{
    float x = float(t);
    first[t] = LEAST(x - 4.0);
    second[t] = x;
    first[t] += second[7 - t];
}
"""


def test_a_run_with_a_new_finding_opens_there_and_f_shows_that_one_first(turn_to):
    page = opened(turn_to("/app?page=debugger"))
    write(page, WIDE)
    run(page)
    press(page, "End")
    write(page, NOT_A_NUMBER.replace("LEAST", "sqrt"))
    run(page)
    steps = ask(page, "root => splatscope.inspect(root).moment.recording.findings.map(finding => finding.events.at(-1))")
    assert len(steps) > 1
    assert at(page) == min(steps)
    press(page, "F")
    assert (at(page), ask(page, "root => splatscope.inspect(root).moment.finding")) == (min(steps), steps.index(min(steps)))
    press(page, "F")
    assert at(page) == sorted(set(steps))[1]
    heard = page.get_by_test_id("announcer").first
    expect(heard).to_have_text(re.compile(rf"^Finding 2 of {len(steps)}, event {at(page)}: (?!.*Event \d)"))
    press(page, *["F"] * (len(steps) - 1))
    expect(heard).to_have_text(re.compile(rf"^Finding 1 of {len(steps)}, .*\. That was the last finding\. This is the first\.$"))
    press(page, "T")
    expect(heard).to_have_text(re.compile(r"^Thread \d+ is on line \d+: [^:]*$"))  # without what was said before
