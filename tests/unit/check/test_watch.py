"""A watch misses no change, and goes on whatever is saved."""

from pathlib import Path

import pytest

from splatscope.check import run
from splatscope.check.kernels import CONFIGURATION, CheckedKernel
from splatscope.check.run import KernelVerdict
from splatscope.check.watch import Changes
from splatscope.cli.check import check
from splatscope.tracing.job import KernelJob


def verdict(file: Path, entry: str, *read: Path) -> KernelVerdict:
    kernel = CheckedKernel(f"{file.name} {entry}", file, KernelJob("", file.name, entry))
    return KernelVerdict(kernel, paths={path.name: path for path in read})


def save(*files: Path) -> None:
    for file in files:
        file.write_text(file.read_text() + "\n" if file.exists() else "")


def test_a_file_that_is_saved_during_a_check_has_changed(tmp_path):
    kernel, module = tmp_path / "a.slang", tmp_path / "module.h"
    save(kernel, module)
    changes = Changes(tmp_path, [tmp_path])
    kernel.unlink()
    changes.add_read([verdict(kernel, "main", module)])
    assert changes.wait() == {kernel}
    module.unlink()
    assert changes.wait() == {module}


def test_each_kernel_is_affected_by_what_any_check_has_read_for_it(tmp_path):
    one, two, first, second, other = (tmp_path / name for name in ("1.slang", "2.slang", "first.h", "second.h", "other.h"))
    verdicts = [verdict(one, "a", first), verdict(one, "b", second), verdict(two, "main", second)]
    kernels = [each.kernel for each in verdicts]
    changes = Changes(tmp_path, [])
    changes.add_read(verdicts)
    changes.add_read(verdicts[:2])
    assert changes.affected(kernels, {first}) == kernels[:2]
    assert changes.affected(kernels, {second}) == kernels
    assert changes.affected(kernels, {two}) == kernels[2:]
    assert changes.affected(kernels, {two, other}) == kernels


def test_a_configuration_that_is_half_written_does_not_end_a_watch(tmp_path, monkeypatch, capsys):
    configuration, texts = tmp_path / CONFIGURATION, iter(["[[kern", "allow = []\n"])
    checks: list[list[CheckedKernel]] = []

    def check_all(kernels: list[CheckedKernel], *_: object) -> list[KernelVerdict]:
        checks.append(kernels)
        return []

    def wait(_: Changes) -> set[Path]:
        if (text := next(texts, None)) is None:
            raise KeyboardInterrupt
        configuration.write_text(text)
        return {configuration}

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "check", check_all)
    monkeypatch.setattr(Changes, "wait", wait)
    with pytest.raises(KeyboardInterrupt):
        check(watch=True, sandbox=False)
    assert len(checks) == 2
    assert f"{configuration} cannot be read: " in capsys.readouterr().out
