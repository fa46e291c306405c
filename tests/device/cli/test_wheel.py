"""The wheel: what it holds, and serving at /app, from a checkout and from it. `make wheel-test` installs it as a user does."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from http.client import HTTPConnection
from importlib.metadata import entry_points, version
from pathlib import Path
from urllib.error import URLError

import pytest

from helpers.patience import PATIENCE
from splatscope.cli import jupyter_proxy
from splatscope.paths import CHECKOUT

ROOT = CHECKOUT
BUNDLED = (".ts", ".wgsl.json")  # the browser's sources, which are in web/dist
PACKED = "/drawing.ts"  # they are packed all the same: a section has a drawing if it has this file
DIST = (
    "splatscope.js",
    "styles.css",
    "fonts.css",
    "book.js",
    "embedded.js",
    "single_page.js",
    "single_page.css",
    f"panel-models-{version('panel')}.js",
)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fetch_app(port: int, server: subprocess.Popen) -> str:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/app", timeout=PATIENCE) as answer:
                return answer.read().decode()
        except (URLError, ConnectionError):
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.2)


def serve_and_fetch(folder: Path, **environment: str) -> str:
    port = free_port()
    command = [sys.executable, "-m", "splatscope.cli.main", "serve", "--port", str(port)]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=os.environ | environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            return fetch_app(port, server)
        finally:
            server.terminate()
            server.wait(PATIENCE)


def test_serve_from_the_checkout(tmp_path):
    assert "<html" in serve_and_fetch(tmp_path)
    assert (tmp_path / "server.log").read_text().count("Bokeh app running at") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there are no socket files")
def test_serve_behind_a_proxy_through_a_socket_file(tmp_path):
    server = jupyter_proxy.server()
    command = [part.format(unix_socket=tmp_path / "socket") for part in server["command"]]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + server["timeout"]
        while not (tmp_path / "socket").exists():
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not listen"
            time.sleep(0.2)
        connection = HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(tmp_path / "socket"))
        connection.request("GET", "/app", headers={"Host": "hub.example"})
        page = connection.getresponse().read().decode()
    finally:
        process.terminate()
        process.wait(PATIENCE)
    assert "<html" in page
    assert 'src="/' not in page  # all that a page loads is found below the prefix that the proxy adds


def test_jupyter_finds_the_app():
    found = entry_points(group="jupyter_serverproxy_servers", name="splatscope")
    assert {entry.load() for entry in found} == {jupyter_proxy.server}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel built from a copy of the checkout, because the build leaves folders behind."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    hide = shutil.ignore_patterns("__pycache__", "dist")
    for folder in ("app", "shaders", "lessons", "assets", "tools", "node_modules"):
        shutil.copytree(ROOT / folder, source / folder, ignore=hide if folder != "node_modules" else None)
    for name in (
        "pyproject.toml",
        "setup.py",
        "MANIFEST.in",
        "package.json",
        "package-lock.json",
        ".npmrc",
        "README.md",
        "LICENSE",
    ):
        shutil.copy2(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", str(out), str(source)]
    done = subprocess.run(pip, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return path


def place_in_wheel(path: str) -> str:
    """Return where the wheel holds a file of the checkout."""
    return path.removeprefix("app/") if path.startswith("app/splatscope/") else f"splatscope/{path}"


def test_the_wheel_carries_all_that_runs_and_nothing_else(wheel):
    list_files = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "app", "assets", "lessons", "shaders"]
    files = subprocess.run(list_files, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    packed = [path for path in files if (path.endswith(PACKED) and path.startswith("lessons/")) or not path.endswith(BUNDLED)]
    needed = {place_in_wheel(path) for path in packed if (ROOT / path).exists()}
    needed |= {f"splatscope/web/dist/{name}" for name in DIST}
    with zipfile.ZipFile(wheel) as archive:
        sizes = {item.filename: item.file_size for item in archive.infolist() if ".dist-info/" not in item.filename}
    assert sizes.keys() - needed == set()
    assert needed - sizes.keys() == set()
    assert all(sizes[f"splatscope/web/dist/{name}"] > 1000 for name in DIST)


def test_serve_from_the_wheel(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    assert "<html" in serve_and_fetch(tmp_path, PYTHONPATH=str(tmp_path))
