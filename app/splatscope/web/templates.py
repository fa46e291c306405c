"""The templates of documents. What is put into them is escaped, except HTML that is marked as such (`Markup`) where it is made."""

import re

import jinja2

from splatscope.paths import PACKAGE

_LOADER = jinja2.FileSystemLoader([PACKAGE / "web" / name for name in ("shell", "single_page")])
TEMPLATES = jinja2.Environment(loader=_LOADER, autoescape=True, trim_blocks=True, lstrip_blocks=True)
TEMPLATES.policies["json.dumps_kwargs"] = {"separators": (",", ":")}  # of the filter `tojson`, which also escapes


def source_of(name: str) -> str:
    """Return the text of a template."""
    return _LOADER.get_source(TEMPLATES, name)[0]


def _script_files(html: str) -> list[str]:
    """Return the addresses of the scripts that Bokeh and Panel would load; `importShim` in `shell.html` replaces one of them."""
    return [file for file in re.findall(r'<script[^>]* src="([^"]+)"', html) if "es-module-shims" not in file]


TEMPLATES.filters["script_files"] = _script_files
