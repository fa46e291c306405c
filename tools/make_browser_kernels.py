"""Make the kernels that run in the reader's browser.

Those that sections record are written to lessons/NAME/kernel.wgsl.json, for each section with a live.ts; those of training to
TRAINING_KERNELS.
"""

import json

from splatscope.gpu.device import open_device
from splatscope.paths import LESSONS, TRAINING_KERNELS
from splatscope.splat.browser_kernels import as_json, training_kernels
from splatscope.textbook.contents import find_lesson
from splatscope.tracing.browser_kernel import browser_kernel


def main() -> None:
    """Write all of them."""
    for live in sorted(LESSONS.glob("*/live.ts")):
        kernel = browser_kernel(open_device(), find_lesson(live.parent.name)().job())
        text = json.dumps(kernel.as_json(), indent=1)
        live.with_name("kernel.wgsl.json").write_text(text + "\n", encoding="utf-8")
        print(f"{live.parent.name}: {len(text):,} bytes")
    text = json.dumps(as_json(training_kernels()), indent=1)
    TRAINING_KERNELS.write_text(text + "\n", encoding="utf-8")
    print(f"training: {len(text):,} bytes")


if __name__ == "__main__":
    main()
