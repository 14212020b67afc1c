"""The base of every stored value."""

from rtoslab.base import Strict


class StoredModel(Strict):
    """The base of stored values."""
