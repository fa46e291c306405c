"""The options of `splatscope trace` that need no device."""

import numpy as np
import pytest

from splatscope.cli.buffer_option import parse_buffer
from splatscope.cli.errors import CallError
from splatscope.cli.main import main
from splatscope.cli.trace_report import _on_command_line
from splatscope.tracing.judge import own_size, unreached_words


@pytest.mark.parametrize(
    ("text", "values", "dtype"),
    [
        ("a=float[4]", [0, 0, 0, 0], np.float32),
        ("a=float[4]=1,2.5", [1, 2.5, 0, 0], np.float32),
        ("a=uint=3,0x10", [3, 16], np.uint32),
        ("a=int=-5", [-5], np.int32),
        ("a=float3[2]=1,2,3,4", [1, 2, 3, 4, 0, 0], np.float32),
        ("a=bool=true,false", [1, 0], np.uint32),
        ("a=double=nan", [np.nan], np.float64),
        ("a=uint64_t=18446744073709551615", [2**64 - 1], np.uint64),
        ("a=float2", [0, 0], np.float32),
    ],
)
def test_forms_of_buffers(text, values, dtype):
    name, array = parse_buffer(text)
    assert name == "a"
    assert array.dtype == dtype
    assert np.array_equal(array, np.array(values, dtype), equal_nan=dtype == np.float64)


def test_arrays_from_files(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(2, 3))
    assert parse_buffer(f"a=@{tmp_path / 'a.npy'}")[1].dtype == np.float32
    assert parse_buffer(f"a=double@{tmp_path / 'a.npy'}")[1].dtype == np.float64
    assert parse_buffer(f"a=uint@{tmp_path / 'a.npy'}")[1].tolist() == [[0, 1, 2], [3, 4, 5]], "a texture has its size from it"
    assert parse_buffer(f"a=float[8]@{tmp_path / 'a.npy'}")[1].tolist() == [0, 1, 2, 3, 4, 5, 0, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a=@none.npy", "--buffer a: there is no file none.npy."),
        ("a=Light[2]", "--buffer a: Light is no type of numbers. --set a.count=N gives N structs of zeros."),
    ],
)
def test_what_a_buffer_cannot_be_is_said(text, said):
    with pytest.raises(CallError) as refused:
        parse_buffer(text)
    assert str(refused.value) == said


def test_a_batch_refuses_what_it_would_ignore(capsys):
    with pytest.raises(SystemExit) as left:
        main(["trace", "k.slang", "--batch", "jobs.jsonl", "--json", "-D", "N=1", "--groups", "2", "--all-groups"])
    assert left.value.code == 2
    said = capsys.readouterr().err
    wanted = "--batch takes all that a job needs from the file: leave out --all-groups, --define, --groups, FILE."
    assert said == f"splatscope: {wanted}\n"


def test_a_batch_alone_is_read(capsys, tmp_path):
    with pytest.raises(SystemExit) as left:
        main(["trace", "--batch", str(tmp_path / "none.jsonl"), "--json"])
    assert left.value.code == 2
    assert "none.jsonl cannot be read" in capsys.readouterr().err


def test_a_page_in_a_folder_that_is_missing_is_refused_before_anything_is_recorded(capsys, tmp_path):
    (tmp_path / "k.slang").write_text("no kernel")
    with pytest.raises(SystemExit) as left:
        main(["trace", str(tmp_path / "k.slang"), "--html", str(tmp_path / "none" / "page.html")])
    assert left.value.code == 2
    assert f"cannot be written: there is no folder {tmp_path / 'none'}." in capsys.readouterr().err


def test_a_note_gives_the_options_of_the_command_line():
    note = f"Not given, so zeros: a (64). {own_size()}, {own_size('2d')}, {own_size('1d_array')}."
    assert _on_command_line(note) == (
        "Not given, so zeros: a (64). --buffer NAME=TYPE[COUNT] gives a buffer its own, "
        '--inputs FILE.json with {"NAME": {"size": [WIDTH, HEIGHT]}} gives a 2D texture its own, '
        '--inputs FILE.json with {"NAME": {"size": [WIDTH, LAYERS]}} gives an array of 1D textures its own.'
    )


def test_a_kind_of_finding_is_explained_without_a_file_or_a_device(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["trace", "--explain", "race"])
    assert not ended.value.code
    out = capsys.readouterr().out
    assert out.startswith("race: Two threads access the same memory")
    assert "\n    mirrored[thread.x] = cells[63 - thread.x];\n" in out
    assert "\n+    GroupMemoryBarrierWithGroupSync();\n" in out


def test_an_unknown_kind_is_refused_with_the_names_of_all(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["trace", "--explain", "rice"])
    assert "There is no kind of finding “rice”. There are assertion, barrier-divergence," in capsys.readouterr().err


def test_few_unreached_lines_are_listed_and_many_are_counted():
    assert unreached_words("a.slang", [(7, 7)]) == "No thread reached line 7 of a.slang."
    assert unreached_words("a.slang", [(7, 8), (10, 10)]) == "No thread reached lines 7–8, 10 of a.slang."
    bodies = [(line, line) for start in (7, 245, 483, 721, 959) for line in range(start, start + 28, 2)]
    assert unreached_words("a.slang", [*bodies[:14], (100, 100)]) == "No thread reached 15 lines of a.slang: 7–33 (14 lines), 100."
    assert unreached_words("a.slang", bodies) == (
        "No thread reached 70 lines of a.slang: 7–33 (14 lines), 245–271 (14 lines), 483–509 (14 lines), 721–747 (14 lines), …."
    )
