"""Build the answer to a quiz from the right value and from misconceptions that lead to wrong ones."""

import re
from collections.abc import Iterable

from splatscope.textbook.results import Answer

MOST = 4  # options per question


def answer_among(
    question: str, value: str, misconceptions: Iterable[tuple[str, str]], step: int = 0, because: str = "", rank: bool = True
) -> Answer:
    """Return an answer whose distinct options are the right value and the results of misconceptions.

    Args:
        question: One line of Markdown, with the inputs that the answer depends on.
        value: The right option.
        misconceptions: Wrong options, each with the reason why it is wrong, the most instructive first. One that equals another
            option for these inputs is omitted. So are those beyond MOST options.
        step: The step of the recording that shows the answer.
        because: Why it is right, as Markdown.
        rank: Whether to sort the options by their first number; otherwise they keep their order, with the right one first.
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
    match = re.search(r"[-−]?\d[\d,]*\.?\d*", option)
    return float(match[0].replace("−", "-").replace(",", "")) if match else 0.0
