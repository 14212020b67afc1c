"""Mutants built and measured, each in a copy of the firmware, of objects that are kept for the checkout's own images.

The unbroken benchmark comes first: where its own proofs fail, a mutant's would say nothing.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rtoslab.base import BuildError, PlanError
from rtoslab.catalogue import Catalogue
from rtoslab.images import (
    IMAGE,
    build_error_without_log_path,
    build_measurement_point_image,
    link_build_caches_into_checkout,
)
from rtoslab.measure import build_pair_images, decode_and_judge_output, identity_of_point, make_virtual_benchmark_job
from rtoslab.mutants.mutants import (
    BenchmarkMutant,
    BenchmarkMutants,
    MutantMeasurementSetting,
    insert_mutation_into_source_files,
    restore_mutated_source_files,
)
from rtoslab.plan import PlannedPoint, PlanOptions, make_measurement_plan
from rtoslab.results import FailedMeasurement, MeasuredPoint
from rtoslab.targets import run_virtual_benchmark

UNBROKEN = "(unbroken)"


@dataclass(frozen=True, slots=True)
class MutantTrial:
    """The outcome of measuring a mutant (a benchmark with a deliberate mistake), or the unbroken benchmark."""

    benchmark: str
    mutant: str
    failed_rules: tuple[str, ...]
    """Rules whose proofs failed."""
    problem: str
    """Why the outcome is not the expected one. Empty if it is."""

    @property
    def is_mutant_trial_as_expected(self) -> bool:
        """Whether the mutant was refused by the proofs that it names, or the unbroken benchmark was measured."""
        return not self.problem


def measure_mutants(
    root: Path, folder: Path, benchmark: str, mutants_of_benchmark: BenchmarkMutants, only: Iterable[str] = ()
) -> Iterator[MutantTrial]:
    """Yields the trial of every mutant of a benchmark, or only of those in `only`. Each setting begins with the
    unbroken benchmark.

    `folder`: an empty folder for sources and builds.
    """
    shutil.copytree(root / "firmware", folder / "firmware", symlinks=True)
    for name in ("spec", "sim", "papers", "Cargo.toml", "Cargo.lock"):
        (folder / name).symlink_to(root / name)
    link_build_caches_into_checkout(root, folder)
    chosen = set(only)
    mutants = [item for item in mutants_of_benchmark.mutant if not chosen or item.id in chosen]
    settings: list[MutantMeasurementSetting] = []
    for mutant in mutants:
        if (setting := mutant.setting or mutants_of_benchmark.setting) not in settings:
            settings.append(setting)
    for setting in settings:
        bench = _BenchmarkMutationTester(folder, benchmark, setting)
        yield bench.measure_unmodified_benchmark()
        for mutant in mutants:
            if (mutant.setting or mutants_of_benchmark.setting) == setting:
                yield bench.measure_mutated_benchmark(mutant)


class _BenchmarkMutationTester:
    """Measures the mutants of one benchmark in one setting."""

    def __init__(self, root: Path, benchmark: str, setting: MutantMeasurementSetting) -> None:
        self.catalogue = Catalogue(root)
        self.benchmark = benchmark
        self.root = root
        self.point = self._plan_mutated_benchmark_measurement(setting)

    def measure_unmodified_benchmark(self) -> MutantTrial:
        """Measures the benchmark without a mistake, whose proofs must all hold."""
        result = self._build_and_measure_mutant()
        problem = (
            "" if isinstance(result, MeasuredPoint) else f"the unbroken benchmark is refused: {result.message[:500]}"
        )
        return MutantTrial(self.benchmark, UNBROKEN, (), problem)

    def measure_mutated_benchmark(self, mutant: BenchmarkMutant) -> MutantTrial:
        """Measures the benchmark with the mutant's mistake, which the proofs that the mutant names must refuse."""
        originals = insert_mutation_into_source_files(
            self.root / "firmware" / "benchmarks" / self.benchmark, self.benchmark, mutant
        )
        try:
            result = self._build_and_measure_mutant()
        except BuildError as cause:
            is_refused = mutant.refused_at_build and mutant.refused_at_build in str(cause)
            problem = "" if is_refused else f"it does not build: {build_error_without_log_path(str(cause))[:300]}"
            return MutantTrial(self.benchmark, mutant.id, (), problem)
        finally:
            restore_mutated_source_files(originals)
        refused = tuple(
            dict.fromkeys(proof.rule for proof in getattr(result, "proofs", ()) if proof.verdict == "fails")
        )
        if isinstance(result, MeasuredPoint):
            return MutantTrial(self.benchmark, mutant.id, (), "it survives: all proofs hold")
        if result.stage != "proof":
            return MutantTrial(self.benchmark, mutant.id, refused, f"it ends before its proofs: {result.message[:200]}")
        if mutant.refused_at_build:
            return MutantTrial(self.benchmark, mutant.id, refused, "its build should have refused it")
        missing = set(mutant.refused_by) - set(refused)
        problem = f"{', '.join(sorted(missing))} should have refused it" if missing else ""
        return MutantTrial(self.benchmark, mutant.id, refused, problem)

    def _plan_mutated_benchmark_measurement(self, setting: MutantMeasurementSetting) -> PlannedPoint:
        """Returns the point of the benchmark in a setting. Raises PlanError if it cannot be measured there."""
        facts = self.catalogue.find_benchmark(self.benchmark).facts
        latency = facts.kind == "latency"
        options = PlanOptions(
            kernels=[setting.kernel],
            boards=[setting.board],
            cores=[setting.cores],
            window_ms=None if latency else setting.window_ms,
            config=setting.config,
        )
        points = make_measurement_plan(self.catalogue, [self.benchmark], options).points
        instrument = setting.instrument or (facts.usable_instruments[0] if latency else None)
        for point in points:
            if point.instrument == instrument and point.not_applicable is None:
                return replace(point, samples=setting.samples) if latency and setting.samples else point
        raise PlanError(f"{self.benchmark} cannot be measured with {setting}; correct firmware/mutants.")

    def _build_and_measure_mutant(self) -> MeasuredPoint | FailedMeasurement:
        """Builds the sources as they are now, runs the image and evaluates its output."""
        built = build_measurement_point_image(self.catalogue, self.point)
        pair = build_pair_images(self.catalogue, self.point, built)
        beside = pair.bytes_of_both_images() if pair else None
        output = run_virtual_benchmark(
            make_virtual_benchmark_job(self.catalogue, self.point, built.elf_path.read_bytes(), IMAGE, beside)
        )
        expected = built.expected
        result = decode_and_judge_output(
            self.catalogue, identity_of_point(self.catalogue, self.point), expected.run, output, expected
        )
        assert isinstance(result, MeasuredPoint | FailedMeasurement)
        return result
