"""Planted differences, measured: code that merely moves is called placement, a `nop` is not. By every command.

The move: a function that runs once, before the window, and makes room for itself; T8 in flash with wait states, where
that shows. The nop: in the take, T7 with the code in RAM, where each fetch costs the same; two of them, so that what
follows in the function is aligned as before, which is worth cycles of its own.
`gate` has both in test_gate.py.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, Final

import pytest

from rtoslab.analyses.counts_per_second import counts_per_second_of_point
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import PaperFolder
from rtoslab.cli import app
from rtoslab.papers.reproduction import reproduce_paper
from rtoslab.parity.concepts import CONCEPTS
from rtoslab.parity.costs import configuration_costs_from_points
from rtoslab.parity.unfairness import UnfairDifference
from rtoslab.reports import report_formats
from rtoslab.results.results import MeasuredPoint
from rtoslab.store.store import RunDirectory
from rtoslab.store.stored_point import StoredMeasurementPoint
from rtoslab.sweep.report import make_sweep_report
from tests.checkouts import build_apart, copy_checkout, replace_text
from tests.cli.test_cli import rtoslab
from tests.papers.test_papers import folder, published_row

TAKE: Final = "    return xSemaphoreTake(*semaphore, portMAX_DELAY) == pdTRUE;"
START: Final = "void port_start(void)\n{\n"
PAD: Final = (
    '__attribute__((noinline)) static void pad(void)\n{\n    __asm volatile(".rept 21\\n nop\\n .endr");\n}\n\n'
)
BENCHMARKS: Final = {"move": "t8_allocation", "nop": "t7_synchronisation"}


@pytest.fixture(scope="module")
def planted_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """By what was planted: the run without it, and the one with it; each point in four placements."""
    base = tmp_path_factory.mktemp("planted")
    moved, slower = (copy_checkout(base / name) for name in ("moved", "slower"))
    replace_text(moved, "kernels/freertos/port.c", START, f"{PAD}{START}    pad();\n")
    replace_text(slower, "kernels/freertos/port.h", TAKE, f'    __asm volatile("nop\\n nop");\n{TAKE}')
    build = build_apart(base / "build")
    result: dict[str, tuple[Path, Path]] = {}
    for what, root, config in (("move", moved, ()), ("nop", slower, ("--config", "code=sram"))):
        runs = (base / what / f"{what}-0", base / what / f"{what}-1")
        ask = ("run", BENCHMARKS[what], "--board", "nucleo-f446re", "--window", "5ms", "--placements", "4", *config)
        assert app.main([*ask, "--out", str(runs[0])], standalone_mode=False) == 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RTOSLAB_ROOT", str(root))
            patch.setenv("RTOSLAB_BUILD", str(build))
            assert app.main([*ask, "--out", str(runs[1])], standalone_mode=False) == 0
        result[what] = runs
    return result


def points(run: Path) -> list[MeasuredPoint]:
    return [
        point.result
        for point in RunDirectory.open_run_directory(run).read_measured_points()
        if isinstance(point.result, MeasuredPoint)
    ]


def label_points(runs: tuple[Path, Path], **axes: Any) -> list[StoredMeasurementPoint]:
    """Both runs' points as one run, those of the second with other axes."""
    before, after = map(points, runs)
    results = []
    for number, item in enumerate([*before, *after]):
        point = item.point
        if number >= len(before):
            config = {**point.config, **axes.get("config", {})}
            point = point.model_copy(update={**axes, "config": config})
        results.append(
            StoredMeasurementPoint(Path(), item.model_copy(update={"point": point, "run_id": f"{number:016x}"}), {})
        )
    return results


def test_planted_effect_is_found_by_every_command(planted_runs: dict[str, tuple[Path, Path]]) -> None:
    """Otherwise there would be nothing to be called by any name."""
    for what, runs in planted_runs.items():
        before, after = ([counts_per_second_of_point(point).cycles_per_count for point in points(run)] for run in runs)
        assert len(before) == len(after) == 4
        assert median(before) != median(after), what
        assert (max(before) - min(before) > 0.5) == (what == "move"), "flash has waits, RAM has none"


def test_compare_finds_the_planted_effect(planted_runs: dict[str, tuple[Path, Path]]) -> None:
    verdicts = {}
    for what, runs in planted_runs.items():
        done = rtoslab("compare", *runs, "--format", "json")
        (result,) = json.loads(done.stdout)["comparisons"]
        verdicts[what] = {change["metric"]: change["verdict"] for change in result["changes"]}["cycles_per_count"]
    assert verdicts == {"move": "placement", "nop": "worse"}


def test_sweep_finds_the_planted_effect(planted_runs: dict[str, tuple[Path, Path]]) -> None:
    texts = {}
    for what, runs in planted_runs.items():
        document = make_sweep_report("T", label_points(runs, config={"planted": "1"}))
        texts[what] = document.summary + report_formats()["md"](document)
    assert "No option changes the time by more than the placement of the code does." in texts["move"]
    assert "no: placement" in texts["move"]
    assert "The option with the largest effect is planted" in texts["nop"]
    assert "no: placement" not in texts["nop"]


def test_lint_finds_the_planted_difference(planted_runs: dict[str, tuple[Path, Path]]) -> None:
    output = {}
    for what, runs in planted_runs.items():
        stored = label_points(runs, config={"planted": "1"})
        (cost,) = configuration_costs_from_points(
            point.result for point in stored if isinstance(point.result, MeasuredPoint)
        )
        output[what] = UnfairDifference(
            CONCEPTS[0], "b", {}, (BENCHMARKS[what],), (("k", cost),)
        ).unfair_difference_cost_text
    assert output["move"].endswith("; placement)")
    assert re.fullmatch(rf"k: {BENCHMARKS['nop']} \+0\.\d %( \(\+0\.\d to \+0\.\d\))?", output["nop"]), output["nop"]


def paper_of(where: Path, benchmark: str) -> PaperFolder:
    """A paper that says: with two cores it is slower; and nothing else."""
    where.mkdir()
    axes = 'id = "c"\nsection = "2"\nsays = "K loses"\nkind = "ascending"\n'
    claim = f'[[claim]]\n{axes}where = {{ benchmark = "{benchmark}", metric = "throughput", stat = "total" }}\n'
    claim += "of = [{ cores = 2 }, { cores = 1 }]\n"
    paper = folder(where, [published_row(1, lab_kernel="freertos")], claim)
    return replace(paper, facts=paper.facts.model_copy(update={"part": ()}))


def test_paper_report_finds_the_planted_effect(planted_runs: dict[str, tuple[Path, Path]], tmp_path: Path) -> None:
    catalogue = Catalogue(find_checkout_root())
    outcomes = {}
    for what, runs in planted_runs.items():
        done = reproduce_paper(catalogue, paper_of(tmp_path / what, BENCHMARKS[what]), label_points(runs, cores=2))
        (verdict,) = done.verdicts
        outcomes[what] = verdict.outcome_of_all_statement_cases
    assert outcomes == {"move": "tie", "nop": "same"}


def test_history_finds_the_planted_effect(planted_runs: dict[str, tuple[Path, Path]]) -> None:
    for what, runs in planted_runs.items():
        done = rtoslab("runs", "history", "--metric", "cycles_per_count", "--in", runs[0].parent)
        assert done.returncode == 0, done.stderr
        assert ("beyond placement" in done.stdout) == (what == "move"), done.stdout
        assert ("Within placement" in done.stdout) == (what == "move"), done.stdout
