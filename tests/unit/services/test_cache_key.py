"""The key of a recording: another job has another, the same job the same."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from splatscope.services.cache_key import recording_key
from splatscope.tracing.job import KernelJob

JOB = KernelJob("void main() {}", inputs={"values": np.arange(4)}, constants={"N": 1, "M": 2})
OTHER = {
    "source": "void main() { }",
    "file": "other.slang",
    "entry": "main",
    "groups": (2, 1, 1),
    "group": (1, 0, 0),
    "inputs": {"values": np.arange(4, dtype=np.uint32)},
    "include": (Path("folder"),),
    "files": {"a.slang": ""},
    "constants": {"N": 2, "M": 2},
    "defines": {"N": "2"},
    "arguments": ("float",),
    "conformances": (("Red", "IColour"),),
    "records": 64,
    "loop_budget": 9,
    "all_groups": True,
    "part": (0, 4, 2),
    "functions": ("main",),
    "instrument_scope": "entry",
    "scope_reason": "it was too slow",
}


@pytest.mark.parametrize("name", [field.name for field in fields(KernelJob)])
def test_a_job_that_differs_in_one_field_has_another_key(name):
    assert recording_key(replace(JOB, **{name: OTHER[name]})) != recording_key(JOB)


def test_another_device_has_another_key(monkeypatch):
    assert recording_key(JOB, "cpu") != recording_key(JOB)
    before = recording_key(JOB)
    monkeypatch.setenv("SPLATSCOPE_DEVICE", "somewhere else")
    assert recording_key(JOB) != before


def test_equal_jobs_have_one_key_whatever_the_order_of_their_names():
    assert recording_key(replace(JOB, inputs={"values": np.arange(4)}, constants={"M": 2, "N": 1})) == recording_key(JOB)
