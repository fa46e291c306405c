"""Format numbers for readers: `0.0704`, `1.8 × 10⁻⁷`, `−12.5`. `text()` in web/recording/values.ts formats them alike."""

import math

import numpy as np

SMALLEST, LARGEST = 1e-4, 1e6  # numbers below the one, or not below the other, have a power of ten
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_TIMES_TEN = "\u202f×\u202f10"  # with narrow no-break spaces


def number(value: float | np.floating, digits: int = 3) -> str:
    """Format a number with this many significant digits, without trailing zeros and with a real minus sign.

    A number from SMALLEST up to LARGEST is written without a power of ten.
    """
    value = float(value)
    if math.isnan(value):
        return "NaN"
    sign, size = "−" if value < 0 else "", abs(value)
    if math.isinf(size):
        return f"{sign}∞"
    mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
    if size and not SMALLEST <= float(f"{mantissa}e{exponent}") < LARGEST:
        return f"{sign}{_trimmed(mantissa)}{_TIMES_TEN}{str(int(exponent)).translate(_POWERS)}"
    return sign + _trimmed(f"{size:.{max(0, digits - 1 - int(exponent))}f}") if size else "0"


def about_times(ratio: float) -> str:
    """Say how many times as much something is, for ratios that every measurement finds a little different: "about 30 times"."""
    if ratio < 10:
        return f"about {number(ratio, 2 if ratio < 2 else 1)} times"
    unit = 10 ** max(1, math.floor(math.log10(ratio)) - 1)  # one digit up to 100, two beyond
    return f"about {round(ratio / unit) * unit:,} times"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
