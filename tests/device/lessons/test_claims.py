"""All claims of the book, each judged by a run: what they come to together."""

from collections import Counter

from splatscope.textbook.contents import find_lesson, lesson_names, text_of
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.markdown import parse
from splatscope.textbook.results import Verdict

# These train or draw for long, and have tests of their own.
JUDGED_ELSEWHERE: dict[tuple[str, str], bool | None] = {
    ("binned", "same_picture"): True,
    ("cas", "same_gradients"): True,
    ("coarse-raster", "enough"): False,
    ("training-loop", "better"): None,
}


def test_no_bet_placed_blindly_wins_much_more_than_a_third(experiment: Experiment) -> None:
    claims = [(stem, block.args[0]) for stem in lesson_names() for block in parse(text_of(stem)) if block.kind == "claim"]
    verdicts = Counter(verdict(experiment, *claim) for claim in claims)
    decided = sum(verdicts[holds] for holds in (True, None, False))
    assert decided >= 0.9 * len(claims)
    shares = {holds: verdicts[holds] / decided for holds in (True, None, False)}
    assert all(0.25 < share < 0.42 for share in shares.values()), shares


def verdict(experiment: Experiment, stem: str, name: str) -> bool | str | None:
    """Return whether a claim holds."""
    if (stem, name) in JUDGED_ELSEWHERE:
        return JUDGED_ELSEWHERE[stem, name]
    judged = getattr(find_lesson(stem)(), name)(experiment)
    assert isinstance(judged, Verdict)
    return judged.holds
