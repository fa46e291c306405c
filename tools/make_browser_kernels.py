"""Make the kernels that sections record in the reader's browser: lessons/NAME/kernel.wgsl.json, for each section with a live.ts."""

import json

from splatscope.gpu.device import open_device
from splatscope.paths import LESSONS
from splatscope.textbook.contents import find_lesson
from splatscope.tracing.browser_kernel import browser_kernel


def main() -> None:
    """Write all of them."""
    for live in sorted(LESSONS.glob("*/live.ts")):
        kernel = browser_kernel(open_device(), find_lesson(live.parent.name)().job())
        text = json.dumps(kernel.as_json(), indent=1)
        live.with_name("kernel.wgsl.json").write_text(text + "\n", encoding="utf-8")
        print(f"{live.parent.name}: {len(text):,} bytes")


if __name__ == "__main__":
    main()
