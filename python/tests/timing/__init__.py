"""Cycles of the virtual core against the manual's tables."""
