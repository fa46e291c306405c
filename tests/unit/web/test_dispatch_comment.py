"""The page sets what a source's `// splatscope:` comment asks for, until somebody sets something else."""

from contextlib import suppress

import numpy as np
import pytest

from splatscope.gpu.reflection import Interface, Layout, Texture
from splatscope.services.drafts.dispatch_comment import dispatch_comment
from splatscope.services.drafts.draft import job_of, kernel_of, public
from splatscope.services.drafts.inputs import InputError

BLOB = Layout(16, ((".at.x", "float", 0), (".at.y", "float", 4), (".id", "uint", 8), (".on", "uint", 12)), "Blob")
INTERFACE = Interface(
    ("first", "main"),
    (32, 1, 1),
    {"data": Layout(4, (("", "uint", 0),), "uint"), "blobs": BLOB, "Scene.out": Layout(4, (("", "float", 0),), "float")},
    {"CB.n": "uint", "CB.scale": "float2", "lights[0].on": "uint", "lights[1].on": "uint"},
    {},
    textures={"image": Texture("Texture2D<float4>", "2d", "float", 4, False)},
    samplers=["pick"],
)


def draft(comment: str, **given) -> dict:
    return {"source": f"// A kernel.\n// splatscope: {comment}\nvoid main() {{}}", **given}


def job(comment: str, **given):
    made = draft(comment, **given)
    return job_of(made, kernel_of(made), INTERFACE)


def test_everything_that_the_comment_gives_reaches_the_kernel():
    found = job(
        'entry=main groups=4,2 group=3,1,0 vars={"CB": {"n": 8, "scale": [1, -2.5]}, "data": [3, 1, 4294967295],'
        ' "lights": [{"on": true}, {"on": 0}]}'
        ' defines={"WIDTH": 64, "FAST": ""} constants={"N": 4} arguments=float conformances=["Sphere:IShape"]'
    )
    assert (found.entry, found.groups, found.group) == ("main", (4, 2, 1), (3, 1, 0))
    assert found.inputs["CB.n"].tolist() == [8]
    assert found.inputs["CB.scale"].tolist() == [1, -2.5]
    assert found.inputs["data"].view(np.uint32).tolist() == [3, 1, 4294967295]
    assert (found.inputs["lights[0].on"].tolist(), found.inputs["lights[1].on"].tolist()) == ([1], [0])
    assert len(found.inputs["Scene.out"]) == 4 * 1024  # as in the check, where a buffer that is not given has 1,024 elements
    assert (found.defines, found.constants) == ({"WIDTH": "64", "FAST": ""}, {"N": 4})
    assert (found.arguments, found.conformances) == (("float",), (("Sphere", "IShape"),))


def test_structs_are_laid_out_by_their_members():
    blobs = job('vars={"blobs": [{"id": 7, "at": [0.5, 2]}, {"at": {"y": 3}, "on": true}]}').inputs["blobs"]
    assert blobs[:8].view(np.float32).tolist() == [0.5, 2]
    assert blobs[16:24].view(np.float32).tolist() == [0, 3]
    assert blobs.view(np.uint32).reshape(2, 4)[:, 2:].tolist() == [[7, 0], [0, 1]]


def test_a_buffer_may_be_given_its_size_alone_and_a_name_what_is_unique_of_it():
    found = job('vars={"data": {"count": 5}, "n": 3, "out": [1, 2]}').inputs
    assert (len(found["data"]), found["CB.n"].tolist(), len(found["Scene.out"])) == (20, [3], 8)


