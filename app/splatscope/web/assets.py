"""The files that every page loads, at addresses that change with their content, so that browsers keep them for good.

Each is compressed once for all visitors. Pages load only the parts of Bokeh's and Panel's bundles that the app's documents need.
"""

import gzip
import hashlib
import mimetypes
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import panel as pn
from bokeh.settings import settings
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from splatscope.paths import ASSETS, BUNDLE, FONTS, OPENING_KERNELS, STYLES, TRAINING_KERNELS

PIECE = 2**15  # bytes of an answer that are written at once
FOR_GOOD = "public, max-age=31536000, immutable"
# Bokeh, and the few Panel models that the app uses. The build bundles those for the installed version of Panel.
SLIM = (settings.bokehjs_path() / "js" / "bokeh.min.js", BUNDLE.parent / f"panel-models-{pn.__version__}.js")
PICTURES = [path for kind in ("webp", "jpg", "png", "bin") for path in ASSETS.glob(f"*.{kind}")]
FILES = {path.name: path for path in (*SLIM, BUNDLE, FONTS, STYLES, TRAINING_KERNELS, OPENING_KERNELS, *PICTURES)}


@dataclass(frozen=True)
class Asset:
    """A file that is sent to many visitors. `version` is a hash of `body`."""

    body: bytes
    version: str
    type: str

    @classmethod
    def of(cls, body: bytes, kind: str) -> "Asset":
        """Return the asset for a body of this MIME type."""
        return cls(body, hashlib.sha256(body).hexdigest()[:16], kind)

    @cached_property
    def packed(self) -> bytes:
        """The body in gzip's format, compressed once."""
        return gzip.compress(self.body, 9, mtime=0)


def find(name: str) -> Asset:
    """Return an asset as it is on the disk now. Raises LookupError."""
    path = FILES.get(name)
    if path is None or not path.is_file():
        raise LookupError(name)
    return _read(path, path.stat().st_mtime_ns)


def address(name: str) -> str:
    """Return an asset's address, relative to the page. Raises LookupError."""
    return f"assets/{name}?v={find(name).version}"


def scripts() -> list[str]:
    """Return the addresses of the scripts that make up Bokeh and Panel; none if the build has no bundle for this Panel."""
    return [address(path.name) for path in SLIM] if all(path.is_file() for path in SLIM) else []


@lru_cache(32)
def _read(path: Path, modified: int) -> Asset:
    body = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Asset.of(body, kind)


class AssetHandler(RequestHandler):
    """Sends an asset."""

    async def get(self, name: str) -> None:  # ty: ignore[incompatible-mutable-override] - Tornado declares a variable
        """Send the asset of this name."""
        try:
            asset = find(name)
        except LookupError:
            raise HTTPError(404) from None
        version = self.get_query_argument("v", "")
        await send(self, asset, FOR_GOOD if version == asset.version else "no-cache")

    head = get


async def send(handler: RequestHandler, asset: Asset, cache: str) -> None:
    """Send an asset, compressed if the browser accepts that, or tell the browser that its copy is current."""
    handler.set_header("Cache-Control", cache)
    handler.set_header("Content-Type", asset.type)
    handler.set_header("Vary", "Accept-Encoding")
    packed = takes_gzip(handler) and len(asset.packed) < len(asset.body)
    handler.set_header("Etag", f'"{asset.version}{"-gzip" if packed else ""}"')
    if handler.check_etag_header():
        handler.set_status(304)
        return
    if packed:
        handler.set_header("Content-Encoding", "gzip")
    await send_whole(handler, asset.packed if packed else asset.body)


async def send_whole(handler: RequestHandler, body: bytes) -> None:
    """Send a body in pieces, as fast as the browser reads them, so that a connection holds no copy of it."""
    handler.set_header("Content-Length", str(len(body)))
    with suppress(StreamClosedError):  # the browser has left
        for start in range(0, len(body), PIECE):
            RequestHandler.write(handler, body[start : start + PIECE])
            await handler.flush()


def takes_gzip(handler: RequestHandler) -> bool:
    """Return whether the browser accepts gzip: `gzip`, `br, gzip;q=0.5`, but not `gzip;q=0`."""
    for coding in handler.request.headers.get("Accept-Encoding", "").split(","):
        name, _, weight = coding.lower().replace(" ", "").partition(";")
        if name in ("gzip", "*"):
            return not re.fullmatch(r"q=0(\.0*)?", weight)
    return False
