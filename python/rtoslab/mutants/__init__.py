"""Mutants: benchmarks broken on purpose. A proof must refuse each of them."""

from rtoslab.mutants.measure import UNBROKEN, MutantTrial, measure_mutants
from rtoslab.mutants.mutants import BenchmarkMutants, read_mutants
