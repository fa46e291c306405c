"""The command line in general, without a device."""

import os
import subprocess
import sys

import pytest


def splatscope(*arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", "splatscope", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | environment).stdout


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"_SPLATSCOPE_COMPLETE": "complete_bash", "COMP_WORDS": "splatscope che", "COMP_CWORD": "1"}, "check"),
        ({"_SPLATSCOPE_COMPLETE": "complete_bash", "COMP_WORDS": "splatscope check --ba", "COMP_CWORD": "2"}, "--baseline"),
        ({"_SPLATSCOPE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "splatscope check --wat"}, "--watch"),
        (
            {
                "_SPLATSCOPE_COMPLETE": "complete_fish",
                "_TYPER_COMPLETE_ARGS": "splatscope tra",
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            },
            "trace",
        ),
    ],
    ids=["bash", "bash option", "zsh", "fish"],
)
def test_shells_complete_commands_and_options(environment, words):
    assert words in splatscope(**environment)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell):
    script = splatscope("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert f"_SPLATSCOPE_COMPLETE=complete_{shell}" in script
