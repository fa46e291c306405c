"""A section without a picture: what Chrome's accessibility tree holds, and what one can do with it."""

import re

import pytest
from playwright.sync_api import expect

from helpers.spoken import spoken
from helpers.stepping import press

CHOOSERS = {
    "workgroups": "Thread",
    "cas": "Thread",
    "reduction": "Thread",
    "fine-raster": "Pixel of the tile",
    "coarse-raster": "Test that is shown",
    "autodiff": "Pixel",
    "scenes": "Gaussian of a thread",
    "dispatch-ids": "Pixels and the threads that draw them",
    "background": "Pixel of the picture “R",
}


@pytest.fixture
def read(turn_to):
    """Return a function that opens a section with its figure, and returns the page."""

    def open_section(name: str):
        page = turn_to(f"/app?page={name}")
        expect(page.get_by_test_id("stepper").first).to_have_attribute("data-painted", re.compile(r"[1-9]"))
        return page

    return open_section


@pytest.mark.parametrize(("name", "chooser"), CHOOSERS.items())
def test_each_thread_or_pixel_has_a_name_and_can_be_chosen(read, name, chooser):
    page = read(name)
    choices = spoken(page).one("listbox", chooser).all("option")
    names = [one.name for one in choices]
    assert len(names) >= 12
    assert len(set(names)) == len(names)
    assert all(re.match(r"(Thread|Pixel|Gaussian) \(?\d+", one) for one in names)
    assert [one.properties["selected"] for one in choices].count(True) == 1
    page.get_by_role("listbox", name=chooser).first.focus()
    options = page.get_by_role("listbox", name=chooser).first.get_by_role("option")
    page.keyboard.press("Home")
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")  # an arrow goes on from what is painted
    page.keyboard.press("ArrowDown" if name == "cas" else "ArrowRight")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    chosen = [one.properties["selected"] for one in spoken(page).one("listbox", chooser).all("option")]
    assert [i for i, one in enumerate(chosen) if one] == [1]


@pytest.mark.parametrize("name", ["workgroups", "pipeline", "bitonic-sort", "blending"])
def test_a_drawing_is_read_as_its_sentence_and_not_label_by_label(read, name):
    figure = spoken(read(name)).one("group", "The drawing")
    assert figure.name == "The drawing"
    assert len(figure.description) > 20
    if name == "bitonic-sort":
        assert re.search(r"The keys: (\d+, ){15}\d+\.", figure.description), "also before the first step"
        compared = r"In pass (\d+) these places are compared, and the first of each two gets the smaller key: "
        pairs = re.search(compared + r"((\d+ and \d+, ){7}\d+ and \d+)\. Swapped in pass \1: ", figure.description)
        first = [int(one.split(" and ")[0]) for one in pairs[2].split(", ")]
        second = [int(one.split(" and ")[1]) for one in pairs[2].split(", ")]
        assert [a < b for a, b in zip(first, second, strict=True)] == [True] * 4 + [False] * 4, "half of them fall"
    for drawn in figure.all("image") + figure.all("listbox"):
        assert drawn.text() == "", drawn.name


def test_what_a_description_says_again_is_not_spoken_again(read):
    page = read("bitonic-sort&seed=8")  # no recording ships with it, so that none is replaced meanwhile
    announcer = page.get_by_test_id("announcer").first
    page.keyboard.press("Home")
    expect(announcer).to_contain_text("The keys: ")
    page.get_by_role("button", name="Events", exact=True).click()
    expect(announcer).to_have_text(re.compile("^Before the first event"))
    page.keyboard.press("t")
    expect(announcer).to_have_text(re.compile(r"^Thread \d+ is on line \d+: "))
    page.keyboard.press("o")
    expect(announcer).to_have_text(re.compile("^In lockstep order."))
    page.keyboard.press("f")
    expect(announcer).to_have_text("No finding in this recording.")
    page.keyboard.press("w")
    expect(announcer).to_have_text("No cell and no variable is followed: choose one first.")


