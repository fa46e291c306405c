"""Assign tests to the processes of pytest-xdist (`-n 2 --dist=loadgroup`)."""

import pytest

TESTS_THAT_SHARE = ("lessons",)  # folders where the tests of a file use the same kernels, compiled once in a process


def shares(item: pytest.Item) -> bool:
    """Return whether a test shares something costly with others in its file: a module's fixture, or compiled kernels."""
    fixtures = getattr(item, "_fixtureinfo", None)
    scopes = {found[-1].scope for found in fixtures.name2fixturedefs.values()} if fixtures else set()
    return bool({"module", "class"} & scopes) or item.path.parent.name in TESTS_THAT_SHARE


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that share something costly in one process. Any process may run the others."""
    for item in items:
        if shares(item):
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
