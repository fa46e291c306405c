"""What the package is made of: no module imports itself through others, sections know no page, the wheel has every folder.

Which layer may import which is said in pyproject.toml, `[tool.importlinter]`, and checked by `lint-imports`.
"""

import ast
import tomllib

import grimp
import pytest

from splatscope.paths import CHECKOUT, LESSONS, PACKAGE

# Modules that import each other today, by one of each ring. None may be added.
KNOWN_CYCLES = {
    "splatscope.splat.state",
    "splatscope.web.debugger.debugger",
}
BELOW_SECTIONS = {"gpu", "paths", "slang", "splat", "textbook", "tracing"}
SECTIONS = sorted(LESSONS.glob("*/*.py"))


def cycles_of(graph: grimp.ImportGraph) -> list[set[str]]:
    """The sets of modules each of which imports, through others, every other; imports for type checkers count."""
    reached = {module: graph.find_upstream_modules(module) for module in graph.modules}
    rings = {frozenset(m for m in reached[module] if module in reached[m]) | {module} for module in graph.modules}
    return [set(ring) for ring in rings if len(ring) > 1]


def test_no_module_imports_itself_through_others():
    cycles = cycles_of(grimp.build_graph("splatscope"))
    assert [sorted(cycle) for cycle in cycles if not cycle & KNOWN_CYCLES] == []


def test_a_cycle_is_found():
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")):
        for module in (importer, imported):
            graph.add_module(module)
        graph.add_import(importer=importer, imported=imported)
    assert cycles_of(graph) == [{"b", "c"}]


@pytest.mark.parametrize("path", SECTIONS, ids=[path.parent.name for path in SECTIONS])
def test_a_section_knows_no_page(path):
    modules = [node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom) and node.module]
    imported = {name.split(".")[1] for name in modules if name.startswith("splatscope.")}
    assert imported
    assert imported <= BELOW_SECTIONS


def test_the_wheel_forgets_no_folder():
    listed = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = [path.parent.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("__init__.py")]
    assert {".".join(folder.parts) for folder in folders} <= set(listed)
