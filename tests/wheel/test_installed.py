"""Every command of an installed wheel, in an empty folder. `make wheel-test` runs these, because they install some 700 MB."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from helpers.chromium import FLAGS
from helpers.serving import serving
from splatscope.machine import chromium

RACE = """// splatscope: entry=main groups=1
groupshared uint total;

[shader("compute")]
[numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID, uniform RWStructuredBuffer<uint> sums)
{
    total = id.x;
    sums[id.x] = total;
}
"""


MOST_CORE = 400 * 2**20  # bytes, without the bytecode that pip adds


def test_the_core_is_small_and_works_alone(core, core_splatscope, tmp_path):
    folder = next((core.parent / "lib").glob("python*/site-packages"))
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    own = [path for path in files if path.relative_to(folder).parts[0].split("-")[0] not in ("pip", "setuptools", "pkg_resources")]
    size = sum(path.stat().st_size for path in own)
    assert size < MOST_CORE
    print(f"The core: {size / 2**20:.0f} MiB")
    assert not (folder / "panel").exists()
    assert not (folder / "distributed").exists()
    (tmp_path / "race.slang").write_text(RACE)
    for arguments, status, words in (
        ("doctor", 0, "pip install 'splatscope[app]'"),
        ("trace race.slang --html race.html", 1, "race.slang:8:5: race"),
        ("check", 1, "1 with findings"),
        ("--help", 0, "doctor"),
        ("serve", 2, "pip install 'splatscope[app]'"),
    ):
        done = core_splatscope(*arguments.split())
        assert done.returncode == status, done.stdout + done.stderr
        assert words in done.stdout + done.stderr


def test_nothing_but_the_wheel_is_on_the_path(programs, bare):
    bare = bare | {"PATH": str(programs)}
    assert shutil.which("splatscope", path=bare["PATH"])
    assert not any(shutil.which(name, path=bare["PATH"]) for name in ("cc", "gcc", "node", "npm", "make"))
    where = [str(programs / "python"), "-c", "import splatscope; print(splatscope.__file__)"]
    found = subprocess.run(where, env=bare, cwd=programs, capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()).is_relative_to(programs.parent)


def test_the_doctor_knows_that_it_is_installed(splatscope):
    done = splatscope("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert report["bundle"]
    assert not report["checkout"]
    assert report["surroundings"].endswith("from an installed package")
    assert not any("Chromium" in missing["what"] for missing in report["missing"])


def test_trace_and_check_find_a_race(splatscope, tmp_path):
    (tmp_path / "race.slang").write_text(RACE)
    done = splatscope("trace", "race.slang", "--html", "race.html")
    assert done.returncode == 1, done.stderr
    assert "race.slang:8:5: race" in done.stdout
    assert (tmp_path / "race.html").stat().st_size > 100_000
    done = splatscope("check")
    assert done.returncode == 1, done.stderr
    assert "1 with findings" in done.stdout


def test_publish_writes_a_section(splatscope, tmp_path):
    done = splatscope("publish", "book", "--page", "dispatch-ids")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "book" / "index.html").is_file()
    assert (tmp_path / "book" / "embed" / "dispatch-ids.html").is_file()
    assert list((tmp_path / "book" / "recordings").iterdir())


def test_grade_marks_with_the_books_tasks_and_with_own_ones(splatscope, wheel, tmp_path):
    task = "splatscope/lessons/exercises/fahrenheit/"
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(task):
                own = tmp_path / "own" / "fahrenheit" / name.removeprefix(task)
                own.parent.mkdir(parents=True, exist_ok=True)
                own.write_bytes(archive.read(name))
    for student, answer in (("ann", "right/one-line.slang"), ("bob", "start.slang")):
        (tmp_path / "answers" / student).mkdir(parents=True)
        shutil.copy(tmp_path / "own" / "fahrenheit" / answer, tmp_path / "answers" / student / "fahrenheit.slang")
    for options in ((), ("--tasks", "own", "--csv", "own.csv")):
        done = splatscope("grade", "answers", *options)
        assert done.returncode == 0, done.stderr
        assert "2 submissions of 2 students: 1 passed" in done.stdout


@pytest.mark.parametrize("bundle", [True, False], ids=["as built", "another Panel's bundle"])
def test_a_served_section_steps_in_a_browser(programs, bare, tmp_path, bundle):
    (models,) = programs.parent.rglob("web/dist/panel-models-*.js")
    hidden = models.with_suffix(".hidden")
    if not bundle:  # as where a later Panel has been installed
        models.rename(hidden)
    wrong = []
    command, bare = [str(programs / "splatscope"), "serve"], bare | {"PATH": str(programs)}
    try:
        with serving(command, tmp_path / "log", cwd=tmp_path, env=bare) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(FLAGS))
            page = browser.new_page()
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
            page.goto(f"{address}/app?page=reduction&step=3")
            stepper = page.locator("[data-testid=stepper][data-steps]").first
            expect(stepper).to_have_attribute("data-step", "3", timeout=120_000)
            expect(page.locator(".drawing-reduction")).to_be_visible()
            page.keyboard.press("ArrowRight")
            expect(stepper).not_to_have_attribute("data-step", "3")
            browser.close()
    finally:
        if not bundle:
            hidden.rename(models)
    assert wrong == []
