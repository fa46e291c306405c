"""What a user may choose for a training run, with bounds and labels, from which the widgets of the training page are made.

The sample is the diff-splatting sample of SlangPy's experiments, described in Slang's blog. What is done as the sample does it is
called "shipped" in settings: saved states, web addresses and the command line hold that word.
"""

import param

TILES = {"8 × 4, lists of 512": (8, 4, 512), "16 × 16, lists of 256": (16, 16, 256)}

# What may change while a run goes on; all else starts a new one.
LIVE = ("rate_position", "rate_shape", "rate_colour", "rate_opacity", "rate_shipped", "iterations")


# In the order of the binned kernels' constant LOSS.
LOSSES = {"L2": "l2", "L1": "l1", "L1 + SSIM": "l1+ssim"}  # by what a page calls them

FALL = 0.2  # of the direct model's rates over a run


class Settings(param.Parameterized):
    """A training run. Rates are Adam's step sizes, in the units of what they move."""

    size = param.Integer(256, bounds=(16, 4096), label="Longest side", doc="The picture is scaled down to this, in pixels.")
    blobs = param.Integer(2048, bounds=(1, 4_194_304), label="Number", doc="How many Gaussians fit the picture.")
    seed = param.Integer(0, bounds=(0, 2**31 - 1), label="Seed", doc="Same seed, same start.")
    iterations = param.Integer(2000, bounds=(1, 1_000_000), label="Iterations", doc="Where the run ends.")

    kernels = param.Selector(
        default="binned",
        objects=["simple", "tiled", "binned"],
        label="Kernels",
        doc="simple: every Gaussian for every pixel. tiled: a sorted list a tile. binned: each Gaussian finds its tiles once.",
    )
    loss = param.Selector(
        default="l2",
        objects=LOSSES,
        label="Loss",
        doc="l2: squared differences. l1: absolute ones. l1+ssim: 0.8 of l1, 0.2 of what windows lack in similar structure.",
    )
    growth = param.Boolean(
        default=True,
        label="Growth",
        doc="Start with a quarter of the Gaussians, add the rest where the error is largest. Binned kernels, direct model.",
    )
    reproducible = param.Boolean(
        default=False,
        label="Equal bit by bit",
        doc="Two runs from one seed give the same bits on one device, whenever they are looked at. One more kernel an iteration.",
    )
    model = param.Selector(
        default="direct",
        objects=["direct", "shipped"],
        label="Model",
        doc="direct: pixels, log sizes, an angle, colours. shipped: as the sample has it, all through smoothstep.",
    )
    tile = param.Selector(
        default="8 × 4, lists of 512",
        objects=list(TILES),
        label="Tile",
        doc="Pixels a workgroup renders, Gaussians it can list.",
    )
    gradient_sum = param.Selector(
        default="wave",
        objects=["wave", "tree"],
        label="Gradients summed by",
        doc="wave: over each wave, no barrier. tree: in shared memory over the workgroup.",
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
        doc="correct: moments divided by 1 − βᵗ. shipped: by 1 − β, right at the first step only.",
    )

    rate_position = param.Number(0.2, bounds=(0.0, 2.0), label="Position", doc="Pixels a step, direct model.")
    rate_shape = param.Number(0.04, bounds=(0.0, 0.4), label="Size and angle", doc="Log pixels and radians a step, direct model.")
    rate_colour = param.Number(0.04, bounds=(0.0, 0.2), label="Colour", doc="Colour values a step, direct model.")
    rate_opacity = param.Number(0.05, bounds=(0.0, 0.2), label="Opacity", doc="Logits a step, direct model.")
    rate_shipped = param.Number(0.002, bounds=(0.0, 0.05), label="Rate", doc="Raw values a step, shipped model.")

    @property
    def uses_sample_model(self) -> bool:
        """Whether Gaussians are parametrised as in the sample."""
        return self.model == "shipped"

    @property
    def uses_sample_background(self) -> bool:
        """Whether the picture is laid over white by the sample's formula."""
        return self.background == "shipped"

    @property
    def uses_sample_adam(self) -> bool:
        """Whether Adam's moments are corrected as in the sample."""
        return self.adam == "shipped"

    @property
    def grows(self) -> bool:
        """Whether Gaussians are added as the run goes on. The other kernels and model stay as the pages teach them."""
        return self.growth and self.kernels == "binned" and self.model == "direct"

    @property
    def start_rates(self) -> tuple[float, float, float, float]:
        """Adam's step sizes of (position, shape, colour, opacity) at the start."""
        if self.uses_sample_model:
            return (self.rate_shipped,) * 4
        return (self.rate_position, self.rate_shape, self.rate_colour, self.rate_opacity)

    @property
    def fall(self) -> float:
        """The part of the start's rates that is left at the run's end. The rates of the sample's model are constant."""
        return 1.0 if self.uses_sample_model else FALL

    def rates(self, step: int) -> tuple[float, ...]:
        """The step sizes at `step`, from 1."""
        part = self.fall ** min(1.0, step / self.iterations)
        return tuple(rate * part for rate in self.start_rates)


def allowed_blobs(settings: Settings, is_software: bool) -> int:
    """The most Gaussians a device takes at this size: beyond, an iteration would hold it for many seconds."""
    if settings.kernels == "simple":
        pairs = 2e7 if is_software else 5e8  # (pixel, Gaussian) pairs; and autodiff stores a state for each step of the loop
        return max(1, min(512, int(pairs / settings.size**2)))
    if settings.kernels == "binned":
        return 131_072 if is_software else 4_194_304
    width, height, _ = TILES[settings.tile]
    tests = 5e8 if is_software else 2e10  # (tile, Gaussian) pairs that the coarse pass tests
    return max(1, min(1_048_576, int(tests * width * height / settings.size**2)))


def allowed_size(is_software: bool) -> int:
    """The longest side a device takes, in pixels, for the same reason."""
    return 1024 if is_software else 4096


def refuse(settings: Settings, is_software: bool) -> str | None:
    """Why these settings cannot run on a device, in one line; None if they can."""
    device = "a software device" if is_software else "this device"
    longest = allowed_size(is_software)
    if settings.size > longest:
        return f"A side of {settings.size:,} pixels is too long for {device}: 16 to {longest:,} are allowed."
    if settings.loss != "l2" and settings.kernels != "binned":
        return f"The {settings.kernels} kernels know no loss but l2: choose it, or the binned kernels for {settings.loss}."
    if settings.reproducible and settings.kernels != "binned":
        return f"The {settings.kernels} kernels add in whatever order threads come: choose the binned ones for equal bits."
    most = allowed_blobs(settings, is_software)
    if settings.blobs > most:
        return (
            f"{settings.blobs:,} Gaussians are too many for {device} with {settings.kernels} kernels at {settings.size:,} pixels: "
            f"1 to {most:,} are allowed."
        )
    return None
