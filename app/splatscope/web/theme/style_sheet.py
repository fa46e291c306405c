"""The app's style sheet."""

from cachetools import TTLCache, cached

from splatscope.paths import LESSONS, PACKAGE

WEB = PACKAGE / "web"


@cached(TTLCache(1, ttl=1.0))  # each document asks for it, and reading the files takes milliseconds
def style_sheet() -> str:
    """Return all of the app's CSS as one text: tokens and base first, forced colours and print last, the rest in between."""
    first = [WEB / "theme" / "tokens.css", WEB / "theme" / "base.css"]
    last = [WEB / "theme" / "forced_colors.css", WEB / "theme" / "print.css"]
    # The build bundles these into files of their own.
    separate = [*WEB.glob("single_page/*.css"), *WEB.glob("dist/*.css"), WEB / "theme" / "fonts.css"]
    rest = {*WEB.glob("*/*.css"), *LESSONS.glob("*/drawing.css")} - {*first, *last, *separate}
    # By name, drawing.css comes before lesson_page.css, which overrides it.
    rest = sorted(rest, key=lambda path: (path.name, path.parent.name))
    return "\n".join(path.read_text(encoding="utf-8") for path in [*first, *rest, *last])
