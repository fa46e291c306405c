"""The tests that a change can reach are chosen by imports, by rooms and by names."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
reached_by = runpy.run_path(str(ROOT / "tools" / "changed_tests.py"))["reached_by"]


@pytest.mark.parametrize(
    ("changed", "reached", "not_reached"),
    [
        ("app/splatscope/tracing/comparison.py", "tests/device/tracing/test_other_widths.py", "tests/unit/slang/test_tokens.py"),
        ("app/splatscope/slang/tokens.py", "tests/device/test_api.py", "tests/unit/test_audit.py"),
        ("tests/helpers/spoken.py", "tests/browser/lesson_page/test_spoken.py", "tests/unit/test_audit.py"),
        ("tests/browser/conftest.py", "tests/browser/home/test_home.py", "tests/unit/test_audit.py"),
        ("tests/conftest.py", "tests/unit/test_audit.py", "tests/wheel/test_installed.py"),
        ("app/splatscope/web/home/opening.ts", "tests/browser/home/test_home.py", "tests/browser/training/test_training.py"),
        ("lessons/adam/lesson.py", "tests/device/lessons/test_adam.py", "tests/device/lessons/test_blending.py"),
        ("lessons/bitonic_sort/text.md", "tests/device/lessons/test_bitonic_sort.py", "tests/device/lessons/test_blending.py"),
        ("tests/unit/test_audit.py", "tests/unit/test_audit.py", "tests/unit/test_changed_tests.py"),
    ],
)
def test_a_change_reaches_what_uses_it_and_not_all(changed, reached, not_reached):
    files = reached_by([ROOT / changed])
    assert ROOT / reached in files
    assert ROOT / not_reached not in files


def test_a_change_of_a_document_reaches_no_test_of_code():
    assert reached_by([ROOT / "README.md"]) <= {file for file in files_that_name("README")}


def files_that_name(word: str) -> list[Path]:
    return [file for file in (ROOT / "tests").rglob("test_*.py") if word in file.read_text(encoding="utf-8")]
