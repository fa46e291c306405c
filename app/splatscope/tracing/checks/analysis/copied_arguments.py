"""Find elements that a call changes in two ways: by an `inout` argument and directly, or by two arguments for `out` parameters."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from tree_sitter import Node

from splatscope.slang.source import part, text_of, walk
from splatscope.slang.tokens import last_name
from splatscope.tracing.checks.analysis.phrases import in_sentence, thread_of
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_MOST_CALLS = 256  # that are looked at for each argument in the source
_MOST_EVENTS = 10_000  # of a call


def overwritten_changes(trace: Trace) -> list[str]:
    """Return a sentence for each `inout` argument in shared memory or in a buffer that the call changes directly, too."""
    sentences: dict[str, None] = {}
    for number in np.unique(trace.site[trace.at(lambda site: site.by_call and site.kind == "read")]).tolist():
        site = trace.sites[number]
        changes = (_change_by_call(trace, event, site) for event in np.flatnonzero(trace.site == number)[:_MOST_CALLS].tolist())
        if (change := next((found for found in changes if found is not None), None)) is not None:
            sentences[
                f"{site.file}, line {site.line}: the call has a copy of an element of {site.name}, which overwrites what line "
                f"{change.line} stores there meanwhile. Pass the index in place of the element, or change the parameter alone."
            ] = None
    return list(sentences)


def elements_passed_twice(trace: Trace, sources: Sources) -> list[str]:
    """Return a sentence for each call that got one element of a memory for two parameters that it may write.

    Arguments that are written alike are told from the source, see `coverage`.
    """
    sentences = {}
    written = {(site.file, site.line, site.column): number for number, site in enumerate(trace.sites) if site.kind == "write"}
    for file, name, arguments in _written_arguments(sources):
        numbers = [written.get((file, node.start_point[0] + 1, node.start_point[1] + 1)) for node in arguments]
        for (one, first), (other, second) in combinations(zip(arguments, numbers, strict=True), 2):
            is_alike = "".join(text_of(one).split()) == "".join(text_of(other).split())
            if first is None or second is None or is_alike or (event := _same_element(trace, first, second)) is None:
                continue
            site = trace.sites[first]
            cell, who = sources.cell(site, int(trace.index[event])), in_sentence(thread_of(trace, event))
            sentences[file, site.line, name] = (
                f"{file}, line {site.line}: {cell} is passed to {name} for several out parameters in {who}, and which of their "
                "values it keeps is not defined: pass a variable of its own for each."
            )
    return list(sentences.values())


def _written_arguments(sources: Sources) -> Iterator[tuple[str, str, list[Node]]]:
    """Yield each call with several arguments that it may write: its file, the function's name, and these arguments."""
    outputs = {name: function.outputs for name, function in sources.symbols.functions.items() if len(function.outputs) > 1}
    for file, tree in sources.trees.items() if outputs else ():
        for call in (node for node in walk(tree) if node.type == "call_expression"):
            name = last_name(text_of(part(call, "function")))
            given = part(call, "arguments").named_children
            yield file, name, [given[at] for at in sorted(outputs.get(name, ())) if at < len(given)]


def _same_element(trace: Trace, first: int, second: int) -> int | None:
    """Return an event at the first site after which its thread wrote the same element at the second; None if there is none."""
    sites, events = (trace.sites[first], trace.sites[second]), np.flatnonzero(trace.site == first)
    if sites[0].name != sites[1].name or not _overlap(sites[0].path, sites[1].path):
        return None
    others = np.r_[np.flatnonzero(trace.site == second), len(trace)]
    following = others[np.searchsorted(others, events)]
    is_pair = following < np.r_[events[1:], len(trace)][: len(events)]  # otherwise the second is of a later call, or out of bounds
    events, following = events[is_pair], following[is_pair]
    is_same = (trace.thread[events] == trace.thread[following]) & (trace.index[events] == trace.index[following])
    return int(events[np.argmax(is_same)]) if is_same.any() else None


def _change_by_call(trace: Trace, copy: int, argument: Site) -> Site | None:
    """Return the site of a change of an argument in the function that a call has just left, None if there is none.

    The records of such an argument follow the call. Those of the called function are between them and the caller's last record.
    """
    for event in range(copy - 1, max(-1, copy - _MOST_EVENTS), -1):
        site = trace.sites[trace.site[event]]
        if trace.thread[event] != trace.thread[copy] or site.function == argument.function:
            return None
        is_same = site.name == argument.name and trace.index[event] == trace.index[copy] and _overlap(site.path, argument.path)
        if is_same and site.kind in ("write", "atomic"):
            return site
    return None


def _overlap(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
