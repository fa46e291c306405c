"""A page's kernel that omits something on purpose equals the shader's function otherwise."""

import re

import pytest

from splatscope.paths import shader
from splatscope.textbook.contents import find_lesson

# (lesson, shader, the shader's function, the page's copy of it, what the copy lacks)
VARIANTS = [
    ("bitonic-sort", "shortlist.slang", "bitonicSort", "sortWithoutBarrier", "GroupMemoryBarrierWithGroupSync();"),
    ("coarse-raster", "shortlist.slang", "coarseRasterize", "coarseWithoutGuard", "if (place < GAUSSIANS_PER_BLOCK)"),
    ("reduction", "gradients.slang", "addOverWorkgroup", "addWithoutBarrier", "GroupMemoryBarrierWithGroupSync();"),
]


def function(source: str, name: str) -> list[str]:
    """The tokens of a function's body."""
    found = re.search(rf"^\w+ {name}\([^{{;]*^\{{(.*?)^\}}", source, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no function {name}"
    return re.findall(r"\w+|\S", re.sub(r"//[^\n]*", "", found[1]))


def without_last(tokens: list[str], left_out: str) -> list[str]:
    """The tokens without the last `left_out`."""
    gone = re.findall(r"\w+|\S", left_out)
    at = max(i for i in range(len(tokens)) if tokens[i : i + len(gone)] == gone)
    return tokens[:at] + tokens[at + len(gone) :]


@pytest.mark.parametrize(("lesson", "file", "name", "copy", "lacks"), VARIANTS, ids=[variant[0] for variant in VARIANTS])
def test_a_variant_lacks_one_statement_of_the_shader_and_nothing_else(lesson, file, name, copy, lacks):
    original = function(shader(file).read_text(encoding="utf-8"), name)
    expected = without_last(original, lacks)
    if lesson == "coarse-raster":  # nor does it hold the count back
        expected = (
            " ".join(expected).replace("min ( blobCountAT . load ( ) , GAUSSIANS_PER_BLOCK )", "blobCountAT . load ( )").split()
        )
    assert function(find_lesson(lesson).source("without"), copy) == expected


@pytest.mark.parametrize("lesson", ["bitonic-sort", "coarse-raster"])
def test_the_rest_of_the_kernel_is_that_of_the_page(lesson):
    page, variant = find_lesson(lesson).source(), find_lesson(lesson).source("without")
    copied = re.search(r"^// As \w+, .*?^}\n\n", variant, re.MULTILINE | re.DOTALL)
    assert copied is not None
    renamed = re.sub(r"\b(sortWithoutBarrier|coarseWithoutGuard)\b", "", variant.replace(copied[0], ""))
    assert renamed == re.sub(r"\b(bitonicSort|coarseRasterize)\b", "", page)