def test_with_events_shown_a_step_is_spoken_with_its_event(read):
    page = read("bitonic-sort")
    page.keyboard.press("Home")
    page.get_by_role("button", name="Events", exact=True).click()
    announcer = page.get_by_test_id("announcer").first
    expect(announcer).to_have_text(re.compile("^Before the first event"))
    page.keyboard.press("ArrowRight")
    event = r"Event [\d,]+ of [\d,]+: thread \d+, line \d+, reaches the barrier"
    expect(announcer).to_have_text(re.compile(rf"^Pass 1 .*\. {event}\. Swapped in pass 1: "))


def test_what_is_found_once_a_barrier_is_taken_out_is_spoken(read):
    page = read("workgroups")
    page.get_by_role("radio", name="Taken out").click()
    expect(page.get_by_test_id("announcer").first).to_contain_text(re.compile(r"\d+ findings?.*: race on "))


def test_a_layer_that_is_moved_is_named_by_both_its_places(read):
    page = read("blending")
    page.get_by_role("button", name="Place of layer 1").focus()
    page.keyboard.press("ArrowDown")
    heard = page.locator(".layers > .sr").first
    expect(heard).to_have_text("Layer 1 has moved: it is layer 2 now")
    page.get_by_role("button", name="Remove layer 2").press("Enter")
    expect(heard).to_have_text("Layer 2 is removed; 3 left")


def test_once_a_layer_is_removed_the_focus_goes_to_the_next_and_the_colour_that_is_left_is_said(read):
    page = read("blending")
    page.keyboard.press("ArrowLeft")
    announcer = page.get_by_test_id("announcer").first
    said = """([el, before]) => {
      const colour = /In the end, over white paper: (red [\\d.]+, green [\\d.]+, blue [\\d.]+\\.)$/.exec(el.textContent)?.[1]
      return colour !== before && colour
    }"""

    def colour_other_than(before: str) -> str:
        return page.wait_for_function(said, arg=[announcer.element_handle(), before]).json_value()

    before = colour_other_than("")
    for removed, focused in ((2, "Remove layer 2"), (3, "Remove layer 2"), (2, "Add a layer")):
        page.get_by_role("button", name=f"Remove layer {removed}").press("Enter")
        expect(page.get_by_role("button", name=focused)).to_be_focused()
        before = colour_other_than(before)


@pytest.mark.parametrize(("name", "has_barriers"), [("bitonic-sort", True), ("cas", False)])
def test_the_list_of_keys_has_those_of_this_section_s_figure(read, name, has_barriers):
    page = read(name)
    page.keyboard.press("b")
    expect(page.locator(".src .bp[aria-pressed=true], .src .bp:not(.off)").first).to_be_visible()
    page.keyboard.press("?")
    rows = page.get_by_role("dialog", name="Keys")
    for words in ("Set or clear a breakpoint", "Who wrote this?"):
        expect(rows).to_contain_text(words)
    for words in ("Find: ", "To the next finding"):  # nothing is found
        expect(rows).not_to_contain_text(words)
    assert ("barrier" in rows.inner_text()) is has_barriers


def test_before_anything_has_run_no_result_is_told(read):
    page = read("autodiff")
    page.keyboard.press("Home")
    expect(page.get_by_test_id("announcer").first).to_contain_text("is not known yet.")
    drawing = spoken(page).one("group", "The drawing")
    assert "rate" not in drawing.description
    assert "rate" not in drawing.text()


def test_before_anything_has_run_no_value_is_said_to_stay(read):
    page = read("training-loop")
    page.keyboard.press("Home")
    announcer = page.get_by_test_id("announcer").first
    expect(announcer).to_contain_text("no kernel has run yet")
    expect(announcer).not_to_contain_text("stays")


def test_the_first_heading_is_the_section_s_title(read):
    page = read("workgroups")
    headings = spoken(page).all("heading")
    assert headings[0].name == "Workgroups"
    assert [one.properties["level"] for one in headings].count(1) == 1
    assert spoken(page).one("list", "One tile").all("link")[1].name == "Workgroups"


