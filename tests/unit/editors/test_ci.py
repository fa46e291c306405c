"""The action for GitHub and the hook for pre-commit: what they run exists, and their shell is right."""

import re
import shlex
import subprocess

import pytest
import typer
import yaml

from splatscope.check.kernels import SUFFIXES
from splatscope.cli.main import commands
from splatscope.paths import CHECKOUT

ACTION = yaml.safe_load((CHECKOUT / "action.yml").read_text(encoding="utf-8"))
[HOOK] = yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]


@pytest.mark.parametrize("step", [step for step in STEPS if "run" in step], ids=lambda step: step["run"].split()[0])
def test_a_step_is_shell_that_takes_inputs_from_its_environment_alone(step):
    subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)
    assert "${{" not in step["run"]
    used = {value for text in step.get("env", {}).values() for value in re.findall(r"inputs\.(\w+)", text)}
    assert used <= ACTION["inputs"].keys()


def test_what_the_action_and_the_hook_run_exists():
    check = typer.main.get_command(commands).commands["check"]
    options = {name for parameter in check.params for name in parameter.opts}
    [call] = [step["run"] for step in STEPS if step.get("run", "").startswith("splatscope ")]
    for words in (shlex.split(call), HOOK["entry"].split()):
        assert words[:2] == ["splatscope", "check"]
        assert {word for word in words if word.startswith("--")} <= options


def test_the_hook_is_called_for_kernels_alone():
    files = re.compile(HOOK["files"])
    assert all(files.search(f"kernels/scan{suffix}") for suffix in SUFFIXES[:3])
    assert not files.search("kernels/scan.slang.md")
    assert HOOK["pass_filenames"] is False  # a module alone has no kernel to check
