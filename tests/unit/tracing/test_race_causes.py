"""Why two accesses race, and which races have one cause."""

from splatscope.tracing.checks.analysis.race_causes import Race, Why
from splatscope.tracing.checks.analysis.race_causes import one_for_each_cause as one_of_races
from splatscope.tracing.checks.finding import Finding


def race(*lines: int, kind: str = "race", name: str = "tile", file: str = "k.slang") -> Finding:
    return Finding(kind, name, f"They race on {lines[0]} and {lines[1]}.", list(lines), [0, 1], file=file)


def one_for_each_cause(findings: list[Finding], stretch_of=lambda finding: None) -> list[Finding]:
    return one_of_races([Race(finding, stretch=stretch_of(finding)) for finding in findings])


def shown(findings: list[Finding]) -> list[tuple]:
    return [(finding.kind, finding.name, *finding.lines, finding.count) for finding in findings]


def test_races_that_share_a_line_are_one():
    found = one_for_each_cause([race(18, 20), race(9, 18), race(9, 9), race(9, 20)])
    assert shown(found) == [("race", "tile", 9, 9, 1), ("race", "tile", 18, 20, 1)]
    assert found[0].message == "They race on 9 and 9. For the same reason these lines race: 9 and 18; 9 and 20."
    assert found[1].message == "They race on 18 and 20."


def test_races_between_two_barriers_that_share_lines_with_each_other_are_one():
    steps = [race(11, 12), race(11, 13), race(12, 13), race(13, 14), race(14, 15)]
    found = one_for_each_cause(steps, lambda finding: 1)
    assert shown(found) == [("race", "tile", 11, 12, 1)]
    assert found[0].message.endswith("these lines race: 11 and 13; 12 and 13; 13 and 14; 14 and 15.")
    apart = one_for_each_cause([race(11, 12), race(11, 13), race(13, 14)], lambda finding: finding.lines[0])
    assert shown(apart) == [("race", "tile", 11, 12, 1), ("race", "tile", 13, 14, 1)]
    assert len(one_for_each_cause([race(11, 12), race(11, 13), race(13, 14)], lambda finding: None)) == 2


def test_other_variables_and_files_have_causes_of_their_own():
    apart = [race(9, 18), race(9, 18, name="other"), race(9, 18, file="b.slang"), race(4, 5)]
    assert len(one_for_each_cause(apart)) == 4


def test_a_benign_race_gives_way_and_is_not_counted():
    found = one_for_each_cause([race(9, 9, kind="benign-race"), race(9, 18), race(3, 4, kind="benign-race")])
    assert shown(found) == [("race", "tile", 9, 18, 1), ("benign-race", "tile", 3, 4, 1)]


def test_a_race_between_two_files_names_both_and_shares_lines_with_races_in_either():
    across = Finding("race", "tile", "They race.", [3, 9], [0, 1], file="a.slang", files=["a.slang", "k.slang"])
    inside = race(9, 18)
    found = one_for_each_cause([across, inside])
    assert [finding.message for finding in found] == [
        "They race. For the same reason these lines race: 9 of k.slang and 18 of k.slang."
    ]
    assert len(one_for_each_cause([across, race(3, 18)])) == 2
    assert across.as_dict()["files"] == ["a.slang", "k.slang"]
    assert "files" not in inside.as_dict()


def test_a_race_between_workgroups_is_another_where_a_barrier_is_the_cause():
    barrier, fence = Why("the barrier on line 9 orders shared memory, not buffers", True), Why("no fence", True)
    within, also = Race(race(8, 12), barrier), Race(race(9, 12), barrier)
    between, again = (Race(race(*lines), fence, is_between_groups=True) for lines in ((8, 12), (12, 9)))
    apart = one_of_races([between, within, again, also])
    assert [finding.message for finding in apart] == ["They race on 8 and 12. For the same reason these lines race: 9 and 12."] * 2


def test_a_race_within_a_workgroup_and_between_two_is_one_where_nothing_is_said_to_be_the_cause():
    same = [Race(race(8, 8)), Race(race(8, 8), is_between_groups=True), Race(race(12, 8), is_between_groups=True)]
    (found,) = one_of_races(same)
    assert found.message == "They race on 8 and 8. For the same reason these lines race: 8 and 12."


def test_a_race_between_workgroups_stays_beside_one_that_a_barrier_would_mend():
    both = [Race(race(8, 12)), Race(race(8, 12), is_between_groups=True), Race(race(8, 8), is_between_groups=True)]
    assert [sorted(one.lines) for one in one_of_races(both)] == [[8, 12], [8, 8]]


def test_a_line_that_races_with_itself_is_named_once():
    (found,) = one_for_each_cause([race(14, 18), race(14, 14)], lambda finding: 1)
    assert found.message in (
        "They race on 14 and 18. For the same reason line 14 races with itself.",
        "They race on 14 and 14. For the same reason these lines race: 14 and 18.",
    )
    found = one_of_races([Race(race(3, 4)), Race(race(14, 14, name="other"))], lambda one, other: True)[0]
    assert found.message == "They race on 3 and 4. For the same reason other races on line 14."
    found = one_of_races([Race(race(3, 4)), Race(race(3, 3))])[0]
    assert found.message.endswith(("line 3 races with itself.", "these lines race: 3 and 4."))