def test_the_headings_of_a_section_stay_within_reach_once_the_figure_is_scrolled_past(read):
    page = read("bitonic-sort")
    entries = page.get_by_role("navigation", name="On this page").get_by_role("button")
    page.get_by_role("heading", name="Other sorts").scroll_into_view_if_needed()
    expect(page.locator(".companion.needed")).to_have_count(1)
    assert len(spoken(page).one("navigation", "On this page").all("button")) == entries.count() > 4
    entries.first.focus()
    expect(entries.first).to_be_focused()
    expect(entries.first).to_be_in_viewport()


def test_lines_of_code_are_read_with_their_number_and_without_buttons(read):
    page = read("workgroups")
    source = spoken(page).one("region", "Source with")
    lines = [one.text() for one in source.all("listitem")]
    assert [re.match(r"Line (\d+)(, \d+ threads? here)?:", line)[1] for line in lines] == [str(i + 1) for i in range(len(lines))]
    assert source.all("button") == []
    here = re.match(r"Thread 15 is on line (\d+): (.+) Up and down arrows read it line by line\.", source.description)
    assert f", 16 threads here: {here[2]}" in re.sub(r":\s+", ": ", lines[int(here[1]) - 1])
    page.keyboard.press("Home")
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-painted", "0")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-painted", re.compile("[1-9]"))
    now = spoken(page).one("region", "Source with").description
    assert now.startswith("Thread 31 is on line ")
    assert now != source.description


def test_up_and_down_read_the_source_line_by_line_and_move_no_thread(read):
    page = read("termination&alpha=0.5")  # no recording ships with it, so that none is replaced meanwhile
    announcer = page.get_by_test_id("announcer").first
    step = page.get_by_test_id("stepper").first.get_attribute("data-step")
    page.get_by_role("region", name="Source with").focus()
    for key, way in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        here = page.locator(".ln-row.mine").first.get_attribute("data-line")
        page.keyboard.press(key)
        expect(announcer).to_have_text(re.compile(rf"^Line {int(here) + way}: "))
    assert page.get_by_test_id("stepper").first.get_attribute("data-step") == step


def test_the_slider_of_the_run_says_where_it_stands_and_what_happened(read):
    page = read("workgroups")
    slider = page.get_by_role("slider", name="Position in the run")
    sentence = page.get_by_test_id("step-sentence").first
    stops = []
    for _ in range(2):
        stops.append(slider.get_attribute("aria-valuetext"))
        assert re.fullmatch(rf"step \d+ of 14\. {re.escape(sentence.inner_text().strip())}", stops[-1])
        assert spoken(page).one("slider", "Position in the run").description == ""
        before = sentence.inner_text()
        page.keyboard.press("ArrowRight")
        expect(sentence).not_to_have_text(before)
    assert stops[0] != stops[1]


def test_on_the_slider_a_step_is_said_by_its_value_and_only_the_drawing_s_news_beside_it(read):
    page = read("bitonic-sort")
    page.keyboard.press("Home")
    announcer = page.get_by_test_id("announcer").first
    expect(announcer).to_contain_text("Nothing has run yet.")
    slider = page.get_by_role("slider", name="Position in the run")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^step 1 of 11\. Pass 1 of 10 "))
    expect(announcer).to_have_text(re.compile(r"^Swapped in pass 1: [^.]+\.$"))
    page.get_by_role("button", name="One step forward").focus()
    page.keyboard.press("ArrowRight")
    expect(announcer).to_have_text(re.compile(r"^Pass 2 of 10 .* Swapped in pass 2: [^.]+\.$"))


def test_a_step_past_the_end_or_the_start_is_said_to_be_none(read):
    page = read("blending")
    announcer = page.get_by_test_id("announcer").first
    for there, on, words in (
        ("End", "ArrowRight", "This is the end of the run."),
        ("Home", "ArrowLeft", "This is the start of the run."),
    ):
        page.keyboard.press(there)
        page.keyboard.press(on)
        expect(announcer).to_contain_text(words)


