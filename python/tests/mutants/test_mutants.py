"""The mutants: enough of each benchmark, each fits its source, and a sample of them is refused. `make mutants`: all."""

import tempfile
from pathlib import Path

import pytest

from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import build_folder, find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.mutants.measure import UNBROKEN, measure_mutants
from rtoslab.mutants.mutants import (
    BenchmarkMutant,
    BenchmarkMutants,
    SourceMistake,
    insert_mutation_into_source_files,
    read_mutants,
    restore_mutated_source_files,
)
from rtoslab.proofs.rules import benchmark_proof_rule_modules

ROOT = find_checkout_root()
EVERY = read_mutants(ROOT)
LEAST_IN_ALL = 100
LEAST_OF_EACH = 3

SAMPLE = {
    "preemption": ("equal_priorities", "counting_semaphore"),
    "t4_interrupt": ("nobody_takes",),
    "t8_allocation": ("eight_bytes", "static_block"),
    "p5_set_clear": ("never_set",),
    "signal_and_wait": ("no_sleep_to_the_tick",),
}


def test_every_benchmark_has_mutants_of_its_own() -> None:
    assert set(EVERY) == set(Catalogue(ROOT).benchmarks)
    assert min(len(of.mutant) for of in EVERY.values()) >= LEAST_OF_EACH
    assert sum(len(of.mutant) for of in EVERY.values()) >= LEAST_IN_ALL


@pytest.mark.parametrize("benchmark", sorted(EVERY))
def test_every_mutant_applies_and_names_a_rule(benchmark: str, tmp_path: Path) -> None:
    firmware = ROOT / "firmware"
    folder = firmware / "benchmarks" / benchmark
    copy = tmp_path / "benchmarks" / benchmark
    elsewhere = {
        (folder / edit.file).resolve() for mutant in EVERY[benchmark].mutant for edit in mutant.edit if edit.file
    }
    for path in {*folder.rglob("*.[ch]"), *elsewhere}:
        target = tmp_path / path.relative_to(firmware)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path.read_text())
    for mutant in EVERY[benchmark].mutant:
        assert set(mutant.refused_by) <= set(benchmark_proof_rule_modules()), mutant.id
        before = insert_mutation_into_source_files(copy, benchmark, mutant)
        assert all(path.read_text() != text for path, text in before.items()), mutant.id
        restore_mutated_source_files(before)


def test_mutant_that_does_not_apply_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "b.c").write_text("one two one")
    for old in ("three", "one"):
        mutant = BenchmarkMutant(
            id="m",
            mistake="-",
            edit=(SourceMistake(old="two", new="2"), SourceMistake(old=old, new="")),
            refused_by=("course",),
        )
        with pytest.raises(CatalogueError, match="adapt the mutant"):
            insert_mutation_into_source_files(tmp_path, "b", mutant)
        assert (tmp_path / "b.c").read_text() == "one two one", "nothing is left half broken"


@pytest.mark.parametrize("benchmark", SAMPLE)
def test_sample_of_mutants_is_refused_by_proofs(benchmark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RTOSLAB_BUILD", raising=False)
    of = EVERY[benchmark]
    only = SAMPLE[benchmark]
    if benchmark == "p5_set_clear":  # and what is no mutant survives, which is a failure
        nothing = BenchmarkMutant(
            id="nothing",
            mistake="A remark.",
            edit=(SourceMistake(old="/* 2 */", new="/* two */"),),
            refused_by=("course",),
        )
        of, only = BenchmarkMutants(setting=of.setting, mutant=(*of.mutant, nothing)), (*only, "nothing")
    with tempfile.TemporaryDirectory() as folder:
        trials = {mutant.mutant: mutant for mutant in measure_mutants(ROOT, Path(folder), benchmark, of, only)}
        logs = [path.read_text() for path in build_folder(Path(folder)).glob("*/build.log")]
        assert len(logs) == len(trials)
        stored = build_folder(Path(folder)) / "ccache"
        assert stored.samefile(build_folder(ROOT) / "ccache"), "what others have compiled is taken"
    assert set(trials) == {UNBROKEN, *only}
    for name, trial in trials.items():
        assert trial.is_mutant_trial_as_expected == (name != "nothing"), trial
    assert sum("/FreeRTOS-Kernel/tasks.c" in log for log in logs) <= 1, "no mutant compiles the kernel again"
    assert "nothing" not in trials or "survives" in trials["nothing"].problem


def test_mutant_that_does_not_build_is_reported_without_a_deleted_log(tmp_path: Path) -> None:
    of = EVERY["t4_interrupt"]
    broken = BenchmarkMutant(
        id="broken",
        mistake="-",
        edit=(SourceMistake(old=of.mutant[0].edit[0].old, new="int = ;"),),
        refused_by=("course",),
    )
    unbroken, trial = measure_mutants(
        ROOT, tmp_path, "t4_interrupt", BenchmarkMutants(setting=of.setting, mutant=(broken,))
    )
    assert unbroken.is_mutant_trial_as_expected
    assert trial.problem.startswith("it does not build: ")
    assert "error: " in trial.problem
    assert "log" not in trial.problem
