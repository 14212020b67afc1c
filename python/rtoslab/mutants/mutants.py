"""The mutants of `firmware/mutants/<benchmark>.toml`: what was got wrong, how, and which proof must refuse it."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from rtoslab.base import CatalogueError, Strict
from rtoslab.catalogue import read_toml


class Edit(Strict):
    """A text of a source file that is replaced. It must be there exactly once."""

    old: str
    new: str
    file: str = ""
    """In the benchmark's folder. `<benchmark>.c` unless it says so."""


class Setting(Strict):
    """The setting that a mutant is tried on."""

    kernel: str
    board: str
    cores: int = 1
    instrument: str | None = None
    """The instrument of a latency benchmark. Its first one unless it says so."""
    window_ms: int = 10
    samples: int = 12
    config: dict[str, str] = Field(default_factory=dict)


class Mutant(Strict):
    """One mistake."""

    id: str
    mistake: str
    """What the person got wrong, in a sentence."""
    kind: Literal["round", "work", "rare", "handler", "runner", "instrument", "port", "state", "interrupts"] = "round"
    """Where the mistake is: in what a round consists of, in work beside it, in a few rounds alone, in a handler, in the
    runner, the instrument or the port, in what is switched on, or in interrupts that nobody asked for."""
    edit: tuple[Edit, ...] = Field(min_length=1)
    refused_by: tuple[str, ...] = Field(min_length=1)
    """Proof rules, each of which must fail."""
    setting: Setting | None = None
    """Where it differs from its file's."""


class MutantsOf(Strict):
    """One file: the mutants of a benchmark."""

    setting: Setting
    mutant: tuple[Mutant, ...]


def read_mutants(root: Path) -> dict[str, MutantsOf]:
    """Benchmark -> its mutants. Raises CatalogueError for a file that is none."""
    mutants: dict[str, MutantsOf] = {}
    for path in sorted((root / "firmware" / "mutants").glob("*.toml")):
        mutants[path.stem] = read_toml(path, MutantsOf)
        names = [mutant.id for mutant in mutants[path.stem].mutant]
        if len(set(names)) != len(names):
            raise CatalogueError(f"{path} has two mutants of one id; give each its own.")
    return mutants


def apply(folder: Path, benchmark: str, mutant: Mutant) -> dict[Path, str]:
    """Breaks the sources of a benchmark in `folder`. Gives what stood there before. Raises CatalogueError for an edit
    that does not fit exactly once."""
    before: dict[Path, str] = {}
    for edit in mutant.edit:
        path = folder / (edit.file or f"{benchmark}.c")
        text = path.read_text(encoding="utf-8")
        if text.count(edit.old) != 1:
            restore(before)
            raise CatalogueError(
                f"The mutant {benchmark}/{mutant.id} replaces {edit.old!r}, which stands {text.count(edit.old)} times "
                f"in {path.name}; the benchmark has changed, so must the mutant."
            )
        before.setdefault(path, text)
        path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
    return before


def restore(before: dict[Path, str]) -> None:
    """Puts back what `apply` replaced."""
    for path, text in before.items():
        path.write_text(text, encoding="utf-8")
