"""Limits of the benchmarks' own code that were found by measuring: `measured_benchmark_code_limits.toml`.

A limit that holds for every kernel would leave room for a few more instructions in a port with little inlined code. The
limits of one kernel hold at the default optimisation and with the benchmark's usual parameters. They are not in
benchmark.toml, because they change no figure."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from rtoslab.base import CatalogueError, StrictFileSchemaModel
from rtoslab.catalogue import validate_table
from rtoslab.intake import read_toml_table

_FILE: Final = Path(__file__).with_name("known_code.toml")


LibraryUse = Literal["fill", "copy", "division"]
"""What a function of the C library or the compiler does."""


class BenchmarkCodeLimits(StrictFileSchemaModel):
    """The measured limits of one benchmark's own code, from `measured_benchmark_code_limits.toml`."""

    instructions: Mapping[str, float] = Field(default_factory=dict)
    """Kernel -> the most instructions of a round. Each takes at most the usual pace in the mean."""
    own_cycles: Mapping[str, int] = Field(default_factory=dict)
    """Kernel -> the most own cycles between two steps of a round."""
    per: str | None = None
    """The name of a parameter. Its value multiplies the limits."""
    library: tuple[LibraryUse, ...] = ()
    """The helpers that the rounds need of the C library and the compiler: `fill`, `copy`, `division`."""
    undisturbed: tuple[str, ...] = ()
    """Series in which only ticks keep the core from an interrupt."""


def measured_benchmark_code_limits(benchmark: str) -> BenchmarkCodeLimits:
    """Returns the measured limits of a benchmark's own code. They are empty if none were measured."""
    return _read_benchmark_code_limits_file().get(benchmark, BenchmarkCodeLimits())


@cache
def _read_benchmark_code_limits_file() -> Mapping[str, BenchmarkCodeLimits]:
    """Returns the limits in `measured_benchmark_code_limits.toml` by benchmark."""
    tables = read_toml_table(_FILE, "the limits of the benchmarks' own code", CatalogueError)
    return {
        name: validate_table(table, f"{_FILE.name}, [{name}]", BenchmarkCodeLimits) for name, table in tables.items()
    }
