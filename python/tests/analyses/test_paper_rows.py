"""Every published figure finds one value of ours at most, in the short plan and in the paper's own: a report is refused
otherwise, and that only when hours of measuring are over."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from rtoslab.analyses import MeasuredValue
from rtoslab.analyses.axis_values import LATENCY_STATS
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import read_papers
from rtoslab.measure.identity import identity_of_point
from rtoslab.papers import reproduction
from rtoslab.papers.experiment import plan_paper_experiments
from rtoslab.plan import PlanOptions
from rtoslab.reference import reference_results_for_paper_kernels
from rtoslab.results.results import MeasuredPoint
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.fakes import measured_point

CATALOGUE = Catalogue(find_checkout_root())
PAPERS = read_papers(CATALOGUE)


def _values(points: Iterable[MeasuredPoint]) -> list[MeasuredValue]:
    """One of each statistic of everything that the points' benchmarks measure."""
    results = []
    for point in points:
        series = [one.id for one in CATALOGUE.benchmarks[point.point.benchmark].facts.series]
        spreads = [(name, stat, "cycles") for name in series for stat in LATENCY_STATS]
        totals = [(name, "total", "cycles") for one in series for name in (one, f"{one}.total")]
        rates = [("throughput", stat, "1/s") for stat in ("total", "per_core")]
        cycles = [("throughput", "cycles_per_count", "cycles"), ("heap", "peak", "bytes")]
        results += [
            MeasuredValue(
                point.point, point.run_id, point.clock_hz, point.params, point.metric, metric, stat, 1, unit, 1
            )
            for metric, stat, unit in (*spreads, *totals, *rates, *cycles)
        ]
    return results


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("key", list(PAPERS))
def test_every_published_figure_matches_at_most_one_value(
    key: str, full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = PAPERS[key]
    plan = [
        point
        for point in plan_paper_experiments(CATALOGUE, paper, PlanOptions(full=full)).points
        if not point.not_applicable
    ]
    points = []
    for index, item in enumerate(plan):
        benchmark, board = CATALOGUE.benchmarks[item.benchmark].facts, CATALOGUE.boards[item.board].facts
        params = {name: str(value) for name, value in (*benchmark.params.items(), *item.params.items())}
        facts = {"point": identity_of_point(CATALOGUE, item), "run_id": f"{index:016x}", "params": params}
        clock = {"clock_hz": item.clock_hz or board.clock.sys_hz}
        points.append(StoredMeasurementPoint(tmp_path, measured_point().model_copy(update={**facts, **clock}), {}))
    monkeypatch.setattr(reproduction, "values_of_points", _values)
    monkeypatch.setattr(reproduction, "judge_claims", lambda *_, **__: ())
    monkeypatch.setattr(reproduction, "measure_minimal_program_sizes", lambda *_: ([], []))
    done = reproduction.reproduce_paper(
        CATALOGUE, paper, points, (), reference_results_for_paper_kernels(find_checkout_root(), key, points)
    )
    results = [item for item in done.compared.values() if item.state in {"measured", "reference"}]
    assert bool(results) is (key in {"eren2024", "lentka2022"}), "figures of other papers are of models, or only drawn"
