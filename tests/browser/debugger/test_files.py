"""The debugger page's links and files, saved and opened again: recordings, sources, Python, Perfetto."""

import io
import json
import random
import re
import subprocess
import sys

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import at, opened, ready, stepper
from helpers.workbench import KERNEL, agree, answer, edit, give, open_example, run, save, write
from splatscope.web.debugger.link import debugger_link


@pytest.fixture
def bench(turn_to) -> Page:
    return opened(turn_to("/app?page=debugger"))


def test_a_reload_keeps_the_draft_and_a_link_takes_it_along(bench, turn_to):
    open_example(bench, "plain-histogram")
    bench.keyboard.press("End")
    there, kind = at(bench), stepper(bench).get_attribute("data-recording")
    bench.wait_for_url(f"**step={there}")
    bench.reload()
    expect(stepper(ready(bench))).to_have_attribute("data-step", str(there))
    assert stepper(bench).get_attribute("data-recording") == kind
    bench.context.grant_permissions(["clipboard-read", "clipboard-write"])
    bench.get_by_test_id("debugger-save").click()
    bench.locator("[data-save=link]").click()
    expect(bench.locator("[data-save=link]")).to_contain_text("Copied")
    address = bench.evaluate("navigator.clipboard.readText()")
    other = ready(agree(turn_to(address[address.index("/app") :])))
    expect(stepper(other)).to_have_attribute("data-step", str(there))
    assert stepper(other).get_attribute("data-recording") == kind


def test_a_kernel_too_long_for_a_link_is_told_so_and_what_to_do(bench):
    noise = "".join(random.Random(3).choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=30_000))
    write(bench, f"// {noise}\n" + KERNEL.replace("BODY", "data[t.x] = 1;"))
    expect(answer(bench)).to_have_text("It compiles.")
    bench.get_by_test_id("debugger-save").click()
    bench.locator("[data-save=link]").click()
    told = bench.locator(".menu-list [role=status]")
    expect(told).to_contain_text("Too long for a link")
    expect(told).to_contain_text("Save the recording instead")


def test_a_link_made_in_python_opens_the_kernel_with_its_inputs(turn_to):
    source = KERNEL.replace("BODY", "data[t.x] = data[t.x] * scale;").replace("\n", "\nuniform uint scale;\n", 1)
    page = ready(turn_to("/app" + debugger_link(source, inputs={"data": np.arange(4, dtype=np.uint32), "scale": 5}, step=7)))
    expect(stepper(page)).to_have_attribute("data-step", "7")
    edit(page)
    expect(page.get_by_test_id("outputs")).to_contain_text(re.compile(r"data4 elements0 5 10 15"))


def test_a_recording_is_saved_and_opens_again(bench, turn_to, tmp_path):
    open_example(bench, "plain-histogram")
    bench.keyboard.press("f")
    there = at(bench)
    name, data = save(bench, "recording")
    assert name == "countMain.npz"
    (tmp_path / name).write_bytes(data)
    other = opened(turn_to("/app?page=debugger"))
    first = stepper(other).get_attribute("data-recording")
    give(other, tmp_path / name)
    expect(stepper(other)).not_to_have_attribute("data-recording", first)
    expect(stepper(ready(other))).to_have_attribute("data-step", str(there))
    expect(other.get_by_text("Opened, recorded on")).to_be_visible()
    assert [card.get_attribute("data-kind") for card in other.locator(".finding[data-kind]").all()] == ["race"]
    assert save(other, "recording")[1][:2] == b"PK"
    run(other)  # it holds the inputs too
    expect(other.get_by_text("Opened, recorded on")).to_be_hidden()
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    give(other, tmp_path / name)
    expect(other.get_by_test_id("debugger-notice")).to_contain_text("countMain.npz")


def test_a_source_file_opens_in_the_editor(bench, tmp_path):
    file = tmp_path / "mine.slang"
    file.write_text(KERNEL.replace("BODY", "data[t.x] = 7;"))
    give(bench, file)
    expect(bench.locator(".cm-content")).to_contain_text("data[t.x] = 7;")
    expect(answer(bench)).to_have_text("It compiles.")


def test_the_python_file_repeats_the_dispatch(bench, tmp_path):
    open_example(bench, "one-tile")
    name, text = save(bench, "python")
    (tmp_path / name).write_bytes(text)
    subprocess.run([sys.executable, tmp_path / name, tmp_path / "out.npz"], check=True, capture_output=True, cwd=tmp_path)
    again = np.load(tmp_path / "out.npz")
    recorded = np.load(io.BytesIO(save(bench, "recording")[1]))
    names = json.loads(recorded["page"].tobytes())["outputs"]
    assert set(names) == set(again.files)
    assert again["pixels"].any()
    for number, buffer in enumerate(names):
        np.testing.assert_array_equal(again[buffer].view(np.uint32), recorded[f"output{number}"])


def test_the_trace_for_perfetto(bench):
    name, text = save(bench, "perfetto")
    assert name == "sortMain.perfetto.json"
    steps = int(stepper(bench).get_attribute("data-steps"))
    assert sum(event["ph"] == "X" for event in json.loads(text)["traceEvents"]) == steps
