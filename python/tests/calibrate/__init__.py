"""Tests of real boards, on a desk made of virtual ones."""
