"""The headers of every answer."""

from tornado.httputil import HTTPHeaders
from tornado.web import OutputTransform

from splatscope.web.policy import answer_policy


class Headers(OutputTransform):
    """Adds headers to every answer, also to errors and files. The app's documents have a policy of their own."""

    def transform_first_chunk(self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool) -> tuple:
        """Add the headers that the answer does not have."""
        document = status_code == 200 and headers.get("Content-Type", "").startswith("text/html")
        headers.setdefault("Content-Security-Policy", answer_policy(document))
        headers.setdefault("X-Content-Type-Options", "nosniff")
        headers.setdefault("Referrer-Policy", "same-origin")
        return status_code, headers, chunk
