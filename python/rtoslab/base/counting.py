"""Numbers of things in words."""


def count_text(number: int, what: str, one: str = "", many: str = "") -> str:
    """`1 point`, `2 points`, `1,000 points`. With a verb after it for one and for many: `1 point was`."""
    verb = one if number == 1 else many
    return f"{number:,} {what}{'' if number == 1 else 's'}{' ' if verb else ''}{verb}"


def all_of(number: int, what: str) -> str:
    """`the one point`, `all 2 points`, `all 1,000 points`."""
    return f"the one {what}" if number == 1 else f"all {count_text(number, what)}"
