"""The arguments that reach a parameter, over all calls of a program: which buffer a function works on that is given one."""

import re
from dataclasses import dataclass, field

from splatscope.slang.source import Block, Source, closing, split_arguments

_IN_BRACKETS = re.compile(r"^\(\s*([\w.]+)\s*\)$")
_MOST_DEPTH = 8  # calls from a parameter up to the variable that is given


@dataclass
class CallArguments:
    """The arguments of all calls, as written, each with the function that calls. Functions go by name, whatever their overload.

    `arguments` are the (caller, text) pairs by (function, position), `parameters` the names of a function's parameters.
    """

    arguments: dict[tuple[str, int], set[tuple[str, str]]] = field(default_factory=dict)
    parameters: dict[str, list[str]] = field(default_factory=dict)

    def add(self, source: Source) -> None:
        """Add the calls in a module."""
        functions = [block for block in source.functions() if block.parameters is not None]
        for block in functions:
            names = [re.sub(r"\s*[:=].*|\[.*", "", p, flags=re.DOTALL).split()[-1:] for p in source.parameters(block)]
            self.parameters[block.name] = [name[0] if name else "" for name in names]
        heads = {block.parameters[0] for block in functions}
        for call in re.finditer(r"\b([A-Za-z_]\w*)\s*(?:<[\w\s,<>]*>)?\s*\(", source.code):
            if call.end() not in heads:
                end = closing(source.code, call.end() - 1)
                for i, written in enumerate(split_arguments(source.code[call.end() : end])):
                    text = _IN_BRACKETS.sub(r"\1", written)
                    self.arguments.setdefault((call.group(1), i), set()).add((_caller(functions, call.start()), text))

    def reaching(self, function: str, parameter: str, depth: int = 0) -> set[str]:
        """Return the arguments that reach a parameter, followed through callers that only hand on a parameter of their own.

        Example:
            With `void f(B b) { g(b); }  void main() { f(lights); }`, what reaches the parameter of `g` is {"lights"}.
            {""} stands for a parameter or a depth that this cannot follow.
        """
        names = self.parameters.get(function, [])
        if parameter not in names or depth > _MOST_DEPTH:
            return {""}
        found: set[str] = set()
        for caller, text in self.arguments.get((function, names.index(parameter)), set()):
            found |= self.reaching(caller, text, depth + 1) if text in self.parameters.get(caller, []) else {text}
        return found


def _caller(functions: list[Block], at: int) -> str:
    inner = [block for block in functions if block.start < at < block.end]
    return max(inner, key=lambda block: block.start).name if inner else ""
