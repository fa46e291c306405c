"""What each figure says at its end: against the outputs of its kernel, told in another way than the lesson tells it."""

import re

import numpy as np
import pytest

from helpers.book import BOOK
from helpers.numbers_in_text import numbers_in
from helpers.section_rules import check_conclusion
from splatscope.services.lessons import LessonRequest, _with_answers

ONE = [1.0] + [0.3] * 7
LAYER = {"colour": "#d55e00", "alpha": 0.5, "shape": 0}
CASES = {
    "gaussian": [{}, {"numbers": [25.0, 19.0, -1.0, -1.0, 0.5, 0.9, 0.3, 0.1, -4.0]}],
    "blending": [{}, {"layers": [LAYER]}],
    "termination": [{}, {"count": 15}, {"count": 1}, {"count": 36}],
    "dispatch-ids": [
        {"arrangement": "in a row"},
        {"arrangement": "by shape", "group": 3},
        {"arrangement": "from a list", "group": 1},
    ],
    "workgroups": [{}, {"barrier": False}, {"barrier": False, "away": 1}],
    "coarse-raster": [{}, {"count": 1}, {"count": 128, "spread": 3.0}, {"tile": 0, "spread": 0.4}],
    "bitonic-sort": [{}, {"count": 13}, {"barrier": False}, {"runs": "the last merge of eight", "eight": "1 9 2 8 3 7 4 6"}],
    "fine-raster": [{}, {"opacity": 0.1}, {"count": 1}, {"opacity": 1.0, "spread": 6.0, "count": 24}],
    "pipeline": [{}, {"blobs": 1}],
    "background": [{}, {"T": 1.0}, {"colour": "grey"}],
    "training-loop": [{}, {"iterations": 1}, {"without": "update"}, {"without": "render"}, {"without": "clear", "iterations": 12}],
    "autodiff": [{}, {"field": "red"}, {"field": "y", "blob": 4}],
    "undo": [{}, {"count": 1}, {"clamped": False}, {"count": 8, "alphas": [0.9] * 8}, {"count": 2, "alphas": [0.0] * 8}],
    "final-count": [{}, {"guarded": False}, {"guarded": False, "alpha": 0.2}, {"alpha": 0.99, "count": 16}],
    "caching": [{}, {"count": 1}, {"opacity": 1.0}],
    "reduction": [{}, {"count": 32, "barrier": False}, {"count": 256}],
    "cas": [{}, {"count": 1}, {"compare": False}, {"compare": False, "cells": 32}, {"cells": 8}],
    "adam": [{}, {"correction": "1 − β, as the sample"}],
    "binned": [{}, {"size": 8.0}],
}


def numbers(sentence: str) -> list[float]:
    """Every number of a sentence, in order."""
    return numbers_in(sentence)


def gaussian(query, says):
    share, x, y, changed, pixels = numbers(says)[:5]
    picture = query.output("picture")
    assert (x, y) == tuple(query.job.group[:2])
    assert share == pytest.approx(query.output("curve")[int(y), int(x), 2], abs=6e-4)
    assert changed == np.sum(np.rint(255 * np.clip(picture[..., :3], 0, 1)).min(axis=2) < 255)
    assert pixels == picture[..., 0].size


def blending(query, says):
    found = numbers(says)
    assert found[0] == query.job.inputs["blobsBuffer"].size // 9 or "The layer covers" in says
    left = float(query.values(query.steps(kind="value", name="state.value"))[-1][3])
    assert found[-3] + found[-2] == pytest.approx(1)
    assert found[-2] == pytest.approx(left, abs=6e-4)


def termination(query, says):
    count, many = int(query.job.inputs["count"]), int(query.output("finalCount")[0])
    state, every = query.output("result")
    if many == count:
        assert says.startswith(f"All {count} layers were blended." if count > 1 else "The one layer was blended.")
        assert numbers(says)[1 if count > 1 else 0] == pytest.approx(state[3], rel=0.006)
        return
    assert numbers(says)[:2] == [many, count]
    assert (f"other {count - many} were" in says) or (count - many == 1 and "last one was" in says)
    missing = float(re.search(r"([\d.]+) of a step of 1/255", says)[1])
    assert missing == pytest.approx(255 * (every[0] - state[0]), abs=0.006)


