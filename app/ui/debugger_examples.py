"""What the debugger offers to open, in the order in which it lists it."""

from functools import cache

from .example import Example, difference, fixed
from .examples_broken import FLOW, MEMORY, RACES
from .examples_textbook import ALONE, TEXTBOOK

__all__ = ["BY_NAME", "EXAMPLES", "GROUPS", "Example", "difference", "fixed", "is_shipped"]

GROUPS = (
    ("To begin with", ALONE),
    ("The textbook's kernels", TEXTBOOK),
    ("Broken: races", RACES),
    ("Broken: memory", MEMORY),
    ("Broken: flow and numbers", FLOW),
)
EXAMPLES = tuple(example for _, group in GROUPS for example in group)
BY_NAME = {example.name: example for example in EXAMPLES}


def is_shipped(source: str) -> bool:
    """Whether this is an example as it stands in the list, or with its fix, to the letter: then it is trusted."""
    return source in _shipped()


@cache
def _shipped() -> frozenset[str]:
    sources = [example.source for example in EXAMPLES]
    return frozenset(filter(None, [*sources, *map(fixed, EXAMPLES, sources)]))
