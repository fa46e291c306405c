"""The home page: a picture that comes apart, what the book is and for whom, the map of the program, the walks."""

from collections.abc import Collection
from html import escape

import panel as pn

from splatscope.textbook.contents import lesson_names
from splatscope.web.classroom.walks import Walk, walks
from splatscope.web.home.opening import opening, shipped_gaussians, still_html
from splatscope.web.home.program_map import ProgramMap, map_html
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME, PAGES
from splatscope.web.training.browser_training import BrowserTraining

CLASS = "Present it, and a class follows each step in their own browsers, through a link."
ALONE = "Notes at each stop say what to look at. They were written for presenters."


def home(location: Location, pages: Collection[str] = tuple(BY_NAME), known: Collection[Walk] | None = None) -> Page:
    """Build the home page, with a message if the address names a page that does not exist.

    It links to `pages`: through the map of the program if these are all sections, else through a list. It lists the walks `known`,
    by default all.
    """
    own = BrowserTraining(home=True, server="a server" if location.live else "")
    program = ProgramMap() if _has_all(pages) else None
    missing = "" if location.page in BY_NAME else location.page
    page = Page(
        page="home",
        html=_html(missing, walks() if known is None else known, location.live, pages),
        slots={"opening": opening(), "own": own} | ({"map": program} if program else {}),
        keys=[("← →", "Take the picture apart, or put it together, when its slider is focused")],
    )
    if program:
        page.on_close(program.close)
        pn.state.onload(program.begin)
    return page


def _has_all(pages: Collection[str]) -> bool:
    return {*lesson_names()} <= {*pages}


def _html(missing: str, listed_walks: Collection[Walk] = (), live: bool = True, pages: Collection[str] = tuple(BY_NAME)) -> str:
    sections = f'<div data-slot="map" data-block="map">{map_html()}</div>' if _has_all(pages) else _contents(pages)
    return f"""
    {_missing(missing)}{_resume(listed_walks)}
    <article class="home">
      <div class="home-opening" data-slot="opening">{still_html()}</div>
      <header class="home-first">
        <h1>Read a GPU program while it runs</h1>
        <div class="home-words">
          <p class="lede">This picture is made of {shipped_gaussians().count:,} soft ellipses of colour. A program on a graphics
            card found them by itself, starting from noise and learning from a photograph, and blends them into the picture. This
            book takes that program apart.</p>
          <p>In each section you step through the real code, forward and back, and see what it does and why. You can read C, Java
            or Python, and know what the slope of a curve is. You need no graphics card, and no knowledge of one.</p>
        </div>
        <div class="home-ways">
          {_ways_in(pages)}
          {_link_walks(listed_walks, live)}
        </div>
        <div class="own" data-slot="own"></div>
      </header>
      <dl class="laws">
        <div><dt>What you read is what runs</dt>
          <dd>The code you read is taken from the files that run. The figures are drawn from what they wrote.</dd></div>
        <div><dt>Step both ways</dt>
          <dd>A program runs once and is recorded. You then step through the recording in your browser, forward and
            back.</dd></div>
        <div><dt>Break it</dt>
          <dd>Remove the line where threads wait for each other. The page shows which two got in each other's way, and
            where.</dd></div>
        <div><dt>The program is published</dt>
          <dd>It is the <a href="?page=glossary#term-sample">diff-splatting sample</a> of SlangPy, which Slang's blog describes.
            The book calls it <i>the sample</i>, and says where it differs from it.</dd></div>
      </dl>
      <div data-progress></div>
      {sections}
      {_walks(listed_walks, live)}
    </article>"""


def _ways_in(pages: Collection[str]) -> str:
    """Return the buttons. `progress.ts` uses the same text for the first section, and later links to the next one."""
    links = []
    if start := next((entry for entry in PAGES if entry.is_section and entry.name in pages), None):
        title = escape(start.title)
        words = f"Start: {title[0].lower()}{title[1:]}" if title.endswith("?") else f"Start with {title}"
        links.append(f'<a class="btn pri big" data-start href="{start.address}">{words}</a>')
    if "train" in pages:
        links.append(f'<a class="btn big" href="{BY_NAME["train"].address}">Train on a picture</a>')
    return f'<p class="ways">{" ".join(links)}</p>' if links else ""


def _link_walks(listed_walks: Collection[Walk], live: bool) -> str:
    """Return the line that links to the walks, the shortest first; "" if there are none."""
    shortest_first = sorted(listed_walks, key=lambda walk: walk.minutes)
    links = " or ".join(f'<a href="{walk.address}">in {walk.minutes:g} minutes</a>' for walk in shortest_first)
    words = "Take a guided walk, or lead a class" if live else "Take a guided walk"
    return f'<p class="led">{words}: {links}.</p>' if links else ""


def _contents(pages: Collection[str]) -> str:
    """Return the list of sections of a book that lacks some of them; "" for none."""
    lines = "".join(
        f'<li><a href="{entry.address}" data-section="{entry.name}">{escape(entry.title)}</a>'
        f"<span>{escape(entry.description)}</span></li>"
        for entry in PAGES
        if entry.is_section and entry.name in pages
    )
    if not lines:
        return ""
    return f"""<section class="contents" aria-labelledby="contents"><h2 id="contents">In this book</h2>
        <div class="group"><h3>Sections</h3><ul>{lines}</ul></div></section>"""


def _walks(listed_walks: Collection[Walk], live: bool) -> str:
    if not listed_walks:
        return ""
    lines = "".join(
        f'<li><a href="{walk.address}">{escape(walk.title)}</a>'
        f"<span>{escape(walk.description)}. {walk.minutes:g} minutes.</span></li>"
        for walk in listed_walks
    )
    title, words = ("With a class", CLASS) if live else ("Walks", ALONE)
    return f"""<section class="contents walks" aria-labelledby="walks">
        <h2 id="walks">{title}</h2>
        <p>A walk is a guided tour through the pages, with a clicker or PageDown and PageUp. {words}</p>
        <div class="group"><h3>Walks</h3><ul>{lines}</ul></div>
      </section>"""


def _resume(listed_walks: Collection[Walk]) -> str:
    """Return the place of the offer to resume a class or a walk, which `classroom/resume.ts` fills; "" where there are none."""
    names = " ".join(walk.name for walk in listed_walks)
    return f'<p class="missing resume" data-resume="{names}" hidden></p>' if names else ""


def _missing(name: str) -> str:
    if not name:
        return ""
    kind, _, name = name.partition("=") if name.startswith("walk=") else ("page", "", name)
    return f"""<p class="missing" role="status">There is no {kind} named <b>{escape(name[:80])}</b>.
      {"The walks and the" if kind == "walk" else "The"} sections are listed below.</p>"""
