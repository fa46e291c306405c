"""Take pictures of the sections' drawings as their figures open, for the cards beside links to the published book.

`.venv/bin/python tools/make_cards.py http://localhost:5006` needs a served app, and Chromium; it writes `assets/cards/NAME.webp`.
"""

import io
import sys

from PIL import Image
from playwright.sync_api import sync_playwright

from splatscope.machine.chromium import find
from splatscope.paths import ASSETS
from splatscope.textbook.contents import has_drawing, lesson_names

FLAGS = ("--no-sandbox", "--disable-gpu")
WIDTH = 640  # px of a picture, at most
STILL = 1500  # ms until what moves has come to rest
PATIENCE = 120_000  # ms until a figure has its recording


def main(server: str) -> None:
    """Write a picture for each section that has a drawing."""
    folder = ASSETS / "cards"
    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=[*FLAGS])
        page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light", reduced_motion="reduce")
        for name in filter(has_drawing, lesson_names()):
            page.goto(f"{server}/app?page={name}")
            figure = page.get_by_test_id("figure").first
            page.locator("[data-testid=stepper][data-steps]").first.wait_for(state="attached", timeout=PATIENCE)
            drawing = figure.locator(f".drawing-{name}").first
            drawing.wait_for(timeout=PATIENCE)
            page.wait_for_timeout(STILL)
            with Image.open(io.BytesIO(drawing.screenshot())) as shot:
                shot.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
                shot.convert("RGB").save(folder / f"{name}.webp", quality=80, method=6)
            print(f"{name}: {(folder / f'{name}.webp').stat().st_size / 1000:.0f} kB", flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/") if len(sys.argv) > 1 else "http://localhost:5006")
