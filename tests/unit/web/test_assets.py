"""What browsers load for every page: compressed once, kept for good, no more than is needed."""

import asyncio
import gzip
import re
import threading
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from bokeh.application import Application as BokehApplication
from bokeh.server.views.metadata_handler import MetadataHandler
from panel.io.server import AutoloadJsHandler, ComponentResourceHandler, DocHandler, WSHandler, get_static_routes
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

from splatscope.paths import BUNDLE
from splatscope.web import assets
from splatscope.web.serving import routes


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server that has the assets and nothing else."""
    socket, port = bind_unused_port()
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def serve() -> None:
        HTTPServer(Application([(r"/assets/(.*)", assets.AssetHandler)])).add_socket(socket)
        ready.set()

    thread = threading.Thread(target=lambda: (loop.run_until_complete(serve()), loop.run_forever()))
    thread.start()
    ready.wait()
    yield f"http://127.0.0.1:{port}/"
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


def ask(address: str, **headers: str):
    return urlopen(Request(address, headers={name.replace("_", "-"): value for name, value in headers.items()}), timeout=60)


def test_an_asset_is_sent_compressed_and_unpacks_to_the_file(address):
    answer = ask(address + assets.address(BUNDLE.name), Accept_Encoding="gzip, br")
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Content-Type"].endswith("/javascript")
    packed = answer.read()
    assert len(packed) < BUNDLE.stat().st_size / 2
    assert gzip.decompress(packed) == BUNDLE.read_bytes()


def test_a_browser_that_takes_no_gzip_gets_the_file_itself(address):
    answer = ask(address + assets.address(BUNDLE.name), Accept_Encoding="identity")
    assert answer.headers["Content-Encoding"] is None
    assert answer.read() == BUNDLE.read_bytes()


def test_an_address_with_the_right_version_is_kept_for_good_and_any_other_is_asked_for_again(address):
    assert "immutable" in ask(address + assets.address(BUNDLE.name)).headers["Cache-Control"]
    assert ask(f"{address}assets/{BUNDLE.name}?v=old").headers["Cache-Control"] == "no-cache"
    assert ask(f"{address}assets/{BUNDLE.name}").headers["Cache-Control"] == "no-cache"


def test_a_browser_that_has_an_asset_is_told_so(address):
    tag = ask(f"{address}assets/{BUNDLE.name}", Accept_Encoding="gzip").headers["Etag"]
    with pytest.raises(HTTPError, match="304"):
        ask(f"{address}assets/{BUNDLE.name}", Accept_Encoding="gzip", If_None_Match=tag)
    with pytest.raises(HTTPError, match="304"):
        ask(f"{address}assets/{BUNDLE.name}", Accept_Encoding="gzip", If_None_Match=f"W/{tag}")
    assert ask(f"{address}assets/{BUNDLE.name}", Accept_Encoding="identity", If_None_Match=tag).status == 200


@pytest.mark.parametrize("name", ["nothing.js", "../pyproject.toml", "..%2f..%2fpyproject.toml", "/etc/passwd", ""])
def test_nothing_but_the_assets_is_served(address, name):
    with pytest.raises(HTTPError, match="404"):
        ask(f"{address}assets/{name}")


def test_an_assets_version_follows_its_content(tmp_path, monkeypatch):
    file = tmp_path / "a.js"
    monkeypatch.setitem(assets.FILES, "a.js", file)
    file.write_text("one")
    before = assets.address("a.js")
    file.write_text("another")
    assert assets.address("a.js") != before
    file.write_text("one")
    assert assets.address("a.js") == before


@pytest.mark.parametrize("path", ["/assets/a.js", "/folder/assets/a.js", "/a/b/assets/a.js"])
def test_what_pages_name_relative_to_themselves_is_found_wherever_the_app_is_served(path):
    [rule] = [routes.below("", route) for route, handler in routes.ROUTES if handler is assets.AssetHandler]
    assert re.fullmatch(rule, path)[1] == "a.js"


def test_the_build_has_bundled_the_models_of_the_panel_that_is_installed():
    bokeh, models = assets.scripts()
    assert bokeh.startswith("assets/bokeh.min.js?v=")
    assert models.startswith("assets/panel-models-")
    assert len(assets.find(assets.SLIM[1].name).body) < 60_000


def test_without_that_bundle_pages_load_what_panel_names(monkeypatch, tmp_path):
    monkeypatch.setattr(assets, "SLIM", (assets.SLIM[0], tmp_path / "panel-models-0.js"))
    assert assets.scripts() == []


def test_the_server_has_its_own_routes_and_none_of_panels_that_it_does_not_need():
    served = routes.Routes({"/app": BokehApplication()}, extra_patterns=get_static_routes({}))
    handlers = [rule.target for rule in served.wildcard_router.rules]
    assert {routes.Socket, routes.PageHandler, assets.AssetHandler} <= set(handlers)
    assert not {WSHandler, DocHandler, AutoloadJsHandler, MetadataHandler, ComponentResourceHandler} & set(handlers)


def test_an_answer_is_written_as_fast_as_it_is_read():
    """A browser that reads nothing makes the server hold a piece of an answer, and no copy of it."""
    body, written = bytes(2**25), []

    class Large(RequestHandler):
        async def get(self) -> None:
            await assets.send_whole(self, body)

        def write(self, chunk: bytes) -> None:
            raise AssertionError("it is written in pieces")

        async def flush(self, include_footers: bool = False) -> None:
            written.append(len(b"".join(self._write_buffer)))
            await super().flush(include_footers)

    async def main() -> tuple[int, bytes]:
        socket, port = bind_unused_port()
        HTTPServer(Application([("/", Large)])).add_socket(socket)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**12)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        before = -1
        while sum(written) != before:  # until the buffers of both sides are full
            before = sum(written)
            await asyncio.sleep(0.3)
        head = await reader.readuntil(b"\r\n\r\n")
        assert f"Content-Length: {len(body)}".encode() in head
        received = await reader.readexactly(len(body))
        writer.close()
        return before, received

    with asyncio.Runner() as runner:
        before, received = runner.run(asyncio.wait_for(main(), 60))
    assert before < len(body) / 2
    assert received == body
    assert max(written) <= assets.PIECE
