"""Benchmarks broken on purpose, each of which a proof must refuse."""

from rtoslab.mutants.measure import UNBROKEN, Trial, try_mutants
from rtoslab.mutants.mutants import MutantsOf, read_mutants