def test_a_table_of_results_is_a_tab_stop_only_where_it_is_cut_off_and_its_rows_have_heads(read):
    page = read("adam")
    page.locator("details.answer").evaluate_all("answers => answers.forEach((answer) => (answer.open = true))")
    table = page.get_by_role("group", name="Table", exact=True)
    expect(table.get_by_role("rowheader")).to_have_text(["steady", "noisy", "sparse", "steady, × 1,000"])
    expect(table).not_to_have_attribute("tabindex", "0")
    table.evaluate("el => void (el.style.width = '120px')")
    expect(table).to_have_attribute("tabindex", "0")


def test_the_last_step_of_a_run_that_plays_is_spoken(read):
    page = read("blending")
    announcer = page.get_by_test_id("announcer").first
    sentence = page.get_by_test_id("step-sentence").first
    figure = page.get_by_test_id("stepper").first
    end = figure.get_attribute("data-steps")
    page.keyboard.press("End")
    expect(figure).to_have_attribute("data-painted", end)
    page.keyboard.press("ArrowLeft")
    expect(figure).not_to_have_attribute("data-painted", end)
    expect(announcer).to_contain_text(sentence.inner_text())
    before = sentence.inner_text()
    page.get_by_role("button", name="Play", exact=True).first.press("Enter")
    expect(figure.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
    expect(sentence).not_to_have_text(before)
    expect(announcer).to_contain_text(sentence.inner_text())


@pytest.mark.parametrize(
    ("name", "read_only", "news"),
    [
        ("final-count", "On the way there, layer 1: ", r"finalCount becomes \d+\."),
        ("cas", "with every number in it", r"Attempts refused: \d+\."),
        ("binned", "entries are counted", r"Each thread has drawn a box around its Gaussian: .*"),
        ("bitonic-sort", "The keys: ", r"Swapped in pass 1: (\d+ and \d+(, |\.))+"),
        ("fine-raster", "T after each Gaussian so far", r"T of the chosen pixel, of thread \d+: [\d.]+\."),
    ],
)
def test_a_step_says_what_is_new_and_leaves_the_rest_to_the_drawing_s_description(read, name, read_only, news):
    page = read(name)
    press(page, "Home", "ArrowRight")
    announcer = page.get_by_test_id("announcer").first
    expect(announcer).to_have_text(re.compile(news + "$"))
    expect(announcer).not_to_contain_text(read_only)
    assert read_only in spoken(page).one("group", "The drawing").description


def test_the_map_of_optimisers_says_where_each_of_them_is(read):
    page = read("adam")
    slider = page.get_by_role("slider", name="Step of all paths")
    slider.scroll_into_view_if_needed()
    expect(page.get_by_role("button", name="Pause", exact=True).last).to_be_visible()  # it plays by itself
    slider.focus()
    expect(page.locator(".ways").get_by_role("button", name="Play", exact=True)).to_be_visible()  # and stands still
    page.keyboard.press("Home")
    for key, step in (("ArrowRight", 1), ("End", 80)):
        page.keyboard.press(key)
        said = slider.get_attribute("aria-valuetext")
        assert re.match(rf"step {step} of 80\. gradient descent at ", said)
        assert re.search(r"; Adam( and Adam, the sample's)? at -?[\d.]+, -?[\d.]+", said.replace("−", "-"))
    page.keyboard.press("Home")
    page.get_by_role("button", name="Play", exact=True).last.press("Enter")
    expect(page.get_by_role("status").filter(has_text="step 80 of 80. gradient descent at ")).to_have_count(1)


def test_arrows_go_from_cell_to_cell_of_the_shared_list_and_move_no_thread(read):
    page = read("pipeline")
    step = page.get_by_test_id("stepper").first.get_attribute("data-step")
    cells = page.get_by_role("group", name="The shared list").get_by_role("button")
    for start, key, cell in ((0, "ArrowRight", 1), (1, "End", -1), (-1, "ArrowRight", -1), (-1, "Home", 0)):
        cells.nth(start).focus()  # again each time: while the page is still arriving, the list is drawn anew
        page.keyboard.press(key)
        expect(cells.nth(cell)).to_be_focused()
    assert page.get_by_test_id("stepper").first.get_attribute("data-step") == step


def test_a_pixel_of_a_picture_is_read_in_words_and_home_and_end_go_to_the_ends_of_its_row(read):
    page = read("dispatch-ids")
    picture = page.get_by_role("application", name="in a row: the picture", exact=True)
    expect(picture).to_have_accessible_description("Use the arrow keys to read pixels.")
    expect(picture).to_have_attribute("aria-roledescription", "picture")
    heard = page.locator("figure.plate", has=picture).locator("[aria-live]")
    step = page.get_by_test_id("stepper").first.get_attribute("data-step")
    last = int(picture.get_attribute("width")) - 1
    picture.focus()
    for key, column in (("Home", 0), ("ArrowRight", 1), ("End", last)):
        page.keyboard.press(key)
        expect(heard).to_have_text(re.compile(rf"^column {column}, row \d+: red \d+, green \d+, blue \d+$"))
    assert page.get_by_test_id("stepper").first.get_attribute("data-step") == step


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("caching", r"Layer 4, α [\d.]+: kept T ([\d.]+|not known yet); undone T "),
        ("autodiff", r"colour, overWhite: r is [\d.]+, moves at a rate of \S+ as p grows, and moves the loss at a rate of \S+; g "),
        ("undo", r"After layer 2: there T [\d.]+, colour "),
    ],
)
def test_a_row_of_numbers_is_read_as_a_sentence(read, name, row):
    drawing = spoken(read(name)).one("group", "The drawing")
    assert [bool(re.match(row, one.text())) for one in drawing.all("listitem")].count(True) == 1


