"""The audit of locked packages tells an advisory from a registry that does not answer."""

import json
import runpy
from pathlib import Path

import pytest

AUDIT = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "audit.py"), run_name="audit")


def test_the_versions_of_both_lock_files_are_read():
    versions = AUDIT["locked"](AUDIT["LOCK"].read_text())
    assert set(AUDIT["EXPOSED"]) <= versions.keys()
    assert all(version[0].isdigit() for version in versions.values())


@pytest.mark.parametrize("report", ["", "no JSON", "[]", "null", '{"message": "405 Not Allowed"}', '{"error": {"code": "E"}}'])
@pytest.mark.parametrize("read", ["npm_advisories", "pip_advisories"])
def test_a_registry_that_does_not_answer_is_no_clean_audit(read, report):
    assert AUDIT[read](report) is None


def test_advisories_are_listed():
    npm = {"vulnerabilities": {"esbuild": {"range": "<1.0.0", "severity": "high"}}}
    assert AUDIT["npm_advisories"](json.dumps(npm)) == ["esbuild <1.0.0: high"]
    assert AUDIT["npm_advisories"]('{"vulnerabilities": {}}') == []
    pip = {"dependencies": [{"name": "a", "version": "1", "vulns": []}, {"name": "b", "version": "2", "vulns": [{"id": "X-1"}]}]}
    assert AUDIT["pip_advisories"](json.dumps(pip)) == ["b 2: X-1"]


def test_what_is_behind_and_what_is_not_known_are_told_apart():
    assert AUDIT["behind"]({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "2.1", "c": ""}) == (["b 2: 2.1 is there"], ["c"])
