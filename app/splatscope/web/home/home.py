"""The home page: an introduction, a picture drawn by the kernels, the list of sections, the map of the program, the walks."""

from functools import partial
from html import escape

import panel as pn

from splatscope.paths import ASSETS
from splatscope.services.thumbnails import draw_thumbnail
from splatscope.splat.thumbnail import Thumbnail
from splatscope.web.classroom.walks import walks
from splatscope.web.home.live import LiveRender
from splatscope.web.home.program_map import ProgramMap
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME, Entry, first_section, groups
from splatscope.workers import worker_pool

PICTURE = "coffee"


def home(location: Location) -> Page:
    """Build the home page, with a message where the address names a page that does not exist."""
    thumbnail = Thumbnail.load(ASSETS / f"{PICTURE}.npz")
    live = LiveRender(
        partial(draw_thumbnail, worker_pool, PICTURE),
        total=thumbnail.count,
        count=thumbnail.count,
        width_px=thumbnail.width,
        height_px=thumbnail.height,
        alt="A cup of coffee, blended from 2D Gaussians",
    )
    program = ProgramMap()
    page = Page(
        page="home",
        html=_html("" if location.page in BY_NAME else location.page),
        slots=[live, program],
        keys=[("← →", "One Gaussian fewer or more, while the slider has the focus")],
    )
    page.on_close(live.close)
    page.on_close(program.close)
    pn.state.onload(program.begin)
    return page


def _html(missing: str) -> str:
    return f"""
    {_missing(missing)}
    <article class="home">
      <header class="home-first">
        <div class="home-words">
          <h1>Read a GPU program while it runs</h1>
          <p class="lede">Splatscope is an interactive textbook of one real GPU program: a differentiable renderer that
            blends 2D Gaussians into a picture and learns them from a photograph.</p>
          <p>The program is the <a href="?page=glossary#term-sample">diff-splatting sample</a> of SlangPy's experiments,
            which Slang's blog describes.</p>
          <p>It is also a time-travelling debugger for Slang kernels. Step forward and back, see every thread, every
            cell of shared memory and every barrier, and be told which two threads raced on which line. It needs no
            GPU: a software device runs the same kernels.</p>
          {_ways_in()}
        </div>
        <div data-slot="0"></div>
      </header>
      <dl class="laws">
        <div><dt>What you read is what runs</dt>
          <dd>The code on a page is cut from the kernels. Figures are drawn from what they wrote.</dd></div>
        <div><dt>One recording, then scrub</dt>
          <dd>A kernel runs once. Every step after that, in either direction, is in your browser.</dd></div>
        <div><dt>Break it</dt>
          <dd>Take a barrier away and run it again: the race is named, with its threads and its lines.</dd></div>
      </dl>
      <section class="contents" aria-labelledby="contents">
        <h2 id="contents">Sections</h2>
        <div data-progress></div>
        {"".join(_group(group, entries) for group, entries in groups())}
      </section>
      <div data-slot="1" data-block="map"></div>
      {_walks()}
    </article>"""


def _ways_in() -> str:
    start, train = first_section(), BY_NAME["train"]
    return f"""<p class="ways"><a class="btn pri big" data-start href="{start.address}">Start with {escape(start.title)}</a>
          <a class="btn big" href="{train.address}">Train on a picture</a></p>"""


def _group(group: str, entries: list[Entry]) -> str:
    return f'<div class="group"><h3>{escape(group)}</h3><ul>{"".join(map(_line, entries))}</ul></div>'


def _line(entry: Entry) -> str:
    link = f'<a href="{entry.address}" data-section="{entry.name}">{escape(entry.title)}</a>'
    return f"<li>{link}<span>{escape(entry.description)}</span></li>"


def _walks() -> str:
    lines = "".join(
        f'<li><a href="{walk.address}">{escape(walk.title)}</a>'
        f"<span>{escape(walk.description)}. {walk.minutes:g} minutes.</span></li>"
        for walk in walks()
    )
    return f"""<section class="contents walks" aria-labelledby="walks">
        <h2 id="walks">With a class</h2>
        <p>A walk leads through the pages with PageDown and PageUp, by clicker or keyboard. Present it, and a class follows each
          step in its own browsers, by a link.</p>
        <div class="group"><h3>Walks</h3><ul>{lines}</ul></div>
      </section>"""


def _missing(name: str) -> str:
    if not name:
        return ""
    kind, _, name = name.partition("=") if name.startswith("walk=") else ("page", "", name)
    return f"""<p class="missing" role="status">There is no {kind} named <b>{escape(name[:80])}</b>.
      {"The walks and the" if kind == "walk" else "The"} sections are listed below.</p>"""
