"""The kernels of docs/porting.md do what they say when they are run by the command above each, with as many values as fit."""

import json
import re
import shlex
from pathlib import Path

import pytest

from splatscope.cli.main import main
from splatscope.gpu.device import open_device

PAGE = (Path(__file__).parents[2] / "docs" / "porting.md").read_text(encoding="utf-8")
KERNELS = {
    kernel.split()[3]: kernel for kernel in re.findall(r"^```slang\n(// splatscope trace .*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
}
LEFT = {
    "sum.slang": ("sums", [64.0, 64.0]),
    "histogram.slang": ("histogram", [0, 0, 0, 100, *[0] * 12]),
    "compact.slang": ("count", [64]),
    "product.slang": ("c", [32.0] * 256),
}


def test_five_kernels_are_ported():
    assert len(KERNELS) == len(re.findall(r"^```(?:glsl|wgsl)$", PAGE, re.MULTILINE)) == 5


@pytest.mark.parametrize("name", KERNELS)
def test_a_ported_kernel_is_clean_and_leaves_what_it_should(name, tmp_path, monkeypatch, capsys):
    open_device()
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(KERNELS[name], encoding="utf-8")
    command = KERNELS[name].split("\n")[0].removeprefix("// ")
    _, *arguments = shlex.split(re.sub(r"\[(\d+)\]=(\d+)", lambda m: f"[{m[1]}]={','.join([m[2]] * int(m[1]))}", command))
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--json"])
    report = json.loads(capsys.readouterr().out)
    assert (end.value.code, report["missed"], report["same_as_plain"]) == (0, [], True), report
    buffer, left = LEFT.get(name, ("", None))
    assert report["buffers"].get(buffer) == left
