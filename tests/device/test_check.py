"""`splatscope check`: which kernels are looked at, what is found, what is allowed, and the reports."""

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from itertools import takewhile
from xml.etree import ElementTree

import numpy as np
import pytest

from helpers.patience import PATIENCE
from splatscope.cli.main import main

CLEAN = """RWStructuredBuffer<float> o;
[shader("compute")]
[numthreads(4, 1, 1)]
void main(uint3 t : SV_DispatchThreadID) { o[t.x] = t.x; }
"""
RACE = """groupshared uint cells[8];
RWStructuredBuffer<uint> o;
[numthreads(8, 1, 1)]
void main(uint t : SV_GroupIndex)
{
    cells[t] = t;
    o[t] = cells[7 - t];
}
"""
ASKS = "// splatscope: groups=1\n"


def same(comment: str = "") -> str:
    """Return a kernel whose threads write the same value to one element, with a comment there."""
    return ASKS + CLEAN.replace("o[t.x] = t.x;", f"\n    o[0] = 1;{comment}\n")


INCOMPLETE = CLEAN.replace("o[t.x] = t.x;", "for (uint i = 0; i < 4000; i++) o[t.x] += i;")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Write files by name into an empty folder, which becomes the working directory."""

    def write(**files: str):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_slang", ".slang").replace("_toml", ".toml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return write


@pytest.fixture
def check(capsys):
    """Run the command in this process. Return (exit status, stdout, stderr)."""

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["check", *map(str, arguments)])
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return run


def kernels(out: str) -> dict[str, dict]:
    """Return what `--json` printed, by name."""
    return {kernel["name"]: kernel for kernel in json.loads(out)["kernels"]}


def test_a_clean_kernel_is_clean(repository, check):
    repository(a_slang=ASKS + CLEAN)
    status, out, _ = check("--json")
    (kernel,) = kernels(out).values()
    assert (status, kernel["state"], kernel["file"], kernel["findings"]) == (0, "clean", "a.slang", [])
    assert kernel["events"] > 0


def test_a_race_is_status_1_with_its_file_and_line(repository, check):
    repository(kernels__race_slang=ASKS + RACE, a_slang=ASKS + CLEAN)
    status, out, _ = check("--json")
    assert status == 1
    (finding,) = kernels(out)["race.slang"]["findings"]
    assert (finding["kind"], finding["file"], sorted(finding["lines"])) == ("race", "kernels/race.slang", [7, 8])


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a_slang": CLEAN},
        {"a_slang": ASKS + CLEAN.replace("t.x;", "nobody;")},
        {"a_slang": ASKS.replace("\n", " budget=1000\n") + INCOMPLETE},
        {"a_slang": "// splatscope: groups=2 group=0,0,0\n" + CLEAN},
        {"a_slang": "// splatscope: group=none\n" + CLEAN},
        {"a_slang": "// splatscope: colour=red\n" + CLEAN},
        {"a_slang": '// splatscope: vars={"m": 1}\n' + CLEAN},
        {"splatscope_toml": '[[kernel]]\nfile = "nowhere.slang"\n'},
        {"splatscope_toml": "[[kernel]]\n"},
        {"splatscope_toml": "kernel = "},
    ],
)
def test_what_was_not_looked_at_is_status_2(repository, check, files):
    repository(**files)
    status, out, err = check("--json")
    assert status == 2
    assert err or any(kernel["error"] or kernel["missed"] for kernel in kernels(out).values())


def test_an_option_of_the_command_stands_for_that_of_every_kernel(repository, check):
    repository(a_slang=ASKS.replace("\n", " budget=1000\n") + INCOMPLETE, b_slang=ASKS + INCOMPLETE)
    status, out, _ = check("--json", "--budget", 2000)
    assert status == 2
    for kernel in kernels(out).values():
        (missed,) = kernel["missed"]
        assert missed.startswith("The recording was full before the end: ")
        assert " records (budget=, --budget), or " in missed
    assert len({kernel["events"] for kernel in kernels(out).values()}) == 1
    assert len(kernels(out)) == 2
    status, out, _ = check("--json", "--budget", 1_000_000, "--timeout", 300)
    assert (status, [kernel["missed"] for kernel in kernels(out).values()]) == (0, [[], []])


def test_waves_that_the_software_driver_cannot_have_are_refused(repository, check):
    repository(a_slang=ASKS.replace("\n", " device=llvmpipe:32\n") + CLEAN)
    status, out, _ = check("--json")
    (kernel,) = kernels(out).values()
    assert (status, kernel["error"]) == (2, "The software driver has waves of 4, 8 or 16 lanes, not of 32: ask for one of these.")


def test_the_configuration_names_kernels_inputs_and_what_is_allowed(repository, check):
    source = "cbuffer CB { uint n; float scale; };\n" + CLEAN.replace("o[t.x] = t.x;", "if (t.x < n) o[t.x] = scale; o[9] = 1;")
    configuration = """
    [[kernel]]
    name = "scaled"
    file = "kernels/scaled.slang"
    groups = [2, 1, 1]
    inputs = "given.json"
    vars = { CB = { n = 8 } }
    allow = ["benign-race"]
    """
    folder = repository(kernels__scaled_slang=source, splatscope_toml=configuration)
    (folder / "kernels" / "given.json").write_text('{"CB.scale": 2.5}')
    status, out, _ = check("--json")
    kernel = kernels(out)["scaled"]
    assert (status, kernel["state"]) == (0, "clean")
    assert {finding["kind"] for finding in kernel["silenced"]} == {"benign-race"}
    assert {finding["reason"] for finding in kernel["silenced"]} == {"allowed by the configuration"}


def test_pyproject_configures_it_too(repository, check):
    repository(a_slang=CLEAN, pyproject_toml='[[tool.splatscope.kernel]]\nfile = "a.slang"\n')
    assert check()[0] == 0


@pytest.mark.parametrize(
    ("comment", "status"),
    [("", 1), ("  // splatscope: allow benign-race: all write the same", 0), ("  // splatscope: allow race: why", 1)],
)
def test_a_comment_silences_its_kind_on_its_line_with_a_reason(repository, check, comment, status):
    repository(a_slang=same(comment))
    found, out, _ = check("--json")
    assert found == status
    silenced = kernels(out)["a.slang"]["silenced"]
    assert [finding["reason"] for finding in silenced] == (["all write the same"] if status == 0 else [])


def test_a_comment_of_its_own_line_speaks_of_the_next(repository, check):
    repository(a_slang=same().replace("    o[0]", "    // splatscope: allow benign-race: the same\n    o[0]"))
    assert check("--json")[0] == 0


@pytest.mark.parametrize(("comment", "words"), [("allow race", "say why"), ("allow rase: why", "no kind of finding rase")])
def test_an_allowance_without_a_reason_or_of_no_kind_is_refused(repository, check, comment, words):
    repository(a_slang=same(f"  // splatscope: {comment}"))
    status, out, _ = check("--json")
    assert status == 2
    assert words in kernels(out)["a.slang"]["error"]


def test_a_comment_that_cannot_be_read_stops_its_own_kernel_alone(repository, check):
    repository(bad_slang="// splatscope: groups=2 vras={}\n" + CLEAN, sub__race_slang=ASKS + RACE)
    status, out, _ = check("--json")
    found = kernels(out)
    assert status == 2
    assert "no option vras" in found["bad.slang"]["error"]
    assert found["race.slang"]["state"] == "findings"
    _, out, _ = check()
    assert "sub/race.slang:7:5: race" in out
    assert "bad.slang: there is no option vras" in out


def test_an_allowance_that_silences_nothing_in_any_kernel_is_unused(repository, check, tmp_path):
    shared = same("  // splatscope: allow benign-race: the same").replace(ASKS, ASKS + "// splatscope: entry=other\n")
    other = '[shader("compute")]\n[numthreads(1, 1, 1)]\nvoid other() { o[1] = 1; }\n'
    alone = ASKS + CLEAN.replace("{ o[", "{\n    // splatscope: allow race: once\n    o[")
    repository(shared_slang=shared + other, alone_slang=alone)
    status, out, _ = check()
    assert status == 0, out
    assert [line for line in out.splitlines() if "unused" in line] == [
        "alone.slang: unused: alone.slang, line 6: “allow race” silences nothing."
    ]
    assert check("--sarif", tmp_path / "s.json")[0] == 0
    (invocation,) = json.loads((tmp_path / "s.json").read_text())["runs"][0]["invocations"]
    told = {note["level"]: note["message"]["text"] for note in invocation["toolExecutionNotifications"] if "unused" in str(note)}
    assert told == {"note": "alone.slang: unused: alone.slang, line 6: “allow race” silences nothing."}
    assert invocation["executionSuccessful"] is True


def test_an_entry_of_the_configuration_that_silences_nothing_in_any_kernel_is_unused(repository, check):
    configuration = """
        allow = ["benign-race", "nan"]
        [[kernel]]
        file = "shared.slang"
        [[kernel]]
        file = "alone.slang"
        [[kernel]]
        file = "other.slang"
        allow = ["race"]
    """
    repository(shared_slang=same(), alone_slang=CLEAN, other_slang=CLEAN, splatscope_toml=configuration)
    status, out, _ = check()
    assert status == 0, out
    assert [line for line in out.splitlines() if "unused" in line] == [
        "shared.slang: unused: splatscope.toml: “allow nan” silences nothing.",
        "other.slang: unused: splatscope.toml, kernel 3: “allow race” silences nothing.",
    ]
    _, out, _ = check("alone.slang", "other.slang", "--json")  # what is for all kernels may be needed by the one left out
    notes = [note for kernel in json.loads(out)["kernels"] for note in kernel["notes"] if "unused" in note]
    assert notes == ["unused: splatscope.toml, kernel 3: “allow race” silences nothing."]


def test_values_in_the_place_of_a_file_of_inputs_are_refused_with_where_they_go(repository, check):
    repository(a_slang=CLEAN, splatscope_toml='[[kernel]]\nfile = "a.slang"\ninputs = {}\n')
    status, out, _ = check("--json")
    assert status == 2
    assert kernels(out)["a.slang"]["error"] == "splatscope.toml: inputs is the name of a file: values go under vars."


def test_races_on_textures_are_looked_for(repository, check):
    source = "RWTexture2D<float4> t;\n" + CLEAN.replace("uint3 t", "uint3 id")
    clean = source.replace("o[t.x] = t.x;", "o[id.x] = id.x; t[id.xy] = 1;")
    racy = source.replace("o[t.x] = t.x;", "t[uint2(0, 0)] = id.x;")
    repository(a_slang=ASKS + clean, b_slang=ASKS + racy)
    status, out, _ = check("--json")
    assert (status, kernels(out)["a.slang"]["state"], kernels(out)["b.slang"]["state"]) == (1, "clean", "findings")


def test_an_allowance_of_earlier_versions_is_refused_in_a_line(repository, check):
    repository(a_slang=ASKS.replace("\n", " allow=texture-races\n") + CLEAN)
    status, out, _ = check("--json")
    assert (status, kernels(out)["a.slang"]["state"]) == (2, "error")
    assert kernels(out)["a.slang"]["error"] == "a.slang: races on textures are looked for: drop “texture-races” from allow."


def test_paths_choose(repository, check):
    repository(one__a_slang=ASKS + CLEAN, two__b_slang=ASKS + RACE)
    assert check("one")[0] == 0
    assert check("two/b.slang")[0] == 1
    status, _, err = check("three")
    assert status == 2
    assert "three does not exist" in err


def test_the_reports_agree(repository, check, tmp_path):
    repository(
        race_slang=ASKS + RACE, clean_slang=ASKS + CLEAN, broken_slang=ASKS + CLEAN.replace("t.x;", "nobody;"),
        same_slang=same("  // splatscope: allow benign-race: the same"),
    )  # fmt: skip
    status, out, _ = check("--github", "--sarif", tmp_path / "s.json", "--junit", tmp_path / "j.xml")
    assert status == 2
    lines = out.splitlines()
    assert sum(line.startswith("::error file=race.slang,line=7,title=splatscope%3A race::Thread ") for line in lines) == 1
    assert sum(line.startswith("::error file=broken.slang,line=5,") for line in lines) == 1
    assert sum(line.startswith("::") for line in lines) == 2
    assert "4 kernels: 2 clean, 1 with findings, 1 not looked at in full." in lines
    assert "same.slang:6: allowed: benign-race: the same" in lines

    (run,) = json.loads((tmp_path / "s.json").read_text())["runs"]
    found = {(result["ruleId"], "suppressions" in result) for result in run["results"]}
    assert found == {("race", False), ("benign-race", True)}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} >= {"race", "benign-race", "out-of-bounds"}
    assert run["invocations"][0]["executionSuccessful"] is False
    (broken,) = (told for told in run["invocations"][0]["toolExecutionNotifications"] if told["level"] == "error")
    assert broken["locations"][0]["physicalLocation"]["region"]["startLine"] == 5
    (race,) = (result for result in run["results"] if result["ruleId"] == "race")
    place = race["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("race.slang", 7)

    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "1", "1")
    assert suite.find("testcase[@classname='race.slang']/failure").get("type") == "race"
    assert suite.find("testcase[@classname='broken.slang']/error") is not None
    assert "the same" in suite.find("testcase[@classname='same.slang']/system-out").text


@pytest.mark.parametrize("rights", ["--sandbox", "--trusted"])
def test_a_change_that_takes_a_finding_away_is_in_all_reports(repository, check, tmp_path, rights):
    folder = repository(race_slang=ASKS + RACE, clean_slang=ASKS + CLEAN)
    status, out, _ = check(rights, "--diff", "--sarif", tmp_path / "s.json")
    assert status == 1
    barrier = "GroupMemoryBarrierWithGroupSync();"
    assert [line[1:].strip() for line in out.splitlines() if line.startswith("+ ")] == [barrier]
    assert "race.slang: With this change, which was recorded: Nothing found." in out.splitlines()
    (result,) = json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"]
    ((change,),) = [fix["artifactChanges"] for fix in result["fixes"]]
    (replacement,) = change["replacements"]
    region = replacement["deletedRegion"]
    assert (region["startColumn"], region["endColumn"], change["artifactLocation"]["uri"]) == (1, 1, "race.slang")
    lines = (folder / "race.slang").read_text().splitlines(keepends=True)
    lines[region["startLine"] - 1 : region["endLine"] - 1] = [replacement["insertedContent"]["text"]]
    (folder / "race.slang").write_text("".join(lines))
    assert check(rights)[0] == 0
    patches = {kernel["name"]: kernel["fix"] for kernel in json.loads(check(rights, "--diff", "--json")[1])["kernels"]}
    assert patches == {"race.slang": None, "clean.slang": None}, "nothing is left to mend"


def test_what_is_allowed_is_not_mended(repository, check):
    allowed = "    uint sum;\n    o[t] = cells[7 - t] + sum;  // splatscope: allow race: it is meant\n"
    repository(race_slang=ASKS + RACE.replace("    o[t] = cells[7 - t];\n", allowed))
    (kernel,) = json.loads(check("--diff", "--json")[1])["kernels"]
    assert [finding["kind"] for finding in kernel["findings"]] == ["uninitialised-read"]
    added = [line[1:].strip() for line in kernel["fix"]["patch"].splitlines() if line.startswith("+ ")]
    assert added == ["uint sum = 0;"]


ACROSS = """groupshared uint cells[8];
#include "reader.slangh"
RWStructuredBuffer<uint> o;
[numthreads(8, 1, 1)]
void main(uint t : SV_GroupIndex)
{
    cells[t] = t;
    o[t] = opposite(t);
}
"""


def test_a_race_between_two_files_is_reported_and_allowed_in_either(repository, check, tmp_path):
    reader = "uint opposite(uint t)\n{\n    return cells[7 - t];COMMENT\n}\n"
    folder = repository(race_slang=ASKS + ACROSS)
    (folder / "reader.slangh").write_text(reader.replace("COMMENT", ""))
    status, out, _ = check("race.slang", "--sarif", tmp_path / "s.json", "--junit", tmp_path / "j.xml", "--github")
    assert status == 1
    annotated = re.findall(r"^::error file=([\w.]+),line=(\d+),title=splatscope%3A race::Thread ", out, re.MULTILINE)
    assert sorted(annotated) == [("race.slang", "8"), ("reader.slangh", "3")]
    failure = ElementTree.parse(tmp_path / "j.xml").getroot().find("testcase/failure").get("message")
    assert {"race.slang:8", "reader.slangh:3"} == set(failure.partition(": race: ")[0].split(" and "))
    (result,) = json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"]
    places = [one["physicalLocation"] for one in (*result["locations"], *result["relatedLocations"])]
    found = {(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places}
    assert found == {("race.slang", 8), ("reader.slangh", 3)}
    for allowed, comment in (("reader.slangh", reader), ("race.slang", ASKS + ACROSS)):
        (folder / "reader.slangh").write_text(reader.replace("COMMENT", ""))
        (folder / "race.slang").write_text(ASKS + ACROSS)
        said = "  // splatscope: allow race: it is meant"
        (folder / allowed).write_text(comment.replace("COMMENT", said).replace("cells[t] = t;", f"cells[t] = t;{said}"))
        assert check("race.slang")[0] == 0


TWO_FILES = """// splatscope: groups=1
groupshared uint turn;
#include "wait.slangh"
RWStructuredBuffer<uint> o;
[numthreads(64, 1, 1)]
void main(uint t : SV_GroupIndex)
{
    if (t < 32)
        meet();
    else
        GroupMemoryBarrierWithGroupSync();
    o[t] = t;
}
"""


@pytest.mark.parametrize(
    ("source", "places"),
    [
        (TWO_FILES, [("parted.slang", "11"), ("wait.slangh", "3")]),
        (TWO_FILES.replace("GroupMemoryBarrierWithGroupSync()", "meet()"), [("parted.slang", "9")]),
    ],
    ids=["two barriers", "two calls of one"],
)
def test_threads_that_part_at_a_barrier_of_another_file_are_annotated_where_they_stand(repository, check, source, places):
    folder = repository(parted_slang=source)
    (folder / "wait.slangh").write_text("void meet()\n{\n    GroupMemoryBarrierWithGroupSync();\n}\n")
    status, out, _ = check("--github")
    assert status == 1
    annotated = re.findall(r"^::error file=([\w.]+),line=(\d+),title=splatscope%3A barrier-divergence::", out, re.MULTILINE)
    assert sorted(annotated) == places


def test_a_wait_for_what_another_file_changes_is_annotated_in_both(repository, check):
    source = """// splatscope: groups=1 vars={"lock": [0]}
