"""The book's table of contents: each folder of `lessons/` with a text is a section.

A section's folder has `text.md`, `lesson.py` and `kernel.slang`, and may have more kernels, `walk.md`, `drawing.ts`, `drawing.css`
and `recording.npz`. The front matter of its text says how the sidebar and the map on the home page show it:

    ---
    title: Bitonic sort
    group: One tile
    order: 40
    description: 32 threads order one list without asking each other
    map: {place: forward, order: 40, sentence: "The list, nearest first.", time: sort}
    pixel: Your tile's list is sorted.
    ---
"""

from dataclasses import MISSING, dataclass, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from splatscope.paths import LESSONS, lesson_folder, lesson_folders
from splatscope.textbook.front_matter import front_matter
from splatscope.textbook.lesson import Lesson, kernels_of, text_in
from splatscope.textbook.measured import filled

GROUPS = ("One pixel", "One tile", "Learning", "The whole picture")
MAP_PLACES = ("loop", "stages", "forward", "backward", "update")

_Record = TypeVar("_Record", "MapPlace", "Section")


@dataclass(frozen=True)
class MapPlace:
    """A section's entry on the home page's map of the program.

    `place` is one of MAP_PLACES, or the name of the section whose box contains it; `order` sorts the sections of one place.
    `sentence` says what happens there, and `gives` what the arrow carries from there to the next box. `time` names the kernel or
    stage whose milliseconds are shown beside it, a key of `ProgramMap.times`; "" for none.
    """

    place: str
    order: float = 0.0
    sentence: str = ""
    gives: str = ""
    time: str = ""


@dataclass(frozen=True)
class Section:
    """A section as its front matter describes it. `order` sorts the sections of one group, smallest first.

    `pixel` says in a sentence what the section does to the pixel that the reader has chosen; "" for nothing.
    """

    name: str
    title: str
    group: str
    order: float
    description: str
    map: MapPlace
    pixel: str = ""


@cache
def lesson_names() -> tuple[str, ...]:
    """Return the names of all lessons, sorted. Raises ValueError if two have the same name."""
    names: dict[str, Path] = {}
    for folder in lesson_folders():
        for path in folder.glob("*/lesson.py"):
            name = path.parent.name
            if not (path.parent / "text.md").is_file():
                continue
            if name in names:
                raise ValueError(f"{path.parent}: the book has a section {name} already. Rename the folder.")
            names[name] = path.parent
    return tuple(sorted(names))


def text_of(name: str) -> str:
    """Return a lesson's Markdown, with the measured numbers that it names. Raises FileNotFoundError, LookupError."""
    return filled(text_in(lesson_folder(name) / "text.md"))


def written_of(name: str) -> tuple[str, ...]:
    """Return all texts that a lesson's page is made from: its Markdown and its kernels. Raises FileNotFoundError."""
    return text_of(name), *kernels_of(name).values()


@cache
def sections() -> tuple[Section, ...]:
    """Return all sections in the order of the book. Raises ValueError for front matter that is missing or invalid."""
    unordered = (parse_section(name, text_of(name)) for name in lesson_names())
    return tuple(sorted(unordered, key=lambda section: (GROUPS.index(section.group), section.order, section.name)))


def section_named(name: str) -> Section:
    """Return a section. Raises LookupError."""
    try:
        return next(section for section in sections() if section.name == name)
    except StopIteration:
        raise LookupError(name) from None


def on_map(place: str) -> list[Section]:
    """Return the sections at a place of the program map, in the order of the map."""
    at_place = [section for section in sections() if section.map.place == place]
    return sorted(at_place, key=lambda section: (section.map.order, section.name))


def way_back() -> list[Section]:
    """Return the sections on the way from the loss back to the changed Gaussians, in the order of the map."""
    outer = on_map("backward") + on_map("update")
    return [section for container in outer for section in (container, *on_map(container.name))]


def parse_section(name: str, text: str) -> Section:
    """Return the section that a text's front matter describes.

    Raises:
        ValueError: The front matter is missing or invalid. The message names the file and says what to write.
    """
    where = f"lessons/{name}/text.md"
    try:
        values = front_matter(text)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    place = values.pop("map", None)
    if not isinstance(place, dict):
        raise ValueError(f"{where}: the front matter needs `map: {{place: {'|'.join(MAP_PLACES)}, sentence: …}}`")
    section = _record(Section, {"name": name, "map": _record(MapPlace, place, f"{where}: map"), **values}, where)
    if section.group not in GROUPS:
        raise ValueError(f"{where}: there is no group “{section.group}”; there are {', '.join(GROUPS)}")
    if section.map.place not in (*MAP_PLACES, *lesson_names()):
        raise ValueError(f"{where}: the map has no place “{section.map.place}”; there are {', '.join(MAP_PLACES)} and sections")
    return section


def _record(kind: type[_Record], values: dict[str, Any], where: str) -> _Record:
    """Return a dataclass with these values, after checking each against the type that its field declares."""
    types = get_type_hints(kind)
    required = {field.name for field in fields(kind) if field.default is MISSING}
    if missing := required - values.keys():
        raise ValueError(f"{where}: the front matter lacks {', '.join(sorted(missing))}")
    if unknown := values.keys() - types.keys():
        raise ValueError(f"{where}: the front matter has an unknown {', '.join(sorted(unknown))}")
    for name, value in values.items():
        allowed = (int, float) if types[name] is float else types[name]
        if not isinstance(value, allowed):
            raise ValueError(f"{where}: {name} is {value!r}, which is not of type {types[name].__name__}")
    return kind(**values)


def find_lesson(name: str) -> type[Lesson]:
    """Return the Lesson subclass that lessons/NAME/lesson.py defines. Raises ModuleNotFoundError, LookupError."""
    _extend_package()
    module = import_module(f"splatscope.lessons.{name}.lesson")
    for member in vars(module).values():
        if isinstance(member, type) and issubclass(member, Lesson) and member.__module__ == module.__name__:
            return member
    raise LookupError(f"lessons/{name}/lesson.py has no Lesson")


def _extend_package() -> None:
    """Let `splatscope.lessons` find sections in all folders, so that a lesson has the same name wherever its folder is."""
    path = import_module("splatscope.lessons").__path__
    path.extend(str(folder) for folder in lesson_folders() if folder != LESSONS and str(folder) not in path)


def has_drawing(name: str) -> bool:
    """Return whether the lesson has a drawing. Only the book's own are in the bundle."""
    return (LESSONS / name / "drawing.ts").is_file()
