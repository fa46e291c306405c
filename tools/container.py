"""Build the container of tools/Containerfile, or check that file without a container engine. Only the standard library is used.

`container.py build` takes Podman, or Docker where its engine runs. `container.py check`, as root with debootstrap, does what the
file says in a fresh Debian in a temporary folder: it installs, copies and sets up, then asks the doctor and the app.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tools" / "Containerfile"
PORT = 5099
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def read(text: str) -> list[tuple[str, str]]:
    """Return a container file's instructions with their arguments; comments are dropped, and continued lines joined."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", "", lines)
    return [(words[0].upper(), words[1].strip()) for line in joined.splitlines() if len(words := line.split(None, 1)) == 2]


def engine() -> str | None:
    """Return the container engine's command on this machine, None if there is none."""
    for name in ("podman", "docker"):
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True).returncode == 0:
            return name
    return None


def build() -> None:
    """Build the image `splatscope`."""
    name = engine()
    if name is None:
        raise SystemExit("No engine for containers runs here: install podman, or start Docker. make container-check needs neither.")
    subprocess.run([name, "build", "--tag", "splatscope", "--file", str(FILE), str(ROOT)], check=True)
    print(f"Run it: {name} run --rm --publish 5006:5006 splatscope")


class Replay:
    """A Debian system in a folder, in which instructions are executed one by one."""

    def __init__(self, root: Path):
        self.root = root
        self.user = "root"
        self.folder = "/"
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        self.entry: list[str] = []
        self.command: list[str] = []

    def do(self, name: str, argument: str) -> None:
        """Execute an instruction. Raises SystemExit for an unknown one."""
        print(f"{name} {argument}", flush=True)
        if name == "FROM":
            suite = re.fullmatch(r"debian:(\w+)-slim", argument)
            if not suite:
                raise SystemExit(f"FROM {argument}: only debian:SUITE-slim is known here")
            self._debian(suite[1])
        elif name == "RUN":
            self.run(["sh", "-c", argument])
        elif name == "COPY":
            *sources, target = shlex.split(argument)
            files = [file for source in sources for file in ROOT.glob(source)]
            if not files:
                raise SystemExit(f"COPY {argument}: there is no such file")
            for file in files:
                shutil.copy2(file, self.root / target.lstrip("/"))
        elif name == "ENV":
            key, _, value = argument.partition("=")
            self.environment[key] = re.sub(r"\$(\w+)", lambda found: self.environment[found[1]], value)
        elif name == "USER":
            self.user = argument
        elif name == "WORKDIR":
            self.folder = argument
        elif name == "ENTRYPOINT":
            self.entry = json.loads(argument)
        elif name == "CMD":
            self.command = json.loads(argument)
        elif name != "EXPOSE":
            raise SystemExit(f"{FILE.name}: {name} is not known here")

    def run(self, command: list[str], stdout: int | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command as the user, in the folder and with the environment of the instructions so far."""
        return subprocess.run(self._inside(command), env=self.environment, check=True, text=True, stdout=stdout)

    def start(self, command: list[str]) -> subprocess.Popen:
        """Start a command in the same environment."""
        return subprocess.Popen(self._inside(command), env=self.environment)

    def _inside(self, command: list[str]) -> list[str]:
        enter = f"cd {shlex.quote(self.folder)} && exec {shlex.join(command)}"
        return ["chroot", f"--userspec={self.user}", str(self.root), "/bin/sh", "-c", enter]

    def _debian(self, suite: str) -> None:
        subprocess.run(["debootstrap", "--variant=minbase", suite, str(self.root)], check=True, stdout=subprocess.DEVNULL)
        for folder in ("proc", "sys", "dev"):
            subprocess.run(["mount", "--rbind", f"/{folder}", str(self.root / folder)], check=True)
        shutil.copy2("/etc/resolv.conf", self.root / "etc" / "resolv.conf")
        if CERTIFICATES.is_file():  # a network may use its own certificate
            shutil.copy2(CERTIFICATES, self.root / "etc" / "host.crt")
            self.environment["PIP_CERT"] = "/etc/host.crt"


def check() -> None:
    """Execute the file, then run the doctor and request a page of the app."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        raise SystemExit("The check makes a Debian of its own: run it as root, after apt-get install debootstrap.")
    if "SPLATSCOPE_UNSHARED" not in os.environ:  # unshared, mounts and processes end with this process
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, *sys.argv]
        sys.exit(subprocess.run(command, env=os.environ | {"SPLATSCOPE_UNSHARED": "1"}).returncode)
    folder = Path(tempfile.mkdtemp(prefix="splatscope-container-"))
    folder.chmod(0o755)
    try:
        replay = Replay(folder)
        for name, argument in read(FILE.read_text()):
            replay.do(name, argument)
        _ask(replay)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{FILE.name} fails: {error.cmd[-1]} ends with {error.returncode}, its message is above") from None
    finally:
        for name in ("dev", "sys", "proc"):
            subprocess.run(["umount", "--recursive", "--lazy", str(folder / name)], stderr=subprocess.DEVNULL)
        shutil.rmtree(folder)


def _ask(replay: Replay) -> None:
    report = json.loads(replay.run([*replay.entry, "doctor", "--json"], stdout=subprocess.PIPE).stdout)
    missing = [each["what"] for each in report["missing"]]
    print(
        f"doctor: {report['surroundings']}; adapters {[each['name'] for each in report['adapters']]}; sandbox {report['sandbox']}"
    )
    if not report["ok"] or missing:
        raise SystemExit(f"The doctor misses: {', '.join(missing) or 'a device'}")
    server = replay.start([*replay.entry, *replay.command, "--port", str(PORT)])
    try:
        _wait_for_page(server)
    finally:
        server.kill()
        server.wait()
    print(f"The app answers. {FILE.name} is in order.")


def _wait_for_page(server: subprocess.Popen) -> None:
    for _ in range(120):
        if server.poll() is not None:
            raise SystemExit("The server ended: its message is above.")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/app?page=reduction", timeout=30) as answer:
                if b"<html" in answer.read():
                    return
                break
        except OSError:
            time.sleep(0.5)
    raise SystemExit("The app does not answer.")


if __name__ == "__main__":
    {"build": build, "check": check}[sys.argv[1] if len(sys.argv) > 1 else "build"]()
