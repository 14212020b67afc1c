"""Every way in which figures leave the laboratory says that a kernel deviates from the port contract.

A new document or command is to be entered here: a test looks for those that nobody entered.
"""

import ast
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click
import numpy as np
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from rtoslab.analyses import CodePlacementValueRange
from rtoslab.archive.exports import (
    EXPORTERS,
    FIGURE_COLUMNS,
    SAMPLE_COLUMNS,
    export_rows_of_measured_values,
    table_rows_of_latency_samples,
)
from rtoslab.archive.index import StoredPointFilters, find_stored_points
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.choose import kernel_choice_report
from rtoslab.cli import app, cmd_choose, cmd_paper, cmd_rta, cmd_stability, cmd_worst_case
from rtoslab.cli.display import measurement_run_as_json
from rtoslab.cli.sections import print_report_document
from rtoslab.compare.baseline import make_regression_baseline
from rtoslab.compare.comparison import compare_runs_or_baselines
from rtoslab.compare.document import comparison_document
from rtoslab.compare.gate import compare_run_with_baseline, regression_gate_document
from rtoslab.compare.history import history_document_of_measured_values
from rtoslab.compare.machines import comparisons_as_json as comparison_as_json
from rtoslab.compare.machines import comparisons_as_junit
from rtoslab.compare.rules import MeasuredValueLimits
from rtoslab.compare.sides import ComparedMeasurementSet, values_of_stored_measurement
from rtoslab.measure.pipeline import MeasurementPointOutcome
from rtoslab.papers.document import paper_comparison_report
from rtoslab.papers.on_terminal import print_paper_reproduction
from rtoslab.papers.reproduction import reproduce_paper
from rtoslab.placements.report import code_placement_studies_as_json, code_placement_study_report
from rtoslab.placements.study import CodePlacementStudy
from rtoslab.reports import report_formats
from rtoslab.reports.deviations import MARK, add_kernel_deviation_footnotes
from rtoslab.reports.document import make_report_document
from rtoslab.reports.export_files import export_report_files
from rtoslab.reports.table import ReportDocument
from rtoslab.reports.terminal import print_point_results
from rtoslab.results.results import MeasuredPoint
from rtoslab.rta.findings import BoundViolationSearchSummary
from rtoslab.rta.overheads import read_kernel_overheads, write_kernel_overheads
from rtoslab.rta.report import task_set_report as rta_document
from rtoslab.rta.tables import study_as_json
from rtoslab.rta.task_set_study import TaskSetStudy, study_task_set
from rtoslab.rta.taskset import read_task_set
from rtoslab.stability import (
    placement_overview_document,
    read_stability_file,
    statement_stability_report,
    write_stability_file,
)
from rtoslab.store.stored_point import StoredMeasurementPoint
from rtoslab.sweep.report import make_sweep_report
from rtoslab.worst_case.arrivals import ARRIVAL
from rtoslab.worst_case.document import worst_case_latency_report
from rtoslab.worst_case.places import InstructionLocation
from rtoslab.worst_case.worst_case import ArrivalLatency, WorstCaseLatencyResult
from tests.archive.test_runs import run_of
from tests.choose.test_choose import CLEAR, comparison_of
from tests.choose.test_choose import NAMES as CHOICE_NAMES
from tests.fakes import measured_point
from tests.latency_fakes import latency_point
from tests.papers.test_papers import folder as paper_folder
from tests.papers.test_papers import published_row
from tests.rta.systems import KERNEL
from tests.stability.test_place_effects import PAPER, references_of
from tests.stability.test_stability import LEAST, judge_example
from tests.stability.test_stability import example as stability_example

CATALOGUE = Catalogue(find_checkout_root())
CHECK, SAW = "Order", "noted 2 1 where 1 2 was due; declared: by design"
APART = {CHECK: SAW}
FOOTNOTE = f"{MARK} deviates from the port contract"
EXAMPLE = find_checkout_root() / "examples" / "response-time" / "control.toml"


def odd(per_core: int = 1000, **names: Any) -> MeasuredPoint:
    return measured_point(1, per_core, kernel="odd", **names).model_copy(update={"deviations": APART})


