"""A paper against a run in several placements: medians, bands, and statements that the place of the code decides."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rtoslab.analyses import point_values_by_code_placement
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import PaperFolder
from rtoslab.catalogue.paper_schemas import RedrawnPaperChart, RedrawnTable
from rtoslab.papers.document import paper_comparison_report
from rtoslab.papers.on_terminal import print_paper_reproduction
from rtoslab.papers.paper_charts import redraw_paper_figure
from rtoslab.papers.reproduction import PaperReproduction, reproduce_paper
from rtoslab.papers.tables import (
    published_and_our_values_chart,
    ratio_to_paper_value_text,
    redraw_paper_table,
    text_of_reproduced_value,
)
from rtoslab.results.results import FailedMeasurement, NotApplicableMeasurement
from rtoslab.store.stored_point import AnyResult, StoredMeasurementPoint
from tests.cli.test_cli import rtoslab
from tests.fakes import measured_point
from tests.papers.test_papers import FACTS, LOSES, folder, published_row

CATALOGUE = Catalogue(find_checkout_root())
CLAIM = f'[[claim]]\nid = "c"\nsection = "2"\nsays = "K loses"\n{LOSES}'


def _stored_points(*results: AnyResult) -> list[StoredMeasurementPoint]:
    return [StoredMeasurementPoint(Path(), result, {}) for result in results]


def _point_at(place: int, cores: int, count: int) -> Any:
    config = {"placement": str(place)} if place else {}
    return measured_point(cores, count, kernel="freertos", config=config).model_copy(
        update={"run_id": f"{cores}.{place}"}
    )


def _folder(tmp_path: Path) -> PaperFolder:
    paper = folder(tmp_path, [published_row(1, lab_kernel="freertos")], CLAIM)
    return replace(paper, facts=paper.facts.model_copy(update={"part": ()}))


def _paper(tmp_path: Path, one_core: list[int], two_cores: list[int]) -> PaperReproduction:
    """T2 of FreeRTOS on one core and two, each in as many placements as there are counts; the paper has 2,000 1/s."""
    paper = _folder(tmp_path)
    points = [_point_at(place, 1, count) for place, count in enumerate(one_core)]
    points += [_point_at(place, 2, count) for place, count in enumerate(two_cores)]
    return reproduce_paper(CATALOGUE, paper, _stored_points(*points))


def test_figure_is_the_median_and_its_ratio_has_a_band(tmp_path: Path) -> None:
    done = _paper(tmp_path, [450, 500, 600], [200, 200, 200])
    figure = done.compared[1]
    assert (figure.our_value, figure.ratio_to_paper, figure.ratio_range_over_code_placements) == (2000, 1, (0.9, 1.2))
    assert (text_of_reproduced_value(figure), ratio_to_paper_value_text(figure)) == (
        "2,000 (1,800 to 2,400)",
        "1.00 (0.90 to 1.20)",
    )
    (rate,) = [
        value for value in done.values if (value.metric, value.stat, value.point.cores) == ("throughput", "total", 1)
    ]
    assert (rate.value, dict(rate.point.config)) == (2000, {})
    assert len(done.points) == 6


def test_figure_in_one_placement_is_marked(tmp_path: Path) -> None:
    done = _paper(tmp_path, [450, 500, 600], [200, 200, 200])
    sized = replace(done.compared[1], published=done.compared[1].published.model_copy(update={"id": 2}), band=None)
    paper = folder(tmp_path, [published_row(1, lab_kernel="freertos"), published_row(2, lab_kernel="freertos")])
    both = replace(done, paper=paper, compared={1: done.compared[1], 2: sized})
    for ids, lone in (((1,), False), ((1, 2), True)):
        assert (
            "were measured in one placement" in redraw_paper_table(RedrawnTable(title="T", rows=ids), both).note
        ) == lone


def test_band_smaller_than_the_rounding_is_left_out(tmp_path: Path) -> None:
    figure = _paper(tmp_path, [500, 500, 500], [200, 200, 200]).compared[1]
    assert ratio_to_paper_value_text(figure) == "1.00"


@pytest.mark.parametrize(
    ("one_core", "two_cores", "outcome", "seen"),
    [
        ([500, 600, 500], [200, 200, 220], "same", "2 cores 1,600, 1 core 2,000 1/s (so in all 3 placements)"),
        (
            [500, 500, 500],
            [200, 260, 200],
            "tie",
            "the result depends on the placement of the code, same in 2, different in 1 of 3: ",
        ),
        ([500, 500, 500], [260, 270, 300], "different", "2 cores 2,080, 1 core 2,000 1/s (so in all 3 placements)"),
        ([500], [200], "same", "2 cores 1,600, 1 core 2,000 1/s"),
    ],
)
def test_statement_is_judged_in_every_placement(
    one_core: list[int], two_cores: list[int], outcome: str, seen: str, tmp_path: Path
) -> None:
    done = _paper(tmp_path, one_core, two_cores)
    (verdict,) = done.verdicts
    assert verdict.outcome_of_all_statement_cases == outcome
    assert verdict.text_of_compared_claim_numbers.startswith(seen)
    assert ("placement" in verdict.text_of_compared_claim_numbers) == (len(one_core) > 1)
    summary = paper_comparison_report(CATALOGUE, done).summary
    assert ("1 is a tie" in summary) == (outcome == "tie")


@pytest.mark.parametrize("places", [1, 3])
def test_verdicts_of_one_placement_have_a_note(places: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = _paper(tmp_path, [500, 600, 500][:places], [200, 200, 220][:places])
    (claims,) = (section for section in paper_comparison_report(CATALOGUE, done).sections if section.id == "claims")
    print_paper_reproduction(done, Console(width=400))
    for message in ("\n".join(claims.prose), capsys.readouterr().out):
        assert ("another placement may reverse their order" in message) == (places == 1)


def test_point_in_one_placement_is_compared_with_all_of_another(tmp_path: Path) -> None:
    lone = measured_point(1, kernel="nuttx")
    not_here = NotApplicableMeasurement(
        point=_point_at(1, 1, 1).point.model_copy(update={"kernel": "nuttx"}), reason="its own script", run_id="n"
    )
    done = reproduce_paper(
        CATALOGUE, _folder(tmp_path), _stored_points(_point_at(0, 1, 500), lone, _point_at(1, 1, 600), not_here)
    )
    rates = {
        value.point.kernel: value for value in done.values if (value.metric, value.stat) == ("throughput", "total")
    }
    assert [len(rates[name].placement_band.values) for name in ("freertos", "nuttx")] == [2, 1]
    assert all(not value.point.config for value in done.values)


def test_placement_that_fails_is_not_counted(tmp_path: Path) -> None:
    """Its proof gave no number; the table says of how many placements the median is."""
    failed = FailedMeasurement(
        run_id="f", point=_point_at(1, 1, 1).point, stage="proof", error="ProofError", message="it waited"
    )
    done = reproduce_paper(
        CATALOGUE, _folder(tmp_path), _stored_points(_point_at(0, 1, 500), failed, _point_at(2, 1, 600))
    )
    figure = done.compared[1]
    assert (figure.our_value, figure.band and len(figure.band.values)) == (2200, 2)
    (lost,) = _stored_points(failed)
    lacking = reproduce_paper(CATALOGUE, _folder(tmp_path), [lost]).compared[1]
    assert (lacking.state, lacking.our_value, lacking.reason) == ("failed", None, "proof: it waited")


def test_reference_results_add_placements_to_a_point(tmp_path: Path) -> None:
    """By the run id: what was measured under another manifest says nothing of this build."""
    known = point_values_by_code_placement([_point_at(place, 1, count) for place, count in enumerate((500, 600, 450))])
    for run_id, values in (("1.0", [2000, 2400, 1800]), ("other", [2000])):
        further = {run_id: replace(known, run_id=run_id)}
        done = reproduce_paper(
            CATALOGUE, _folder(tmp_path), _stored_points(_point_at(0, 1, 500)), reference_placements=further
        )
        (rate,) = [value for value in done.values if (value.metric, value.stat) == ("throughput", "total")]
        assert list(rate.placement_band.values) == values
    moved = {"1.0": known}
    done = reproduce_paper(
        CATALOGUE, _folder(tmp_path), _stored_points(_point_at(0, 1, 501)), reference_placements=moved
    )
    (rate,) = [value for value in done.values if (value.metric, value.stat) == ("throughput", "total")]
    assert list(rate.placement_band.values) == [2004], (
        "the linker's own order gave another value: these are not its placements"
    )


def test_placements_are_planned() -> None:
    plain, placed = (
        rtoslab("paper", "lentka2022", "--setup", "none", *more, "--dry-run").stdout
        for more in ((), ("--placements", "2"))
    )
    assert placed.count("placement=1") > 0
    assert "placement=1" not in plain


def test_figures_and_charts_of_a_paper_have_the_bands(tmp_path: Path) -> None:
    """One core counts 450 to 600, two 180 to 220 each: 360 to 440 of 450 to 600 are 60 to 98 %."""
    done = _paper(tmp_path, [450, 500, 600], [180, 200, 220])
    (pairs,) = published_and_our_values_chart(
        RedrawnTable(title="T", rows=(1,)), done.paper.paper_values_by_row_id, done.compared
    )
    mark = pairs.rows[-1]
    assert (mark["y"], mark["low"], mark["high"]) == (2000, 1800, 2400)
    figure = RedrawnPaperChart.model_validate(FACTS["part"][1]["figure"][0]).model_copy(
        update={"where": {"metric": "throughput", "stat": "total"}}
    )
    drawn = redraw_paper_figure(figure, done, done.values)
    assert drawn is not None
    chart, table = drawn
    two = next(row for row in chart.rows if row["series"].startswith("2"))
    assert (two["y"], two["low"], two["high"]) == (80, 60, pytest.approx(97.78, abs=0.01))
    assert table.rows == [["t2", "100", "80 (60 to 97.78)"]]
    assert "medians over 3 placements of the code" in table.note
    assert [(record["value"], record["low"], record["n"]) for record in table.records][1] == (80, 60, 360)


def test_band_that_cannot_be_seen_is_not_printed(tmp_path: Path) -> None:
    figure = RedrawnPaperChart.model_validate(FACTS["part"][1]["figure"][0])
    done = _paper(tmp_path, [500_000, 500_001], [200_000, 200_001])
    drawn = redraw_paper_figure(figure, done, done.values)
    assert drawn is not None
    assert drawn[0].rows[1]["low"] < drawn[0].rows[1]["high"]
    assert drawn[1].rows == [["t2", "100", "40"]]
