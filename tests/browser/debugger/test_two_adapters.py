"""The debugger on a machine with two devices: Mesa's software driver with waves of 8, and the one in Chromium's package, of 4."""

import re

import pytest
from playwright.sync_api import Page, expect

from helpers.serving import served
from helpers.stepping import opened, stepper
from helpers.vulkan_drivers import CHROMIUM, MESA
from helpers.workbench import KERNEL, edit, run, write

pytestmark = pytest.mark.skipif(not (MESA and CHROMIUM), reason="needs two software Vulkan drivers")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("two") / "log.txt", VK_DRIVER_FILES=f"{MESA[0]}:{CHROMIUM[0]}") as address:
        yield address


@pytest.fixture
def bench(turn_to) -> Page:
    page = opened(turn_to("/app?page=debugger"))
    expect(choice(page)).to_be_visible()
    return page


def choice(page: Page):
    return page.get_by_label("Record on")


def test_a_device_is_chosen(bench):
    names = choice(bench).locator("option").all_text_contents()
    assert len(names) == 3
    assert names[-1] == "Both, side by side"
    assert stepper(bench).get_attribute("data-adapter") == names[0]
    choice(bench).select_option(label=names[1])
    run(bench)
    assert stepper(bench).get_attribute("data-adapter") == names[1]


def test_what_the_devices_do_alike(bench):
    choice(bench).select_option(label="Both, side by side")
    edit(bench)
    bench.locator(".cm-content").press("Control+Enter")
    expect(bench.get_by_role("group", name="Both runs")).to_be_focused()  # the editor is hidden now
    both = bench.get_by_test_id("compare")
    expect(both).to_have_attribute("data-steps", re.compile(r"\d+"))
    expect(both).to_contain_text("All events are the same in every thread.")
    expect(both).to_contain_text("llvmpipe")
    expect(both).to_contain_text("SwiftShader")


def test_where_the_devices_part(bench):
    """A kernel of the learner's own, in the sandbox of each device."""
    write(bench, KERNEL.replace("BODY", "uint wave = WaveGetLaneCount();\n    data[t.x] = wave + 1;"))
    choice(bench).select_option(label="Both, side by side")
    bench.get_by_test_id("debugger-run").click()
    both = bench.get_by_test_id("compare")
    expect(both).to_have_attribute("data-difference", re.compile(r"[1-9]\d*,[1-9]\d*"))
    expect(both).not_to_contain_text("All events are the same")
    for wave in ("4", "8"):
        expect(
            both.locator("[data-half]").filter(has=bench.locator('[data-variable="wave"] b', has_text=re.compile(f"^{wave}$")))
        ).to_have_count(1)
