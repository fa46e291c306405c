"""Compare the buffers that the recorded kernel leaves with those of the plain one: the same, different by rounding, or different.

Recording statements stand between the operations of a kernel, so the compiler may fuse and round other operations than in the plain
kernel. Then floats differ in their last digits, as they also do if threads add to a sum in another order. So a small difference
counts as rounding only if no result depends on the order of the threads. A hash (`frac(sin(x) * 43758.5)`) turns a difference in
the last digit into a large one. Where that may have happened, a note on the verdict says so, since the recorded run is also one
that the source allows.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from splatscope.gpu.slang_types import Scalar, is_numeric, scalar_named
from splatscope.slang.comments import COMMENT
from splatscope.slang.loops import line_of_lossy_unrolling
from splatscope.slang.tokens import Tokens
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace
from splatscope.tracing.verdict import Agreement

MOST_ULPS = 8192  # a thousandth of a float: the error that rounding accumulates in a kernel of many steps
_MOST_ULPS_OF_HALF = 16  # a hundredth of the value
_MOST_ULPS_OF_LARGEST = 16  # ulps of the buffer's largest number, for a small number that is the difference of two large ones
_SMALLEST = 1e-30  # words of a struct, or of bytes, that would be smaller floats are taken for integers

_LEAVES_OPEN = (
    "uninitialised-read", "out-of-bounds", "barrier-divergence", "integer-division-by-zero", "shift-out-of-range",
    "conversion-out-of-range", "misaligned-access", "inactive-lane",
)  # fmt: skip

# Updates of integers by one of these leave the same whatever their order. Names are without `Interlocked` and `64`.
_COMMUTE = {"add": "+", "sub": "+", "increment": "+", "decrement": "+", "+=": "+", "-=": "+", "++": "+", "--": "+"}
_COMMUTE |= {"and": "&", "&=": "&", "or": "|", "|=": "|", "xor": "^", "^=": "^", "min": "min", "max": "max"}
_MAGNIFIES = {"frac", "fract", "fmod", "floor", "ceil", "round", "trunc", "asuint", "asint"}


@dataclass(frozen=True)
class Comparison:
    """How two sets of buffers differ.

    `buffers` names those that differ. `ulps` is the largest difference between two floats, in units in the last place of the plain
    one; 0 unless `difference` is "rounding". `is_explained` is False if they differ although no result was seen to depend on the
    order of threads, and no finding leaves a value undefined. `by_findings` says whether only the latter explains the difference.
    If only floats differ, `beyond` says how many of them differ by more than rounding, and `magnified` where a difference in the
    last digit may have grown: "frac on line 3". `miscompiled` is a loop that the compiler is known to miscompile:
    "line 3 of k.slang".
    """

    difference: Agreement
    buffers: tuple[str, ...] = ()
    ulps: int = 0
    is_explained: bool = True
    by_findings: bool = False
    beyond: str = ""
    magnified: str = ""
    miscompiled: str = ""

    @property
    def sentence(self) -> str:
        """The comparison in one sentence."""
        if self.difference == "same":
            return "The plain kernel leaves the same buffers."
        names = f"{', '.join(self.buffers[:3])}{', …' if len(self.buffers) > 3 else ''}"
        if self.difference == "rounding":
            return (
                f"The plain kernel rounds otherwise, since the compiler fuses other operations in it: floats in {names} differ by "
                f"{f'at most {self.ulps:,} ulps (units in the last place)' if self.ulps else 'what larger ones round by'}."
            )
        reason = "the order of its threads matters" if self.is_explained else "nothing that was recorded explains it"
        reason = "what was found leaves a value open" if self.by_findings else reason
        if self.miscompiled and not self.is_explained:
            return (
                f"The plain kernel leaves other values in {names}{self.beyond}, and the compiler may be at fault: Slang 2026.12 "
                "loses what a loop with [ForceUnroll] has written if its last statement is a “break” under a condition, as on "
                f"{self.miscompiled}. Write [unroll] there, and compare."
            )
        if self.magnified and not self.is_explained:
            reason = (
                f"the order of its threads does not matter, but rounding may. The compiler fuses other operations in it, and "
                f"{self.magnified} makes much of a float's last digit"
            )
        return f"The plain kernel leaves other values in {names}{self.beyond}: {reason}."


def compare(
    outputs: dict[str, np.ndarray],
    plain: dict[str, np.ndarray],
    types: dict[str, str],
    trace: Trace,
    findings: list[Finding],
    reached: Iterable[Site] = (),
) -> Comparison:
    """Compare the buffers of the recorded kernel with those of the plain one.

    Args:
        outputs: The buffers after the recorded kernel by name, as uint32 words.
        plain: The buffers after the plain kernel, likewise.
        types: The scalar types of their elements, "uint" for structs.
        trace: The recorded events.
        findings: The findings in the trace.
        reached: The sites that threads of any workgroup reached, or may have reached.
    """
    kinds = {name: scalar_named(types.get(name, "uint")) for name in outputs}
    differing = tuple(name for name in outputs if _differ(outputs[name], plain[name], kinds[name]))
    if not differing:
        return Comparison("same")
    if _order_matters(trace, findings):
        return Comparison("different", differing)
    sources = Sources.of(trace)
    ulps = [
        _ulps(outputs[name], plain[name], types.get(name, "uint"), _is_mixed(sources.element_type(name), types.get(name, "uint")))
        for name in differing
    ]
    if None not in ulps:
        return Comparison("rounding", differing, max(filter(None, ulps), default=0))
    if math.prod(trace.info.groups) > 1 and all(_depends_on_groups(name, sources, list(reached)) for name in differing):
        return Comparison("different", differing)
    if any(finding.kind in _LEAVES_OPEN for finding in findings):
        return Comparison("different", differing, by_findings=True)
    scalars = [scalar for name in differing if (scalar := kinds[name]) is not None and scalar.is_floating]
    unexplained = Comparison("different", differing, is_explained=False, miscompiled=_miscompiled(trace))
    if len(scalars) < len(differing):
        return unexplained
    masks = [differing_scalars(outputs[name], plain[name], scalar) for name, scalar in zip(differing, scalars, strict=True)]
    beyond = f" ({sum(int(mask.sum()) for mask in masks):,} of {sum(map(len, masks)):,} floats)"
    return replace(unexplained, beyond=beyond, magnified=_magnifier(trace))


def _miscompiled(trace: Trace) -> str:
    """Return the place of a loop that the compiler is known to miscompile; "" if there is none."""
    for file, text in trace.info.sources.items():
        if line := line_of_lossy_unrolling(text):
            return f"line {line} of {file}"
    return ""


def _differ(words: np.ndarray, plain: np.ndarray, scalar: Scalar | None) -> bool:
    """Return whether two buffers differ. All NaNs count as equal, whatever their bits."""
    if np.array_equal(words, plain):
        return False
    if scalar is None or not scalar.is_floating or words.shape != plain.shape:
        return True
    recorded, reference = (np.ascontiguousarray(buffer).view(scalar.dtype) for buffer in (words, plain))
    bits = np.dtype(f"u{scalar.dtype.itemsize}")
    return bool(((recorded.view(bits) != reference.view(bits)) & ~(np.isnan(recorded) & np.isnan(reference))).any())


def _order_matters(trace: Trace, findings: list[Finding]) -> bool:
    """Return whether the results may depend on the order of threads: they race, or use atomics whose order matters."""
    if any(finding.kind == "race" for finding in findings):
        return True
    atomics = trace.kinds == "atomic"
    return len(np.unique(trace.thread[atomics])) > 1 and not _commute(trace.sites[n] for n in np.unique(trace.site[atomics]))


def _commute(sites: Iterable[Site]) -> bool:
    """Return whether atomics leave the same in any order: nobody uses the old values, and each memory has updates of one kind."""
    kinds: dict[str, str] = {}
    for site in sites:
        scalar, operation = scalar_named(site.type), site.operation.removeprefix("Interlocked").removesuffix("64").lower()
        is_integer = not scalar.is_floating if scalar else site.operation.startswith("Interlocked")
        kind = _COMMUTE.get(operation, "")
        if site.is_asked or not is_integer or not kind or kinds.setdefault(site.name, kind) != kind:
            return False
    return True


def _depends_on_groups(name: str, sources: Sources, reached: list[Site]) -> bool:
    """Return whether a buffer's contents may depend on the order of workgroups, through the result of an atomic on a buffer.

    The dependence may go through variables, shared memory or a branch.
    """
    atomics = [site for site in reached if site.kind == "atomic" and site.space != "shared"]
    branches = [site for site in reached if site.kind == "branch"]
    return any(
        sources.dependence.may_reach(name, atomic) or any(sources.dependence.may_depend(branch, atomic) for branch in branches)
        for atomic in atomics
    )


def differing_scalars(words: np.ndarray, reference: np.ndarray, scalar: Scalar | None) -> np.ndarray:
    """Return a mask of the scalars in a buffer that differ from a reference by more than rounding, (scalars,) bool.

    Without a scalar type, it is a mask of words.
    """
    if scalar is None or not scalar.is_floating:
        return words != reference
    floats, references = (np.ascontiguousarray(buffer).view(scalar.dtype).astype(np.float64) for buffer in (words, reference))
    with np.errstate(all="ignore"):
        is_near = np.abs(floats - references) <= _most_ulps(scalar) * np.finfo(scalar.dtype).eps * np.abs(references)
    return ~is_near & (floats != references) & ~(np.isnan(floats) & np.isnan(references))


def _magnifier(trace: Trace) -> str:
    """Return the first executed call that magnifies small differences, "frac on line 3"; "" if there is none."""
    sites = [trace.sites[number] for number in np.unique(trace.site).tolist()]
    executed = sorted({(site.file != trace.info.file, site.file, site.line) for site in sites})
    lines = {file: COMMENT.sub(lambda c: "\n" * c[0].count("\n"), text).split("\n") for file, text in trace.info.sources.items()}
    for is_other, file, line in executed:
        tokens = Tokens(lines[file][line - 1] if 0 < line <= len(lines.get(file, ())) else "")
        calls = (tokens.words[at] for at in tokens.indices if tokens.words[at + 1] == "(" and tokens.words[at] in _MAGNIFIES)
        if call := next(calls, ""):
            return f"{call} on line {line}{f' of {file}' if is_other else ''}"
    return ""


def _is_mixed(element: str | None, scalar: str) -> bool:
    """Return whether a buffer's words may be floats or integers: in structs, and in bytes, which have no element type."""
    return scalar == "uint" if element is None else not is_numeric(element)


