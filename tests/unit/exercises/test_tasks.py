"""Tasks: what a folder must hold, and what it holds that is wrong is named."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from splatscope.exercises.task import Case, Limit, Mistake, Task, load, tasks
from splatscope.paths import TASKS
from splatscope.textbook.contents import lesson_names

EXAMPLE = TASKS / "turn-a-row"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a task."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "turn-a-row"))


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.name)
def test_a_task_of_the_book_is_whole(task):
    assert task.section in lesson_names()
    assert any(case.hidden for case in task.cases)
    assert len({case.name for case in task.cases}) == len(task.cases), "cases are told apart by their names"
    assert len(task.answers("right")) >= 3
    assert len(task.answers("wrong")) >= 6
    assert task.solution
    for case in task.cases:
        expected, inputs = task.expected(case), task.inputs(case)
        assert expected
        assert expected.keys() <= inputs.keys()
        assert all(array.dtype.itemsize == 4 for array in [*expected.values()] if array.dtype.names is None)


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.name)
def test_every_mistake_can_be_looked_for_on_every_case(task):
    told = [(case.name, mistake.name, task.mistaken(mistake, case).keys()) for case in task.cases for mistake in task.mistakes]
    assert [one for one in told if not one[2] <= task.expected(task.cases[0]).keys()] == []


def is_harmless(task: Task, mistake: Mistake, case: Case) -> bool:
    left, right = task.mistaken(mistake, case), task.expected(case)
    return all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.name)
def test_a_mistake_leaves_other_numbers_than_the_reference_on_some_case(task):
    shown = [case for case in task.cases if not case.hidden]
    harmless = [mistake.name for mistake in task.mistakes if all(is_harmless(task, mistake, case) for case in shown)]
    assert harmless == []


def test_names_orders_and_titles_are_each_their_own():
    places = [(task.course, task.order) for task in tasks()]
    assert len(set(places)) == len(places)
    titles = [task.title for task in tasks()]
    assert len(set(titles)) == len(titles)


def test_what_the_kernel_is_to_write_is_zeros_of_the_size_of_the_reference():
    task = load(EXAMPLE)
    inputs = task.inputs(task.cases[0])
    assert (inputs["turned"] == 0).all()
    assert inputs["turned"].shape == task.expected(task.cases[0])["turned"].shape


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("task.md", "course: mend", "course: bend", "`course` is mend or write or challenge"),
        ("task.md", "fails: race\n", "", "lacks fails"),
        ("task.md", "::: explanation", "::: explains", "there is no block “explains”"),
        ("reference.py", "CASES = (", "NO_CASES = (", "needs a function `reference`, and CASES"),
        ("reference.py", "import numpy as np", "import numpy as np\n1 / 0", "ZeroDivisionError"),
    ],
)
def test_what_is_wrong_with_a_task_is_said_with_its_file(folder, file, old, new, said):
    rewrite(folder / file, old, new)
    with pytest.raises(ValueError, match=f"turn-a-row/{file}.*{said}".replace("(", r"\(")):
        load(folder)


def test_a_file_that_is_missing_is_named(folder):
    (folder / "start.slang").unlink()
    with pytest.raises(ValueError, match=r"turn-a-row has no start\.slang"):
        load(folder)


def test_a_task_is_read_again_once_it_has_changed(folder):
    before = load(folder)
    rewrite(folder / "task.md", before.title, "Another title")
    assert load(folder).title == "Another title"


def test_a_wrong_answer_says_why(folder):
    (folder / "wrong" / "silent.slang").write_text("RWStructuredBuffer<uint> turned;\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong/silent\.slang begins with"):
        load(folder).answers("wrong")


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (Limit("barriers", most=1), "At most 1 barrier for each thread"),
        (Limit("barriers", most=7), "At most 7 barriers for each thread"),
        (Limit("atomics", most=4, name="total"), "At most 4 atomic accesses to total by each workgroup"),
        (Limit("atomics", most=0, name="found"), "No atomic accesses to found by each workgroup"),
        (Limit("reads", most=70, name="row"), "At most 70 reads of row by each workgroup"),
        (Limit("threads", least=32, most=64), "At most 64 and at least 32 threads for each workgroup"),
    ],
)
def test_a_limit_is_a_rule_that_can_be_read(limit, words):
    assert limit.rule == words


def test_a_case_takes_link_time_constants_for_its_reference(folder):
    rewrite(folder / "reference.py", "def reference(row: np.ndarray)", "def reference(row: np.ndarray, BY: int)")
    rewrite(folder / "reference.py", 'return {"turned": row[::-1]}', 'return {"turned": np.roll(row[::-1], BY)}')
    task = load(folder)
    case = Case("shifted", {"row": np.arange(4, dtype=np.uint32)}, constants={"BY": 1})
    assert task.expected(case)["turned"].tolist() == [0, 3, 2, 1]
