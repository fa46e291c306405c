"""Find the arguments that can reach a parameter through all calls of a program, such as the buffers that a function may work on."""

from bisect import bisect_left
from dataclasses import dataclass, field

from splatscope.slang.blocks import Block
from splatscope.slang.declaration import read_parameter
from splatscope.slang.source import Source
from splatscope.slang.tokens import Tokens

_LONGEST = 200  # characters of an argument, which is not followed if it is longer than a name
_MOST_TEMPLATE = 40  # tokens of the template arguments of a call
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
        tokens = source.tokens
        functions = sorted((block for block in source.functions() if block.parameters is not None), key=lambda block: block.start)
        starts = [block.start for block in functions]
        for block in functions:
            self.parameters[block.name] = [read_parameter(tokens, span)[1] for span in source.parameter_spans(block)]
        heads = {block.signature.stop for block in functions}
        for at in tokens.indices:
            opening = _opening_of_call(tokens, at)
            if opening and opening not in heads:
                caller = _caller(functions, starts, tokens.starts[at])
                for i, span in enumerate(tokens.split(tokens.inside(opening))):
                    self.arguments.setdefault((tokens.words[at], i), set()).add((caller, _argument(tokens, span)))

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


def _opening_of_call(tokens: Tokens, at: int) -> int:
    """Return the parenthesis of the call whose function's name is a token, 0 if it is none."""
    words = tokens.words
    if words[at + 1] == "(":
        return at + 1 if words[at][:1].isalpha() or words[at][:1] == "_" else 0
    if words[at + 1] == "<" and tokens.is_name_or_number(at):
        behind = tokens.after_template(at + 1, min(at + _MOST_TEMPLATE, len(tokens.partners)))
        is_type = all(words[index] in ("<", ">", ",") or tokens.is_name_or_number(index) for index in range(at + 1, behind))
        return behind if behind > at + 1 and words[behind] == "(" and is_type else 0
    return 0


def _argument(tokens: Tokens, span: range) -> str:
    """Return an argument as text, a name in brackets without them."""
    text = tokens.text(span)[:_LONGEST]
    inside = text[1:-1].strip()
    return inside if text[:1] == "(" and text[-1:] == ")" and inside.replace(".", "_").isidentifier() else text