def test_a_background_s_name_is_told_from_what_is_drawn_over_it(read):
    backgrounds = spoken(read("premultiply")).one("radiogroup", "Pictures over each background").all("radio")
    assert backgrounds[0].name == "Black, straight and premultiplied"


def test_a_slider_over_scenes_is_named_by_what_they_show(read):
    page = read("gaussian")
    expect(page.get_by_role("slider", name="Ten Gaussians placed by hand", exact=True)).to_be_attached()


def test_a_chart_drawn_layer_by_layer_names_its_first_and_its_last_value(read):
    page = read("termination")
    page.keyboard.press("Home")
    expect(page.get_by_role("img", name="T after each layer: 1 at first", exact=True)).to_be_attached()
    page.keyboard.press("ArrowRight")
    chart = page.get_by_role("img", name="T after each layer: 1 at first, ").first
    for layer in (1, 2):
        expect(chart).to_have_accessible_name(re.compile(rf"^T after each layer: 1 at first, [\d.]+ after layer {layer}$"))
        page.keyboard.press("ArrowRight")


def test_the_figure_has_a_heading(read):
    assert "Figure" in [one.name for one in spoken(read("blending")).all("heading")]


def test_a_button_s_title_does_not_say_its_name_again(read):
    buttons = spoken(read("blending")).all("button")
    for name in ("Keys of this page", "Light or dark"):
        assert [one.description for one in buttons if one.name.startswith(name)] == [""]


def test_a_button_that_steps_is_named_once_and_tells_its_key(read):
    buttons = [one for one in spoken(read("blending")).all("button") if one.name.endswith(" forward")]
    assert [one.description for one in buttons] == [""]
    assert buttons[0].properties["keyshortcuts"] == "ArrowRight"


