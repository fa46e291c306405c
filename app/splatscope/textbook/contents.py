"""The lessons that there are: each a folder of `lessons/` with a text and a model."""

from functools import cache
from importlib import import_module

from splatscope.paths import LESSONS
from splatscope.textbook.lesson import Lesson


@cache
def lesson_names() -> tuple[str, ...]:
    """Return the names of all lessons, sorted."""
    return tuple(sorted(path.parent.name for path in LESSONS.glob("*/lesson.py") if (path.parent / "text.md").is_file()))


def text_of(name: str) -> str:
    """Return a lesson's Markdown. Raises FileNotFoundError."""
    return (LESSONS / name / "text.md").read_text(encoding="utf-8")


def find_lesson(name: str) -> type[Lesson]:
    """Return the Lesson subclass that lessons/NAME/lesson.py defines. Raises ModuleNotFoundError, LookupError."""
    module = import_module(f"splatscope.lessons.{name}.lesson")
    for thing in vars(module).values():
        if isinstance(thing, type) and issubclass(thing, Lesson) and thing.__module__ == module.__name__:
            return thing
    raise LookupError(f"lessons/{name}/lesson.py has no Lesson")


def has_drawing(name: str) -> bool:
    """Return whether the lesson draws something beside its source."""
    return (LESSONS / name / "drawing.js").is_file()
