"""Where a section is on the way from the loss back to the Gaussians: a line beside the section's aim."""

from html import escape

from splatscope.textbook.contents import Section, way_back
from splatscope.web.shell.pages import BY_NAME


def way_back_html(name: str) -> str:
    """Return the sections of the way back in their order, with this one marked, or "" if it is not one of them."""
    on_the_way = way_back()
    if name not in {section.name for section in on_the_way}:
        return ""
    places = " → ".join(_here(section) if section.name == name else _link(section) for section in on_the_way)
    return f'<p class="where"><b>On the way back, from the loss to the Gaussians</b> {places}</p>'


def _here(section: Section) -> str:
    return f'<strong aria-current="page">{escape(section.title)}</strong>'


def _link(section: Section) -> str:
    return f'<a href="{BY_NAME[section.name].address}">{escape(section.title)}</a>'
