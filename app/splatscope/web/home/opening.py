"""The picture across the home page, which comes apart into its Gaussians under the reader's hand."""

import param

from splatscope.paths import ASSETS, OPENING_KERNELS
from splatscope.splat.apart import unpack
from splatscope.splat.thumbnail import Thumbnail
from splatscope.web.assets import address
from splatscope.web.runtime.component import Component, Typed

GAUSSIANS, PICTURE, STAGES = "opening.bin", "opening.webp", "opening-stages.webp"
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.62, 0.74, 0.87, 1.0)  # how far apart the picture is in each of the stages
ALT = "The face of a cat, made of soft ellipses"


class Opening(Component):
    """A picture that is there at once. What takes it apart is fetched once the reader's hand comes near.

    With WebGPU, the browser moves and draws the Gaussians itself, with the program's own kernels. Otherwise it shows pictures that
    they drew in advance.
    """

    picture = param.String(doc="Address of the whole picture")
    stages = param.String(doc="Address of the pictures drawn in advance, in one column")
    shares = Typed(list[float], default=list(SHARES), doc="How far apart the picture is in each of them, from 0 to 1")
    gaussians = param.String(doc="Where the Gaussians are: an address, or the name of a file in a published book")
    kernels = param.String(doc="Where the kernels are, in the same way")
    total = param.Integer(default=1, doc="The number of Gaussians")
    width_px = param.Integer(default=1, doc="Width in pixels of the picture to which they were fitted")
    alt = param.String(default=ALT, doc="What the picture shows, for screen readers")


def shipped_gaussians() -> Thumbnail:
    """Return the picture's Gaussians."""
    return unpack((ASSETS / GAUSSIANS).read_bytes())


def opening() -> Opening:
    """Return the picture with the files that ship."""
    gaussians = shipped_gaussians()
    return Opening(
        picture=address(PICTURE),
        stages=address(STAGES),
        gaussians=address(GAUSSIANS),
        kernels=address(OPENING_KERNELS.name),
        total=gaussians.count,
        width_px=gaussians.width,
    )


def still_html() -> str:
    """Return the picture as it is until its component is there."""
    image = f'<img src="{address(PICTURE)}" alt="{ALT}" fetchpriority="high">'
    return f'<figure class="opening"><div class="opening-frame">{image}</div></figure>'
