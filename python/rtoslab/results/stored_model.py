"""The base of every stored value."""

from rtoslab.base import StrictModel


class StoredModel(StrictModel):
    """The base of all models that are stored in result files."""
