"""A project of several files on the debugger's page: opened, edited, stepped through, kept."""

import io
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import opened, press, ready, stepper
from helpers.workbench import agree, answer, edit, give, open_example, run, save, write

FILES = {
    "shaders/main.hlsl": """#include "parts/add.hlsli"
import parts.scale;
cbuffer Settings : register(b0) { uint offset; };
RWStructuredBuffer<uint> numbers : register(u0);
[numthreads(4, 1, 1)]
void projectMain(uint lane : SV_GroupIndex)
{
    numbers[lane] = added(scaled(lane)) + offset;
}
""",
    "shaders/parts/add.hlsli": "#pragma once\nuint added(uint x)\n{\n    uint more = x + 3;\n    return more;\n}\n",
    "shaders/parts/scale.slang": "module scale;\npublic uint scaled(uint x) { return x * 2; }\n",
    "shaders/notes.md": "No source.",
}


@pytest.fixture
def project(tmp_path) -> Path:
    path = tmp_path / "project.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    return path


@pytest.fixture
def bench(turn_to) -> Page:
    return opened(turn_to("/app?page=debugger"))


def tab(page: Page, name: str):
    return page.get_by_role("tab", name=name)


def test_a_project_is_opened_run_and_stepped_through_from_file_to_file(bench, project):
    edit(bench)
    expect(bench.get_by_test_id("files")).to_be_hidden()  # one source has no tabs
    give(bench, project)
    expect(bench.get_by_test_id("debugger-notice")).to_contain_text("1 file that is not a source was left out")
    expect(tab(bench, "main.hlsl")).to_have_attribute("aria-selected", "true")
    expect(answer(bench)).to_have_text("It compiles.")
    tab(bench, "parts/add.hlsli").click()
    expect(bench.locator(".cm-content")).to_contain_text("uint more = x + 3;")
    run(bench)
    shown = stepper(bench).locator(".files .tab[aria-pressed=true]")
    bench.keyboard.press("Home")
    expect(shown).to_have_text("main.hlsl")
    bench.keyboard.press("/")
    bench.keyboard.insert_text("set more")
    bench.keyboard.press("Enter")
    expect(shown).to_have_text("parts/add.hlsli")
    bench.keyboard.press("Escape")
    stepper(bench).locator(".files .tab", has_text="main.hlsl").click()
    expect(shown).to_have_text("main.hlsl")
    press(bench, "ArrowLeft")  # one press at a time: two within a frame would be no step at all
    press(bench, "ArrowRight")
    expect(shown).to_have_text("parts/add.hlsli")  # the tab follows the step


ASKING = """// splatscope: entry=scaled groups=2 group=1,0,0 constants={"N": 4} vars={"by": 3, "numbers": [5,6,7,8,9,10,11,12]}
extern static const int N;
cbuffer CB { uint by; };
RWStructuredBuffer<uint> numbers;
[shader("compute")] [numthreads(4, 1, 1)]
void other(uint i : SV_DispatchThreadID) { numbers[i] = 0; }
[shader("compute")] [numthreads(4, 1, 1)]
void scaled(uint i : SV_DispatchThreadID)
{
    uint product = numbers[i] * by + N;
    numbers[i] = product;
}
"""


def test_a_file_runs_as_its_comment_says_until_something_else_is_set(bench, tmp_path):
    file = tmp_path / "scale.slang"
    file.write_text(ASKING)
    give(bench, file)
    expect(answer(bench)).to_have_text("It compiles.")
    expect(bench.get_by_role("heading", name="scale.slang")).to_be_visible()
    expect(bench.get_by_test_id("debugger-notice")).to_be_hidden()  # no invitation to step: it has not run yet
    expect(bench.get_by_test_id("outputs")).to_be_hidden()
    expect(bench.get_by_test_id("comment-hint")).to_contain_text("Set by the comment on line 1.")
    expect(bench.get_by_label("Entry point")).to_have_value("scaled")
    expect(bench.get_by_label("Groups, x")).to_have_value("2")
    expect(bench.get_by_label("Value of CB.by")).to_have_value("3")
    expect(bench.get_by_test_id("compile-settings")).to_contain_text("as in the comment")
    run(bench)
    expect(bench).to_have_title(re.compile("^scale.slang"))
    bench.keyboard.press("/")
    bench.keyboard.insert_text("product == 31")  # 9 · 3 + 4, in thread 0 of the second group
    bench.keyboard.press("Enter")
    expect(stepper(bench).locator("code", has_text="product = 31").first).to_be_visible()
    bench.keyboard.press("Escape")
    edit(bench)
    bench.get_by_label("Value of CB.by").fill("2")
    bench.get_by_label("Value of CB.by").press("Tab")
    expect(answer(bench)).to_have_text("It compiles.")
    run(bench)
    bench.keyboard.press("/")
    bench.keyboard.insert_text("product == 22")
    bench.keyboard.press("Enter")
    expect(stepper(bench).locator("code", has_text="product = 22").first).to_be_visible()


