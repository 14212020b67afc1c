"""The lengths of the benchmarks' own code that were found by measuring: `code_lengths.toml`.

They reveal a handler, an inlined function of the port or a task's loop that has a few instructions more than its kernel
needs. A limit with a tolerance of a tenth, for other boards and compilers, would not reveal them.

A length is the number of instructions of the benchmark, its runner and the port that a core executed at least once in
the window. The same compiler with the same options always makes the same code, so it is known exactly for each family
of chips. With another compiler, or with a setting that changes code, no length is known. `bench/run.py code_lengths`
measures them again."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from rtoslab.base import CatalogueError, StrictFileSchemaModel
from rtoslab.catalogue import validate_table
from rtoslab.intake import read_toml_table

CODE_LENGTHS: Final = Path(__file__).with_name("code_lengths.toml")
_SAME_CODE: Final = frozenset({"instrument", "samples", "warmup_ms", "clock_hz", "wait_states", "placement"})
"""The keys of a point's configuration that change neither the benchmark's code nor which part of it is executed."""
_FAMILY_CHARS: Final = len("stm32f4")
_SAME_CODE_GROUPS: Final = ("feature.", "timing.")


class CodeLength(NamedTuple):
    """The fewest and the most instructions of a benchmark's own code that were executed on a family of chips."""

    least: int
    most: int
    least_distance: int = 0
    """Of a latency benchmark: the distances between the marks of its intervals and the calls that they measure."""
    most_distance: int = 0


class CodeLengths(StrictFileSchemaModel):
    """The content of `code_lengths.toml`."""

    compiler: str
    """What the images name as their compiler."""
    lengths: Mapping[str, Mapping[str, CodeLength]]
    """Benchmark -> `code_length_table_key` -> the length."""


def code_length_table_key(kernel: str, chip: str, core: int, cores: int, instrument: str) -> str:
    """Returns the key of a code length in `code_lengths.toml`: kernel, chip family, core and instrument. The chips of
    one family have the same code (`stm32f4`). `instrument` is the instrument and number of samples of a latency
    benchmark, because the number is a constant in the code. It is empty for a benchmark that counts."""
    family = chip[:_FAMILY_CHARS] if chip.startswith("stm32") else chip
    one_of_several = [f"core {core} of {cores}"] if cores > 1 else []
    return " ".join([kernel, family, *one_of_several, *([instrument] if instrument else [])])


def executes_measured_code(settings: Mapping[str, str]) -> bool:
    """Whether a benchmark with these settings executes the same code as when the code lengths were measured."""
    return all(key in _SAME_CODE or key.startswith(_SAME_CODE_GROUPS) for key in settings)


def measured_benchmark_code_length(benchmark: str, key: str, compiler: str) -> CodeLength | None:
    """Returns the measured length of a benchmark's own code in instructions. None if it was not measured with this
    compiler."""
    table = _read_benchmark_code_lengths_file()
    return table.lengths.get(benchmark, {}).get(key) if compiler == table.compiler else None


@cache
def _read_benchmark_code_lengths_file() -> CodeLengths:
    """Returns the content of `code_lengths.toml`."""
    table = read_toml_table(CODE_LENGTHS, "the lengths of the benchmarks' own code", CatalogueError)
    return validate_table(table, CODE_LENGTHS.name, CodeLengths)