RWStructuredBuffer<uint> lock;
#include "take.slangh"
RWStructuredBuffer<uint> o;
[numthreads(8, 1, 1)]
void main(uint t : SV_GroupIndex)
{
    uint before = 1;
    while (before != 0)
        before = take();
    o[t] = t;
    InterlockedExchange(lock[0], 0);
}
"""
    folder = repository(waits_slang=source)
    take = "uint take()\n{\n    uint before;\n    InterlockedCompareExchange(lock[0], 0, 1, before);\n    return before;\n}\n"
    (folder / "take.slangh").write_text(take)
    status, out, _ = check("--github")
    assert status != 0
    annotated = re.findall(r"^::error file=([\w.]+),line=(\d+),title=splatscope%3A livelock::", out, re.MULTILINE)
    assert annotated == [("take.slangh", "4"), ("waits.slang", "9")]


def test_the_table_names_every_kernel_and_ends_with_the_totals(repository, check):
    repository(race_slang=ASKS + RACE, clean_slang=ASKS + CLEAN)
    _, out, _ = check()
    assert "clean.slang" in out
    assert "race.slang:7:5: race: Thread" in out
    assert out.rstrip().endswith("2 kernels: 1 clean, 1 with findings.")


TWO = RACE + CLEAN.replace("RWStructuredBuffer<float> o;", "cbuffer C { uint n; float2 scale; }").replace(
    "o[t.x] = t.x", "o[t.x] = n"
).replace("void main", "void second")


@pytest.mark.parametrize("rights", ["--sandbox", "--trusted"])
def test_init_describes_each_kernel_that_has_no_description_once(repository, check, rights):
    folder = repository(
        kernels__two_slang=TWO, kernels__described_slang=ASKS + CLEAN, broken_slang=CLEAN.replace("t.x;", "nobody;")
    )
    status, out, _ = check("--init", rights)
    assert (status, out.split(".")[0]) == (0, "3 kernels described in splatscope")
    tables = tomllib.loads((folder / "splatscope.toml").read_text())["kernel"]
    assert [(table["file"], table["entry"], table.get("vars")) for table in tables] == [
        ("broken.slang", "main", None),
        ("kernels/two.slang", "main", {"o": {"count": 1024}, "C.n": 0, "C.scale": [0, 0]}),
        ("kernels/two.slang", "second", {"o": {"count": 1024}, "C.n": 0, "C.scale": [0, 0]}),
    ]
    assert check("--init", rights)[:2] == (0, "All kernels have a description.\n")
    names = kernels(check("--json", rights)[1])
    assert [names[name]["state"] for name in ("broken.slang main", "two.slang main", "two.slang second")] == [
        "error",
        "findings",
        "clean",
    ]


@pytest.mark.parametrize("rights", ["--sandbox", "--trusted"])
def test_init_describes_a_kernel_that_imports_and_takes_textures(repository, check, rights):
    source = CLEAN.replace("RWStructuredBuffer<float> o;", "import sizes;\nRWTexture2D<float4> o;\nTexture3D<uint> grid;").replace(
        "o[t.x] = t.x;", "o[t.xy] = grid[t] * gain();"
    )
    folder = repository(kernels__fill_slang=source, kernels__sizes_slang="public float gain() { return 2; }\n")
    assert check("--init", rights)[0] == 0
    (table,) = tomllib.loads((folder / "splatscope.toml").read_text())["kernel"]
    assert table["vars"] == {"o": {"size": [32, 32]}, "grid": {"size": [8, 8, 8]}}
    status, out, _ = check(rights, "--strict")
    assert status == 0, out


def test_init_says_where_there_is_no_kernel(repository, check):
    repository(library_slang="float half(float x) { return x / 2; }\n")
    assert check("--init")[1].startswith("There is no kernel here")


def test_the_table_tells_kernels_of_one_name_apart(repository, check):
    repository(one__a_slang=ASKS + CLEAN, two__a_slang=ASKS.replace("1", "1 entry=main") + CLEAN)
    lines = check()[1].splitlines()
    assert [line.partition("  ")[0] for line in lines[:2]] == ["one/a.slang", "two/a.slang main"]
    assert any(line.startswith("two/a.slang main: Not given") for line in lines)


def test_init_adds_to_the_configuration_that_there_is(repository, check):
    folder = repository(race_slang=RACE)
    (folder / "pyproject.toml").write_text("[tool.splatscope]\nallow = []\n")
    assert check("--init")[0] == 0
    settings = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["splatscope"]
    assert [table["file"] for table in settings["kernel"]] == ["race.slang"]
    assert not (folder / "splatscope.toml").exists()


def test_findings_of_a_baseline_are_known_wherever_their_lines_are_and_others_fail(repository, check):
    folder = repository(race_slang=ASKS + RACE)
    status, out, _ = check("--json")
    (folder / "baseline.json").write_text(out)
    (folder / "race.slang").write_text("// another line\n" + ASKS + RACE)
    status, out, _ = check("--baseline", "baseline.json")
    assert status == 0
    assert "race.slang:8: allowed: race: in the baseline" in out
    (folder / "race.slang").write_text(ASKS + RACE.replace("o[t] =", "o[t + 1024] ="))
    status, out, _ = check("--baseline", "baseline.json", "--json")
    (kernel,) = kernels(out).values()
    assert (status, [finding["kind"] for finding in kernel["findings"]]) == (1, ["out-of-bounds"])
    assert [finding["kind"] for finding in kernel["silenced"]] == ["race"]


@pytest.mark.parametrize(
    ("text", "words"), [(None, "splatscope check --json > base.json"), ("[]", "is not what splatscope check --json")]
)
def test_a_baseline_that_is_none_is_status_2(repository, check, text, words):
    folder = repository(race_slang=ASKS + RACE)
    if text is not None:
        (folder / "base.json").write_text(text)
    status, _, err = check("--baseline", "base.json")
    assert (status, words in err, err.count("\n")) == (2, True, 1)


def test_a_watch_checks_a_kernel_again_when_a_file_of_it_changes(repository):
    folder = repository(race_slang=ASKS + '#include "cells.h"\n' + RACE.replace("cells[t] = t;", "FILL"), other_slang=ASKS + CLEAN)
    (folder / "cells.h").write_text("#define FILL cells[t] = t;\n")
    command = [sys.executable, "-u", "-m", "splatscope", "check", "--watch"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        try:
            first = list(takewhile(lambda line: not line.startswith("Watching"), lines))
            assert first[-1] == "2 kernels: 1 clean, 1 with findings.\n"
            (folder / "cells.h").write_text("#define FILL cells[t] = t; GroupMemoryBarrierWithGroupSync();\n")
            second = list(takewhile(lambda line: not line.startswith("Watching"), lines))
            assert second[1] == "cells.h:\n"
            assert second[-1] == "1 kernel: 1 clean, 0 with findings.\n"
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130


TESTS = """
def test_clean(splatscope):
    found = splatscope.record("race.slang", vars={"o": [0] * 8})
    found.assert_clean()

