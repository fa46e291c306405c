"""`splatscope check --baseline`: findings that an earlier report has are known, and only others fail."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from splatscope.check.kernels import ConfigurationError
from splatscope.printable import printable, relative
from splatscope.tracing.checks.finding import Finding

if TYPE_CHECKING:
    from splatscope.check.run import KernelVerdict

KNOWN = "in the baseline"
_Key = tuple[str, str, str, str]


class Baseline:
    """The findings of an earlier report of `--json`.

    A finding is known if the report has one of the same kind, about the same name, of the same kernel in the same file, wherever
    its line is by now. Each in the report makes one known.
    """

    def __init__(self, file: Path, here: Path) -> None:
        self._here = here
        try:
            report = json.loads(file.read_text(encoding="utf-8"))
            rows = [(kernel, finding) for kernel in report["kernels"] for finding in kernel["findings"] + kernel["silenced"]]
            keys = [(kernel["name"], kernel["file"], finding["kind"], finding["name"]) for kernel, finding in rows]
        except OSError as error:
            why = f"{error.strerror}. Write it with: splatscope check --json > {file}"
            raise ConfigurationError(f"{file} cannot be read: {why}") from None
        except (ValueError, KeyError, TypeError):
            raise ConfigurationError(f"{file} is not what splatscope check --json prints.") from None
        self._left: Counter[_Key] = Counter(keys)

    def without_known(self, verdict: "KernelVerdict") -> "KernelVerdict":
        """Return a verdict in which findings that are known are silenced."""
        unknown: list[Finding] = []
        known: list[tuple[Finding, str]] = []
        for finding in verdict.findings:
            key = verdict.kernel.name, relative(verdict.kernel.path, self._here), finding.kind, printable(finding.name)
            if self._left[key] > 0:
                self._left[key] -= 1
                known.append((finding, KNOWN))
            else:
                unknown.append(finding)
        return replace(verdict, findings=unknown, silenced=[*verdict.silenced, *known])
