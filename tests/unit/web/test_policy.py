"""What the content security policies allow: what the templates hold, and nothing that a document may have got from elsewhere."""

import base64
import hashlib
import re

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from splatscope.web import policy
from splatscope.web.serving.headers import Headers
from splatscope.web.serving.reserved import drop_reserved
from splatscope.web.templates import TEMPLATES, source_of

NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"


def test_the_hashes_are_those_of_the_inline_scripts_as_they_are_sent():
    page = TEMPLATES.get_template("connect.html").render(docs=[Items()])
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy.template_scripts().split()


@pytest.mark.parametrize("name", ["shell.html", "connect.html", "session.html", "roots.html"])
def test_no_inline_script_of_a_template_changes_from_page_to_page(name):
    source = source_of(name)
    for script in re.findall(r"<script>(.*?)</script>", source, re.DOTALL):
        assert not re.search(r"\{[{%#]", script)
    assert not re.search(r"\son\w+=", source)  # a handler in an attribute has no hash


class Items:
    """What Bokeh gives to a template, with a token that somebody has chosen."""

    def to_json(self) -> dict[str, str]:
        """Return what the browser gets."""
        return {"token": "</script><x-probe>"}


def test_a_template_escapes_what_nobody_has_marked_as_html():
    assert "<x-probe>" not in TEMPLATES.get_template("connect.html").render(docs=[Items()])
    assert TEMPLATES.from_string("{{ text }}").render(text="<x-probe>") == "&lt;x-probe&gt;"


@pytest.mark.parametrize(
    ("sites", "frames"), [("", "'self'"), ("*", "'self' *"), ("https://a.org http://b:80", "'self' https://a.org http://b:80")]
)
def test_only_sites_that_are_named_may_show_a_page_in_a_frame(monkeypatch, sites, frames):
    monkeypatch.setenv(policy.FRAMES, sites)
    assert policy.frames() == frames


@pytest.mark.parametrize("sites", ["a.org", "https://a.org;", "https://a.org/course", "'none'"])
def test_what_is_no_site_is_refused_by_name(monkeypatch, sites):
    monkeypatch.setenv(policy.FRAMES, sites)
    with pytest.raises(ValueError, match=re.escape(sites)):
        policy.frames()


def test_what_bokeh_reserves_is_dropped_from_a_request_and_the_rest_stays():
    line = RequestStartLine("GET", "/app?page=home&bokeh-absolute-url=a&Bokeh-Token=b", "HTTP/1.1")
    headers = HTTPHeaders({"Host": "localhost", "Bokeh-Session-Id": "c"})
    request = HTTPServerRequest(start_line=line, headers=headers)
    request.arguments["bokeh-app-path"] = [b"d"]  # of a body
    drop_reserved(request)
    assert [*request.arguments] == [*request.query_arguments] == ["page"]
    assert dict(request.headers) == {"Host": "localhost"}


@pytest.mark.parametrize(
    ("status", "kind", "allowed"),
    [(200, "text/html", "frame-ancestors 'self'"), (404, "text/html", NOTHING), (200, "image/png", NOTHING)],
    ids=["a login page", "an error", "a file"],
)
def test_an_answer_without_a_policy_gets_one(status, kind, allowed):
    headers = HTTPHeaders({"Content-Type": kind})
    Headers(None).transform_first_chunk(status, headers, b"", True)
    assert headers["Content-Security-Policy"] == allowed
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_document_keeps_its_own_policy():
    headers = HTTPHeaders({"Content-Type": "text/html", "Content-Security-Policy": policy.document_policy()})
    Headers(None).transform_first_chunk(200, headers, b"", True)
    assert headers.get_list("Content-Security-Policy") == [policy.document_policy()]
