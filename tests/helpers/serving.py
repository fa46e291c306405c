"""The app as a user serves it, in a process of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@contextmanager
def served(log: Path, **environment: str) -> Iterator[str]:
    """The address of `panel serve app`, which writes to `log` and has these variables of the environment besides ours."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "panel", "serve", "app", str(HERE / "parts.py"), "--port", str(port)]
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=os.environ | environment)
    address = f"http://localhost:{port}"
    try:
        _wait(address, process, log)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait(address: str, process: subprocess.Popen, log: Path) -> None:
    for _ in range(240):
        if process.poll() is not None:
            break
        try:
            with urlopen(f"{address}/app", timeout=30) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.25)
    pytest.fail(f"panel serve app did not come up:\n{log.read_text()[-4000:]}")
