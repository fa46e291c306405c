"""`make bench` on small trainings. No measured time is judged."""

import io
from html.parser import HTMLParser

import pytest
from rich.console import Console

from splatscope.cli.benchmark import growth_table, race_table, seconds_to
from splatscope.cli.benchmark_cases import Case
from splatscope.cli.benchmark_plot import write_plot
from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS

PICTURE = ASSETS / "astronaut.jpg"


@pytest.fixture(scope="module")
def race():
    cases = [Case(kernels, 32, 12) for kernels in ("tiled", "binned")]
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


class Tags(HTMLParser):
    """Names of a page's elements, and what they refer to."""

    def __init__(self):
        super().__init__()
        self.seen, self.addresses = set(), []

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]
