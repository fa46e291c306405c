"""What is passed for a parameter, over all calls of a program: which buffer is meant where a function is given one."""

import re
from dataclasses import dataclass, field

from splatscope.slang.source import Block, Source, closing, split_arguments

_IN_BRACKETS = re.compile(r"^\(\s*([\w.]+)\s*\)$")


@dataclass
class Passed:
    """Arguments of calls, as they are written, with the function that calls. Functions go by their name alone."""

    arguments: dict[tuple[str, int], set[tuple[str, str]]] = field(default_factory=dict)  # by function and place: (caller, text)
    parameters: dict[str, list[str]] = field(default_factory=dict)  # names, of functions

    def add(self, source: Source) -> None:
        """Add the calls in a module."""
        functions = [block for block in source.functions() if block.parameters is not None]
        for block in functions:
            names = [re.sub(r"\s*[:=].*|\[.*", "", p, flags=re.DOTALL).split()[-1:] for p in source.parameters(block)]
            self.parameters[block.name] = [name[0] if name else "" for name in names]
        heads = {block.parameters[0] for block in functions}
        for call in re.finditer(r"\b([A-Za-z_]\w*)\s*(?:<[\w\s,<>]*>)?\s*\(", source.clean):
            if call.end() not in heads:
                end = closing(source.clean, call.end() - 1)
                for i, written in enumerate(split_arguments(source.clean[call.end() : end])):
                    text = _IN_BRACKETS.sub(r"\1", written)
                    self.arguments.setdefault((call.group(1), i), set()).add((_caller(functions, call.start()), text))

    def to(self, function: str, parameter: str, depth: int = 0) -> set[str]:
        """What is passed for a parameter, through callers that pass on a parameter of theirs."""
        names = self.parameters.get(function, [])
        if parameter not in names or depth > 8:
            return {""}
        found: set[str] = set()
        for caller, text in self.arguments.get((function, names.index(parameter)), set()):
            found |= self.to(caller, text, depth + 1) if text in self.parameters.get(caller, []) else {text}
        return found


def _caller(functions: list[Block], at: int) -> str:
    inner = [block for block in functions if block.start < at < block.end]
    return max(inner, key=lambda block: block.start).name if inner else ""
