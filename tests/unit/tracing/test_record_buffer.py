"""How the recorder's buffer is divided among threads."""

import numpy as np

from splatscope.tracing.record_buffer import LEAST, Usage, first_sizes, fitting_sizes, starts_of

NO = np.zeros(4, bool)


def usage(needed, full, endless=NO):
    return Usage(np.array(needed), np.array(full), np.asarray(endless))


def test_what_a_thread_needs_is_counted_in_its_last_record():
    starts = starts_of(np.array([20, 20, 20]))
    records = np.zeros((60, 4), np.uint32)
    records[:7, 0] = 1  # the first ends after 7 records
    records[20:39, 0] = 1  # the second would have written 500
    records[38, 3] = 20 + 500
    records[40:60, 0] = 1  # the third never ends: its spare record is written, too
    records[58, 3] = 40 + 900
    found = Usage.of(records, starts)
    assert found.needed.tolist() == [7, 500, 900]
    assert found.is_full.tolist() == [False, True, True]
    assert found.wants.tolist() == [False, True, False]


def test_the_busy_thread_gets_what_the_others_do_not_need():
    sizes, total = fitting_sizes(first_sizes(4, 4000), usage([10, 3000, 10, 10], [False, True, False, False]), 4000)
    assert total <= sizes.sum() <= 4000
    assert sizes[1] >= 3000 + LEAST
    assert (sizes[[0, 2, 3]] >= 10 + LEAST).all()


def test_no_more_is_taken_than_helps():
    wants = usage([10, 3000, 10, 10], [False, True, False, False])
    assert fitting_sizes(first_sizes(4, 400), wants, 60_000_000)[0].sum() <= 4 * 3100
    assert fitting_sizes(first_sizes(4, 400), wants, 3000) == (None, 3000 + 30 + 4 * LEAST)


def test_nobody_waits_for_a_thread_that_never_ends():
    is_full = [False, True, False, False]
    assert fitting_sizes(first_sizes(4, 400), usage([10, 10**6, 10, 10], is_full, is_full), 60_000_000) == (None, 0)


def test_another_workgroup_is_expected_to_need_as_much():
    sizes = first_sizes(8, 60_000_000, np.array([10, 3000, 10, 10]))
    assert (sizes[[1, 5]] > 6000).all()
    assert sizes.sum() < 500_000
    assert first_sizes(8, 4000, np.array([10, 3000, 10, 10])).tolist() == [500] * 8
