"""Measure the memory of the server and its workers after repeated visits of all pages. This is not a test: it takes minutes.

.venv/bin/panel serve app --port 5006 &
.venv/bin/python tests/load/measure_memory.py http://localhost:5006 [ROUNDS]

A round visits each page once in a fresh browser and waits for its recording. Prints the proportional share of memory (PSS) in MB
of the server, of its workers together, and of all else that it started, before, after the first round and after the last.
"""

import sys
import time

import psutil
from playwright.sync_api import Browser, TimeoutError, sync_playwright

from helpers.chromium import FLAGS
from helpers.train_page import said
from splatscope.machine.chromium import find
from splatscope.web.shell.pages import PAGES

GONE = 40  # seconds after which the server has dropped the sessions of closed pages
READY = "[data-page] :is([data-testid=stepper][data-steps], [data-testid=train-frame][data-iteration])"
WITHOUT = ("home", "claims", "glossary")  # pages that record nothing for themselves


def server_at(address: str) -> psutil.Process:
    port = address.rpartition(":")[2]
    for process in psutil.process_iter():
        line = said(process)
        if "serve" in line and port in line:
            return process
    raise SystemExit(f"No server of this machine is at {address}.")


def held(server: psutil.Process) -> dict[str, float]:
    """MB by kind of process."""
    sums = {"server": _pss(server), "workers": 0.0, "others": 0.0}
    for child in server.children(recursive=True):
        sums["workers" if "spawn_main" in " ".join(said(child)) else "others"] += _pss(child)
    return sums


def _pss(process: psutil.Process) -> float:
    try:
        return process.memory_full_info().pss / 2**20
    except psutil.Error:  # it has ended
        return 0.0


def visit(browser: Browser, address: str, name: str) -> None:
    page = browser.new_page()
    try:
        page.goto(f"{address}/app?page={name}")
        page.locator(f"[data-page={name}]").wait_for(timeout=60_000)
        if name not in WITHOUT:
            page.locator(READY).first.wait_for(timeout=90_000)
    except TimeoutError:
        print(f"  {name} was not ready in time")
    finally:
        page.close()


def tell(when: str, sums: dict[str, float]) -> None:
    print(f"{when:>16}  " + "  ".join(f"{kind} {amount:7.0f} MB" for kind, amount in sums.items()), flush=True)


def main(address: str, rounds: int) -> None:
    server = server_at(address)
    names = [entry.name for entry in PAGES]
    tell("before", held(server))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        for number in range(1, rounds + 1):
            for name in names:
                visit(browser, address, name)
            if number in (1, rounds):
                time.sleep(GONE)
                tell(f"after round {number}", held(server))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
