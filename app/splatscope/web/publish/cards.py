"""The pictures that other sites show beside a link to a page of the book: its title, and the drawing with which its figure opens.

Drawings are in `assets/cards/`, made by tools/make_cards.py. A page without one has Gaussians that come together.
"""

import base64
import io
import re
from functools import cache
from textwrap import wrap

from PIL import Image, ImageDraw, ImageFont, ImageOps

from splatscope.paths import ASSETS, FONTS
from splatscope.web.home.opening import SHARES, STAGES
from splatscope.web.shell.pages import PAGES, Entry

SIZE = (1200, 630)  # as sites expect it
PAPER, INK, QUIET, ACCENT = "#fafaf8", "#1a1c20", "#454a52", "#0067a6"
LEFT, TOP, COLUMN = 72, 76, 560  # px: of the words
TITLE, TEXT, SMALL = 68, 30, 26  # px: sizes of type
MIDDLE, BOLD = 500, 700
DRAWINGS, MARGIN = ASSETS / "cards", 28  # px around a drawing


def card(entry: Entry) -> bytes:
    """Return a page's picture as JPEG."""
    picture = Image.new("RGB", SIZE, PAPER)
    height = SIZE[1]
    start = LEFT + COLUMN + LEFT // 2
    _paste_art(picture, entry, start)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((start - 6, 0, start - 1, height), fill=ACCENT)
    draw.text((LEFT, TOP), f"Splatscope{' · ' + entry.group if entry.group else ''}", QUIET, _font(SMALL, MIDDLE))
    title, y = _font(TITLE, BOLD), 190
    for line in _lines("Splatscope" if entry.name == "home" else entry.title, title):
        draw.text((LEFT - 3, y), line, INK, title)
        y += TITLE * 1.16
    text = _font(TEXT, 400)
    y += TEXT * 0.8
    for line in _lines(entry.description, text):
        draw.text((LEFT, y), line, QUIET, text)
        y += TEXT * 1.45
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=78, optimize=True)
    return file.getvalue()


def _paste_art(picture: Image.Image, entry: Entry, start: int) -> None:
    """Paste the page's drawing, whole, into what is right of `start`; without one Gaussians, which fill it."""
    width, height = SIZE[0] - start, SIZE[1]
    if (drawing := DRAWINGS / f"{entry.name}.webp").is_file():
        picture.paste("white", (start, 0, *SIZE))
        with Image.open(drawing) as opened:
            art = ImageOps.contain(opened.convert("RGB"), (width - 2 * MARGIN, height - 2 * MARGIN), Image.Resampling.LANCZOS)
        picture.paste(art, (start + (width - art.width) // 2, (height - art.height) // 2))
        return
    stage = _stage(entry)
    grown = stage.resize((height * stage.width // stage.height, height), Image.Resampling.LANCZOS)
    picture.paste(grown.crop(((grown.width - width) // 2, 0, grown.width, height)), (start, 0))


def _stage(entry: Entry) -> Image.Image:
    """Return the book's picture, the more of a whole the further the page is into the book."""
    with Image.open(ASSETS / STAGES) as stages:
        height = stages.height // len(SHARES)
        sections = [page for page in PAGES if page.is_section]
        apart = len(SHARES) * 2 // 3
        at = apart - apart * sections.index(entry) // len(sections) if entry in sections else 0
        return stages.convert("RGB").crop((0, at * height, stages.width, (at + 1) * height))


def _lines(text: str, font: ImageFont.FreeTypeFont) -> list[str]:
    """Return a text broken into lines that fit the column."""
    widest = len(text)
    while widest > 1 and any(font.getlength(line) > COLUMN for line in wrap(text, widest)):
        widest -= 1
    return wrap(text, widest)


@cache
def _font(size: int, weight: int) -> ImageFont.FreeTypeFont:
    """Return the book's typeface; Pillow's own where Pillow cannot read WOFF2."""
    data = re.search(r"font-family:\s*Inter;.*?base64,([^)\"']+)", FONTS.read_text(encoding="utf-8"), re.DOTALL)
    try:
        font = ImageFont.truetype(io.BytesIO(base64.b64decode(data[1] if data else "")), size)
        font.set_variation_by_axes([weight])
    except OSError:
        font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font
