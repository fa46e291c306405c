"""Which kernels a check finds, from where it is asked and what it is asked for."""

import os
from pathlib import Path

import pytest

from helpers.linear_time import superlinear
from splatscope.check.kernels import ConfigurationError, Undescribed, kernels_in
from splatscope.check.reports import undescribed_words

KERNEL = """
RWStructuredBuffer<uint> data;
[shader("compute")]
[numthreads(8, 1, 1)]
void computeMain(uint3 t : SV_DispatchThreadID) { data[t.x] = t.x; }
"""
DESCRIBED = "// splatscope: groups=1\n" + KERNEL


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a kernel of its own, two of a part with a configuration, a module, and a kernel that nobody describes."""
    part = tmp_path / "filters" / "blur"
    part.mkdir(parents=True)
    (tmp_path / "own.slang").write_text(DESCRIBED)
    (tmp_path / "forgotten.slang").write_text(KERNEL)
    (tmp_path / "module.slang").write_text("float twice(float x) { return 2 * x; }")
    for name in ("rows", "columns"):
        (part / f"{name}.slang").write_text(KERNEL)
    kernels = "".join(f'[[kernel]]\nfile = "{name}.slang"\ngroups = 2\n' for name in ("rows", "columns"))
    (part / "splatscope.toml").write_text(kernels)
    return tmp_path


def found(repository: Path, *paths: str, here: str = ".") -> dict[str, str]:
    """Return the files of the kernels that are found, each with why it cannot be recorded."""
    kernels, _ = kernels_in([repository / path for path in paths], repository / here)
    return {kernel.path.relative_to(repository).as_posix(): kernel.error for kernel in kernels}


def test_a_configuration_is_found_below_the_folder_that_is_checked(repository):
    assert found(repository) == {"own.slang": "", "filters/blur/rows.slang": "", "filters/blur/columns.slang": ""}
    assert found(repository, "filters").keys() == {"filters/blur/rows.slang", "filters/blur/columns.slang"}


@pytest.mark.parametrize("here", [".", "filters", "filters/blur"])
def test_a_configuration_is_found_above_the_file_that_is_checked_wherever_that_is_asked(repository, here):
    assert found(repository, "filters/blur/rows.slang", here=here) == {"filters/blur/rows.slang": ""}
    deep = repository / "filters" / "blur" / "deep"
    deep.mkdir()
    (deep / "more.slang").write_text(DESCRIBED)
    assert found(repository, "filters/blur/deep", here=here) == {"filters/blur/deep/more.slang": ""}


def test_a_kernel_that_is_described_twice_is_checked_twice(repository):
    twice = "".join(f'[[kernel]]\nfile = "rows.slang"\ngroups = {groups}\n' for groups in (1, 7))
    other = '[[kernel]]\nfile = "columns.slang"\n'
    (repository / "filters" / "blur" / "splatscope.toml").write_text(twice + other)
    kernels, _ = kernels_in([repository / "filters"], repository)
    assert [(kernel.name, kernel.job.groups) for kernel in kernels] == [
        ("rows.slang (1)", (1, 1, 1)), ("rows.slang (2)", (7, 1, 1)), ("columns.slang", (1, 1, 1)),
    ]  # fmt: skip


def test_kernels_of_one_name_are_told_apart_by_numbers(repository):
    clashing = "".join(
        f'[[kernel]]\nfile = "{file}"\nname = "k"\nentry = "{entry}"\n'
        for file, entry in (("rows.slang", "main"), ("./rows.slang", "other"))
    )
    (repository / "filters" / "blur" / "splatscope.toml").write_text(clashing)
    commented = "".join(f"// splatscope: name=k entry=main groups={groups}\n" for groups in (1, 2))
    (repository / "filters" / "blur" / "columns.slang").write_text(commented + DESCRIBED)
    kernels, _ = kernels_in([repository / "filters", repository / "filters" / "blur"], repository)
    names = [(kernel.name, kernel.job.entry, kernel.job.groups[0]) for kernel in kernels]
    assert names[:2] == [("k (1)", "main", 1), ("k (2)", "other", 1)]
    assert names[2:4] == [("columns.slang k (1)", "main", 1), ("columns.slang k (2)", "main", 2)]


def test_each_kernel_whose_inputs_cannot_be_read_is_listed(repository):
    wrong = "".join(f'[[kernel]]\nfile = "rows.slang"\nentry = "{entry}"\ninputs = "no.json"\n' for entry in ("one", "two"))
    (repository / "filters" / "blur" / "splatscope.toml").write_text(wrong)
    kernels, _ = kernels_in([repository / "filters"], repository)
    assert [kernel.name for kernel in kernels] == ["rows.slang one", "rows.slang two"]
    assert all("no.json" in kernel.error for kernel in kernels)


def test_a_file_is_never_dropped_that_was_named_and_has_a_kernel(repository):
    errors = found(repository, "own.slang", "forgotten.slang", "module.slang")
    assert errors.keys() == {"own.slang", "forgotten.slang"}
    assert errors["own.slang"] == ""
    assert "no splatscope.toml names it" in errors["forgotten.slang"]


def test_the_nearest_configuration_above_counts(repository):
    (repository / "filters" / "splatscope.toml").write_text('[[kernel]]\nfile = "blur/rows.slang"\nname = "far"\n')
    [kernel], _ = kernels_in([repository / "filters" / "blur" / "rows.slang"], repository)
    assert kernel.name != "far"
    assert kernel.job.groups == (2, 1, 1)


def test_what_does_not_exist_or_cannot_be_read_is_said(repository):
    with pytest.raises(ConfigurationError, match=r"nowhere\.slang does not exist"):
        kernels_in([repository / "nowhere.slang"], repository)
    (repository / "filters" / "splatscope.toml").write_text("[[kernel]\n")
    with pytest.raises(ConfigurationError, match=r"splatscope\.toml cannot be read"):
        kernels_in([repository / "filters"], repository)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '[[kernels]]\nfile = "own.slang"\n',
            r"splatscope\.toml: there is no “kernels” at the top\. There are kernel, strict, entry, ",
        ),
        ("strict = 1\n", r"splatscope\.toml: strict is true or false"),
        ("colour = 1\n", "there is no “colour” at the top"),
        ('[kernel]\nfile = "own.slang"\n', r"write \[\[kernel\]\], with two brackets"),
    ],
)
def test_an_unknown_key_at_the_top_of_a_configuration_is_an_error(repository, text, words):
    (repository / "splatscope.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=words):
        kernels_in([], repository)
    (repository / "splatscope.toml").unlink()
    table = text.replace("[kernel", "[tool.splatscope.kernel") if "[" in text else f"[tool.splatscope]\n{text}"
    (repository / "pyproject.toml").write_text(table)
    with pytest.raises(ConfigurationError, match=words.replace("splatscope", "pyproject")):
        kernels_in([], repository)


SECOND = KERNEL.replace("computeMain", "second")


def test_kernels_that_nothing_describes_are_listed(repository):
    (repository / "own.slang").write_text(DESCRIBED + SECOND)
    (repository / "build" / "deep").mkdir(parents=True)
    (repository / "build" / "deep" / "copy.slang").write_text(DESCRIBED)
    (repository / "node_modules").mkdir()
    (repository / "node_modules" / "theirs.slang").write_text(KERNEL)
    kernels, left_out = kernels_in([], repository)
    assert not any(kernel.error or kernel.strict for kernel in kernels)
    assert left_out.kernels == ((repository / "forgotten.slang", "computeMain"), (repository / "own.slang", "second"))
    assert left_out.skipped == ((repository / "build", 1),)
    assert undescribed_words(left_out, repository) == [
        "2 kernels have no description: forgotten.slang:computeMain, own.slang:second.",
        "Not searched, with files that hold kernels: build (1). To check such a folder, name it.",
    ]
    many = Undescribed(tuple((repository / "a.slang", f"k{i}") for i in range(9)))
    assert undescribed_words(many, repository)[0].endswith("a.slang:k5 and 3 more.")
    kernels, left_out = kernels_in([repository, repository / "build"], repository)
    assert (repository / "build" / "deep" / "copy.slang") in {kernel.path for kernel in kernels}
    assert left_out.skipped == ()


@pytest.mark.parametrize("where", ["option", ".", "filters"])
def test_in_a_strict_check_a_kernel_without_a_description_cannot_be_recorded(repository, where):
    (repository / "filters" / "more.slang").write_text(KERNEL)
    if where != "option":
        (repository / where / "splatscope.toml").write_text("strict = true\n")
    kernels, left_out = kernels_in([], repository, strict=where == "option")
    refused = {kernel.name: kernel.error for kernel in kernels if kernel.error}
    expected = {"more.slang computeMain"} | ({"forgotten.slang computeMain"} if where != "filters" else set())
    assert refused == dict.fromkeys(expected, "It has no description, and the check is strict.")
    assert len(left_out.kernels) == 2 - len(expected)
    assert {kernel.path.name for kernel in kernels if not kernel.strict} == ({"own.slang"} if where == "filters" else set())


def test_a_kernel_that_a_strict_configuration_names_elsewhere_is_checked_strictly(repository):
    (repository / "ci").mkdir()
    (repository / "ci" / "splatscope.toml").write_text('strict = true\n[[kernel]]\nfile = "../forgotten.slang"\ngroups = 1\n')
    kernels, _ = kernels_in([], repository)
    assert {kernel.path.name for kernel in kernels if kernel.strict} == {"forgotten.slang"}


def test_a_comment_of_another_entry_point_than_the_configuration_s_is_read(repository):
    first, second = KERNEL, KERNEL.replace("RWStructuredBuffer<uint> data;\n", "").replace("computeMain", "second")
    (repository / "own.slang").write_text("// splatscope: entry=second groups=1\n// splatscope: groups=1\n" + first + second)
    (repository / "splatscope.toml").write_text('[[kernel]]\nfile = "own.slang"\ngroups = 2\n')
    kernels, left_out = kernels_in([repository / "own.slang"], repository)
    assert {(kernel.job.entry, kernel.job.groups[0]) for kernel in kernels} == {("", 2), ("second", 1)}
    assert left_out.kernels == ()


def test_packages_in_a_folder_that_is_not_searched_are_not_counted(repository):
    package = repository / ".tox" / "py" / "lib"
    package.mkdir(parents=True)
    (package.parent / "pyvenv.cfg").touch()
    (package / "theirs.slang").write_text(KERNEL)
    (repository / ".tox" / "mine.slang").write_text(KERNEL)
    _, left_out = kernels_in([repository, repository], repository)
    assert left_out.skipped == ((repository / ".tox", 1),)


def test_what_looks_like_a_source_or_a_folder_of_them_and_is_not_read_is_said(repository):
    elsewhere = repository / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kernel.slang").write_text(KERNEL)
    filters = repository / "filters"
    (filters / "linked").symlink_to(elsewhere)
    (filters / "again").symlink_to(filters / "blur")  # is searched by its own name
    (filters / "zeros.slang").symlink_to("/dev/zero")
    os.mkfifo(filters / "pipe.slang")
    (filters / "folder.slang").mkdir()
    _, left_out = kernels_in([filters], repository)
    assert {path.name: why.removeprefix(str(path)) for path, why in left_out.unread} == {
        "linked": " is not searched: it is a link to a folder elsewhere.",
        "zeros.slang": " is not a file.",
        "pipe.slang": " is not a file.",
    }


def test_reading_a_configuration_takes_linear_time(tmp_path: Path):
    def read(text: str) -> None:
        (tmp_path / "splatscope.toml").write_text(text)
        kernels_in([tmp_path], tmp_path)

    assert superlinear(read, "a.", "a . ", "1.", '"a".', "a = 1\n", "[a]\n") == []
