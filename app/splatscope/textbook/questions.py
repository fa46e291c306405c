"""Make the answer to a quiz from the right value and the misconceptions that lead to others."""

import re
from collections.abc import Iterable

from splatscope.textbook.results import Answer

MOST = 4  # options of a question


def answer_among(
    question: str, value: str, misconceptions: Iterable[tuple[str, str]], step: int = 0, because: str = "", rank: bool = True
) -> Answer:
    """Return an answer whose options are the right value and what misconceptions lead to, each different from the others.

    Args:
        question: Markdown of one line, with the inputs that the answer depends on.
        value: the right option.
        misconceptions: wrong options with the reason why each is wrong, the most instructive first. Those that these inputs make
            equal to another option are left out, and those beyond MOST options.
        step: the step of the recording that shows the answer.
        because: why it is the answer, as HTML.
        rank: whether to sort the options by their first number; else they stay in the order given, the right one first.
    """
    wrong: dict[str, str] = {}
    for option, why in misconceptions:
        if option != value and len(wrong) < MOST - 1:
            wrong.setdefault(option, why)
    options = [value, *wrong]
    if rank:
        options.sort(key=_number)
    return Answer(value, tuple(options), step, because, wrong=wrong, question=question)


def _number(option: str) -> float:
    found = re.search(r"[-−]?\d[\d,]*\.?\d*", option)
    return float(found[0].replace("−", "-").replace(",", "")) if found else 0.0
