"""Parse the numbers in sentences."""

import re

# A number as `splatscope.textbook.numbers` formats it; one group.
NUMBER = r"(NaN|−?\d[\d,]*(?:\.\d+)?(?:\u202f×\u202f10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)"
_POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def value_of(text: str) -> float:
    """Return the number that a text represents."""
    digits, _, power = text.replace("−", "-").replace(",", "").partition("\u202f×\u202f10")
    return float(digits) * 10.0 ** int(power.translate(_POWERS)) if power else float(digits)


def numbers_in(sentence: str) -> list[float]:
    """Return all numbers in a sentence, in order."""
    return [value_of(text) for text in re.findall(NUMBER.replace("NaN|", ""), sentence)]
