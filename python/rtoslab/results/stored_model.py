"""The base of every stored value."""

from rtoslab.base import Strict


class StoredModel(Strict):
    """The base of all models that are stored in result files."""