def test_what_is_typed_counts_until_the_comment_changes():
    typed = {"CB.n": {"values": "5", "from": public(INTERFACE, draft('vars={"n": 3}')["source"], {}, [])["said"]["CB.n"]["from"]}}
    assert job('vars={"n": 3}', inputs=typed).inputs["CB.n"].tolist() == [5]
    assert job('vars={"n": 4}', inputs=typed).inputs["CB.n"].tolist() == [4]
    assert job("groups=4", groups=[2, 1, 1], groups_said=[4, 1, 1]).groups == (2, 1, 1)
    assert job("groups=8", groups=[2, 1, 1], groups_said=[4, 1, 1]).groups == (8, 1, 1)
    assert kernel_of(draft('defines={"A": 1} constants={"N": 4, "M": 2}', defines="B=2", constants={"N": "6"})).defines == {
        "B": "2"
    }
    assert kernel_of(draft('constants={"N": 4, "M": 2}', constants={"N": "6"})).constants == {"N": 6, "M": 2}


def test_of_several_comments_the_entry_points_own_counts():
    source = "// splatscope: entry=first groups=2\n// splatscope: entry=main groups=3\n"
    assert dispatch_comment(source).groups == [2, 1, 1]
    assert dispatch_comment(source, "main").groups == [3, 1, 1]
    assert dispatch_comment(source, "another").line == 0
    assert job_of({"source": source}, kernel_of({"source": source}), INTERFACE).groups == (2, 1, 1)


def test_a_texture_takes_its_size_from_the_comment():
    spec = dispatch_comment('// splatscope: vars={"image": {"size": [100, 60]}}').specs(INTERFACE)["image"]
    assert (spec["fill"], spec["size"]) == ("zeros", [100, 60])


def test_files_are_asked_for_by_name():
    said = dispatch_comment(
        '// splatscope: vars={"data": {"file": "d.npy"}, "image": {"file": "p.png"}, "pick": {"filter": "point"}}'
    ).specs(INTERFACE)
    assert (said["data"]["fill"], said["data"]["wanted"]) == ("file", "d.npy")
    assert (said["image"]["fill"], said["image"]["wanted"]) == ("picture", "p.png")
    assert said["pick"]["filter"] == "point"
    with pytest.raises(InputError, match=r"d\.npy"):
        job('vars={"data": {"file": "d.npy"}}')


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("groups=4", "Set by the comment on line 2."),
        ("inputs=points.json", "points.json, which is not available here"),
        ('vars={"absent": 1}', "The kernel has no input absent."),
        ('vars={"image": [1]}', "image takes a size, a picture or an array file"),
        ("groups=many", "groups are not up to three whole numbers"),
        ("4 groups", "Line 2: “4 groups” is not KEY=VALUE. The comment is ignored."),
        ('vars={"n": 1', "Line 2, column 28: Expecting"),
    ],
)
def test_the_page_says_what_it_made_of_the_comment(comment, words):
    assert words in public(INTERFACE, draft(comment)["source"], {}, [])["comment"]


HOSTILE = [
    *("vars=[1]", "groups=[[1]]", "groups={}", "constants=[1]", "entry=[1]", "group=1,2,3,4", 'defines={"A": [1]}'),
    *('vars={"data": {"count": {}}}', 'vars={"n": [[[{}]]]}', 'vars={"data": null}', 'vars={"n": "1 2"}', 'vars={"data": [1e999]}'),
    *('vars={"data": {"file": 1}}', 'vars={"blobs": [{"at": {"x": [1]}}]}', "vars=" + '{"a":' * 50 + "1" + "}" * 50),
    *("vars=" + "[" * 30_000, "a=1 " * 15_000, 'vars={"n": ' + "9" * 5000 + "}"),
]


@pytest.mark.parametrize("comment", HOSTILE)
def test_no_comment_does_more_than_refuse_the_run(comment):
    made = draft(comment)
    assert public(INTERFACE, made["source"], made, [])["entry"] == "first"
    with suppress(InputError):
        assert job_of(made, kernel_of(made), INTERFACE).entry == "first"


def test_a_source_without_a_comment_is_left_alone():
    assert public(INTERFACE, "void main() {}", {}, [])["comment"] == ""
    assert job_of({"source": "void main() {}"}, kernel_of({"source": "void main() {}"}), INTERFACE).groups == (1, 1, 1)
    assert dispatch_comment("x = 1; // splatscope: allow race: all write the same").line == 0
