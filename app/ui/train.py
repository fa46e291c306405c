"""The training page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .page import Page

if TYPE_CHECKING:
    from .shell import Shell


def train(shell: Shell) -> Page:
    """Fits a picture with 2D Gaussians: for now, only its place."""
    html = """<article class="words">
      <h1>Train</h1>
      <p class="lede">Fit a picture with 2D Gaussians and watch every kernel while it learns.</p>
    </article>"""
    return Page(page="train", html=html)
