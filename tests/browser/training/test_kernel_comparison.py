"""The comparison of kernels on the training page: one that ships, and this device's, measured on a worker on request."""

import re

from playwright.sync_api import expect

from helpers.train_page import TrainPage


def test_the_ladder_is_measured_on_demand_while_the_page_goes_on(turn_to):
    at = TrainPage(turn_to("/app?page=train")).small()
    ladder = at.page.get_by_test_id("ladder")
    button = at.page.get_by_test_id("ladder-measure")
    said = ladder.locator(".rung-said")
    expect(ladder.locator(".rung")).to_have_count(3)
    expect(said).to_contain_text("Measured on an NVIDIA")
    expect(ladder.get_by_role("status")).to_have_count(0)  # what is there as the page opens is not announced
    button.click()
    expect(ladder.get_by_role("status")).to_have_count(1)
    at.page.get_by_test_id("train-step").click()  # takes its turn between the ladder's jobs, at the latest
    expect(ladder).to_have_attribute("data-measured", "")
    expect(button).to_be_hidden()
    expect(said).to_contain_text(re.compile(r"Measured here.*: [\d.]+ ms simple, [\d.]+ ms tiled, [\d.]+ ms binned\."))
    at.has_iteration(1)
    expect(ladder.locator(".rung-head b")).to_have_text(["simple", "tiled", "binned"])
    expect(ladder.locator(".rung-gain")).to_have_count(2)
    simple = ladder.locator("[data-rung=simple] .rung-counts div")
    pairs = [div.locator("dd").inner_text() for div in simple.all() if "pairs, " in div.inner_text()]
    assert pairs[0] == pairs[1] != "none"
    expect(ladder.locator("[data-rung=binned] code").last).to_have_text("binnedUpdateMain")

    # SingleFlightCache by the server: the next page has it at once, without another measurement.
    times = ladder.locator(".rung-time b").all_inner_texts()
    again = TrainPage(turn_to("/app?page=train"))
    again.page.get_by_test_id("ladder-measure").press("Enter")
    expect(again.page.get_by_test_id("ladder")).to_have_attribute("data-measured", "")
    expect(again.page.get_by_test_id("ladder").get_by_role("heading").first).to_be_focused()  # its button is gone
    assert again.page.get_by_test_id("ladder").locator(".rung-time b").all_inner_texts() == times