def _ulps(words: np.ndarray, plain: np.ndarray, type_text: str, is_mixed: bool) -> int | None:
    """Return the largest difference in ulps; None if it is more than rounding."""
    scalar = scalar_named("float" if is_mixed else type_text)
    if scalar is None or not scalar.is_floating or words.shape != plain.shape:
        return None
    recorded, reference = (np.ascontiguousarray(buffer).view(scalar.dtype) for buffer in (words, plain))
    bits = np.dtype(f"u{scalar.dtype.itemsize}")
    chosen = recorded.view(bits) != reference.view(bits)
    chosen &= ~(np.isnan(recorded) & np.isnan(reference))
    largest = float(np.abs(reference[np.isfinite(reference)], dtype=np.float64).max(initial=0))
    a, b = recorded[chosen], reference[chosen]
    if not (np.isfinite(a) & np.isfinite(b)).all():
        return None
    if is_mixed and (np.minimum(np.abs(a), np.abs(b)) < _SMALLEST).any():
        return None
    differences = np.abs(a.astype(np.float64) - b.astype(np.float64))
    ulps = differences / np.spacing(np.maximum(np.abs(b), np.finfo(scalar.dtype).tiny)).astype(np.float64)
    near_zero = differences <= _MOST_ULPS_OF_LARGEST * float(np.spacing(scalar.dtype.type(largest)))
    is_rounding = ulps <= _most_ulps(scalar)
    if not (is_rounding | (near_zero & (not is_mixed))).all():
        return None
    return round(float(ulps[is_rounding].max(initial=0)))


def _most_ulps(scalar: Scalar) -> int:
    return _MOST_ULPS_OF_HALF if scalar.name == "half" else MOST_ULPS