def test_a_compiler_s_message_that_stays_the_same_keeps_the_focus(read):
    page = read("autodiff")
    box = page.get_by_role("group", name="Compiler’s message").first
    expect(box).to_be_attached()
    shown = page.get_by_test_id("show").filter(has=page.get_by_role("group", name="Compiler’s message")).first
    drawn = int(shown.get_attribute("data-shown"))
    box.focus()
    shown.get_by_role("button", name=re.compile("^Run it again")).dispatch_event("click")
    expect(shown).to_have_attribute("data-shown", re.compile(rf"^(?!{drawn}$)\d+$"))
    expect(box).to_be_focused()


def test_what_a_pass_has_swapped_is_said_where_it_ends_from_both_sides_and_nowhere_else(read):
    page = read("bitonic-sort")
    announcer = page.get_by_test_id("announcer").first
    stepper = page.get_by_test_id("stepper").first
    press(page, "Home", "ArrowRight")
    expect(announcer).to_have_text(re.compile(r"Swapped in pass 1: "))
    page.keyboard.press("ArrowRight")
    expect(announcer).to_have_text(re.compile(r"Swapped in pass 2: "))
    there = announcer.inner_text()
    end = stepper.get_attribute("data-painted")
    page.keyboard.press("s")
    expect(stepper).not_to_have_attribute("data-painted", end)
    expect(announcer).to_have_text(re.compile(r"^Thread \d+ .*, on line \d+\.$"))  # the next pass has not ended
    page.keyboard.press("ArrowRight")
    expect(announcer).to_contain_text("Swapped in pass 3: ")
    page.keyboard.press("ArrowLeft")
    expect(announcer).to_have_text(there)


def test_each_place_of_the_sorting_network_has_its_key(read):
    page = read("bitonic-sort")
    drawing = spoken(page).one("group", "The drawing")
    keys = re.search(r"The keys: ([\d, ]+)\.", drawing.description)[1].split(", ")
    assert drawing.one("list", "A sorting network").name.endswith(f". The keys: {', '.join(keys)}")
    assert [one.name for one in drawing.all("listitem")] == [f"Place {place}: key {key}" for place, key in enumerate(keys)]
    page.keyboard.press("t")
    expect(page.get_by_test_id("announcer").first).to_have_text(re.compile(r"^Thread (\d+) .* At place \1: key \d+\."))


def test_a_round_says_which_gaussians_came_into_the_lists_of_which_tiles(read):
    page = read("binned")
    press(page, "ArrowLeft", "ArrowRight")
    announcer = page.get_by_test_id("announcer").first
    expect(announcer).to_have_text(re.compile(r"are in\. Tile \d+: Gaussian"))
    new = dict(re.findall(r"ile (\d+): Gaussians? ([\d, and]+)", announcer.inner_text()))
    drawing = spoken(page).one("group", "The drawing")
    lists = dict(re.findall(r"ile (\d+): Gaussians? ([\d, and]+)", drawing.description))
    assert new
    in_picture = drawing.one("image", "The entries of all lists").name
    assert dict(re.findall(r"ile (\d+): Gaussians? ([\d, and]+)", in_picture)) == lists
    for tile, gaussians in new.items():
        assert set(re.findall(r"\d+", gaussians)) <= set(re.findall(r"\d+", lists[tile]))
    page.keyboard.press("t")
    expect(announcer).to_have_text(re.compile(r"The box of Gaussian \d+ covers tiles? [\d, and]+\.$"))


def test_after_a_change_that_leaves_the_sentence_as_it_is_only_that_it_is_recorded_is_said(read):
    page = read("undo")
    press(page, "Home", "ArrowRight")
    announcer = page.get_by_test_id("announcer").first
    expect(announcer).to_contain_text("layer 1 is blended")
    alpha = page.get_by_role("slider", name=re.compile("layer 4", re.IGNORECASE)).first
    alpha.focus()
    page.keyboard.press("ArrowUp")
    expect(announcer).to_have_text("Recorded.")


