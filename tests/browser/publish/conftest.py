"""The whole book, written once for all tests, and what opens its pages."""

import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from helpers.published import hosted, opener, write_book


@pytest.fixture(scope="session")
def whole_book(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of a book with all pages, the same for all test processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "whole_book"
    with folder.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not (folder / "index.html").exists():  # which is written last
            write_book(folder)
    return folder


@pytest.fixture(scope="session")
def whole_host(whole_book: Path) -> Iterator[str]:
    """The address of a file server that has the whole book."""
    with hosted(whole_book) as address:
        yield address


@pytest.fixture(params=["disk", "host"])
def visit_whole(
    request: pytest.FixtureRequest, whole_book: Path, whole_host: str, closed: Callable[..., Page]
) -> Callable[..., Page]:
    """Opens a page of the whole book, from a disk and from a host: `visit_whole("?page=glossary")`."""
    return opener(request.param, whole_book, whole_host, closed)
