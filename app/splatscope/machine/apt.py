"""Install Debian and Ubuntu packages, as root or with passwordless sudo; otherwise name the command to run.

Only the standard library is used, since `python3 app/splatscope/machine/apt.py PACKAGE…` runs before there is an environment. If
the release's package is too old, it comes from the backports suite, at the mirror in the machine's own apt sources. Apt reads that
suite from a temporary folder, so /etc/apt is not changed.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

ETC = Path("/etc/apt")


class AptError(RuntimeError):
    """A package could not be installed; the message names the command that would."""


@dataclass(frozen=True)
class AptSource:
    """One entry of apt's sources; `options` are the remaining fields by their deb822 names, such as Signed-By."""

    uris: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    options: dict[str, str] = field(default_factory=dict)

    def deb822(self) -> str:
        """Return the entry as a stanza of a `.sources` file."""
        fields = {"Types": "deb", "URIs": self.uris, "Suites": " ".join(self.suites)}
        fields |= {"Components": " ".join(self.components)} | self.options
        return "".join(f"{name}: {value}\n" for name, value in fields.items())


def parse_deb822(text: str) -> list[AptSource]:
    """Read a `.sources` file: stanzas of `Field: value`, where an indented line continues the field above it."""
    sources = []
    lines = "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("#"))
    for stanza in lines.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in filter(None, stanza.split("\n")):
            if line[0].isspace():
                fields[name] += "\n" + line  # a key may be in the file itself, under Signed-By
            else:
                name, value = line.split(":", 1)
                name = name.strip().title()
                fields[name] = value.strip()
        types, enabled = fields.pop("Types", "").split(), fields.pop("Enabled", "yes").lower()
        uris, suites = fields.pop("Uris", ""), tuple(fields.pop("Suites", "").split())
        components = tuple(fields.pop("Components", "").split())
        if "deb" in types and enabled not in ("no", "false", "0") and uris:
            sources.append(AptSource(uris, suites, components, fields))
    return sources


def parse_list(text: str) -> list[AptSource]:
    """Read a `.list` file: lines of `deb [option=value …] URI suite component…`."""
    sources = []
    for line in text.splitlines():
        kind, _, rest = line.partition("#")[0].strip().partition(" ")
        if kind != "deb":
            continue
        bracket, rest = rest.strip()[1:].split("]", 1) if rest.strip().startswith("[") else ("", rest)
        pairs = (option.split("=", 1) for option in bracket.split() if "=" in option)
        names = {"Arch": "Architectures", "Lang": "Languages", "Target": "Targets"}
        options = {names.get(name.title(), name.title()): value.replace(",", " ") for name, value in pairs}
        uri, suite, *components = rest.split()
        sources.append(AptSource(uri, (suite,), tuple(components), options))
    return sources


def read_sources(etc: Path = ETC) -> list[AptSource]:
    """Read all entries of apt's sources under `etc`."""
    lists = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list"))]
    found = [source for path in lists if path.is_file() for source in parse_list(path.read_text())]
    for path in sorted((etc / "sources.list.d").glob("*.sources")):
        found += parse_deb822(path.read_text())
    return found


def parse_os_release(text: str) -> dict[str, str]:
    """Read /etc/os-release: shell assignments, quoted or not."""
    words = (shlex.split(line, comments=True) for line in text.splitlines())
    return dict(word.split("=", 1) for line in words for word in line if "=" in word)


def os_release() -> dict[str, str]:
    """Return the fields of /etc/os-release, {} if the system has none."""
    path = Path("/etc/os-release")
    return parse_os_release(path.read_text()) if path.is_file() else {}


def with_backports(sources: Iterable[AptSource], codename: str) -> list[AptSource]:
    """Return the release's own entries and its backports suite at the same mirror, with the same key.

    Raises:
        AptError: No entry serves the release's main component.
    """
    suites = {codename, *(f"{codename}-{part}" for part in ("updates", "security"))}
    own = [source for source in sources if suites & {s.split("/")[0] for s in source.suites} and "main" in source.components]
    base = next((source for source in own if codename in source.suites), None)
    if base is None:
        raise AptError(f"apt's sources name no mirror for {codename} main: add one, then run this again")
    return [*own, replace(base, suites=(f"{codename}-backports",), components=("main",))]


def commands(packages: Sequence[str], prefix: Sequence[str] = (), folder: Path | None = None, suite: str = "") -> list[list[str]]:
    """Return the two calls of apt-get that install `packages`.

    Args:
        packages: The names of the packages.
        prefix: The command that runs another as root, see `privilege`.
        folder: The folder for apt's sources and lists, instead of the system's.
        suite: The suite to prefer.
    """
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    if folder:
        where = {"Etc::sourcelist": "/dev/null", "Etc::sourceparts": folder / "sources", "State::lists": folder / "lists"}
        apt += [part for name, value in where.items() for part in ("-o", f"Dir::{name}={value}")]
    target = ["-t", suite] if suite else []
    return [[*apt, "update"], [*apt, "install", "-y", "--no-install-recommends", *target, *packages]]


def privilege() -> list[str] | None:
    """Return the prefix that runs a command as root: empty for root, sudo if it asks for no password, else None."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


def install(packages: Sequence[str], suggestion: str = "", backports_of: str = "") -> None:
    """Install packages.

    Args:
        packages: The names of the packages.
        suggestion: The command to suggest if this process may not install them; by default a call of apt-get.
        backports_of: The codename of the release whose backports suite has them; "" to use the release itself.

    Raises:
        AptError: This process may not install packages, or apt-get failed.
    """
    suggestion = suggestion or f"sudo apt-get install -y --no-install-recommends {shlex.join(packages)}"
    prefix = privilege()
    if prefix is None:
        raise AptError(f"{', '.join(packages)} cannot be installed without root's rights. Run: {suggestion}")
    print(f"Installing {', '.join(packages)}.", flush=True)
    if not backports_of:
        return _run(commands(packages, prefix), suggestion)
    entries = with_backports(read_sources(), backports_of)
    folder = Path(tempfile.mkdtemp(prefix="splatscope-apt-"))
    try:
        folder.chmod(0o755)  # apt downloads as its own user
        for name in ("sources", "lists"):
            (folder / name).mkdir()
        (folder / "sources" / "release.sources").write_text("\n".join(entry.deb822() for entry in entries))
        _run(commands(packages, prefix, folder, f"{backports_of}-backports"), suggestion)
    finally:
        subprocess.run([*prefix, "rm", "-rf", str(folder)], check=False)  # apt's files in it belong to root


def _run(calls: list[list[str]], suggestion: str) -> None:
    update, install_call = calls
    subprocess.run(update, check=False)  # a third-party source that fails may be irrelevant to these packages
    if status := subprocess.run(install_call, check=False).returncode:
        raise AptError(f"apt-get failed with status {status}, its message is above. To try again: {suggestion}")


def main() -> None:
    """Install the packages that the command line names."""
    if not shutil.which("apt-get"):
        raise SystemExit(f"Install {', '.join(sys.argv[1:])} with this system's package manager, then run this again.")
    try:
        install(sys.argv[1:])
    except AptError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
