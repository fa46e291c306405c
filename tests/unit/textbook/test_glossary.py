"""The glossary page: the words that sections use without explaining them, and what to read beside the book."""

import re

import pytest

from splatscope.textbook.contents import sections
from splatscope.textbook.terms import READING, terms
from splatscope.web.reference.glossary import glossary
from splatscope.web.shell.location import Location

WORDS = (
    *("groupshared", "Atomic<T>", "PSNR", "dB", "texel", "ulp", "host", "NaN", "logit", "SPIR-V", "straight colour", "raw value"),
    *("buffer", "splatting", "differentiable", "sample", "bell curve", "fence", "released", "stale read"),
    *("SV_DispatchThreadID", "SV_GroupID", "SV_GroupIndex", "SV_GroupThreadID", "StructuredBuffer<T>", "RWStructuredBuffer<T>"),
)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_that_newcomers_asked_for_is_there(word: str) -> None:
    assert word in {term.form for term in terms()}


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("barrier", ["Group", "Device", "All"]),
        ("atomic", ["InterlockedAdd", "InterlockedMin"]),
        ("compare and swap", ["InterlockedCompareExchange"]),
        ("shared memory", ["groupshared"]),
    ],
)
def test_a_word_for_what_kernels_do_comes_with_its_names_in_slang(word: str, names: list[str]) -> None:
    (term,) = [term for term in terms() if term.form == word]
    calls = [f"{name}MemoryBarrierWithGroupSync()" if word == "barrier" else name for name in names]
    assert [call for call in calls if call not in term.definition] == []


def test_a_word_is_shown_before_those_that_are_explained_by_it() -> None:
    order = {section.name: i for i, section in enumerate(sections())}
    first = {term.form: order[term.page] for term in terms() if term.page in order}
    for basic, later in (("kernel", "dispatch"), ("thread", "workgroup"), ("workgroup", "barrier"), ("alpha", "transmittance")):
        assert first[basic] <= first[later]


def test_each_work_of_the_further_reading_is_linked_safely() -> None:
    lines = READING.read_text(encoding="utf-8").strip().split("\n")
    for line in lines:
        assert line.startswith("- **")
        links = re.findall(r"\]\(([^)]+)\)", line)
        assert links
        assert all(link.startswith("https://") for link in links)
    text = "\n".join(lines)
    for work in (
        "3D Gaussian Splatting for Real-Time Radiance Field Rendering",
        "Compositing Digital Images",
        "diff-splatting",
        "Playground",
    ):
        assert work in text


def test_the_page_has_every_term_and_every_work() -> None:
    html = glossary(Location()).html
    assert all(f'id="{term.anchor}"' in html for term in terms())
    assert html.count("<li>") == READING.read_text(encoding="utf-8").count("\n- ") + 1
    assert 'id="further-reading"' in html
