"""Benchmarks broken on purpose, each of which a proof must refuse."""

from rtoslab.mutants.measure import UNBROKEN, Trial, try_mutants
from rtoslab.mutants.mutants import MutantsOf, read_mutants
from rtoslab.mutants.page import page

__all__ = ["UNBROKEN", "MutantsOf", "Trial", "page", "read_mutants", "try_mutants"]
