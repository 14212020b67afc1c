"""Formats lists, numbers and ratios for sentences of a report."""

from collections.abc import Callable, Sequence
from typing import Final

from rtoslab.analyses import MeasuredValueRatio
from rtoslab.base import count_with_noun

MOST_LISTED: Final = 12
"""Of more items a sentence names only the first half of this many."""
_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TIMES_FROM: Final = 1.5
"""From this ratio on a reader understands `times as fast` better than per cent."""
_WHOLE_FROM: Final = 1.1
"""From this ratio on per cent have no decimal."""


def join_items_for_sentence(items: Sequence[str]) -> str:
    """Returns items as a list in a sentence: `a, b and c`, with semicolons where an item has a comma itself. Names
    only the first of many items."""
    if len(items) > MOST_LISTED:
        left = len(items) - MOST_LISTED // 2
        items = [*items[: MOST_LISTED // 2], f"{left} more (see the tables)"]
    comma = "; " if any("," in _remove_brackets(item) for item in items) else ", "
    return items[0] if len(items) == 1 else f"{comma.join(items[:-1])} and {items[-1]}"


def _remove_brackets(text: str) -> str:
    """Returns the text without round brackets and what is inside them."""
    depth, stored = 0, []
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            stored.append(letter)
    return "".join(stored)


def spell_number(number: int) -> str:
    """Returns a number up to ten in words (`two` for 2), a larger one in digits."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number}"


def core_count_in_words(cores: int) -> str:
    """Returns a number of cores in words: `one core`, `two cores`."""
    return count_with_noun(cores, "core").replace(f"{cores:,}", spell_number(cores), 1)


def speed_ratio_in_words(ratio: MeasuredValueRatio) -> str:
    """Returns a ratio in words, `17 % faster` or `2.77 times as fast`, with its range over placements."""
    if ratio.value >= _TIMES_FROM:
        return _ratio_with_range_text(ratio, "{:.2f}".format, "times as fast")
    form = "{:.0f}" if ratio.value >= _WHOLE_FROM else "{:.1f}"
    return _ratio_with_range_text(ratio, lambda value: form.format(100 * (value - 1)), "% faster")


def ratio_as_factor_text(ratio: MeasuredValueRatio) -> str:
    """Returns a ratio as `x 0.52`, with its range over placements."""
    return _ratio_with_range_text(ratio, "x {:.2f}".format)


def _ratio_with_range_text(ratio: MeasuredValueRatio, form: Callable[[float], str], unit: str = "") -> str:
    """Returns a ratio with its range over placements, as text. Callers put it into brackets."""
    text, least, most = (form(value) for value in (ratio.value, ratio.smallest, ratio.largest))
    text_with_unit = f"{text} {unit}".rstrip()
    return text_with_unit if least == most else f"{text_with_unit}, {least} to {most}"
