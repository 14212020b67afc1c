"""What every stored value is made of."""

from rtoslab.base import Strict


class Stored(Strict):
    """Base of what is stored."""
