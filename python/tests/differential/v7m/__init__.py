"""The virtual v7-M cores against an independent implementation."""
