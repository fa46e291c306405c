"""Measure what a first visit to each section of a published book costs, from a plain file server: bytes, and when one can step.

    python tests/load/measure_published.py FOLDER [--visits 5] [--seconds 2]

Each visit has an empty cache. The server compresses nothing, as the simplest hosts do. On a busy machine most visits take longer
than on a quiet one, so the quickest of several is printed beside their median.
"""

import argparse
import statistics
import sys
from math import inf
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measure_pages import measure
from playwright.sync_api import sync_playwright

from helpers.chromium import FLAGS
from helpers.published import hosted
from splatscope.machine.chromium import find
from splatscope.textbook.contents import lesson_names


def main() -> None:
    """Visit the sections of the book in a folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--visits", type=int, default=5, help="of each section")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each page is watched")
    options = parser.parse_args()
    files = [file for file in options.folder.rglob("*") if file.is_file()]
    print(f"{sum(file.stat().st_size for file in files) / 1e6:.1f} MB in {len(files)} files\n")
    print("| section | kB | a step after, ms: quickest | median |\n| --- | --- | --- | --- |")
    with sync_playwright() as playwright, hosted(options.folder) as host:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        for name in lesson_names():
            visits = [measure(browser, f"{host}{name}.html", options.seconds) for _ in range(options.visits)]
            steps = [inf if visit["steps"] != visit["steps"] else visit["steps"] for visit in visits]  # none within that time
            most = max(visit["kB"] for visit in visits)
            print(f"| {name} | {most:.0f} | {min(steps):.0f} | {statistics.median(steps):.0f} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
