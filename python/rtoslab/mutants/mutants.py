"""The mutants of `firmware/mutants/<benchmark>.toml`: what was got wrong, how, and which proof must refuse it."""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from rtoslab.base import CatalogueError, StrictFileSchemaModel
from rtoslab.catalogue import read_validated_toml


class SourceMistake(StrictFileSchemaModel):
    """A replacement in a source file, which plants a mistake. The old text must be there exactly once."""

    old: str
    new: str
    file: str = ""
    """A file in the benchmark's folder. By default `<benchmark>.c`."""


class MutantMeasurementSetting(StrictFileSchemaModel):
    """The kernel, board and options that a mutant is measured with."""

    kernel: str
    board: str
    cores: int = 1
    instrument: str | None = None
    """The instrument of a latency benchmark. By default its first one."""
    window_ms: int = 10
    samples: int | None = None
    """The samples of each series of a latency benchmark. By default as many as usual, whose code is known exactly."""
    config: dict[str, str] = Field(default_factory=dict)


class BenchmarkMutant(StrictFileSchemaModel):
    """One mistake in a benchmark, and the proofs that must refuse it."""

    id: str
    mistake: str
    """The mistake in a sentence."""
    kind: Literal[
        "round", "work", "rare", "handler", "runner", "instrument", "port", "state", "interrupts", "build", "time"
    ] = "round"
    """Where the mistake is: in what a round consists of, in work beside it, in a few rounds alone, in a handler, in the
    runner, the instrument or the port, in what is switched on, in interrupts that nobody asked for, in the build files
    or the kernel's configuration, or in what time is measured by."""
    edit: tuple[SourceMistake, ...] = Field(min_length=1)
    refused_by: tuple[str, ...] = ()
    """Proof rules, each of which must fail."""
    refused_at_build: str = ""
    """In place of rules: a part of the sentence by which the build refuses the mistake."""
    setting: MutantMeasurementSetting | None = None
    """Replaces the setting of the file."""

    @model_validator(mode="after")
    def _require_expected_mutant_refusal(self) -> "BenchmarkMutant":
        """Raises ValueError for a mutant that names neither rules nor a sentence, or both."""
        if bool(self.refused_by) == bool(self.refused_at_build):
            raise ValueError(f"the mutant {self.id} must state either refused_by or refused_at_build")
        return self


class BenchmarkMutants(StrictFileSchemaModel):
    """The content of a file of mutants: mistakes in one benchmark."""

    setting: MutantMeasurementSetting
    mutant: tuple[BenchmarkMutant, ...]


def read_mutants(root: Path) -> dict[str, BenchmarkMutants]:
    """Returns the mutants (benchmarks with deliberate mistakes) of each benchmark.

    Raises CatalogueError if a file has another form, or two mutants with one id.
    """
    mutants: dict[str, BenchmarkMutants] = {}
    for path in sorted((root / "firmware" / "mutants").glob("*.toml")):
        mutants[path.stem] = read_validated_toml(path, BenchmarkMutants)
        names = [mutant.id for mutant in mutants[path.stem].mutant]
        if len(set(names)) != len(names):
            raise CatalogueError(f"{path} has two mutants with the same id; give each another id.")
    return mutants


def insert_mutation_into_source_files(folder: Path, benchmark: str, mutant: BenchmarkMutant) -> dict[Path, str]:
    """Plants a mutant's mistake in the sources in `folder`. Returns the original text of each changed file.
    Raises CatalogueError for an edit that does not fit exactly once.
    """
    originals: dict[Path, str] = {}
    for edit in mutant.edit:
        path = folder / (edit.file or f"{benchmark}.c")
        text = path.read_text(encoding="utf-8")
        if text.count(edit.old) != 1:
            restore_mutated_source_files(originals)
            raise CatalogueError(
                f"The mutant {benchmark}/{mutant.id} replaces {edit.old!r}, which occurs {text.count(edit.old)} "
                f"times instead of once in {path.name}; adapt the mutant to the benchmark."
            )
        originals.setdefault(path, text)
        path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
    return originals


def restore_mutated_source_files(originals: dict[Path, str]) -> None:
    """Writes the original texts back that `insert_mutation_into_source_files` returned."""
    for path, text in originals.items():
        path.write_text(text, encoding="utf-8")
