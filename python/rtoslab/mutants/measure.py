"""Mutants built and measured, each in a copy of the firmware, of objects that are kept for the checkout's own images.

The unbroken benchmark comes first: where its own proofs fail, a mutant's would say nothing.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rtoslab.base import BuildError, PlanError
from rtoslab.catalogue import Catalogue
from rtoslab.images import IMAGE, build, share_cache
from rtoslab.measure import evaluate, point_id, virtual_job
from rtoslab.mutants.mutants import Mutant, MutantsOf, Setting, apply, restore
from rtoslab.plan import Options, Point, make_plan
from rtoslab.results import Failed, MeasuredPoint
from rtoslab.targets import run_virtual

UNBROKEN = "(unbroken)"


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of a mutant, or of the unbroken benchmark."""

    benchmark: str
    mutant: str
    refused: tuple[str, ...]
    """Rules whose proofs failed."""
    problem: str
    """Why this is not what it should be. Empty if it is."""

    @property
    def is_right(self) -> bool:
        """The unbroken benchmark was measured, a mutant refused by the proofs that it names."""
        return not self.problem


def try_mutants(root: Path, folder: Path, benchmark: str, of: MutantsOf, only: Iterable[str] = ()) -> Iterator[Trial]:
    """Every mutant of one benchmark (or those in `only`), each setting's unbroken benchmark before them.

    `folder`: an empty one for sources and builds.
    """
    shutil.copytree(root / "firmware", folder / "firmware", symlinks=True)
    for name in ("spec", "sim", "papers", "Cargo.toml", "Cargo.lock"):
        (folder / name).symlink_to(root / name)
    share_cache(root, folder)
    chosen = set(only)
    mutants = [item for item in of.mutant if not chosen or item.id in chosen]
    settings: list[Setting] = []
    for mutant in mutants:
        if (setting := mutant.setting or of.setting) not in settings:
            settings.append(setting)
    for setting in settings:
        bench = _Bench(folder, benchmark, setting)
        yield bench.unbroken()
        for mutant in mutants:
            if (mutant.setting or of.setting) == setting:
                yield bench.break_benchmark(mutant)


class _Bench:
    """One benchmark in one setting."""

    def __init__(self, root: Path, benchmark: str, setting: Setting) -> None:
        self.catalogue = Catalogue(root)
        self.benchmark = benchmark
        self.root = root
        self.point = self._point(setting)

    def unbroken(self) -> Trial:
        """It must be measured."""
        result = self._measure()
        problem = (
            "" if isinstance(result, MeasuredPoint) else f"the unbroken benchmark is refused: {result.message[:500]}"
        )
        return Trial(self.benchmark, UNBROKEN, (), problem)

    def break_benchmark(self, mutant: Mutant) -> Trial:
        """It must be refused by the proofs it names."""
        before = apply(self.root / "firmware" / "benchmarks" / self.benchmark, self.benchmark, mutant)
        try:
            result = self._measure()
        except BuildError as cause:
            why = str(cause).partition(" The whole log ")[0]  # which goes with the folder
            return Trial(self.benchmark, mutant.id, (), f"it does not build: {why[:300]}")
        finally:
            restore(before)
        refused = tuple(
            dict.fromkeys(proof.rule for proof in getattr(result, "proofs", ()) if proof.verdict == "fails")
        )
        if isinstance(result, MeasuredPoint):
            return Trial(self.benchmark, mutant.id, (), "it survives: all proofs hold")
        if result.stage != "proof":
            return Trial(self.benchmark, mutant.id, refused, f"it ends before its proofs: {result.message[:200]}")
        missing = set(mutant.refused_by) - set(refused)
        problem = f"{', '.join(sorted(missing))} should have refused it" if missing else ""
        return Trial(self.benchmark, mutant.id, refused, problem)

    def _point(self, setting: Setting) -> Point:
        facts = self.catalogue.benchmark(self.benchmark).facts
        latency = facts.kind == "latency"
        options = Options(
            kernels=[setting.kernel],
            boards=[setting.board],
            cores=[setting.cores],
            window_ms=None if latency else setting.window_ms,
            config=setting.config,
        )
        points = make_plan(self.catalogue, [self.benchmark], options).points
        instrument = setting.instrument or (facts.instruments[0] if latency else None)
        for point in points:
            if point.instrument == instrument and point.not_applicable is None:
                return replace(point, samples=setting.samples) if latency else point
        raise PlanError(f"{self.benchmark} cannot be measured with {setting}; correct firmware/mutants.")

    def _measure(self) -> MeasuredPoint | Failed:
        built = build(self.catalogue, self.point)
        output = run_virtual(virtual_job(self.catalogue, self.point, built.elf.read_bytes(), IMAGE))
        expected = built.expected
        result = evaluate(self.catalogue, point_id(self.catalogue, self.point), expected.run, output, expected)
        assert isinstance(result, MeasuredPoint | Failed)
        return result
