"""Claims that are bet on, the page that sums them up, and what a question says of a wrong answer."""

import re

import pytest
from playwright.sync_api import expect

WORDS = {"Holds": "holds", "In part": "holds in part", "Does not hold": "does not hold"}


def tried(claim):
    expect(claim).to_have_attribute("data-verdict", re.compile(".+"))
    return claim.get_attribute("data-verdict")


@pytest.mark.parametrize("right", [True, False])
def test_a_claim_is_bet_on_before_its_verdict_is_shown(turn_to, right):
    claim = turn_to("/app?page=blending").get_by_test_id("claim").first
    verdict = tried(claim)
    expect(claim.get_by_role("group", name="Your bet").get_by_role("button")).to_have_text(list(WORDS))
    expect(claim.locator(".tag svg")).to_have_count(0)
    expect(claim.get_by_role("button", name="Run it again")).to_be_hidden()
    bet = next(bet for bet, words in WORDS.items() if (words == verdict) == right)
    claim.get_by_role("button", name=bet, exact=True).press("Enter")
    expect(claim.locator(".won")).to_have_text("You were right." if right else f"You bet: {bet.lower()}.")
    shown = claim.locator("ol > li").nth(1)  # the verdict comes between the claim and its evidence
    said = [claim.locator(part).text_content() for part in (".won", ".verdict .tag .sr", ".said")]
    assert all(said)
    assert said[1].endswith(".")  # so that it is not read as one sentence with what follows
    expect(shown).to_be_focused()  # the verdict is read out, with why
    outline = shown.evaluate("el => parseFloat(getComputedStyle(el).outlineWidth) + parseFloat(getComputedStyle(el).outlineOffset)")
    assert outline <= 0, "the card would cut off its focus ring"
    expect(shown).to_have_accessible_description(said[2])
    assert claim.get_by_role("status").inner_text() == ""
    again = claim.get_by_role("button", name=re.compile("Run it again"))
    again.focus()
    again.press("Enter")
    expect(claim.get_by_role("status")).to_have_text(f"It has been run again: {said[1].lower()}")  # no more
    expect(again).to_be_focused()
    expect(shown.locator(".tag")).to_have_text(re.compile(verdict, re.IGNORECASE))
    expect(claim.locator(".ran")).to_contain_text("largest difference" if "back" in claim.inner_text() else "red first")
    expect(claim.get_by_role("group", name="Your bet")).to_be_hidden()
    expect(claim.get_by_role("button", name=re.compile("Run it again: “"))).to_be_visible()


def test_a_bet_is_one_wherever_its_claim_stands(turn_to, server):
    page = turn_to("/app?page=blending")
    claim = page.get_by_test_id("claim").first
    tried(claim)
    claim.get_by_role("button", name="In part", exact=True).click()
    bet = claim.locator(".won").inner_text()
    page.goto(f"{server}/app?page=claims")
    there = page.locator("[data-claims=blending]").get_by_test_id("claim").first
    expect(there.locator(".won")).to_have_text(bet)
    expect(there.get_by_role("group", name="Your bet")).to_be_hidden()


def test_the_page_of_claims_counts_and_filters_them(turn_to):
    page = turn_to("/app?page=claims")
    page.get_by_label("Bet first").uncheck()
    heard = page.get_by_test_id("claims-heard")
    heard.evaluate("el => { window.said = 0; new MutationObserver(() => window.said++).observe(el, {childList: true}) }")
    first, second = page.locator("[data-claims=blending]").get_by_test_id("claim").all()
    verdicts = [tried(first), tried(second)]
    summary = page.get_by_test_id("claims-summary")
    expect(summary).to_have_text(re.compile(r"^\d+ holds? · \d+ holds? in part · [1-9]\d* do(es)? not hold · "))
    if "not tested yet" in summary.inner_text():
        assert page.evaluate("window.said") == 0  # only once all are
    expect(first).to_contain_text("From: ")
    expect(first.get_by_role("group", name="Your bet")).to_be_hidden()

    page.get_by_label("Section", exact=True).select_option("blending")
    expect(heard).to_have_text("Blending, 2 claims")
    assert page.evaluate("window.said") <= 2
    shown = page.locator("[data-claims]:visible")
    expect(shown).to_have_count(1)
    expect(shown.get_by_role("heading")).to_have_text("Blending")
    page.get_by_label("Verdict", exact=True).select_option(verdicts[0])
    expect(shown).to_be_visible()
    page.get_by_label("Verdict", exact=True).select_option(next(words for words in WORDS.values() if words not in verdicts))
    expect(shown).to_be_hidden()
    expect(page.locator("[data-claims]:visible")).to_have_count(0)


def test_who_guesses_first_sees_a_verdict_after_a_bet_and_is_counted(turn_to):
    page = turn_to("/app?page=claims")
    claim = page.get_by_test_id("claim").first
    verdict = tried(claim)
    expect(page.get_by_label("Bet first")).to_be_checked()  # no verdict is given away
    summary = page.get_by_test_id("claims-summary")
    expect(summary).to_have_text("Bet on a claim to see its verdict.")
    expect(claim.locator(".tag svg")).to_have_count(0)
    claim.get_by_role("button", name=next(bet for bet, words in WORDS.items() if words == verdict), exact=True).click()
    expect(summary).to_have_text("You were right about 1 of 1.")
    page.get_by_label("Bet first").uncheck()
    expect(summary).to_contain_text("do not hold")
    page.reload()
    expect(page.get_by_label("Bet first")).not_to_be_checked()
    page.get_by_label("Bet first").check()


def test_every_claim_of_the_page_has_a_name_of_its_own(turn_to):
    page = turn_to("/app?page=claims")
    names = page.get_by_test_id("claim").evaluate_all("(all) => all.map((claim) => claim.ariaLabel)")
    assert len(names) > 30
    assert len(set(names)) == len(names)


def test_a_wrong_answer_is_told_why_it_is_wrong(turn_to):
    quiz = turn_to("/app?page=background").get_by_test_id("quiz").first
    expect(quiz).to_have_attribute("data-answer", re.compile(".+"))
    answer = quiz.get_attribute("data-answer")
    wrong = next(text for text in quiz.locator(".opts button").all_inner_texts() if text != answer)
    quiz.get_by_role("button", name=wrong, exact=True).click()
    quiz.get_by_role("button", name="Reveal").click()
    said = quiz.locator(".said")
    expect(said).to_have_text(re.compile(rf"^Not {re.escape(wrong)}\. \S.{{20,}} It is {re.escape(answer)}\. \S"))
    expect(quiz.locator("h3")).to_contain_text(re.compile(r"\d"))  # its inputs
