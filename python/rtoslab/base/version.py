"""The version of this package, alone in its file so that every package may read it."""

__version__ = "0.2.0"
