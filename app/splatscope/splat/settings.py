"""The settings of a training run, with bounds and labels. The training page makes its widgets from them.

The sample is the diff-splatting sample of SlangPy's experiments, described in Slang's blog. The value "shipped" means "as in the
sample": saved states, web addresses and the command line contain that word.
"""

from typing import Any

import param

TILES = {"8 × 4, lists of 512": (8, 4, 512), "16 × 16, lists of 256": (16, 16, 256)}

# Settings that may change during a run. Any other change starts a new run.
LIVE = ("rate_position", "rate_shape", "rate_colour", "rate_opacity", "rate_shipped", "iterations")


# In the order of the binned kernels' constant LOSS.
LOSSES = {"L2": "l2", "L1": "l1", "L1 + SSIM": "l1+ssim"}

FALL = 0.2  # the factor by which the direct model's rates fall over a run


class Settings(param.Parameterized):
    """The settings of a training run. Rates are Adam's step sizes, in the unit of the parameter."""

    size = param.Integer(256, bounds=(16, 4096), label="Longest side", doc="The picture is scaled down to this, in pixels.")
    blobs = param.Integer(2048, bounds=(1, 4_194_304), label="Number", doc="The number of Gaussians.")
    seed = param.Integer(0, bounds=(0, 2**31 - 1), label="Seed", doc="Equal seeds give equal starts.")
    iterations = param.Integer(
        2000, bounds=(1, 1_000_000), label="Iterations", doc="The number of iterations after which the run ends."
    )

    kernels = param.Selector(
        default="binned",
        objects=["simple", "tiled", "binned"],
        label="Kernels",
        doc="simple: every Gaussian for every pixel. tiled: the sample's, a sorted list per tile. binned: the fast kernels.",
    )
    loss = param.Selector(
        default="l2",
        objects=LOSSES,
        label="Loss",
        doc="l2: squared differences. l1: absolute differences. l1+ssim: 0.8 × l1 + 0.2 × (1 − SSIM).",
    )
    growth = param.Boolean(
        default=True,
        label="Growth",
        doc="Start with a tenth of the Gaussians, add the rest where the error is largest, and later move there those that "
        "the picture needs least. Binned kernels, direct model.",
    )
    reproducible = param.Boolean(
        default=False,
        label="Equal bit by bit",
        doc="On one device, equal seeds give equal bits, however often the page draws. Costs one more kernel per iteration.",
    )
    model = param.Selector(
        default="direct",
        objects=["direct", "shipped"],
        label="Model",
        doc="direct: pixels, log sizes, an angle, colours. shipped: as in the sample, everything through smoothstep.",
    )
    tile = param.Selector(
        default="8 × 4, lists of 512",
        objects=list(TILES),
        label="Tile",
        doc="The pixels that a workgroup renders, and the Gaussians that its list holds.",
    )
    gradient_sum = param.Selector(
        default="wave",
        objects=["wave", "tree"],
        label="Gradients summed by",
        doc="wave: across each wave, without a barrier. tree: across the workgroup, in shared memory.",
    )
    background = param.Selector(
        default="correct",
        objects=["correct", "shipped"],
        label="Over white",
        doc="correct: C + T. shipped: C·(1−T) + T, which darkens.",
    )
    adam = param.Selector(
        default="correct",
        objects=["correct", "shipped"],
        label="Bias correction",
        doc="correct: moments divided by 1 − βᵗ. shipped: by 1 − β, which is right at the first step only.",
    )

    rate_position = param.Number(0.2, bounds=(0.0, 2.0), label="Position", doc="Pixels per step, direct model.")
    rate_shape = param.Number(0.04, bounds=(0.0, 0.4), label="Size and angle", doc="Log pixels and radians per step, direct model.")
    rate_colour = param.Number(0.04, bounds=(0.0, 0.2), label="Colour", doc="Colour values per step, direct model.")
    rate_opacity = param.Number(0.05, bounds=(0.0, 0.2), label="Opacity", doc="Logits per step, direct model.")
    rate_shipped = param.Number(0.002, bounds=(0.0, 0.05), label="Rate", doc="Raw values per step, shipped model.")

    def copy(self, **changes: Any) -> "Settings":
        """Return these settings with some of them changed."""
        return Settings(**{name: value for name, value in self.param.values().items() if name != "name"} | changes)

    @property
    def uses_sample_model(self) -> bool:
        """Whether Gaussians are parametrised as in the sample."""
        return self.model == "shipped"

    @property
    def uses_sample_background(self) -> bool:
        """Whether the picture is blended over white by the sample's formula."""
        return self.background == "shipped"

    @property
    def uses_sample_adam(self) -> bool:
        """Whether Adam's moments are corrected as in the sample."""
        return self.adam == "shipped"

    @property
    def grows(self) -> bool:
        """Whether Gaussians are added during the run. Only the binned kernels with the direct model do so."""
        return self.growth and self.kernels == "binned" and self.model == "direct"

    @property
    def start_rates(self) -> tuple[float, float, float, float]:
        """Adam's initial step sizes of (position, shape, colour, opacity)."""
        if self.uses_sample_model:
            return (self.rate_shipped, self.rate_shipped, self.rate_shipped, self.rate_shipped)
        return (self.rate_position, self.rate_shape, self.rate_colour, self.rate_opacity)

    @property
    def fall(self) -> float:
        """The rates at the end of the run, relative to the start. The rates of the sample's model are constant."""
        return 1.0 if self.uses_sample_model else FALL

    def rates(self, step: int) -> tuple[float, ...]:
        """Return the step sizes at `step`, counted from 1."""
        factor = self.fall ** min(1.0, step / self.iterations)
        return tuple(rate * factor for rate in self.start_rates)


def allowed_blobs(settings: Settings, is_software: bool) -> int:
    """Return the largest number of Gaussians for a device at this size. With more, an iteration would take many seconds."""
    if settings.kernels == "simple":
        pairs = 2e7 if is_software else 5e8  # (pixel, Gaussian) pairs; autodiff also stores a state for each step of the loop
        return max(1, min(512, int(pairs / settings.size**2)))
    if settings.kernels == "binned":
        return 131_072 if is_software else 4_194_304
    width, height, _ = TILES[settings.tile]
    tests = 5e8 if is_software else 2e10  # (tile, Gaussian) pairs that the coarse pass tests
    return max(1, min(1_048_576, int(tests * width * height / settings.size**2)))


def allowed_size(is_software: bool) -> int:
    """Return the longest side for a device, in pixels. A larger picture would make an iteration take many seconds."""
    return 1024 if is_software else 4096


def refuse(settings: Settings, is_software: bool) -> str | None:
    """Return one line that says why these settings cannot run on a device, or None if they can."""
    device = "a software device" if is_software else "this device"
    longest = allowed_size(is_software)
    if settings.size > longest:
        return f"A side of {settings.size:,} pixels is too long for {device}: 16 to {longest:,} are allowed."
    if settings.loss != "l2" and settings.kernels != "binned":
        return f"The {settings.kernels} kernels support the loss l2 only: choose it, or the binned kernels for {settings.loss}."
    if settings.reproducible and settings.kernels != "binned":
        return f"The {settings.kernels} kernels add in no fixed order: choose the binned kernels for reproducible runs."
    most = allowed_blobs(settings, is_software)
    if settings.blobs > most:
        return (
            f"{settings.blobs:,} Gaussians are too many for {device} with {settings.kernels} kernels at {settings.size:,} pixels: "
            f"1 to {most:,} are allowed."
        )
    return None
