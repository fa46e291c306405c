"""What the debugger offers to open, in the order in which it lists it."""

from .example import Example, difference, fixed
from .examples_broken import FLOW, MEMORY, RACES
from .examples_textbook import ALONE, TEXTBOOK

__all__ = ["BY_NAME", "EXAMPLES", "GROUPS", "Example", "difference", "fixed"]

GROUPS = (
    ("To begin with", ALONE),
    ("The textbook's kernels", TEXTBOOK),
    ("Broken: races", RACES),
    ("Broken: memory", MEMORY),
    ("Broken: flow and numbers", FLOW),
)
EXAMPLES = tuple(example for _, group in GROUPS for example in group)
BY_NAME = {example.name: example for example in EXAMPLES}
