"""The kernels of training in a browser, which ship as WGSL."""

import json
import re

import pytest

from splatscope.paths import OPENING_KERNELS, TRAINING_KERNELS
from splatscope.splat.browser_kernels import as_json, opening_kernels, training_kernels


@pytest.fixture(scope="module")
def made():
    return as_json(training_kernels())


def test_what_ships_is_compiled_from_the_shaders(made):
    shipped = json.loads(TRAINING_KERNELS.read_text(encoding="utf-8"))
    assert shipped == json.loads(json.dumps(made)), "run tools/make_browser_kernels.py"


def test_every_kernel_fits_what_all_browsers_offer(made):
    assert len(made["kernels"]) == 20
    for name, kernel in made["kernels"].items():
        buffers = [one for one in kernel["bindings"] if not one["size"]]
        assert len(buffers) <= 8, name  # WebGPU's least maxStorageBuffersPerShaderStage
        assert not re.search(r"\bf16\b|\b[iu]64\b|\bf64\b", kernel["wgsl"]), name


def test_the_tiled_kernels_need_no_waves(made):
    for entry in (
        "clearDerivativesMain",
        "computeDerivativesMain",
        "updateBlobsMain",
        "imageMain",
        "measureMain",
        "ellipsesMain",
        "layersMain",
    ):
        assert "subgroup" not in made["kernels"][entry]["wgsl"], entry


def test_the_number_of_waves_is_set_by_the_browser(made):
    for entry in ("moveMain", "binnedDerivativesMain/8", "binnedDerivativesMain/32"):
        assert "@id(0) override WAVES" in made["kernels"][entry]["wgsl"], entry


def test_the_home_pages_kernels_ship_as_they_are_compiled():
    shipped = json.loads(OPENING_KERNELS.read_text(encoding="utf-8"))
    assert shipped == json.loads(json.dumps(as_json(opening_kernels()))), "run tools/make_browser_kernels.py"
    assert all("subgroup" not in kernel["wgsl"] for kernel in shipped["kernels"].values())
