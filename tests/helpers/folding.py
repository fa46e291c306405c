"""Figures as they are once their reader has unfolded them, which is how nearly all tests see them."""

from playwright.sync_api import BrowserContext

UNFOLD = "try { localStorage.setItem('splatscope-unfolded', 'yes') } catch { /* a page that may store nothing */ }"


def unfold_figures(context: BrowserContext) -> BrowserContext:
    """Have all figures of a context's pages show all that they have. Returns the context."""
    context.add_init_script(UNFOLD)
    return context
