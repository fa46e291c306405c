"""Read the front matter of a text, the YAML between two lines `---` at its top."""

from typing import Any

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin

_markdown = MarkdownIt("zero").use(front_matter_plugin)


def front_matter(text: str) -> dict[str, Any]:
    """Return the front matter of a text, {} if it has none.

    Raises:
        ValueError: The front matter is not YAML, or not a mapping.
    """
    head = next(iter(_markdown.parse(text)), None)
    if head is None or head.type != "front_matter":
        return {}
    try:
        values = yaml.safe_load(head.content)
    except yaml.MarkedYAMLError as error:
        line = f"Line {error.problem_mark.line + 2}: " if error.problem_mark else ""
        raise ValueError(f"{line}this is not YAML: {error.problem}") from None
    if not isinstance(values, dict):
        raise ValueError("Line 1: the front matter is not a list of `name: value`")
    return values