def test_an_error_is_shown_in_the_file_that_it_is_in(bench, project):
    give(bench, project)
    expect(answer(bench)).to_have_text("It compiles.")
    tab(bench, "parts/scale.slang").click()
    bench.locator(".cm-content").click()
    bench.keyboard.press("Control+A")
    bench.keyboard.insert_text("module scale;\npublic uint scaled(uint x) { return nobody; }\n")
    expect(answer(bench)).to_contain_text("parts/scale.slang:2:")
    expect(bench.locator(".cm-lintRange-error")).to_have_text("nobody")
    tab(bench, "main.hlsl").click()
    expect(bench.locator(".cm-lintRange-error")).to_have_count(0)
    answer(bench).get_by_role("button").click()
    expect(tab(bench, "parts/scale.slang")).to_have_attribute("aria-selected", "true")


def test_files_are_added_renamed_removed_and_put_back_by_keyboard(bench):
    edit(bench)
    bench.get_by_role("button", name="Add a file").click()
    name = bench.get_by_label("Name of the file")
    name.fill("../up.slang")
    name.press("Enter")
    expect(bench.get_by_test_id("debugger-notice")).to_contain_text("../up.slang is not allowed")
    expect(tab(bench, "part.slang")).to_be_focused()
    bench.keyboard.press("F2")
    name.fill("lib/more.slang")
    name.press("Enter")
    expect(tab(bench, "lib/more.slang")).to_be_focused()
    bench.keyboard.press("ArrowLeft")
    expect(tab(bench, "kernel.slang")).to_have_attribute("aria-selected", "true")
    bench.keyboard.press("ArrowRight")
    bench.keyboard.press("Delete")
    expect(bench.get_by_test_id("files")).to_be_hidden()
    bench.get_by_role("button", name=re.compile("Undo")).click()
    expect(tab(bench, "lib/more.slang")).to_have_attribute("aria-selected", "true")


def test_a_project_outlives_a_reload_and_travels_in_a_link(bench, project, turn_to):
    give(bench, project)
    expect(answer(bench)).to_have_text("It compiles.")
    run(bench)
    bench.wait_for_url("**#kernel=*")
    bench.reload()
    ready(bench)
    edit(bench)
    expect(tab(bench, "parts/add.hlsli")).to_be_visible()
    other = ready(agree(turn_to(bench.url[bench.url.index("/app") :])))
    edit(other)
    expect(tab(other, "parts/scale.slang")).to_be_visible()
    name, data = save(other, "project")
    assert name == "project.zip"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        texts = {f"shaders/{one}": archive.read(one).decode() for one in archive.namelist()}
    assert texts == {path: text for path, text in FILES.items() if not path.endswith(".md")}
    open_example(other, "plain-histogram")
    edit(other)
    expect(other.get_by_test_id("files")).to_be_hidden()


def test_what_is_no_project_is_refused_and_what_was_there_stays(bench, tmp_path):
    write(bench, "// mine\n")
    trap = tmp_path / "trap.zip"
    with zipfile.ZipFile(trap, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.slang", "x" * 10_000_000)
    give(bench, trap)
    expect(bench.get_by_test_id("debugger-notice")).to_contain_text("big.slang has 10,000,000 bytes; a source may have 65,536.")
    expect(bench.locator(".cm-content")).to_contain_text("// mine")


def test_files_that_are_dropped_open_and_those_without_an_entry_point_join(bench):
    """One drop opens a kernel, the next adds what it includes."""

    def drop(name: str, text: str) -> None:
        script = """(root, [name, text]) => { const dataTransfer = new DataTransfer()
                    dataTransfer.items.add(new File([text], name))
                    root.dispatchEvent(new DragEvent('drop', {dataTransfer, bubbles: true, cancelable: true})) }"""
        bench.get_by_test_id("debugger").evaluate(script, [name, text])

    drop("main.hlsl", FILES["shaders/main.hlsl"].replace("import parts.scale;", "").replace("scaled(lane)", "lane"))
    expect(answer(bench)).to_contain_text("parts/add.hlsli")
    drop("add.hlsli", FILES["shaders/parts/add.hlsli"])
    expect(tab(bench, "add.hlsli")).to_have_attribute("aria-selected", "true")
    bench.keyboard.press("Escape")
    tab(bench, "add.hlsli").focus()
    bench.keyboard.press("F2")
    bench.get_by_label("Name of the file").fill("parts/add.hlsli")
    bench.keyboard.press("Enter")
    expect(answer(bench)).to_have_text("It compiles.")
