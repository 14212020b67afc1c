"""How sentences of a report say lists, ratios and ranges."""

from collections.abc import Callable, Sequence
from typing import Final

from rtoslab.analyses import Ratio
from rtoslab.base import count_text

MOST: Final = 12
"""Of more items than this in a sentence, only the first half of so many are named."""
_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TIMES_FROM: Final = 1.5
"""From this ratio on a reader understands `times as fast` sooner than per cent."""
_WHOLE_FROM: Final = 1.1
"""From here on per cent are said without a decimal."""


def join_listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`. Semicolons where an item itself has a comma outside its brackets."""
    if len(items) > MOST:
        left = len(items) - MOST // 2
        items = [*items[: MOST // 2], f"{left} more (see the tables)"]
    comma = "; " if any("," in _outside_brackets(item) for item in items) else ", "
    return items[0] if len(items) == 1 else f"{comma.join(items[:-1])} and {items[-1]}"


def _outside_brackets(text: str) -> str:
    depth, stored = 0, []
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            stored.append(letter)
    return "".join(stored)


def number_word(number: int) -> str:
    """`two`. Digits from eleven on."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number}"


def cores_words(cores: int) -> str:
    """`one core`, `two cores`."""
    return count_text(cores, "core").replace(f"{cores:,}", number_word(cores), 1)


def faster_by(ratio: Ratio) -> str:
    """`17 % faster` or `2.77 times as fast`, with the band over the placements after it."""
    if ratio.value >= _TIMES_FROM:
        return _with_band(ratio, "{:.2f}".format, "times as fast")
    form = "{:.0f}" if ratio.value >= _WHOLE_FROM else "{:.1f}"
    return _with_band(ratio, lambda value: form.format(100 * (value - 1)), "% faster")


def times(ratio: Ratio) -> str:
    """`x 0.52`, with the band over the placements after it."""
    return _with_band(ratio, "x {:.2f}".format)


def _with_band(ratio: Ratio, form: Callable[[float], str], unit: str = "") -> str:
    """A ratio with its band, to be inside brackets itself."""
    text, least, most = (form(value) for value in (ratio.value, ratio.least, ratio.most))
    text_with_unit = f"{text} {unit}".rstrip()
    return text_with_unit if least == most else f"{text_with_unit}, {least} to {most}"
