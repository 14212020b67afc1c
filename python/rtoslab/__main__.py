"""`python -m rtoslab` is the command `rtoslab`, which begins here: Ctrl-C is seen to before anything slow is loaded."""

import gc
import os

from rtoslab import interrupts


def main() -> None:
    """Entry point of the console script."""
    interrupts.exit_on_signal()
    gc.set_threshold(50_000, 20, 100)  # modules make few cycles of references, and to look for them took time
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for some among all packages takes time
    from rtoslab.cli import main as command  # noqa: PLC0415 (after the lines above)

    command()


if __name__ == "__main__":
    main()
