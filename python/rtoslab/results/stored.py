"""The base of every stored value."""

from rtoslab.base import Strict


class StoredModel(Strict):
    """Base of what is stored."""
