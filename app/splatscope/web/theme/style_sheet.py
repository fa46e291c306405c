"""The app's style sheet."""

from cachetools import TTLCache, cached

from splatscope.paths import LESSONS, PACKAGE

WEB = PACKAGE / "web"


@cached(TTLCache(1, ttl=1.0))  # each document asks for it, and reading the files takes milliseconds
def style_sheet() -> str:
    """Return all of the app's CSS as one text. Layers decide what overrides what, and `layers.css` orders them."""
    layers = WEB / "theme" / "layers.css"
    # The build bundles these into files of their own.
    separate = [*WEB.glob("single_page/*.css"), *WEB.glob("dist/*.css"), WEB / "theme" / "fonts.css"]
    rest = {*WEB.glob("**/*.css"), *LESSONS.glob("*/drawing.css")} - {layers, *separate}
    return "\n".join(path.read_text(encoding="utf-8") for path in [layers, *sorted(rest)])
