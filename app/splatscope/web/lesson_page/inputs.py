"""The inputs of a section in one form, for its address, its queries and its cached page alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from splatscope.textbook.contents import find_lesson
from splatscope.web.lesson_page.lesson_form import address_of, set_from_address

SHIPPED = "recorded"  # the address parameter that shows the shipped recording


@dataclass(frozen=True)
class Inputs:
    """A section with its inputs. Two queries that lead to the same page are the same `Inputs`.

    Attributes:
        stem: The section.
        address: The inputs that are not at their defaults, as a query string; "recorded=1" for the shipped recording.
    """

    stem: str
    address: str = ""

    @classmethod
    def of(cls, stem: str, query: Mapping[str, str] | str) -> "Inputs":
        """Return the inputs that a query names. Unknown parameters and invalid values are ignored.

        Raises:
            LookupError: There is no such section.
        """
        if isinstance(query, str):
            query = dict(parse_qsl(query, keep_blank_values=True))
        if not query:
            return cls(stem)
        if SHIPPED in query:
            return cls(stem, f"{SHIPPED}=1")
        lesson = find_lesson(stem)()
        set_from_address(lesson, query)
        return cls(stem, address_of(lesson))

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the address, by name."""
        return dict(parse_qsl(self.address, keep_blank_values=True))

    @property
    def shipped(self) -> bool:
        """Whether the shipped recording is shown."""
        return SHIPPED in self.query

    @property
    def follows(self) -> bool:
        """Whether a pixel of a trained picture is named."""
        return "picture" in self.query
