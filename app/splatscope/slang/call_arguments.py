"""Find the arguments that can reach a parameter through all calls of a program, such as the buffers that a function may work on."""

import re
from bisect import bisect_left
from dataclasses import dataclass, field

from splatscope.slang.source import Block, Source

_CALL = re.compile(r"\b([A-Za-z_]\w*+)\s*+(?:<[\w\s,<>]{0,200}>\s*+)?\(")
_SEPARATOR = re.compile(r"[()\[\]{}<>,]")
_IN_BRACKETS = re.compile(r"^\(\s*([\w.]+)\s*\)$")
_LONGEST = 200  # characters of an argument, which is not followed if it is longer than a name
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
        functions = sorted((block for block in source.functions() if block.parameters is not None), key=lambda block: block.start)
        starts = [block.start for block in functions]
        for block in functions:
            names = [re.sub(r"\s*[:=].*|\[.*", "", p, flags=re.DOTALL).split()[-1:] for p in source.parameters(block)]
            self.parameters[block.name] = [name[0] if name else "" for name in names]
        heads = {block.parameters[0] for block in functions if block.parameters is not None}
        arguments = _arguments(source.code)
        for call in _CALL.finditer(source.code):
            if call.end() not in heads:
                caller = _caller(functions, starts, call.start())
                for i, (start, end) in enumerate(arguments[call.end() - 1]):
                    text = _IN_BRACKETS.sub(r"\1", source.code[start : min(end, start + _LONGEST)].strip())
                    self.arguments.setdefault((call.group(1), i), set()).add((caller, text))

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


def _caller(functions: list[Block], starts: list[int], at: int) -> str:
    """Return the name of the innermost function around a position, "" if there is none."""
    block = functions[index - 1] if (index := bisect_left(starts, at)) else None
    while block is not None and not (block.is_code and block.start < at < block.end):
        block = block.owner
    return block.name if block is not None else ""


def _arguments(code: str) -> dict[int, list[tuple[int, int]]]:
    """Return the spans of what commas separate in each pair of brackets, by the position of the opening one.

    A `<` that is not closed in its brackets hides the commas behind it, since it may begin template arguments.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    around: list[tuple[int, int, int]] = []  # for each open bracket: its position, the start of the current part, the open `<`
    for token in _SEPARATOR.finditer(code):
        c, at = token.group(0), token.start()
        if c in "([{":
            around.append((at, at + 1, 0))
            found[at] = []
        elif around:
            opening, start, angles = around.pop()
            if c in "<>":
                is_arrow = c == ">" and code[at - 1] in "-="
                around.append((opening, start, max(0, angles + (c == "<") - (c == ">" and not is_arrow))))
            elif c == "," and angles:
                around.append((opening, start, angles))
            else:
                if not code[start : min(at, start + _LONGEST)].isspace() and start < at:
                    found[opening].append((start, at))
                if c == ",":
                    around.append((opening, at + 1, 0))
    return found
