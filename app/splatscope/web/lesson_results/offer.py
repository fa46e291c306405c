"""What a question offers, sealed by the server. A browser brings it back with an answer, so the server need not remember it.

The seal is made with the key that signs sessions ($BOKEH_SECRET_KEY). So nobody can bring options that no server with this key
has offered.
"""

import base64
import hmac
import json
from dataclasses import astuple, dataclass

from bokeh.settings import settings

_PURPOSE = b"splatscope offer "
_DIGEST = "sha256"


@dataclass(frozen=True)
class Offer:
    """The options of a question or a claim.

    Attributes:
        page: The section.
        question: The block's kind and name, "quiz-heaviest" or "claim-painter".
        options: What a reader can choose.
        right: The right option; "" if the device cannot tell.
    """

    page: str
    question: str
    options: tuple[str, ...]
    right: str

    def sealed(self) -> str:
        """Return this offer as a text for `opened`; "" without a server, which has no key."""
        key = settings.secret_key_bytes()
        if key is None:
            return ""
        content = json.dumps(astuple(self), separators=(",", ":")).encode()
        return ".".join(base64.urlsafe_b64encode(part).decode() for part in (content, _seal(key, content)))

    @classmethod
    def opened(cls, text: str) -> "Offer | None":
        """Return the offer that a server has sealed; None for any other text."""
        key = settings.secret_key_bytes()
        try:
            content, seal = map(base64.urlsafe_b64decode, text.encode("ascii").split(b"."))
        except ValueError:
            return None
        if key is None or not hmac.compare_digest(seal, _seal(key, content)):
            return None
        page, question, options, right = json.loads(content)
        return cls(page, question, tuple(options), right)


def _seal(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, _PURPOSE + content, _DIGEST)
