"""The pages in the order of the book: what the sidebar lists, what an address may name, and who builds each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from splatscope.textbook.contents import lesson_names, text_of
from splatscope.textbook.front_matter import front

if TYPE_CHECKING:
    from splatscope.web.shell.page import Page
    from splatscope.web.shell.shell import Shell

GROUPS = ("Blending", "One tile", "Many threads", "Learning", "Tools")


@dataclass(frozen=True)
class Entry:
    """One page. `builder` names a function `module:function` below `web` taking the session's shell and returning a `Page`.

    It is a name rather than the function, so that a page's imports are paid when it is first opened.
    """

    name: str
    title: str
    group: str
    description: str
    builder: str | None = None

    @property
    def exists(self) -> bool:
        return self.builder is not None

    @property
    def address(self) -> str:
        return f"?page={self.name}"

    def load(self) -> Callable[[Shell], Page]:
        """The builder itself. Raises ValueError for a page that has none yet."""
        if self.builder is None:
            raise ValueError(f"The page {self.name} has no builder yet")
        module, function = self.builder.split(":")
        return getattr(import_module(f"splatscope.web.{module}"), function)


_LISTED = (
    Entry("home", "Home", "", "An interactive textbook of one GPU program", "home.home:home"),
    Entry("premultiply", "Premultiplied colour", "Blending", "Why a colour carries its alpha before it is blended"),
    Entry("blending", "Blending", "Blending", "Layer by layer, nearest first, until the light is used up"),
    Entry("termination", "Termination", "Blending", "When a pixel may stop, and what stopping really saves"),
    Entry("undo", "Undo", "Blending", "Walking the blend backward instead of storing it"),
    Entry("final-count", "Final count", "Blending", "The one number a pixel keeps for its way back"),
    Entry("pipeline", "The pipeline", "One tile", "Four stages whose order the types keep"),
    Entry("dispatch-ids", "Threads and pixels", "One tile", "Which thread draws which pixel, and who decides"),
    Entry("coarse-raster", "Coarse raster", "One tile", "Which Gaussians touch this tile, found by all its threads"),
    Entry("bitonic-sort", "Bitonic sort", "One tile", "32 threads order one list without asking each other"),
    Entry("fine-raster", "Fine raster", "One tile", "Every pixel walks the same sorted list"),
    Entry("background", "Background", "One tile", "What shows where the Gaussians let light through"),
    Entry("workgroups", "Workgroups", "Many threads", "Threads that share memory, and the barriers between them"),
    Entry("reduction", "Reduction", "Many threads", "256 gradients become one, in eight steps"),
    Entry("cas", "Compare and swap", "Many threads", "Adding floats from many groups without losing one"),
    Entry("caching", "Caching", "Many threads", "What is kept near, what is computed again"),
    Entry("autodiff", "Autodiff", "Learning", "The compiler writes the backward pass; we read it"),
    Entry("training-loop", "The training loop", "Learning", "Clear, differentiate, update, draw"),
    Entry("adam", "Adam", "Learning", "How far a parameter moves, and why not by its gradient"),
    Entry("train", "Train", "Tools", "Fit a picture with 2D Gaussians", "training.training_page:train"),
    Entry("debugger", "Debugger", "Tools", "Step any Slang kernel forward and back", "debugger.debugger:debugger"),
    Entry("claims", "Claims", "Tools", "What is said of this program, and what it does when it runs", "reference.claims:claims"),
    Entry("glossary", "Glossary", "Tools", "The words of the field, each with the place it is used", "reference.glossary:glossary"),
)


def _with_lessons(listed: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Each section gets its builder where lessons/ has its pair of files. One that is not listed says `title`, `group` and `says`
    at the top of its text, and stands at the end of its group.
    """
    stems = set(lesson_names())
    pages = [replace(entry, builder="lesson_page.lesson_page:lesson") if entry.name in stems else entry for entry in listed]
    for stem in sorted(stems - {entry.name for entry in listed}):
        says = front(text_of(stem))
        group = says.get("group", GROUPS[0])
        place = max((i for i, entry in enumerate(pages) if entry.group == group), default=len(pages) - 1)
        entry = Entry(stem, says.get("title", stem), group, says.get("says", ""), "lesson_page.lesson_page:lesson")
        pages.insert(place + 1, entry)
    return tuple(pages)


PAGES = _with_lessons(_LISTED)
BY_NAME = {entry.name: entry for entry in PAGES}


def sections() -> list[tuple[str, list[Entry]]]:
    """The groups in order, each with its pages."""
    return [(group, [entry for entry in PAGES if entry.group == group]) for group in GROUPS]


def first_section() -> Entry:
    """Where reading begins: the first section that exists, else the first of the book."""
    lessons = [entry for entry in PAGES if entry.group and entry.group != "Tools"]
    return next((entry for entry in lessons if entry.exists), lessons[0])