@pytest.mark.parametrize(
    ("group", "keys"),
    [
        ("Raw values and gradients", [("ArrowRight", 1), ("ArrowDown", 10), ("Home", 9), ("End", 17), ("ArrowUp", 8)]),
        ("kernels", [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)]),
    ],
)
def test_values_and_kernels_of_the_training_loop_are_one_tab_stop_each(read, group, keys):
    page = read("training-loop")
    drawing = page.get_by_role("group", name="The drawing")
    root = page.locator(".loop-kernels") if group == "kernels" else drawing.get_by_role("group", name=group)
    buttons = root.get_by_role("button")
    step = page.get_by_test_id("stepper").first.get_attribute("data-step")
    buttons.first.focus()
    for key, place in keys:
        page.keyboard.press(key)
        expect(buttons.nth(place)).to_be_focused()
        expect(root.locator("[tabindex='0']")).to_have_count(1)
    assert page.get_by_test_id("stepper").first.get_attribute("data-step") == step


def test_after_a_click_on_a_value_the_arrow_keys_step(read):
    page = read("training-loop")
    stepper = page.get_by_test_id("stepper").first
    before = stepper.get_attribute("data-painted")
    page.get_by_role("button", name=re.compile("^y of Gaussian 1, raw value")).click()
    page.keyboard.press("ArrowRight")
    expect(stepper).not_to_have_attribute("data-painted", before)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "gaussian",
            r"^The bell curve\. No fall-off is known yet\.$",
            r": at 0: .* The chosen pixel: at [\d.]+, fall-off [\d.]+, α [\d.]+\.$",
        ),
        ("workgroups", r"So far: 0 of 32 writes, ", r"So far: 32 of 32 writes, 32 of 32 arrivals at a barrier, 32 of 32 reads\.$"),
        (
            "pipeline",
            r"which of them touch .* not known yet; 0 of its 32 ",
            r"Gaussians [\d, ]+ touch the tile .*; 32 of its 32 pixels",
        ),
        ("binned", r"15 tiles; no tile is counted yet$", r"15 tiles; tiles covered so far: 0 by \d+, .*14 by \d+$"),
    ],
)
def test_a_picture_s_name_says_what_it_shows_at_this_step(read, name, before, after):
    page = read(name)
    picture = page.get_by_role("group", name="The drawing").first.get_by_role("img").first
    page.keyboard.press("Home")
    expect(picture).to_have_accessible_name(re.compile(before))
    page.keyboard.press("End")
    expect(picture).to_have_accessible_name(re.compile(after))


def test_of_many_keys_each_is_read_by_arrow_keys_and_by_its_thread(turn_to):
    page = turn_to("/app?page=bitonic-sort&count=64")
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-painted", re.compile(r"[1-9]"))
    keys = page.get_by_role("application", name="The keys now")
    heard = keys.locator("xpath=following-sibling::*[@aria-live]")
    step = page.get_by_test_id("stepper").first.get_attribute("data-step")
    keys.focus()
    for key, place in (("ArrowRight", 0), ("ArrowRight", 1), ("End", 63), ("ArrowLeft", 62)):
        page.keyboard.press(key)
        expect(heard).to_have_text(re.compile(rf"^Place {place}: key \d+$"))
    assert page.get_by_test_id("stepper").first.get_attribute("data-step") == step
    page.keyboard.press("t")
    expect(page.get_by_test_id("announcer").first).to_have_text(re.compile(r"^Thread (\d+) .* At place \1: key \d+\."))


def test_adam_s_news_do_not_repeat_its_sentence(read):
    page = read("adam")
    page.keyboard.press("ArrowLeft")
    announcer = page.get_by_test_id("announcer").first
    expect(announcer).to_have_text(re.compile(r"^Iteration \d+: .*\. By the other rule, the sample's, it would be [\d.]+ η\.$"))
    drawing = spoken(page).one("group", "The drawing")
    assert drawing.all("figure") == [], "a picture has one name, its own"


