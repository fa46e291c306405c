"""The whole book, written once for as long as nothing of which it is made changes, and what opens its pages."""

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from helpers import published
from helpers.published import hosted, opener, write_book
from helpers.serving import ROOT
from splatscope.gpu.device import adapter_names
from splatscope.paths import ASSETS, LESSONS, PACKAGE, SHADERS


@pytest.fixture(scope="session")
def whole_book() -> Path:
    """The folder of a book with all pages, the same for all test processes, and for later runs on the same sources and devices.

    It takes minutes to write. The books of a few pages, which other tests write in each run, show that publishing works.
    """
    folder = ROOT / "build" / "whole_book"
    folder.parent.mkdir(exist_ok=True)
    written_from = folder.with_suffix(".digest")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        digest = digest_of_sources()
        if not written_from.exists() or written_from.read_text() != digest:
            written_from.unlink(missing_ok=True)
            write_book(folder)
            written_from.write_text(digest)
    return folder


def digest_of_sources() -> str:
    """Return a digest of all that a book is made of: the app with its bundle, the packages that it uses, and the devices."""
    digest = hashlib.sha256(repr((adapter_names(), os.environ.get("SPLATSCOPE_DEVICE"))).encode())
    for folder in (PACKAGE, LESSONS, SHADERS, ASSETS, Path(published.__file__), ROOT / "requirements.lock"):
        for file in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            if file.is_file() and file.suffix != ".pyc":
                digest.update(f"{file} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()


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
