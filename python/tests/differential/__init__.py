"""The virtual core against an independent implementation."""