def test_outputs(splatscope):
    assert splatscope.record("race.slang").outputs["o"].shape == (1024,)
"""


def test_the_plugin_of_pytest_reports_and_saves_what_a_failing_test_recorded(repository):
    folder = repository(race_slang=RACE)
    (folder / "test_kernels.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "splatscope.check.pytest_plugin", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "race.slang:6:5: race: Thread" in done.stdout
    assert {path.name for path in (folder / ".splatscope").iterdir()} == {
        ".gitignore",
        "test_kernels.py_test_clean.html",
        "test_kernels.py_test_clean.npz",
    }


def test_the_plugin_of_pytest_shows_a_wrong_call_and_its_error_alone(repository):
    folder = repository(race_slang=RACE)
    wrong = """def test_it(splatscope):
    splatscope.record("race.slang", vars={"wrong": [0] * 8})

def test_findings(splatscope):
    splatscope.record("race.slang").assert_clean()
"""
    (folder / "test_kernels.py").write_text(wrong)
    command = [sys.executable, "-m", "pytest", "-p", "splatscope.check.pytest_plugin", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)
    assert "2 failed" in done.stdout, done.stdout + done.stderr
    assert "test_kernels.py:2: ValueError" in done.stdout
    assert "ValueError: The kernel has no parameter wrong. It has o." in done.stdout
    assert "test_kernels.py:5: FindingsError" in done.stdout
    assert "/splatscope/api/" not in done.stdout
    full = subprocess.run([*command, "--full-trace"], cwd=folder, capture_output=True, text=True, timeout=240)
    assert "api/workers.py" in full.stdout


def test_inputs_that_are_missing_and_lines_that_nothing_reached_are_in_the_report(repository, check):
    source = "cbuffer CB { uint n; };\n" + CLEAN.replace(
        "o[t.x] = t.x;", "if (t.x >= n)\n        o[t.x] = t.x;\n    else\n        o[0] = 1;\n"
    )
    repository(a_slang=ASKS + source)
    status, out, _ = check("--junit", "j.xml")
    assert status == 0
    assert "No thread reached line 9" in ElementTree.parse("j.xml").getroot().find("testcase/system-out").text
    assert "a.slang: Not given, so zeros: o (1,024), CB.n." in out
    assert "a.slang: No thread reached line 9 of a.slang." in out


def test_a_kernel_that_came_to_no_access_is_status_2(repository, check):
    source = "cbuffer CB { uint n; };\n" + CLEAN.replace("o[t.x] = t.x;", "if (t.x >= n) return;\n    o[t.x] = t.x;\n")
    repository(a_slang=ASKS + source)
    status, out, _ = check("--json")
    (kernel,) = kernels(out).values()
    assert (status, kernel["state"]) == (2, "incomplete")
    assert kernel["missed"] == ["No thread came to an access to memory, so nothing was looked at: are all inputs given?"]


@pytest.mark.parametrize(
    "comment",
    [
        "// splatscop: groups=1", "// splatscope groups=1", "/* splatscope: groups=1 */", "// Splatscope: entry=main",
        "//splatscope : vars={}", "// splatscop:", "// splatscope allow race: why", "/* splatscpe: */",
    ],
)  # fmt: skip
def test_a_comment_that_is_obviously_misspelled_is_an_error(repository, check, comment):
    repository(a_slang=f"\n{comment}\n" + CLEAN, b_slang=ASKS + CLEAN)
    status, out, _ = check("--json")
    error = kernels(out)["a.slang"]["error"]
    assert status == 2
    assert error.startswith("a.slang, line 2: “")
    assert error.endswith("a comment for Splatscope begins with “// splatscope:”.")
    repository(a_slang=ASKS + f"\n{comment}\n" + CLEAN)
    assert check()[0] == 2


def test_prose_about_splatscope_is_no_misspelled_comment(repository, check):
    prose = "// Splatscope records this.\n// splatscope_size = 3\n// splatscope: \n/* the splatscope: groups=1 above */\n"
    repository(a_slang=prose + CLEAN)
    assert check()[0] == 0


def test_a_strict_check_accepts_no_missing_input_and_no_line_that_nothing_reached(repository, check):
    branch = CLEAN.replace("o[t.x] = t.x;", "if (t.x > 9)\n        o[t.x] = 1;\n    o[t.x] = t.x;")
    given = '// splatscope: vars={"o": {"count": 4}}\n'
    repository(a_slang=ASKS + CLEAN, b_slang=given + branch, c_slang=given + CLEAN, d_slang=CLEAN)
    status, out, _ = check("--github")
    assert status == 0
    assert "1 kernel has no description: d.slang:main." in out
    assert "::notice file=d.slang,line=1,title=splatscope%3A no description::main" in out
    status, out, _ = check("--json")
    assert json.loads(out)["undescribed"] == [{"file": "d.slang", "entry": "main"}]
    status, out, _ = check("--json", "--strict")
    found = kernels(out)
    assert status == 2
    assert found["a.slang"]["missed"][0].startswith("Not given, so zeros: o (1,024).")
    assert found["b.slang"]["missed"] == ["No thread reached line 6 of b.slang."]
    assert (found["c.slang"]["state"], found["c.slang"]["notes"]) == ("clean", [])
    assert found["d.slang main"]["error"] == "It has no description, and the check is strict."
    repository(splatscope_toml="strict = true\n")
    assert check("c.slang")[0] == 0
    assert check("a.slang")[0] == 2


def test_an_entry_point_that_does_not_exist_is_answered_with_those_that_do(repository, check):
    second = CLEAN[CLEAN.index("[shader") :].replace("main", "second")
    repository(a_slang="// splatscope: entry=maain\n" + CLEAN + second)
    status, out, _ = check("--json")
    assert (status, kernels(out)["a.slang maain"]["error"]) == (2, "a.slang has no entry point maain. It has main, second.")


def test_invalid_json_in_a_comment_is_shown_with_its_line_and_column_in_the_file(repository, check):
    repository(a_slang=f'\n  // splatscope: groups=1 vars={{"o": [1,, 2]}}\n{CLEAN}')
    status, out, _ = check("--json")
    assert (status, kernels(out)["a.slang"]["error"]) == (2, "a.slang, line 2, column 41: Expecting value.")


HOSTILE = [
    "a\n::error::of a name",
    "::error file=a,line=1::of a name",
    " ::warning::after a blank",
    "##[error]of a name",
    "##vso[task.setvariable variable=PATH]x",
    "%0A::error::encoded",
    "\r::error::carriage return",
    "\u2028::error::line separator",
    "[/x][red]markup[/red] :warning:",
    "\x1b[31mred\x1b]0;title\x07",
    "\x9b31m of C1",
    "left \u202e right",
    "a\x01b\x7f",
    "]]> & <b>'\"",
    "=HYPERLINK(0)",
    "n" * 5000,
]


def strings_in(value) -> list[str]:
    """Return all texts in a JSON value, keys too."""
    if isinstance(value, dict):
        return [text for item in value.items() for part in item for text in strings_in(part)]
    return [text for part in value for text in strings_in(part)] if isinstance(value, list) else [value] * isinstance(value, str)


def is_harmless(text: str) -> bool:
    """Return whether a text is one printable line without a command for a CI system, in UTF-8."""
    return text.isprintable() and text.encode() is not None and not text.lstrip().startswith("::") and "##[" not in text


@pytest.fixture
def run(repository):
    """Run the command in a process of its own, whose output may be in an encoding without most characters."""

    def check(*arguments: str, encoding: str = "utf-8"):
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        command = [sys.executable, "-m", "splatscope", "check", *arguments]
        return subprocess.run(command, capture_output=True, timeout=400, env=environment)

    return check


def test_names_of_a_repository_are_neither_commands_nor_markup_in_any_report(repository, run):
    entry = '[[kernel]]\nfile = "{}"\nname = {}\nvars = {{ o = {{ count = 4 }} }}\n'
    configuration = "".join(entry.format("k.slang", json.dumps(name)) for name in HOSTILE)
    configuration += entry.format("k\\n::error::nowhere.slang", '"::error::[/x]"')
    files = {
        "in\n::error::file.slang": ASKS + CLEAN,
        "[/x]\x1b[1m.slang": ASKS + RACE,
        "unnamed\n::error::x.slang": CLEAN,
        "::error::first.slang": ASKS + CLEAN.replace("t.x;", "nobody;"),
        "reason.slang": same("  // splatscope: allow benign-race: \x1b[2J ::error::\u202ewhy\x07 [/x]"),
        "pair\udcff.slang": ASKS + CLEAN,
        "half.slang": ASKS.replace("groups", 'name="\\ud800" groups') + CLEAN,
    }
    folder = repository(k_slang=CLEAN, splatscope_toml=configuration)
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    done = run("--github", "--sarif", "s.json", "--junit", "j.xml", encoding="ascii")
    assert (done.returncode, done.stderr) == (2, b""), done.stderr
    lines = done.stdout.decode("ascii").split("\n")
    commands = [line for line in lines if line.lstrip().startswith("::")]
    command = re.compile(r"::(error|notice) file=[^,:]+,line=\d+,title=splatscope%3A [\w -]+::")
    assert [line for line in commands if not command.match(line)] == []
    assert len(commands) == 4  # a race, two kernels that are not recorded, one without a description
    assert [line for line in lines if not line.isprintable() or re.search(r"##\w*\[", line)] == []
    kernels = len(HOSTILE) + len(files)  # one of the files has no description, and one kernel no file
    assert f"{kernels} kernels: {kernels - 3} clean, 1 with findings, 2 not looked at in full." in lines, done.stdout.decode()
    sarif = json.loads((folder / "s.json").read_text("ascii"))
    del sarif["runs"][0]["tool"]["driver"]["rules"]  # our own words, with examples
    assert [text for text in strings_in(sarif) if not is_harmless(text)] == []
    suite = ElementTree.parse(folder / "j.xml").getroot()
    assert [text for case in suite for text in case.attrib.values() if not is_harmless(text)] == []
    assert len(suite) == kernels
    told = run("--json", "[/x]\x1b[1m.slang")
    assert told.returncode == 1
    assert [text for text in strings_in(json.loads(told.stdout)) if not is_harmless(text)] == []


SECRET = "LEAKED_TOKEN nonsense;\n"
READS = CLEAN.replace("RWStructured", "INCLUDES\nRWStructured", 1)
OPENED = {
    "absolute": '#include "SECRETS/secret.slangh"',
    "beside": '#include "../outside/secret.slangh"',
    "macro": '#define FILE "../outside/secret.slangh"\n#include FILE',
    "module": 'import "../outside/secret";',
    "link": '#include "link.slangh"',
    "linked folder": '#include "linked/secret.slangh"',
    "hidden": '#include ".env"',
    "git": '#include ".git/config"',
    "comment": '/*\\\n*/#include \\\n"../outside/secret.slangh"',
}


@pytest.fixture
def guarded(tmp_path, monkeypatch):
    """A repository with secrets beside and in it, and links to them."""
    folder, outside = tmp_path / "repository", tmp_path / "outside"
    for path in (folder / ".git" / "config", folder / ".env", outside / "secret.slangh", outside / "secret.slang"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)
    (folder / "link.slangh").symlink_to("../outside/secret.slangh")
    (folder / "linked").symlink_to("../outside")
    (folder / "linked.slang").symlink_to("../outside/secret.slang")
    (folder / "circle.slang").symlink_to("circle.slang")
    np.save(outside / "secret.npy", np.full(4, 1234567, np.float32))
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("trusted", [False, True])
def test_a_kernel_of_a_repository_opens_no_file_outside_of_it(guarded, check, trusted):
    for i, line in enumerate(OPENED.values()):
        source = ASKS + READS.replace("INCLUDES", line.replace("SECRETS", str(guarded.parent / "outside")))
        (guarded / f"k{i}.slang").write_text(source)
    status, out, err = check("--json", *(["--trusted"] if trusted else []))
    errors = {name: kernel["error"] or "" for name, kernel in kernels(out).items()}
    assert status == 2
    assert errors.keys() == {f"k{i}.slang" for i in range(len(OPENED))}
    leaking = {name for name, error in errors.items() if "LEAKED" in error}
    assert leaking == (errors.keys() if trusted else set())
    assert trusted or "LEAKED" not in out + err


@pytest.mark.parametrize(
    "lines",
    [
        'file = "../outside/secret.slang"',
        'file = "linked.slang"',
        'file = "linked/secret.slang"',
        'file = "k.slang"\ninclude = ["../outside"]',
        'file = "k.slang"\ninputs = "../outside/secret.npy"',
        'file = "k.slang"\nvars = { o = { file = "../outside/secret.npy" } }',
        'file = "k.slang"\ninputs = "inputs.json"',
        'file = "circle.slang"',
        'file = "/dev/zero"',
        'file = "/proc/self/environ"',
        'file = "k\\u0000.slang"',
        'file = "k.slang"\ngroups = inf',
        'file = "k.slang"\ntimeout = nan',
        f'file = "k.slang"\ndevice = "{"d" * 300}"',
    ],
)
def test_a_configuration_of_a_repository_names_no_file_outside_of_it(guarded, check, lines):
    (guarded / "k.slang").write_text(READS.replace("INCLUDES", '#include "secret.slangh"' * ("include" in lines)))
    (guarded / "inputs.json").write_text('{"o": {"file": "../outside/secret.npy"}}')
    (guarded / "splatscope.toml").write_text(f"[[kernel]]\n{lines}\n")
    status, out, err = check("--json", "--strict")
    assert (status, err) == (2, "")
    assert all(kernel["error"] for kernel in kernels(out).values())
    assert "LEAKED" not in out
    assert "nonsense" not in out


def test_a_report_is_not_written_through_a_link_of_the_repository(guarded, check):
    (guarded / "k.slang").write_text(ASKS + CLEAN)
    (guarded / "s.json").symlink_to("../outside/secret.slangh")
    for file in ("s.json", "linked/new.json"):
        status, out, err = check("--sarif", file, "--junit", guarded.parent / "j.xml", "--github")
        assert (status, "is not written" in err) == (2, True)
        assert "k.slang" in out
        assert "k.slang" in (guarded.parent / "j.xml").read_text()
    assert (guarded.parent / "outside" / "secret.slangh").read_text() == SECRET
    assert not (guarded.parent / "outside" / "new.json").exists()


def test_a_kernel_reads_the_files_of_its_repository(guarded, check):
    source = ASKS.replace("\n", ' include=["../modules"] inputs=inputs.json\n') + READS.replace(
        "INCLUDES",
        '#define HEADER "../shared/twice.slangh"\n#include HEADER\nimport numbers.some_more;\n#include <three.h>\nBuffer<float> b;',
    ).replace("o[t.x] = t.x;", "o[t.x] = twice(b[t.x]) + one() + three();")
    files = {
        "kernels/k.slang": source,
        "shared/twice.slangh": '#include "deep/inner.slangh"\nfloat twice(float x) { return inner(x) * 2; }\n',
        "shared/deep/inner.slangh": "float inner(float x) { return x; }\n",
        "modules/numbers/some-more.slang": "public float one() { return 1; }\n",
        "modules/three.h": "float three() { return 3; }\n",
        "kernels/inputs.json": '{"b": {"file": "../b.npy"}, "o": {"count": 4}}',
    }
    for name, text in files.items():
        (guarded / name).parent.mkdir(parents=True, exist_ok=True)
        (guarded / name).write_text(text)
    np.save(guarded / "b.npy", np.ones(4, np.float32))
    for way in ("--sandbox", "--trusted"):
        status, out, _ = check("--json", "kernels", way)
        assert (status, kernels(out)["k.slang"]["notes"]) == (0, []), out


SLOW = {
    "behind": CLEAN + "1e" * 150_000,
    "before": "1e" * 150_000 + CLEAN,
    "in a head": CLEAN.replace("void main", f"void {'1e' * 150_000} main"),
    "in a body": CLEAN.replace("o[t.x] = t.x;", f"o[t.x] = {'1e' * 150_000};"),
    "parentheses": CLEAN.replace("o[t.x] = t.x;", f"o[t.x] = {'(' * 100_000};"),
    "comments": CLEAN + "/*" * 100_000,
    "brackets": CLEAN + "[[" * 100_000,
    "allowed": CLEAN + "// splatscope: allow race" + " " * 100_000 + "x\n",
    "keys": CLEAN + "// splatscope: " + "a" * 300_000 + "\n",
}


def test_the_time_limit_is_also_one_for_parsing(repository, run):
    folder = repository(b_slang=ASKS + CLEAN)
    for name, source in SLOW.items():
        (folder / f"{name}.slang").write_text(f"// splatscope: entry=main timeout=1\n{source}")
    done = run("--json")  # it took minutes for each
    found = kernels(done.stdout)
    assert done.returncode == 2, done.stderr
    assert len(found) == len(SLOW) + 1
    assert found["b.slang"]["state"] == "clean"


@pytest.mark.parametrize("text", ["a" + ".a" * 200_000 + " = 1", "a = " + "[" * 100_000, "tool = 5\nsplatscope = 3", "[" * 100_000])
@pytest.mark.parametrize("file", ["splatscope.toml", "pyproject.toml"])
def test_a_configuration_that_cannot_be_read_is_status_2_at_once(repository, run, file, text):
    folder = repository(a_slang=ASKS + CLEAN)
    (folder / file).write_text(text if file != "pyproject.toml" or "tool" in text else f"[tool.splatscope]\n{text}")
    done = run()
    assert done.returncode == 2
    assert done.stderr.startswith(b"splatscope: ")
    assert done.stderr.count(b"\n") == 1
