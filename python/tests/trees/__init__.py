"""Test code only: a tiny kernel of our own, brought as a tree that its user names."""
