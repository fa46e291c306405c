"""Textures on the debugger's page: a picture goes in, is sampled, and what was drawn is shown."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from helpers.stepping import opened, stepper
from helpers.workbench import answer, edit, run, save, write

SOURCE = """Texture2D<float4> picture;
SamplerState sampling;
RWTexture2D<float4> drawn;
cbuffer Look { float4 tint; int shift; };
[numthreads(8, 8, 1)]
void drawMain(uint2 at : SV_DispatchThreadID)
{
    drawn[at] = picture.SampleLevel(sampling, (at + 0.5) / 8.0, 0) * tint - shift;
}
"""


@pytest.fixture
def bench(turn_to) -> Page:
    return opened(turn_to("/app?page=debugger"))


def choose_picture(bench: Page, file: Path) -> None:
    """Write the kernel, and fill its texture with a file."""
    write(bench, SOURCE)
    expect(answer(bench)).to_have_text("It compiles.")
    with bench.expect_file_chooser() as chooser:
        bench.get_by_label("picture is filled with").select_option("picture")
    chooser.value.set_files(file)


def test_a_picture_is_sampled_and_what_is_drawn_is_shown_and_saved(bench, tmp_path):
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[2, 5] = (255, 102, 51)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    (tmp_path / "dot.png").write_bytes(file.getvalue())
    choose_picture(bench, tmp_path / "dot.png")
    expect(bench.locator("[data-file=picture]")).to_contain_text("dot.png: 8 × 8")
    expect(bench.locator("[data-texture=picture] img")).to_be_visible()
    bench.get_by_label("Filter of sampling").select_option("point")
    for axis in ("x", "y"):
        bench.get_by_label(f"Size of drawn, {axis}").fill("8")
    bench.get_by_label("Value of Look.tint").fill("1 1 0.5 1")
    bench.get_by_label("Value of Look.shift").fill("-1")
    bench.get_by_label("Value of Look.shift").fill("0")
    run(bench)
    edit(bench)
    shown = bench.get_by_label("Picture of drawn")
    expect(shown).to_be_visible()
    pixel = "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data]"
    assert shown.evaluate(pixel, [5, 2])[:2] == [255, 102]
    assert abs(shown.evaluate(pixel, [5, 2])[2] - 25.5) <= 1
    assert shown.evaluate(pixel, [0, 0]) == [0, 0, 0, 255]
    bench.get_by_role("radio", name="Step", exact=True).click()
    expect(stepper(bench)).to_contain_text("Look.tint")
    name, data = save(bench, "recording")
    assert name == "drawMain.npz"
    assert data[:2] == b"PK"


def test_a_file_that_is_no_picture_is_refused_beside_its_texture(bench, tmp_path):
    (tmp_path / "bad.png").write_bytes(b"\x89PNG nothing")
    choose_picture(bench, tmp_path / "bad.png")
    expect(bench.locator("[data-file=picture]")).to_contain_text("not a picture that can be read")
