"""`make bench`: iterations a second of each kind of kernels, interleaved, so that a busy machine slows all of them alike."""

import statistics
import sys

from rich.console import Console
from rich.table import Table

from splatscope.gpu.device import adapter_of, open_device
from splatscope.paths import ASSETS
from splatscope.splat.images import crop_picture
from splatscope.splat.settings import Settings
from splatscope.splat.state import start_state
from splatscope.splat.trainer import Trainer

PICTURE = "astronaut.jpg"
ROUNDS = 7
ROUND_SECONDS = 1.5

CASES = {
    "simple, 64 × 64, 64 Gaussians": Settings(kernels="simple", size=64, blobs=64),
    "tiled, 256 × 256, 2,048 Gaussians": Settings(kernels="tiled"),
    "… tiles of 16 × 16": Settings(kernels="tiled", tile="16 × 16, lists of 256"),
    "… gradients summed by a tree": Settings(kernels="tiled", gradient_sum="tree"),
    "… the shipped model": Settings(kernels="tiled", model="shipped"),
    "binned, 256 × 256, 2,048 Gaussians": Settings(kernels="binned"),
}


def main() -> None:
    device = open_device()
    data = (ASSETS / PICTURE).read_bytes()
    trainers, speeds = {}, {name: [] for name in CASES}
    for name, settings in CASES.items():
        settings.iterations = 1_000_000
        picture = crop_picture(data, PICTURE, settings.size, settings.size)
        trainers[name] = Trainer(device, start_state(settings, picture.pixels, PICTURE))
    for _ in range(ROUNDS):
        for name, trainer in trainers.items():
            before = trainer.state.seconds
            done = trainer.advance(1_000_000, ROUND_SECONDS)
            speeds[name].append(done / (trainer.state.seconds - before))

    table = Table(
        "kernels", "iterations/s", "spread", "dB", "after", "gradient ms", title=adapter_of(device).name, title_justify="left"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for name, trainer in trainers.items():
        look = trainer.look()
        low, *_, high = sorted(speeds[name])
        gradient = next(ms for kernel, ms in look.kernel_ms.items() if "Derivatives" in kernel and kernel != "clearDerivativesMain")
        table.add_row(
            name,
            f"{statistics.median(speeds[name]):,.1f}",
            f"{low:,.1f} – {high:,.1f}",
            f"{look.psnr:.1f}",
            f"{look.seconds:.1f} s",
            f"{gradient:.2f}",
        )
    Console(file=sys.stdout).print(table)


if __name__ == "__main__":
    main()
