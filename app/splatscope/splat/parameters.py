"""The nine parameters of a Gaussian: names, units, learning rates, and rows in arrays of raw values.

shaders/common/parameters.slang names the same rows in Slang.
"""

from dataclasses import dataclass

# Parameters that share a learning rate, in the order of `Settings.start_rates`.
GROUPS = ("position", "shape", "colour", "opacity")


@dataclass(frozen=True)
class SplatParameter:
    """One of the nine parameters of a Gaussian.

    Attributes:
        name: The name of the raw value.
        label: What the raw value determines, in plain words.
        unit: The unit of the raw value; "" for a plain number.
        group: Which learning rate applies, one of GROUPS.
    """

    name: str
    label: str
    unit: str
    group: str


# The direct model, row by row.
DIRECT = (
    SplatParameter("x", "x", "pixels", "position"),
    SplatParameter("y", "y", "pixels", "position"),
    SplatParameter("log size 1", "first size", "ln pixels", "shape"),
    SplatParameter("log size 2", "second size", "ln pixels", "shape"),
    SplatParameter("angle", "angle", "radians", "shape"),
    SplatParameter("red", "red", "", "colour"),
    SplatParameter("green", "green", "", "colour"),
    SplatParameter("blue", "blue", "", "colour"),
    SplatParameter("logit of opacity", "opacity", "logits", "opacity"),
)
FIELDS = len(DIRECT)

NAMES = tuple(parameter.name for parameter in DIRECT)
LABELS = tuple(parameter.label for parameter in DIRECT)

# The sample's model passes the same rows through smoothstep. It has two variances and a correlation in place of sizes and an angle.
SAMPLE_NAMES = ("x", "y", "σxx", "σyy", "correlation", "red", "green", "blue", "opacity")

# Rows of raw values (9, N).
X, Y = 0, 1
POSITION = slice(0, 2)
LOG_SIZE = slice(2, 4)
ANGLE = 4
COLOUR = slice(5, 8)
OPACITY = 8
