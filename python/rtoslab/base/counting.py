"""Numbers of things in words."""


def count_text(number: int, noun: str, verb_one: str = "", verb_many: str = "") -> str:
    """Returns `1 point`, `2 points` or `1,000 points`, with a verb after it if verbs are given: `1 point was`."""
    verb = verb_one if number == 1 else verb_many
    return f"{number:,} {noun}{'' if number == 1 else 's'}{' ' if verb else ''}{verb}"


def all_count_text(number: int, noun: str) -> str:
    """Returns `the one point`, `all 2 points` or `all 1,000 points`."""
    return f"the one {noun}" if number == 1 else f"all {count_text(number, noun)}"