def dispatch_ids(query, says):
    group, many, pixels, wide, high, outline = numbers(says)
    own = np.argwhere(query.output("owner") // 32 == group)
    assert (many, pixels) == (len(own), 128)
    assert wide * high == many
    assert [high, wide] == (own.max(axis=0) - own.min(axis=0) + 1).tolist()
    assert outline == {16: 36, 8: 24}[int(wide)]


def workgroups(query, says):
    given, received, away = (query.job.inputs.get(name) for name in ("given", "received", "away"))
    received = query.output("received")
    wrong = sum(received[i] != given[(i + int(away)) % 32] for i in range(32))
    assert (f"{wrong} of 32" in says) if wrong else says.startswith("All 32 threads received the right number")
    assert ("race" in says) == (query.job.entry == "passOn" and query.job.source.count("GroupMemoryBarrierWithGroupSync") == 1)


def coarse_raster(query, says):
    appended = len(query.steps(kind="value", name="place"))
    count = (
        len(query.job.inputs["blobsBuffer"]) // 9 if query.job.inputs["blobsBuffer"].ndim == 1 else query.output("measured").size
    )
    kept = query.output("list")[: min(16, appended)].astype(int)
    if count == 1:
        assert says.startswith(f"The one Gaussian is {'on' if appended else 'not on'} the list.")
        return
    assert f"{len(kept) if len(kept) > 1 else 'One' if len(kept) else 'Not one'} of {count} Gaussians" in says
    if appended > len(kept):
        assert says.startswith("The list is full")
        assert f"other {appended - len(kept)} that touch the tile" in says or "other one that touches" in says
        return
    if len(kept) > 1:
        assert ("not in order" in says) == bool((np.diff(kept) < 0).any())
    if count > appended:
        assert f"the other {count - appended if count - appended > 1 else 'one'}." in says


def bitonic_sort(query, says):
    result = query.output("sorted")
    wrong = int(np.sum(result != np.sort(query.job.inputs["keys"])))
    assert ("not sorted" in says or f"{wrong} of {len(result)} keys" in says) == bool(wrong)
    if "passes of" in says or "pass of" in says:
        passes, comparisons = re.search(r"(\d+) pass(?:es)? of (\d+) comparisons", says).groups()
        assert int(passes) * int(comparisons) == len(query.steps(kind="value", name="b", function="orderPair"))


def fine_raster(query, says):
    counts = query.values(query.steps(kind="write", name="maxCount")).astype(int)
    length = int(query.job.inputs["count"])
    early, vain = int(np.sum(counts < length)), int(np.sum(length - counts))
    assert ("none in vain" in says) == (not early)
    if early:
        assert numbers(says)[0] == early
        assert numbers(says)[-2:] == [vain, 32 * length]


def pipeline(query, says):
    listed = len(query.steps(kind="write", name="blobs", function="coarseRasterize"))
    evaluated = len(query.steps(kind="call", name="transformPixelState"))
    assert evaluated == 32 * listed
    if listed:
        assert numbers(says)[1:4] == [listed, 32, evaluated]
        assert numbers(says)[4] == 32 * numbers(says)[0]
    else:
        assert says.startswith(("Not one of the", "The one Gaussian does not"))


def background(query, says):
    gathered = query.output("gathered").astype(float)
    missing = (gathered[:, :3] * gathered[:, 3:]).max(axis=1)  # C · T
    many = int(np.sum(missing > 1 / 255))
    assert ("agree in all 32" in says) == (many == 0)
    if many:
        assert numbers(says)[0] == pytest.approx(255 * missing.max(), abs=0.6)
        assert f"{many} of" not in says  # the text asks how many


def training_loop(query, says):
    raw = query.output("kept")[..., 0]
    moved, iterations = int(np.sum(raw[0] != raw[-1])), (len(raw) - 1) // 4
    if not moved:
        assert "not one of the 27 values has moved" in says
        return
    assert f"{moved} of 27 values" in says or "without clear" in says
    assert str(iterations) in says or says.startswith("One iteration")
    if "dB" in says:
        drawn = np.rint(255 * np.clip(query.output("outputBuffer").reshape(-1, 4)[:, :3], 0, 1)) / 255
        wanted = np.rint(255 * query.job.inputs["targetBuffer"].reshape(-1, 4)[:, :3]) / 255
        last = -10 * np.log10(np.mean((drawn - wanted) ** 2))
        found = [float(text) for text in re.findall(r"([\d.]+) dB", says)]
        assert found[-1] == pytest.approx(last, abs=0.06)
        if "without clear" in says:
            assert found[-1] <= max(found) == max(found[1:])
        elif len(found) > 1:
            assert ("nearer" in says) == (found[-1] >= found[0])


def autodiff(query, says):
    gradient = query.output("gradient").astype(float)
    total = gradient.sum()
    against = sum(one * total < 0 for one in gradient)
    if total:
        assert numbers(says)[1] == pytest.approx(total, rel=0.02)
        assert ("smaller" in says) == (total > 0)
        assert ("none asks" in says) if not against else (f"{against} of them" in says)


def undo(query, says):
    found = query.output("backward")[0].astype(float)
    assert ("NaN" in says) == bool(np.isnan(found).any())
    if "NaN" in says:
        return
    blended = int(np.sum(np.diff(query.output("forward")[:, 3]) < 0)) or len(query.output("apart"))  # α = 0 leaves T as it is
    assert numbers(says)[-1] == 16 * blended
    off = np.abs(found - [0, 0, 0, 1]).max()
    assert ("exactly" in says) == (off == 0)
    if off:
        assert numbers(says)[-2] == pytest.approx(off, rel=0.06)


def final_count(query, says):
    counts, layers = query.output("thereCount").astype(int), len(query.output("back")) - 1
    took, light, last = counts[-1], float(query.output("back")[0, 3]), int(query.output("backCount")[0])
    if not query.job.inputs["guarded"]:
        assert (f"{took} blended, but {layers} undone" in says) == (took < layers)
        assert (f"below zero to {last:,}." in says) == (took < layers)
    else:
        assert numbers(says)[:3] == [took, took, layers - took]
        assert last == 0
    assert float(re.search(r"T = ([\d.e]+?)[,.]? ", says)[1]) == pytest.approx(light, rel=0.006)


def caching(query, says):
    layers = len(query.output("kept"))
    off = np.abs(query.output("dByKept") - query.output("dByUndo"))[:, 3].max()
    assert ("to the last bit" in says) == (off == 0)
    assert f"{16 * layers} bytes" in says
    assert says.endswith("16 bytes.")


def reduction(query, says):
    clamped = np.clip(query.job.inputs["values"], -10, 10)
    right = float(np.sum(clamped, dtype=np.float64))
    first = numbers(says.partition(" is " if "should be" in says else "number, ")[2])[0]
    assert first == pytest.approx(float(query.output("derivBuffer").view(np.float32)[0]), rel=1e-4, abs=1e-4)
    assert ("should be" in says) == (abs(first - right) > 0.05)


def cas(query, says):
    count, swaps = int(query.job.inputs["count"]), query.steps(kind="atomic", operation="compareExchange")
    start = query.job.inputs["derivBuffer"].view(np.float32).astype(float)
    added = float(query.output("derivBuffer").view(np.float32).sum() - start.sum())
    every = float(query.job.inputs["values"].sum())
    assert ("overwritten" in says) == (added < every - 0.01)
    if "overwritten" in says:
        made, of, lost = numbers(says)
        assert made + lost == of == count
    elif len(swaps):
        assert f"{len(swaps)} attempts" in says or "one attempt" in says
        if len(swaps) > 1:
            refused = len(swaps) - count
            assert f"of which {refused or 'none'} were refused" in says


def adam(query, says):
    iterations, _, after, first, last = numbers(says)
    moves = query.output("moves")
    assert iterations == len(moves)
    rates = np.repeat((1, 1, 0.2, 0.2, 0.2, 0.15, 0.15, 0.15, 0.5), 3) * 0.2
    which = int(query.job.inputs["adam.sampleCorrection"])
    assert first == pytest.approx(np.abs(moves[0, :, which] / rates).mean(), abs=0.006)
    assert last == pytest.approx(np.abs(moves[-1, :, which] / rates).mean(), abs=0.006)
    frames = np.rint(255 * np.clip(query.output("frames")[..., :3], 0, 1))
    wanted = np.rint(255 * query.job.inputs["targetBuffer"][..., :3].reshape(frames[0].shape))
    assert after == pytest.approx(-10 * np.log10(np.mean((frames[-1] / 255 - wanted / 255) ** 2)), abs=0.06)


def binned(query, says):
    counts = query.output("tileList")[:, 1]
    assert numbers(says)[:3] == [(counts > 0).sum(), counts.sum(), counts.max()]


CHECKS = {name.replace("_", "-"): check for name, check in list(globals().items()) if name.replace("_", "-") in CASES}


@pytest.mark.parametrize(("stem", "values"), [(stem, values) for stem, cases in CASES.items() for values in cases])
def test_at_its_end_a_figure_says_what_came_out(record_lesson, stem, values):
    lesson, query = record_lesson(stem, **values)
    says = lesson.conclusion(query)
    check_conclusion(says)
    CHECKS[stem](query, says)


def test_every_section_of_the_book_has_a_last_word():
    """That of a section that is added is judged by its form, in test_every_section.py: what it says, its own test can check."""
    assert set(CASES) | {"premultiply"} == set(BOOK)  # its last stop is the end
    assert set(CHECKS) == set(CASES)


def test_the_last_word_is_a_stop_of_its_own_at_the_very_end(record_lesson):
    lesson, query = record_lesson("bitonic-sort")
    found = _with_answers(lesson, query, None, (), "")
    assert LessonRequest.of(lesson).stem == "bitonic-sort"
    assert found.stops[-1] == len(query) > found.stops[-2]
    assert found.sentences[-1] == lesson.conclusion(query)
    assert len(found.stops) == len(found.sentences)
