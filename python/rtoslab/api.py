"""rtoslab as a library: the same stages as the command, with values instead of tables."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rtoslab.build import inputs_digest
from rtoslab.catalogue import Catalogue
from rtoslab.manifest import canonical, simulator_sources
from rtoslab.paths import find_root
from rtoslab.pipeline import Outcome, point_id
from rtoslab.plan import Options, Plan, make_plan
from rtoslab.pool import Listener, run_plan
from rtoslab.store import RunDirectory, StoredPoint


def run(
    *names: str,
    kernels: Sequence[str] | None = None,
    boards: Sequence[str] | None = None,
    cores: Sequence[int] | None = None,
    window_ms: int | None = None,
    config: Mapping[str, str] | None = None,
    out: Path | str | None = None,
    jobs: int = 2,
    listener: Listener = lambda _: None,
) -> list[Outcome]:
    """Measures suites and benchmarks on virtual boards; returns one outcome per point, in the plan's order.

    `window_ms` is in milliseconds of the board's time. `config` holds `opt`, `code`, `param.NAME`, `timing.KEY` or
    macros of the kernel. `out` is the run directory (resumed if it exists); by default `runs/<names>-<hash>`.
    Raises RtoslabError; a point that fails is an outcome with a `Failed` result, not an exception.
    """
    root = find_root()
    options = Options(kernels, boards, cores, window_ms, config or {})
    plan = make_plan(Catalogue(root), names, options)
    return run_plan(root, plan, Path(out) if out else default_out(root, plan, names), jobs=jobs, listener=listener)


def default_out(root: Path, plan: Plan, names: Iterable[str]) -> Path:
    """`runs/<names>-<hash>`: the same request, on the same sources, resumes the same directory."""
    catalogue = Catalogue(root)
    points = [[point_id(catalogue, point).model_dump(mode="json"), inputs_digest(root, point)] for point in plan.points]
    digest = hashlib.sha256(canonical([points, simulator_sources(root)]).encode()).hexdigest()
    return root / "runs" / f"{'-'.join(names)[:60]}-{digest[:8]}"


def load(*runs: Path | str) -> list[StoredPoint]:
    """Every point of one or more run directories. Raises StoreError."""
    return [point for path in runs for point in RunDirectory.open(Path(path)).points()]
