"""A served app and a real browser. A test fails on any page error, console error, or request that leaves this machine."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from helpers.chromium import FLAGS, LOCAL
from helpers.serving import served_to_all


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The address of `panel serve app`, served with the components that only tests show: one for all processes of a run."""
    folder = tmp_path_factory.getbasetemp()
    with served_to_all(folder if worker_id == "master" else folder.parent) as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, or the one that $CHROMIUM names."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    if not Path(path).exists():
        pytest.fail(f"{path} is missing: install Chromium (make test does, where apt can) or set CHROMIUM to it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def visit(server: str, chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address of the served app (`visit("/app?page=train", scheme="dark", width=390)`) and watches the page.

    Takes `wait=False` to return before the page's root is there; other keywords go to the browser's context.
    """
    contexts, wrong = [], []

    def open_page(
        path: str = "/app", *, width: int = 1440, height: int = 900, scheme: str = "light", wait: bool = True, **options: Any
    ) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        watch(page, wrong)
        page.goto(server + path)
        if wait:
            page.locator("[data-page]").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong, "\n".join(wrong)


def watch(page: Page, wrong: list[str]) -> None:
    """Notes in `wrong` what no page may do."""

    def asked(kind: str, url: str) -> None:
        if urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).hostname not in LOCAL:
            wrong.append(f"{kind} leaves this machine: {url}")

    page.on("pageerror", lambda error: wrong.append(f"page error: {error}"))
    page.on("console", lambda line: wrong.append(f"console: {line.text}") if line.type == "error" else None)
    page.on("request", lambda request: asked("request", request.url))
    page.on("websocket", lambda socket: asked("websocket", socket.url))
    page.on("response", lambda answer: wrong.append(f"{answer.status}: {answer.url}") if answer.status >= 400 else None)
