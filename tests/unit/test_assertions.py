"""Every test can fail: it checks something, and not only inside a loop that may be empty."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FILES = sorted(TESTS.rglob("test_*.py"))
# How the names of functions begin that fail by themselves.
CHECKS = ("assert_", "check", "expect", "fail", "goes_on_undisturbed", "raises", "wait_for", "warns")


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def is_listed(iterable: ast.expr) -> bool:
    """Return whether an iterable is visibly not empty: a literal, a range or a constant."""
    match iterable:
        case ast.Tuple(elts) | ast.List(elts) | ast.Set(elts):
            return bool(elts)
        case ast.Dict(keys):
            return bool(keys)
        case ast.Constant():
            return True
        case ast.Name(name):
            return name.isupper()
        case ast.Call(ast.Attribute(inner, "items" | "values" | "keys")):
            return is_listed(inner)
        case ast.Call(ast.Name("range"), args):
            return all(isinstance(arg, ast.Constant) for arg in args)
        case ast.Call(ast.Name("zip"), args, keywords):
            strict = any(word.arg == "strict" and getattr(word.value, "value", False) for word in keywords)
            return any(map(is_listed, args)) if strict else all(map(is_listed, args))
        case ast.Call(ast.Name("enumerate" | "reversed" | "sorted" | "list" | "tuple"), args):
            return is_listed(args[0])
    return False


class Module:
    """The functions of a test file, asked whether they check anything."""

    def __init__(self, source: str):
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        self.functions = {node.name: node for node in nodes}

    def checks(self, node: ast.AST, seen: frozenset[str] = frozenset()) -> bool:
        """Whether running `node` checks something: an assertion, a call that fails by itself, or a function here that does."""
        match node:
            case ast.Assert():
                return True
            case ast.For(iter=iterable) | ast.AsyncFor(iter=iterable) if not is_listed(iterable):
                return self.checks(iterable, seen)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() if seen:
                return any(self.checks(child, seen) for child in ast.iter_child_nodes(node))
            case ast.Call():
                name = name_of(node)
                if name.startswith(CHECKS):
                    return True
                if name in self.functions and name not in seen and self.checks(self.functions[name], seen | {name}):
                    return True
        return any(self.checks(child, seen) for child in ast.iter_child_nodes(node))

    def without_a_check(self) -> list[str]:
        """Return the names of the tests that check nothing."""
        found = [name for name, node in self.functions.items() if name.startswith("test_") and not self.checks(node)]
        return sorted(found)


def test_every_test_checks_something():
    found = {str(path.relative_to(TESTS)): Module(path.read_text()).without_a_check() for path in FILES}
    assert len(found) > 60
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("body", "checks"),
    [
        ("assert made()", True),
        ("made()", False),
        ("for one in (1, 2):\n        assert one", True),
        ("for one in made():\n        assert one", False),
        ("for one in []:\n        assert one", False),
        ("for one in range(3):\n        assert one", True),
        ("for one, two in zip(made(), (1, 2), strict=True):\n        assert one", True),
        ("for one in made():\n        assert one\n    assert made()", True),
        ("with pytest.raises(ValueError):\n        made()", True),
        ("expect(made()).to_be_visible()", True),
        ("helper(made())", True),
        ("quiet(made())", False),
    ],
)
def test_what_counts_as_a_check(body, checks):
    source = f"def helper(x):\n    assert x\n\ndef quiet(x):\n    return x\n\ndef test_it():\n    {body}\n"
    assert Module(source).without_a_check() == ([] if checks else ["test_it"])
