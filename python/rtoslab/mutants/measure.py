"""Mutants built and measured: a benchmark is built once for a setting, then each mutant's sources again.

The unbroken benchmark comes first: where its own proofs fail, a mutant's would say nothing.
"""

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rtoslab.base import BuildError, PlanError, tools
from rtoslab.catalogue import Catalogue
from rtoslab.images import IMAGE, cmake_options
from rtoslab.measure import evaluate, point_id, virtual_job
from rtoslab.mutants.mutants import Mutant, MutantsOf, Setting, apply, restore
from rtoslab.plan import Options, Point, make_plan
from rtoslab.records import Expected
from rtoslab.results import Failed, Measured
from rtoslab.targets import run_virtual

_EXPECTED = Expected(run="0" * 16, manifest=0)
UNBROKEN = "(unbroken)"


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of a mutant, or of the unbroken benchmark."""

    benchmark: str
    mutant: str
    refused: tuple[str, ...]
    """Rules whose proofs failed."""
    problem: str
    """Why this is not what it should be; empty if it is."""

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
    chosen = set(only)
    mutants = [each for each in of.mutant if not chosen or each.id in chosen]
    settings: list[Setting] = []
    for mutant in mutants:
        if (setting := mutant.setting or of.setting) not in settings:
            settings.append(setting)
    for number, setting in enumerate(settings):
        bench = _Bench(folder, benchmark, setting, folder / f"build-{number}")
        yield bench.unbroken()
        for mutant in mutants:
            if (mutant.setting or of.setting) == setting:
                yield bench.broken(mutant)


class _Bench:
    """One benchmark in one setting, configured and built."""

    def __init__(self, root: Path, benchmark: str, setting: Setting, work: Path) -> None:
        self.catalogue = Catalogue(root)
        self.benchmark = benchmark
        self.root = root
        self.work = work
        self.point = self._point(setting)
        configure = [str(tools.find("cmake")), "-S", str(root / "firmware"), "-B", str(work), "-G", "Ninja"]
        self._command([*configure, *cmake_options(self.point, _EXPECTED)])

    def unbroken(self) -> Trial:
        """It must be measured."""
        result = self._measure()
        problem = "" if isinstance(result, Measured) else f"the unbroken benchmark is refused: {result.message[:500]}"
        return Trial(self.benchmark, UNBROKEN, (), problem)

    def broken(self, mutant: Mutant) -> Trial:
        """It must be refused by the proofs it names."""
        before = apply(self.root / "firmware" / "benchmarks" / self.benchmark, self.benchmark, mutant)
        try:
            result = self._measure()
        except BuildError as cause:
            return Trial(self.benchmark, mutant.id, (), f"it does not build: {cause}")
        finally:
            restore(before)
        refused = tuple(dict.fromkeys(each.rule for each in getattr(result, "proofs", ()) if each.verdict == "fails"))
        if isinstance(result, Measured):
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
        wanted = setting.instrument or (facts.instruments[0] if latency else None)
        for point in points:
            if point.instrument == wanted and point.not_applicable is None:
                return replace(point, samples=setting.samples) if latency else point
        raise PlanError(f"{self.benchmark} cannot be measured with {setting}; correct firmware/mutants.")

    def _measure(self) -> Measured | Failed:
        self._command([str(tools.find("cmake")), "--build", str(self.work), "-j", "1"])
        image = (self.work / IMAGE).read_bytes()
        output = run_virtual(virtual_job(self.catalogue, self.point, image, IMAGE))
        result = evaluate(self.catalogue, point_id(self.catalogue, self.point), "0" * 16, output, _EXPECTED)
        assert isinstance(result, Measured | Failed)
        return result

    def _command(self, command: list[str]) -> None:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=tools.plain_environment(),
            check=False,
        )
        if done.returncode != 0:
            lines = [line for line in (done.stdout + done.stderr).splitlines() if "rror" in line]
            raise BuildError(" ".join(lines[:2])[:300] or "the last step returned an error")
