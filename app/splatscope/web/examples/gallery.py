"""The debugger's examples, in the order of its list."""

from functools import cache

from splatscope.tracing.job import KernelJob
from splatscope.web.examples.broken import FLOW, MEMORY, RACES
from splatscope.web.examples.example import Example, difference, fixed
from splatscope.web.examples.textbook import ALONE, TEXTBOOK

__all__ = ["BY_NAME", "EXAMPLES", "GROUPS", "Example", "difference", "example_jobs", "fixed", "is_shipped"]

GROUPS = (
    ("First steps", ALONE),
    ("The textbook's kernels", TEXTBOOK),
    ("Broken: races", RACES),
    ("Broken: memory", MEMORY),
    ("Broken: flow and numbers", FLOW),
)
EXAMPLES = tuple(example for _, group in GROUPS for example in group)
BY_NAME = {example.name: example for example in EXAMPLES}


def is_shipped(source: str) -> bool:
    """Return whether a source is exactly an example, or an example with its fix, and so can be trusted."""
    return source in _shipped()


def example_jobs() -> list[KernelJob]:
    """Return jobs for each example with and without its fix, on zeros. The compiled kernels do not depend on the inputs."""
    sources = {source: example for example in EXAMPLES for source in (example.source, fixed(example, example.source)) if source}
    return [KernelJob(source, groups=example.groups) for source, example in sources.items()]


@cache
def _shipped() -> frozenset[str]:
    sources = [example.source for example in EXAMPLES]
    return frozenset(filter(None, [*sources, *map(fixed, EXAMPLES, sources)]))
