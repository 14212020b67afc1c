"""Numbers of things in words."""


def count_with_noun(number: int, noun: str, verb_one: str = "", verb_many: str = "") -> str:
    """Returns a number with its noun and, if given, a verb: `1 point`, `2 points`, `1,000 points were`."""
    verb = verb_one if number == 1 else verb_many
    return f"{number:,} {noun}{'' if number == 1 else 's'}{' ' if verb else ''}{verb}"


def all_items_phrase(number: int, noun: str) -> str:
    """Returns a number of things as text with `all` or `the one` before it: `the one point`, `all 1,000 points`."""
    return f"the one {noun}" if number == 1 else f"all {count_with_noun(number, noun)}"
