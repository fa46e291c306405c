"""Find the arguments that can reach a parameter through all calls of a program, such as the buffers that a function may work on."""

import re
from dataclasses import dataclass, field

from splatscope.slang.source import Block, Source, closing, split_arguments

_IN_BRACKETS = re.compile(r"^\(\s*([\w.]+)\s*\)$")
_MOST_DEPTH = 8  # nested calls that are followed from a parameter up to a variable


@dataclass
class CallArguments:
    """The arguments of all calls, as written, each with the calling function. Overloads of a function are not distinguished.

    `arguments` has (caller, text) pairs by (function, position), and `parameters` the parameter names of each function.
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
        """Return the arguments that can reach a parameter, followed through callers that pass on their own parameter.

        Example:
            With `void f(B b) { g(b); }  void main() { f(lights); }`, {"lights"} reaches the parameter of `g`.
            {""} means that the parameter cannot be followed, or that the calls are too deep.
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
