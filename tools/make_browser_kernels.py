"""Make the kernels that run in the reader's browser.

Those that sections record are written to lessons/NAME/kernel.wgsl.json, for each section with a live.ts; those of training and
of the home page to TRAINING_KERNELS and OPENING_KERNELS.
"""

import json

from splatscope.gpu.device import open_device
from splatscope.paths import LESSONS, OPENING_KERNELS, TRAINING_KERNELS
from splatscope.splat.browser_kernels import as_json, opening_kernels, training_kernels
from splatscope.textbook.contents import find_lesson
from splatscope.tracing.browser_kernel import browser_kernel


def main() -> None:
    """Write all of them."""
    for live in sorted(LESSONS.glob("*/live.ts")):
        kernel = browser_kernel(open_device(), find_lesson(live.parent.name)().job())
        text = json.dumps(kernel.as_json(), indent=1)
        live.with_name("kernel.wgsl.json").write_text(text + "\n", encoding="utf-8")
        print(f"{live.parent.name}: {len(text):,} bytes")
    for file, kernels in ((TRAINING_KERNELS, training_kernels()), (OPENING_KERNELS, opening_kernels())):
        text = json.dumps(as_json(kernels), indent=1)
        file.write_text(text + "\n", encoding="utf-8")
        print(f"{file.stem}: {len(text):,} bytes")


if __name__ == "__main__":
    main()
