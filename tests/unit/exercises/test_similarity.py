"""Likeness of submissions: names, numbers and comments do not count, nor does what all began with."""

from splatscope.exercises.similarity import most_similar

START = "void main(uint i : SV_GroupIndex)\n{\n    // yours\n}\n"
ONE = START.replace(
    "// yours", "uint sum = 0;\n for (uint k = 0; k < 64; k++) { sum += cells[k] * weights[63 - k]; }\n out[i] = sum;"
)
RENAMED = ONE.replace("sum", "total").replace("k++", "k++ /* next */").replace("64", "32")
OTHER = START.replace(
    "// yours", "if (i < 3) { InterlockedMax(found, asuint(row[i])); }\n while (gone(i)) i += step(i); keep(i, i);"
)


def test_a_copy_with_other_names_is_found_both_ways():
    found = most_similar({"anna": ONE, "ben": RENAMED, "cleo": OTHER}, START)
    assert {name: (other, round(share, 3)) for name, (other, share) in found.items()} == {
        "anna": ("ben", 1.0),
        "ben": ("anna", 1.0),
    }


def test_two_who_wrote_nothing_are_not_alike():
    assert most_similar({"anna": START, "ben": START}, START) == {}
