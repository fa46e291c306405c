"""A notebook that fits pictures, executed."""

import pytest

from helpers.notebook import executed
from splatscope.paths import ASSETS

PICTURE = str(ASSETS / "chelsea.jpg")


@pytest.fixture(scope="module")
def outputs():
    chosen = "gaussians=20, iterations=30, size=40"
    return executed(
        "import splatscope",
        f"result = splatscope.fit({PICTURE!r}, {chosen})",
        "result",
        f"table = splatscope.fit_many([{PICTURE!r}], {chosen})",
        "print(table.fitted)",
        "splatscope.Splats(result.raw, result.width, result.height)",
    )


def test_the_bar_is_one_output_that_ends_full(outputs):
    for cell, words in ((outputs[1], "30 of 30, "), (outputs[3], "1 of 1, pictures, ")):
        (bar,) = cell
        assert bar["output_type"] == "display_data"
        assert bar["data"]["text/plain"].startswith(words)
        assert "<progress" in bar["data"]["text/html"]


def test_a_result_is_shown_as_its_picture(outputs):
    (shown,) = outputs[2]
    assert set(shown["data"]) == {"image/png", "text/plain"}
    assert shown["data"]["text/plain"].startswith("Fit: 20 Gaussians, 40 × 27 pixels, 30 of 30 iterations, ")


def test_gaussians_are_shown_as_the_picture_that_they_draw(outputs):
    (shown,) = outputs[5]
    assert shown["data"]["image/png"] == outputs[2][0]["data"]["image/png"]
    assert shown["data"]["text/plain"] == "Splats: 20 Gaussians, 40 × 27 pixels"


def test_many_pictures_are_fitted_where_an_event_loop_runs(outputs):
    assert outputs[4][0]["text"] == "1\n"
