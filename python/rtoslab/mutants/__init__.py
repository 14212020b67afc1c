"""Mutants: benchmarks broken on purpose. A proof must refuse each of them."""

from rtoslab.mutants.measure import UNBROKEN, Trial, try_mutants
from rtoslab.mutants.mutants import MutantsOf, read_mutants
