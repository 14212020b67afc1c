"""Benchmarks broken on purpose: each mutant is a mistake that a person could make, and a proof must refuse it."""
