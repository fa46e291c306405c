"""What is said of a recorded kernel. `judge` makes it once, as the kernel is recorded, and it is stored with the trace."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from splatscope.tracing.checks.finding import Finding

Span = tuple[str, int, int]
"""File, first line and last line."""
Agreement = Literal["same", "rounding", "different"]
FULL = "The recording was full before the end: what came later was not looked at."
ONE_GROUP = "Only one workgroup was looked at."
NO_ACCESS = "No thread came to an access to memory, so nothing was looked at: are all inputs given?"


@dataclass(frozen=True)
class Verdict:
    """What is said of a recorded kernel.

    Until `judge` has made it, it has only what the recorder could not see, and its notes. A file stores the findings beside it, and
    nothing of what comes after `difference`.

    Attributes:
        findings: What was found, first in the recorded workgroup, then elsewhere.
        unseen: What the recording does not show, a sentence each.
        notes: What a reader should know, a sentence each.
        missed: What was not checked, a sentence each; None if that was not determined yet.
        unreached: The code that no thread reached; None if that was not determined yet.
        between_groups: Whether all workgroups were checked; None if that was not requested, or if there is only one.
        records_needed: The records that a full recording would have needed; 0 if no number is enough, None if that is not known.
        rounding: How the plain kernel rounds otherwise, "" if it does not.
        difference: How the plain kernel's results differ otherwise, "" if they do not.
        agreement: How the plain kernel's results differ; None if it was not run.
        comparison: The same in a sentence.
        not_given: The inputs that were zeros, with the sizes that were assumed.
        shortfalls: Sentences on these and on unreached lines, which a strict check does not accept.
        truncated: Whether a recording was full before the end.
        too_many: Why the other workgroups were not checked, "" if they were, or if that was not requested.
        summary: What may be said beside the findings, see `verdict_of`.
    """

    findings: "tuple[Finding, ...]" = ()
    unseen: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missed: tuple[str, ...] | None = None
    unreached: tuple[Span, ...] | None = None
    between_groups: bool | None = None
    records_needed: int | None = None
    rounding: str = ""
    difference: str = ""
    agreement: Agreement | None = None
    comparison: str = "The plain kernel was not run: that is not safe."
    not_given: tuple[str, ...] = ()
    shortfalls: tuple[str, ...] = ()
    truncated: bool = False
    too_many: str = ""
    summary: str = ""

    @classmethod
    def of(cls, header: dict[str, Any]) -> Self:
        """Return what `as_header` has described. Entries of other types are left out."""
        sentences = {name: _sentences(header.get(name)) for name in ("unseen", "notes", "missed")}
        words = {name: header[name] for name in ("rounding", "difference") if isinstance(header.get(name), str)}
        between, spans = header.get("between_groups"), header.get("unreached")
        needed = header.get("records_needed", header.get("lacks"))  # "lacks" in files of earlier versions
        return cls(
            unseen=sentences["unseen"] or (),
            notes=sentences["notes"] or (),
            missed=sentences["missed"],
            unreached=tuple(tuple(span) for span in spans if _is_span(span)) if isinstance(spans, list) else None,
            between_groups=between if isinstance(between, bool) else None,
            records_needed=needed if type(needed) is int and needed >= 0 else None,
            **words,
        )

    def as_header(self) -> dict[str, Any]:
        """Return this as JSON types, for files and pages, without what was not determined."""
        return {name: value for name in _STORED if (value := getattr(self, name)) is not None and value != ""}

    def bounded(self, sentences: int, characters: int) -> Self:
        """Return this with at most so many sentences of each kind, of at most so many characters each."""

        def shorten(texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(text[:characters] for text in texts[:sentences])

        return replace(
            self,
            unseen=shorten(self.unseen),
            notes=shorten(self.notes),
            missed=None if self.missed is None else shorten(self.missed),
            rounding=self.rounding[:characters],
            difference=self.difference[:characters],
        )


def verdict_of(events: int, findings: Sequence[object], missed: Sequence[str]) -> str:
    """Return the verdict that a recording justifies besides its findings. It says "Nothing found" only about what was checked.

    It is "" if there are findings and nothing was missed.
    """
    if not events:
        return "Nothing was recorded"
    if NO_ACCESS in missed:
        return "Nothing was looked at"
    if findings:
        return "Not everything was looked at" if missed else ""
    return "Nothing found in what was recorded" if missed else "Nothing found"


_STORED = ("unseen", "notes", "missed", "unreached", "between_groups", "records_needed", "rounding", "difference")


def _sentences(value: Any) -> tuple[str, ...] | None:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else None


def _is_span(span: Any) -> bool:
    return isinstance(span, list) and [type(part) for part in span] == [str, int, int]
