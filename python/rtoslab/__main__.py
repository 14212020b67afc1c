"""`python -m rtoslab` is the command `rtoslab`, which begins here: Ctrl-C is seen to before anything slow is loaded."""

import gc

from rtoslab import interrupts

COLLECT_AFTER = (50_000, 20, 100)
"""Modules that are loaded make few cycles of references: looking for them took a tenth of a short command's time."""


def main() -> None:
    """Entry point of the console script."""
    interrupts.at_once()
    gc.set_threshold(*COLLECT_AFTER)
    from rtoslab.cli import main as command  # noqa: PLC0415 (after the line above)

    command()


if __name__ == "__main__":
    main()
