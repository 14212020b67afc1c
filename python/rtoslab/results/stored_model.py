"""The base of every stored value."""

from rtoslab.base import StrictFileSchemaModel


class StoredResultModel(StrictFileSchemaModel):
    """The base of all models that are stored in result files."""
