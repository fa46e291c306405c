"""Sources as a page sends them: mutated kernels, and texts that are hard to read. All pass the filter or are refused in one line.

Some of those that pass are also compiled, in the sandbox: what reads a file there has got past the filter.
"""

import random
import re
from functools import cache
from typing import Any

from splatscope.paths import shaders
from splatscope.services.drafts import playground
from splatscope.services.drafts.draft import kernel_of
from splatscope.web.examples.gallery import EXAMPLES
from splatscope.workers.errors import WorkerError
from splatscope.workers.sandbox.source_filter import refuse_job
from splatscope.workers.sandbox.supervisor import Sandbox

from .kernels import kernel
from .mutate import damaged

COMPILED = 25  # one in so many
READS_FILES = "cannot read files"
PIECES = (
    '"', "'", "/*", "*/", "//", "\\\n", "\\", "\n", "\r", "\n\r", "\t", " ", "#", "##", "%:", ";", "(", ")", "{", "}", "[", "]",
    "<", ">", "import ", 'import "', "import workgroup;", "__include ", "#include ", '#include "', "#include <", "implementing x;",
    'R"(', ')"', "#define a a a\n", "#define ", "#undef ", "#if ", "#endif\n", "#pragma once\n", "#pragma ", '#line 1 "x"\n',
    "spirv_asm {", "embed", "[playground::ZEROS(4)] ", "[playground::", "[ playground :: CALL(1 << ", "const int a = a + 1;",
    "const static float4 ", "printMain", "void printMain()", "float4 imageMain(uint2 a, int2 b)", "playground", "drawPixel(",
    "printf(", "import printing;", "\ufeff", "\ud800", "é", "\u2028", "\x0b", "\x1c", "0x", "1e", "9" * 40, "a" * 100, "_Pragma(",
    "__requirePrelude(", "defined(", "__FILE__", "\0",
)  # fmt: skip


@cache
def seeds() -> tuple[str, ...]:
    """Return valid sources."""
    return (*(path.read_text(encoding="utf-8") for path in shaders()), *(example.source for example in EXAMPLES))


def make_source(seed: int) -> dict[str, Any]:
    """Return a draft whose source, or what it is compiled with, is not what it should be."""
    rng = random.Random(seed)
    draft: dict[str, Any] = {"source": _source(rng), "compile": seed % COMPILED == 0}
    if rng.random() < 0.2:
        odd = "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 5)))
        draft |= {
            "defines": rng.choice(("A=1", f"A={odd}", odd, f"A(x)={odd}")),
            "constants": {rng.choice(("N", odd)): rng.choice(("1", odd))},
            "arguments": rng.choice(("float", odd, "Array<int, 4>")),
            "conformances": rng.choice(("A : B", odd)),
        }
    return draft


def _source(rng: random.Random) -> str:
    if rng.random() < 0.15:
        length = rng.choice((100, 5000, 60_000))
        pieces = "".join(rng.choice(PIECES) for _ in range(rng.choice((1, 1, 2, 3))))
        return (pieces * length)[:length]
    source = kernel(rng.randrange(10**6)).source if rng.random() < 0.3 else rng.choice(seeds())
    tokens = re.findall(r"\w+|\s+|.", source)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        at = rng.randrange(len(tokens) + 1)
        match rng.randrange(6):
            case 0:
                del tokens[at : at + rng.choice((1, 1, 5, 50))]
            case 1:
                tokens[at:at] = [rng.choice(PIECES)] * rng.choice((1, 1, 1, 30))
            case 2:
                tokens[at:at] = tokens[at : at + rng.choice((1, 10, 100))]
            case 3 if at < len(tokens):
                tokens[at] = rng.choice(tokens)
            case 4 if at < len(tokens):
                tokens[at] = rng.choice(PIECES)
            case 5 if rng.random() < 0.2:
                return damaged("".join(tokens).encode(errors="replace"), rng).decode(errors="replace")
    return "".join(tokens)


@cache
def _sandbox() -> Sandbox:
    return Sandbox("splatscope.services.sandbox_jobs")


def take_source(draft: dict[str, Any]) -> str:
    """Read a draft as the debugger does, filter it, and perhaps compile it in the sandbox."""
    job = kernel_of(draft)
    found = playground.read(job.source)
    if found.refusal:
        return found.refusal
    if (wrong := refuse_job(job)) or not draft["compile"]:
        return wrong
    try:
        answer, _ = _sandbox().run("check", (job,), 20.0)
    except WorkerError as error:
        if READS_FILES in str(error):
            raise ValueError(f"the filter let a source pass that reads a file: {job.source[:2000]!r}") from None
        return str(error)
    return answer["error"].replace("\n", " ")
