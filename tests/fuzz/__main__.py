"""Fuzz the recorder: `python -m tests.fuzz --count 300 --seed 1 --processes 2`. Exits with 1 if a kernel is unexplained."""

import argparse
import json
import sys
from pathlib import Path

from .kernels import kernel
from .run import run, summary


def main() -> int:
    """Run the kernels and print the summary."""
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many kernels")
    parser.add_argument("--seed", type=int, default=1, help="the first one's seed; the others follow")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="print the kernel of the seed, and run nothing")
    parser.add_argument("--out", type=Path, help="also write the summary to this file")
    options = parser.parse_args()
    if options.show:
        print(kernel(options.seed).source)
        return 0
    verdicts = []
    for verdict in run(range(options.seed, options.seed + options.count), options.processes):
        verdicts.append(verdict)
        if verdict.outcome not in ("equal", "rounding"):
            print(f"{len(verdicts)}/{options.count} seed {verdict.seed}: {verdict.outcome} {verdict.said[:200]}", file=sys.stderr)
    text = json.dumps(summary(verdicts), indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
    return int(any(v.outcome in ("unexplained", "crash", "timeout") for v in verdicts))


if __name__ == "__main__":
    sys.exit(main())