def stored_points(*results: MeasuredPoint) -> list[StoredMeasurementPoint]:
    return [StoredMeasurementPoint(Path("p"), result, {"build": {"kernel": result.point.kernel}}) for result in results]


def side(name: str, *results: MeasuredPoint) -> ComparedMeasurementSet:
    return ComparedMeasurementSet(name, tuple(values_of_stored_measurement(point) for point in stored_points(*results)))


STABILITY = replace(
    stability_example(),
    rows=tuple(replace(row, deviations=APART if row.kernel == "a" else {}) for row in stability_example().rows),
)
BEFORE, AFTER = side("a", odd()), side("b", odd(2000))


def history(tmp_path: Path) -> ReportDocument:
    run_of(tmp_path, 0, [odd()])
    run_of(tmp_path, 1, [odd(2000)])
    return history_document_of_measured_values(list(find_stored_points([tmp_path], StoredPointFilters())))


def placement_study() -> CodePlacementStudy:
    return CodePlacementStudy(
        odd().point, "count", (0, 1), ("r", "s"), {"cycles": CodePlacementValueRange([1.0, 2.0])}, (), 16, APART
    )


@cache
def response_times() -> TaskSetStudy:
    """It takes seconds, and nobody changes it."""
    overheads = KERNEL.model_copy(update={"kernel": "odd", "board": "b", "deviations": APART})
    return study_task_set(read_task_set(EXAMPLE), overheads)


def sweep_of_offsets() -> WorstCaseLatencyResult:
    present = InstructionLocation(0x100, "f", (), "")
    waited = ArrivalLatency(
        minimum_cycles=1, median_cycles=1.0, p99_cycles=2.0, maximum_cycles=2, worst_offset=0, worst_count=1,
        executing=present, asleep=False, histogram=((1, 3), (2, 1)),
    )  # fmt: skip
    return WorstCaseLatencyResult(
        title="a service, Odd on b", claim="At most 2 cycles.", exhaustive=True, span_cycles=4,
        span="4 cycles", seed=None, arrivals=4, first_cycle=0, clock_hz=1_000_000,
        period_cycles=None, tick_cycles=None, exception=16, core=0,
        handler=waited, task=None, met=(), deviations={"odd": APART},
    )  # fmt: skip


def reproduce(tmp_path: Path) -> Any:
    paper = paper_folder(tmp_path, [published_row(1, lab_kernel="freertos"), published_row(2)])
    apart = measured_point(1, 1000, kernel="freertos").model_copy(update={"deviations": APART})
    return reproduce_paper(CATALOGUE, paper, stored_points(apart))


DOCUMENTS: Mapping[str, Callable[[Path], ReportDocument]] = {
    "reports/document.py": lambda _: make_report_document(
        CATALOGUE, stored_points(odd(), measured_point(1, 1000, kernel="even")), None
    ),
    "compare/document.py": lambda _: comparison_document([compare_runs_or_baselines(BEFORE, AFTER)]),
    "compare/history.py": history,
    "sweep/report.py": lambda _: make_sweep_report("Sweep", stored_points(odd(), odd(2000, config={"opt": "-Os"}))),
    "placements/report.py": lambda _: add_kernel_deviation_footnotes(
        code_placement_study_report([placement_study()]), [odd()]
    ),
    "choose/document.py": lambda _: kernel_choice_report(comparison_of(CLEAR), CHOICE_NAMES, [], {"a": APART}),
    "stability/document.py": lambda _: statement_stability_report(judge_example((LEAST,), STABILITY)),
    "stability/overview.py": lambda _: placement_overview_document(
        {PAPER.key: PAPER}, references_of([*PAPER.facts.kernels][:2], APART), []
    ),
    "papers/document.py": lambda path: paper_comparison_report(CATALOGUE, reproduce(path)),
    "rta/report.py": lambda _: rta_document(response_times()),
    "worst_case/document.py": lambda _: worst_case_latency_report(sweep_of_offsets(), np.zeros(4, ARRIVAL)),
}
"""By the module that makes it."""


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("form", ["md", "html", "terminal"])
def test_every_document_marks_and_explains_deviations(name: str, form: str, tmp_path: Path) -> None:
    built = DOCUMENTS[name](tmp_path)
    if form == "terminal":
        console = Console(width=400, file=io.StringIO(), record=True)
        print_report_document(built, console)
        text = console.export_text()
    else:
        text = report_formats()[form](built)
    assert FOOTNOTE in text
    assert CHECK in text
    assert text.replace(FOOTNOTE, "").count(MARK) > 0, "and not only explained"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_exported_file_explains_deviations(name: str, tmp_path: Path) -> None:
    built = DOCUMENTS[name](tmp_path)
    result = dict(export_report_files(built))
    assert FOOTNOTE in str(result["deviations.txt"])
    captions = [chart.caption for section in built.shown_sections for chart in section.charts]
    drawings = [text for name, text in result.items() if name.endswith(".svg") and isinstance(text, str)]
    for caption, text in zip(captions, drawings, strict=True):
        whole = re.sub(r"</text><text[^>]*>", " ", text)
        assert (f">{FOOTNOTE}" in whole) == (FOOTNOTE in caption)
    tables = [data for section in built.shown_sections for data in section.tables]
    written = [text for name, text in result.items() if name.endswith(".tex") and isinstance(text, str)]
    assert written
    for table, text in zip(tables, written, strict=True):
        assert (r"\dag{} deviates" in text) == (FOOTNOTE in table.note)