def test_of_each_attempt_to_store_a_sum_it_is_told_from_what_to_what_and_who_came_first(read):
    page = read("cas")
    tried = [one.name for one in spoken(page).one("listbox", "Thread").all("option")]
    attempt = r"from [\d.]+ to [\d.]+, (stored|refused, thread \d+ came first)"
    assert any(re.search(r"refused, thread \d+ came first; from ", one) for one in tried)
    assert all(re.match(rf"Thread \d+ [^;]+; it has (not tried yet|tried: {attempt}(; {attempt})*)$", one) for one in tried)
    formula = spoken(page).all("math")[1].name
    assert re.match(r"new for old, here 0x[\dA-F]{8} \([\d.]+\) for 0x[\dA-F]{8} \([\d.]+\)$", formula)


def test_the_list_is_read_out_when_it_is_padded_and_when_it_is_sorted(read):
    page = read("pipeline")
    announcer = page.get_by_test_id("announcer").first
    press(page, "Home", "ArrowRight")
    for stage, listed in (
        ("Coarse", r": [\d, ]+"),
        ("Pad", r": [\d, ]+, padding[padding, ]*"),
        ("Sort", r", in order: [\d, ]+, padding.*"),
    ):
        press(page, "ArrowRight")
        expect(announcer).to_have_text(re.compile(rf"^{stage}: .* On the list{listed}\.$"))


def test_a_flipped_bit_is_heard_once_as_the_float_it_makes(read):
    page = read("cas")
    heard = page.locator(".bitchoice .sr")
    expect(heard).to_have_text("")
    page.get_by_role("switch", name=re.compile("^bit 31, sign")).press("Enter")
    expect(heard).to_have_text("The sum at the start: −1.2")
    assert spoken(page).one("group", "The sum at the start").all("status") == []


def test_back_on_a_page_the_focus_is_on_the_link_by_which_it_was_left(read):
    page = read("gaussian")
    link = page.get_by_role("link", name="splatting", exact=True).first
    link.focus()
    at = page.evaluate("scrollY")
    page.keyboard.press("Enter")
    page.locator("[data-page=glossary]").wait_for()
    expect(link).to_have_count(0)
    page.go_back()
    page.locator("[data-page=gaussian]").wait_for()
    expect(link).to_be_focused()
    assert page.evaluate("scrollY") == at
    page.keyboard.press("Tab")
    expect(link).not_to_be_focused()
    page.get_by_role("link", name="Blending", exact=True).first.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Blending")).to_be_focused()


def test_findings_have_one_order_in_what_is_said_and_for_the_key(read):
    page = read("bitonic-sort")
    page.get_by_role("radio", name="Taken out").click()
    announcer = page.get_by_test_id("announcer").first
    found = re.compile(r"(\d+) findings, the first: race on (\S+), lines ")
    expect(announcer).to_contain_text(found)
    many, cell = found.search(announcer.inner_text()).groups()
    cards = page.locator(".finding .opens")
    expect(cards).to_have_count(int(many))
    expect(cards.first).to_contain_text(cell)
    for key, number in (("f", 1), ("f", 2), ("Shift+F", 1)):
        page.keyboard.press(key)
        expect(announcer).to_have_text(re.compile(rf"^Finding {number} of {many}, event "))
        expect(cards.nth(number - 1)).to_have_attribute("aria-expanded", "true")


def test_of_a_statement_that_threads_execute_together_it_is_said_how_many(read):
    page = read("bitonic-sort")
    announcer = page.get_by_test_id("announcer").first
    page.keyboard.press("o")
    expect(announcer).to_have_text(re.compile("^In lockstep order."))
    page.keyboard.press("s")
    expect(announcer).to_have_text(re.compile(r"^32 threads execute this together\. Thread \d+ .*, on line \d+\."))
    page.keyboard.press("n")
    expect(announcer).to_have_text(re.compile(r"^Thread \d+ "))


def test_a_menu_has_no_option_without_a_name(read):
    menu = read("autodiff").get_by_role("combobox", name="Value p", exact=True)
    assert all(menu.locator("option").all_text_contents())
