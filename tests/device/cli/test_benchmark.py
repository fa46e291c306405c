"""`make bench` on small trainings. No measured time is judged."""

import io
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from PIL import Image
from rich.console import Console

from splatscope.api.fit_many import pictures_in
from splatscope.cli.benchmark import growth_table, race_table, seconds_to
from splatscope.cli.benchmark_cases import BenchmarkCase
from splatscope.cli.benchmark_pictures import Fit, counts_to_measure, fit_all, mean, pictures_table
from splatscope.cli.benchmark_plot import write_plot
from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS

PICTURE = ASSETS / "astronaut.jpg"


@pytest.fixture(scope="module")
def race():
    cases = [BenchmarkCase(kernels, 32, 12) for kernels in ("tiled", "binned")]
    for case in cases:
        case.prepare(open_device(), PICTURE.read_bytes(), PICTURE.name)
    for _ in range(2):
        for case in cases:
            case.turn((0.01, 0.02))
    return cases


def words(table) -> str:
    file = io.StringIO()
    Console(file=file, width=120).print(table)
    return file.getvalue()


def test_pairs_are_counted_from_the_lists(race):
    assert len(race) > 1
    for case in race:
        lengths = case.trainer.look().list_lengths
        assert lengths.size == (32 // 8) * (32 // (4 if case.kernels == "tiled" else case.trainer.kernels.tile[1]))
        assert 12 <= case.pairs <= 12 * lengths.size


def test_speeds_are_of_the_turns(race):
    assert len(race) > 1
    for case in race:
        state = case.trainer.state
        assert len(case.speeds) == 2
        assert min(case.speeds) <= case.speed <= max(case.speeds)
        assert min(case.speeds) <= state.step / state.seconds <= max(case.speeds)
        assert case.ms == 1e3 / max(case.speeds)
        assert len(state.history) >= 3


def test_tables_say_the_ratio_to_the_tiled_and_the_time_a_pair(race):
    tiled, binned = race
    lines = words(race_table(race)).splitlines()
    assert f"{binned.speed / tiled.speed:.2f}" in next(line for line in lines if "binned" in line)
    assert "1.00" in next(line for line in lines if "tiled " in line and "│" in line)
    assert f"{1e6 * binned.ms / binned.pairs:,.1f}" in words(growth_table("pixels", race))


def test_the_first_time_at_a_quality(race):
    history = race[0].trainer.state.history
    assert seconds_to(history, history["psnr"].min()) == "0.0 s"
    assert seconds_to(history, history["psnr"].max() + 1) == "not yet"


def test_the_plot_is_one_file_that_asks_nothing_of_a_network(race, tmp_path):
    path = tmp_path / "deep" / "bench.html"
    write_plot(path, "a title", race, {"pixels": race})
    page = path.read_text()
    assert "<title>a title</title>" in page
    assert "ms per iteration over pixels" in page
    tags = Tags()
    tags.feed(page)
    assert {"html", "body", "script"} <= tags.seen
    assert not [address for address in tags.addresses if "//" in address]


def test_a_folder_of_pictures_is_fitted_with_equal_counts_and_equal_parameters(tmp_path):
    for name in ("a.png", "b.PNG"):
        Image.open(PICTURE).resize((48, 32)).save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no picture")
    counts = counts_to_measure([90])
    assert counts == [90, 80]
    fits = list(fit_all(open_device(), pictures_in(tmp_path), counts, 768, 40, tmp_path / "compact.npz"))
    assert [count for count, _ in fits] == [90, 90, 80, 80]
    assert fits[0][1].psnr == fits[1][1].psnr, "the same picture twice"
    for count, one in fits:
        assert one.psnr > 15
        assert one.stored_psnr == pytest.approx(one.psnr, abs=0.05)
        assert one.bits == 32 * 9 * count / (48 * 32)
        assert one.bits / 2 < one.stored_bits < one.bits / 2 + 8 * 1200 / (48 * 32)
        assert min(one.seconds, one.storing_ms) > 0
    lines = words(pictures_table("two", fits)).splitlines()
    assert f"{fits[0][1].psnr:.2f}" in next(line for line in lines if " 810 " in line)
    assert f"{fits[2][1].psnr:.2f}" in next(line for line in lines if " 720 " in line)


def test_the_mean_of_fits_is_taken_in_db():
    assert mean([Fit(30, 1, 8, 29, 4, 2), Fit(40, 3, 8, 37, 4, 4)]) == Fit(35, 2, 8, 33, 4, 3)


@pytest.mark.parametrize("wrong", [["--blobs", "many"], ["--blobs", "5,"], ["--blobs", "0"], []])
def test_what_cannot_be_fitted_is_said_in_one_line(tmp_path, wrong):
    if wrong:
        Image.open(PICTURE).resize((48, 32)).save(tmp_path / "a.png")
    command = [sys.executable, "-m", "splatscope.cli.benchmark", "--pictures", str(tmp_path), *wrong]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"bench: .*(--blobs takes numbers|has no pictures).*\n", done.stderr)


class Tags(HTMLParser):
    """Names of a page's elements, and what they refer to."""

    def __init__(self):
        super().__init__()
        self.seen, self.addresses = set(), []

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]
