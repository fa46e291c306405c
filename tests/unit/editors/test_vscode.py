"""The extension for VS Code says what the command line does, and is packed as VS Code unpacks it."""

import json
import re
import runpy
import zipfile
from xml.etree import ElementTree

import pytest
import typer

from splatscope import __version__
from splatscope.cli.dap import LAUNCH
from splatscope.cli.trace import trace
from splatscope.paths import CHECKOUT

EXTENSION = CHECKOUT / "editors" / "vscode"
PACKAGE = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
CONTRIBUTES = PACKAGE["contributes"]
[DEBUGGER] = CONTRIBUTES["debuggers"]
PATTERN = CONTRIBUTES["problemMatchers"][0]["pattern"]
MATCHER = re.compile(PATTERN["regexp"])


def test_a_launch_has_the_settings_that_the_server_takes():
    assert PACKAGE["version"] == __version__
    assert DEBUGGER["type"] == "splatscope"
    settings = set(DEBUGGER["configurationAttributes"]["launch"]["properties"])
    assert settings == {"program", "recording", "sources", "stopOnEntry", *LAUNCH}
    examples = [snippet["body"] for snippet in DEBUGGER["configurationSnippets"]] + DEBUGGER["initialConfigurations"]
    for example in examples:
        assert example.keys() - {"type", "request", "name"} <= settings
        assert (example["type"], example["request"]) == ("splatscope", "launch")


def test_a_launch_takes_the_options_of_trace_that_say_what_to_record():
    alone = typer.Typer()
    alone.command()(trace)
    options = {name for parameter in typer.main.get_command(alone).params for name in parameter.opts}
    others = {"html", "out", "batch", "diff", "fix", "explain", "json", "install-completion", "show-completion"}
    assert {name.removeprefix("--") for name in options if name.startswith("--")} - others == set(LAUNCH)


@pytest.mark.parametrize(
    ("line", "groups"),
    [
        ("a/scan.slang:8:5: race: One writes a[1]. (64 times)", ("a/scan.slang", "8", "5", "race", "One writes a[1]. (64 times)")),
        (r"C:\a\scan.slang:12: lost-update: Two add.", (r"C:\a\scan.slang", "12", None, "lost-update", "Two add.")),
        ("scan.slang:8: allowed: race: all write the same", None),
        ("scan.slang: Not given, so zeros: output (1,024).", None),
        ("1 kernel: 0 clean, 1 with findings.", None),
        ("racy.slang main     64 threads         384 events    0.5 s  1 found", None),
    ],
)  # fmt: skip
def test_the_problem_matcher_takes_findings_alone(line, groups):
    match = MATCHER.match(line)
    assert (match and match.groups()) == groups


def test_github_has_the_same_problem_matcher():
    [matcher] = json.loads((CHECKOUT / "editors" / "github-matcher.json").read_text(encoding="utf-8"))["problemMatcher"]
    assert matcher["pattern"] == [PATTERN]


def test_it_is_packed_with_all_that_it_names(tmp_path):
    make_vsix = runpy.run_path(str(CHECKOUT / "tools" / "make_vsix.py"))["make_vsix"]
    file = make_vsix(tmp_path)
    assert file.name == f"splatscope-{__version__}.vsix"
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        manifest = ElementTree.fromstring(archive.read("extension.vsixmanifest"))
        assert json.loads(archive.read("extension/package.json")) == PACKAGE
        types = ElementTree.fromstring(archive.read("[Content_Types].xml"))
    assert {asset.get("Path") for asset in manifest.iter() if asset.tag.endswith("}Asset")} <= names
    assert "extension/" + PACKAGE["main"].removeprefix("./") in names
    assert {f"extension/{path.name}" for path in EXTENSION.iterdir()} <= names
    assert {"." + name.rpartition(".")[2] for name in names - {"[Content_Types].xml"}} <= {one.get("Extension") for one in types}
    assert file.read_bytes() == make_vsix(tmp_path / "again").read_bytes()