def _modules(calls: str) -> Iterator[str]:
    """Modules of the laboratory that call this name, by their places in it."""
    home = find_checkout_root() / "python" / "rtoslab"
    for path in sorted(home.rglob("*.py")):
        tree = ast.parse(path.read_text())
        if any(isinstance(item, ast.Call) and getattr(item.func, "id", "") == calls for item in ast.walk(tree)):
            yield path.relative_to(home).as_posix()


def test_every_document_is_tested_for_deviations() -> None:
    assert set(_modules("ReportDocument")) == set(DOCUMENTS)


def printed_output(print_it: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> str:
    print_it()
    return capsys.readouterr().out


def _points(capsys: pytest.CaptureFixture[str], _: Path) -> Iterator[str]:
    yield printed_output(lambda: print_point_results([odd()], Console(width=200)), capsys)
    yield json.dumps(
        measurement_run_as_json(Path("run"), [MeasurementPointOutcome(odd(), Path("p"), fresh=True, cached=False)])
    )


def _report(capsys: pytest.CaptureFixture[str], path: Path) -> Iterator[str]:
    for form in ("csv", "json"):
        yield report_formats()[form](DOCUMENTS["reports/document.py"](path))


def _compare(capsys: pytest.CaptureFixture[str], _: Path) -> Iterator[str]:
    yield comparison_as_json([compare_runs_or_baselines(BEFORE, AFTER)])
    yield comparisons_as_junit([compare_runs_or_baselines(BEFORE, AFTER)])


def _gate(capsys: pytest.CaptureFixture[str], _: Path) -> Iterator[str]:
    baseline = make_regression_baseline(BEFORE, {})
    judgement = compare_run_with_baseline(
        baseline, "main", AFTER, MeasuredValueLimits.merge_baseline_and_requested_limits(baseline.rules, ())
    )
    yield report_formats()["md"](regression_gate_document(judgement))
    yield comparison_as_json([judgement.comparison])
    yield comparisons_as_junit([judgement.comparison])


def _runs(capsys: pytest.CaptureFixture[str], path: Path) -> Iterator[str]:
    sampled = latency_point("probe", [10, 20]).model_copy(update={"deviations": APART})
    run_of(path, 0, [odd(), sampled])
    result = list(find_stored_points([path], StoredPointFilters()))
    for rows, columns in (
        (export_rows_of_measured_values, FIGURE_COLUMNS),
        (table_rows_of_latency_samples, SAMPLE_COLUMNS),
    ):
        for form in ("csv", "jsonl"):
            yield EXPORTERS[form](rows(result), columns).decode()
        table = pq.read_table(io.BytesIO(EXPORTERS["parquet"](rows(result), columns)))
        yield str(table.column("deviations").to_pylist())


def _placement(capsys: pytest.CaptureFixture[str], _: Path) -> Iterator[str]:
    yield json.dumps(code_placement_studies_as_json([placement_study()]))


def _paper(capsys: pytest.CaptureFixture[str], path: Path) -> Iterator[str]:
    done = reproduce(path)
    yield printed_output(lambda: print_paper_reproduction(done, Console(width=200)), capsys)
    yield json.dumps(cmd_paper._reproduction_as_json(path, done))


def _choose(capsys: pytest.CaptureFixture[str], _: Path) -> Iterator[str]:
    yield json.dumps(cmd_choose._kernel_comparison_as_json(comparison_of(CLEAR), CHOICE_NAMES, [], {"a": APART}))


def _stability(capsys: pytest.CaptureFixture[str], path: Path) -> Iterator[str]:
    yield json.dumps(cmd_stability._claim_stability_as_json(judge_example((LEAST,), STABILITY)))
    write_stability_file(path / "lentka2022.ndjson", STABILITY)
    assert read_stability_file(path / "lentka2022.ndjson").port_contract_deviations_by_kernel == {"a": APART}
    yield (path / "lentka2022.ndjson").read_text()


def _rta(capsys: pytest.CaptureFixture[str], path: Path) -> Iterator[str]:
    result = response_times()
    yield printed_output(lambda: cmd_rta._print_response_time_study(result), capsys)
    yield json.dumps(study_as_json(result))
    assert result.overheads is not None
    for name in ("kept.toml", "kept.json"):
        write_kernel_overheads(result.overheads, path / name)
        assert read_kernel_overheads(path / name).deviations == APART
        yield (path / name).read_text()
    searched = BoundViolationSearchSummary(
        kernel="odd",
        board="b",
        cores=1,
        config={},
        sets=1,
        jobs=1,
        findings=0,
        median=1.0,
        least=1.0,
        largest=1.0,
        deviations=APART,
    )
    yield searched.bound_search_statistics_as_line()
    yield json.dumps(searched.search_statistics_as_json())


def _worst_case(capsys: pytest.CaptureFixture[str], _: Path) -> Iterator[str]:
    result = sweep_of_offsets()
    yield printed_output(
        lambda: cmd_worst_case._print_finding(cast("Any", SimpleNamespace(title=result.title)), result, 0.1, Path()),
        capsys,
    )
    yield json.dumps(result.as_json())


ANY_IMAGE = "observes an image, anybody's or a benchmark's, whose port nobody was asked to examine"
COMMANDS: Mapping[str, Callable[[pytest.CaptureFixture[str], Path], Iterator[str]] | str] = {
    "run": _points, "demo": _points, "show": _points, "report": _report, "compare": _compare, "gate": _gate,
    "runs": _runs, "sweep": _placement, "paper": _paper, "stability": _stability, "rta": _rta,
    "choose": _choose,
    "worst-case": _worst_case,
    "profile": ANY_IMAGE, "trace": ANY_IMAGE, "measure": ANY_IMAGE, "masked": ANY_IMAGE,
    "sim": ANY_IMAGE, "gdb": ANY_IMAGE, "footprint": "tells bytes, which do not depend on what a kernel does",
    "kernel": "says itself what deviates, and keeps points for `report`, `lint` and `paper`",
    "lint": "tells how configurations differ", "pins": "records and reads pins",
    "calibrate": "sets two boards beside each other with one kernel",
    "completion": "no figure", "doctor": "no figure", "list": "no figure", "new": "no figure",
    "diagnose": "tells what goes wrong in an image, and compares nothing",
}  # fmt: skip
"""What each command gives besides documents; or why it need not say it."""


@pytest.mark.parametrize("name", [name for name, gives in COMMANDS.items() if callable(gives)])
def test_every_command_shows_deviations(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    gives = COMMANDS[name]
    assert callable(gives)
    for text in gives(capsys, tmp_path):
        assert CHECK in text
        assert (MARK in text) == (FOOTNOTE in text)


def test_every_command_is_tested_for_deviations() -> None:
    assert set(app.list_commands(click.Context(app))) == set(COMMANDS)
