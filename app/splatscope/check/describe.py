"""`splatscope check --init`: describe each kernel that has no description."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from splatscope.check import jobs
from splatscope.check.kernels import CONFIGURATION, ConfigurationError, Undescribed, kernel_of
from splatscope.check.recorder import PARSE_SECONDS, Recorder, with_files
from splatscope.check.repository import Repository

COMPILE_SECONDS = 60.0
HEAD = "# How splatscope check runs the kernels of this folder. Change sizes and values until all lines are reached.\n"


def with_descriptions(undescribed: Undescribed, here: Path, recorder: Recorder, repository: Repository) -> tuple[Path, str, int]:
    """Return the configuration file of a folder, its text with a description of each kernel added, and their number.

    Buffers and textures get the size that they have by default, and numbers 0.

    Raises:
        ConfigurationError: The configuration cannot be read.
    """
    file, table = _configuration_of(here)
    kernels = [(path, entry) for path, entry in undescribed.kernels if str(path).isprintable() and path.is_relative_to(here)]
    texts = [_description(path, entry, here, table, recorder, repository) for path, entry in kernels]
    try:
        old = repository.text(file).rstrip() if file.exists() else ""
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    return file, "\n\n".join([old or HEAD.rstrip(), *texts]) + "\n", len(texts)


def _configuration_of(here: Path) -> tuple[Path, str]:
    """Return the configuration of a folder, and the name of the table that a kernel has in it."""
    own, project = here / CONFIGURATION, here / "pyproject.toml"
    if own.exists() or not project.exists():
        return own, "kernel"
    try:
        has_table = "splatscope" in tomllib.loads(project.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, ValueError):
        has_table = False
    return (project, "tool.splatscope.kernel") if has_table else (own, "kernel")


def _description(path: Path, entry: str, here: Path, table: str, recorder: Recorder, repository: Repository) -> str:
    lines = [f"[[{table}]]", f"file = {_text(path.relative_to(here).as_posix())}", f"entry = {_text(entry)}", "groups = [1, 1, 1]"]
    try:
        job, _ = with_files(kernel_of(path, {"entry": entry}, path.name, repository), repository)
        answer, _ = recorder.run(jobs.INPUTS, (job, ""), COMPILE_SECONDS + PARSE_SECONDS)
        values = {str(name): value for name, value in answer["inputs"].items() if str(name).isprintable()}
        lines += (
            [f"vars = {{ {', '.join(f'{_text(name)} = {_value(value)}' for name, value in values.items())} }}"] if values else []
        )
    except Exception:  # whatever a kernel may cause, it concerns its own description alone
        lines.append("# vars = { } could not be filled in: the kernel does not compile as it is")
    return "\n".join(lines)


def _value(value: Any) -> str:
    """Return a value as TOML has it."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_value(part)}' for name, part in value.items())} }}"
    return json.dumps(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
