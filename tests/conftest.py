"""What holds for all tests."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: the quick ones should fail first, and Playwright leaves an event loop in the main thread."""
    items.sort(key=lambda item: "browser" in item.path.parts)
