"""A served app answers or refuses whatever is sent to it: no error of the server, no traceback, nothing unescaped."""

import pytest
from fuzz.request_cases import MARK, Request, Talk, case
from fuzz.requests import Fuzz, fuzz

SEED = 11
ONCE_FAILED = [
    Request(-1, "path", "GET", "/static/%00"),
    Request(-1, "path", "GET", "/static/extensions/panel/%00/index.js"),
    Request(-1, "section", "GET", "/sections/bitonic-sort", (("inputs", f"count={'[' * 1100}"),)),
    Request(-1, "change", "GET", "/sections/bitonic-sort", (("change", f'{{"set": {{"count": {"[" * 980}{"]" * 980}}}}}'),)),
    Request(-1, "document", "GET", "/app", (("page", "home"), ("bokeh-absolute-url", f'"><{MARK}>'))),
    Request(-1, "document", "GET", "/app", (("page", "home"), ("kernel", "{{"))),
    Request(-1, "headers", "GET", "/app", (("page", "undo"),), (("Accept-Encoding", "gzip;q=0"),)),
    Request(-1, "headers", "HEAD", "/app", (("page", "undo"),), (("Host", "evil.example"),)),
    Talk(-1, "page=home", "messages in flight as the connection closes"),
    Talk(-1, "page=train", "a pixel at 9999…"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Fuzz:
    cases = [*ONCE_FAILED, *(case(SEED, number) for number in range(300))]
    return fuzz(cases, SEED, tmp_path_factory.mktemp("forged") / "server.log")


def test_no_request_fails_is_reflected_or_leaves_a_traceback(run):
    assert not run.faults


def test_most_requests_reach_a_page(run):
    requests = {(kind, status): times for (kind, status), times in run.outcomes.items() if kind != "socket"}
    answered = sum(times for (_, status), times in requests.items() if status == "200")
    assert answered > sum(requests.values()) / 3
