"""All pages in the order of the book, for the sidebar and for addresses, and the functions that build them."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from splatscope.textbook import contents
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page

Builder = Callable[[Location], Page]

TOOLS = "Tools"
GROUPS = (*contents.GROUPS, TOOLS)


@dataclass(frozen=True)
class Entry:
    """One page. `builder` is the name of a Builder, `package.module:function`.

    It is a name rather than the function, because modules of pages import this list.
    """

    name: str
    title: str
    group: str
    description: str
    builder: str

    @property
    def address(self) -> str:
        """The page's address, relative to the app."""
        return f"?page={self.name}"

    @property
    def is_section(self) -> bool:
        """Whether the page is a section of the book, rather than the home page or a tool."""
        return self.group in contents.GROUPS

    def load(self) -> Builder:
        """Import and return the builder."""
        module, function = self.builder.split(":")
        return getattr(import_module(module), function)


_HOME = Entry("home", "Home", "", "An interactive textbook of one GPU program", "splatscope.web.home.home:home")
_SECTIONS = (
    Entry(section.name, section.title, section.group, section.description, "splatscope.web.lesson_page.lesson_page:lesson")
    for section in contents.sections()
)
_TOOLS = (
    Entry(name, name.capitalize(), TOOLS, description, f"splatscope.web.{builder}")
    for name, description, builder in (
        ("exercises", "Kernels to repair or write, marked by running them", "exercises.exercises:exercises"),
        ("train", "Fit a picture with 2D Gaussians", "training.training_page:train"),
        ("debugger", "Step any Slang kernel forward and back", "debugger.debugger:debugger"),
        ("claims", "Statements about the program, each checked by running it", "reference.claims:claims"),
        ("glossary", "The terms of the field, and where each is used", "reference.glossary:glossary"),
    )
)

PAGES = (_HOME, *_SECTIONS, *_TOOLS)
BY_NAME = {entry.name: entry for entry in PAGES}


def entry_of(page: str) -> Entry:
    """Return the page of this name, or the home page if there is none."""
    return BY_NAME.get(page, _HOME)


def groups() -> list[tuple[str, list[Entry]]]:
    """Return the groups in order, each with its pages."""
    return [(group, [entry for entry in PAGES if entry.group == group]) for group in GROUPS]


def first_section() -> Entry:
    """Return the first section of the book."""
    return next(entry for entry in PAGES if entry.is_section)
