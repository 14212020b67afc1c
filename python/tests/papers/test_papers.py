"""Published figures beside ours: each row finds its value or says why not, claims are judged, slips recomputed."""

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rtoslab.analyses.axis_values import select_values_by_coordinates, values_of_points
from rtoslab.base.errors import CatalogueError, ReportError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import PaperFolder, PublishedValueRow
from rtoslab.catalogue.paper_schemas import Paper, RedrawnPaperChart, RedrawnTable
from rtoslab.papers.absences import MissingValueReasonFinder
from rtoslab.papers.arithmetic import evaluate_expression
from rtoslab.papers.compare import ComparedFigure, compare_published_values_with_ours
from rtoslab.papers.document import paper_comparison_report
from rtoslab.papers.on_terminal import print_paper_reproduction
from rtoslab.papers.paper_charts import redraw_paper_figure
from rtoslab.papers.reproduction import PaperReproduction, reproduce_paper
from rtoslab.papers.setup_report import mean_deviation_factor_from_paper
from rtoslab.papers.sources import MeasuredValueOrigin
from rtoslab.papers.tables import published_and_our_values_chart, ratio_to_paper_value_text, redraw_paper_table
from rtoslab.reports import report_formats
from rtoslab.results import results
from rtoslab.store.stored_point import AnyResult, StoredMeasurementPoint
from tests.fakes import measured_point, point

CATALOGUE = Catalogue(find_checkout_root())
KERNELS = ("k",)


def published_row(ident: int, **changes: str) -> dict[str, str]:
    row = dict.fromkeys(PublishedValueRow.model_fields, "")
    row |= {
        "id": str(ident), "section": "Table 1", "kind": "result", "kernel": "K", "metric": "rate", "stat": "total",
        "value": "2000", "unit": "1/s", "lab_benchmark": "t2", "lab_metric": "throughput", "lab_stat": "total",
        "lab_kernel": "k", "lab_board": "b", "lab_config": "cores=1",
    }  # fmt: skip
    return row | changes


FACTS: dict[str, Any] = {
    "title": "On K", "authors": "Doe", "year": 2020, "published_in": "Proc. of K",
    "kernels": {"k": "K", "other": "Other OS"},
    "condition": [{"what": "kernel", "paper": "K 1", "manifest": "build.kernel_version"}],
    "part": [
        {"id": "one", "title": "Table 1", "table": [{"title": "Table 1", "rows": [1, 2], "across": ["kernel"]}]},
        {"id": "two", "title": "Figure 9", "figure": [{
            "title": "Figure 9", "kind": "bars", "where": {"metric": "throughput", "stat": "per_core"},
            "x": "benchmark", "series": "cores", "unit": "%", "y_title": "%", "x_title": "test",
            "percent_of": {"cores": 1},
        }]},
    ],
}  # fmt: skip


def folder(tmp_path: Path, rows: list[dict[str, str]], claims: str = "", slips: str = "") -> PaperFolder:
    with (tmp_path / "published.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(PublishedValueRow.model_fields))
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "claims.toml").write_text(claims)
    (tmp_path / "slips.toml").write_text(slips)
    return PaperFolder("doe2020", tmp_path, Paper.model_validate(FACTS), ())


LOSES = (
    'kind = "ascending"\nwhere = { benchmark = "t2", metric = "throughput", stat = "total" }\n'
    "of = [{ cores = 2 }, { cores = 1 }]\n"
)
"""Two cores count less than one in total."""


def done_with(paper: PaperFolder, *result: results.MeasuredPoint) -> PaperReproduction:
    """The paper against these points, of kernel `k` alone."""
    report = list(values_of_points(result))
    compared = compare_published_values_with_ours(paper, result, report, KERNELS, {})
    absences = MissingValueReasonFinder(paper, result, KERNELS)
    names = {"k": "K"}
    sources = {
        point.run_id: MeasuredValueOrigin("k", "", is_reference=False, is_authors_version=True) for point in result
    }
    return PaperReproduction(paper, (), (), result, tuple(report), compared, (), sources, absences, names)


def list_measured_points(stored: Iterable[AnyResult]) -> list[results.MeasuredPoint]:
    return [result for result in stored if isinstance(result, results.MeasuredPoint)]


def compare_row(tmp_path: Path, row: dict[str, str], *stored: AnyResult) -> ComparedFigure:
    return compare_published_values_with_ours(
        folder(tmp_path, [row]), stored, values_of_points(list_measured_points(stored)), KERNELS, {}
    )[1]


def test_row_is_matched_with_value_and_ratio(tmp_path: Path) -> None:
    result = compare_row(tmp_path, published_row(1), measured_point(1, 1000), measured_point(2, 700))
    assert (result.state, result.our_value, result.ratio_to_paper) == ("measured", 4000, 2)


def test_cycles_and_times_are_converted_by_the_clock(tmp_path: Path) -> None:
    row = published_row(1, lab_stat="cycles_per_count", unit="us", value="125")
    assert compare_row(tmp_path, row, measured_point(1, 1000)).our_value == pytest.approx(250)


def test_missing_kernel_is_shown_as_not_available(tmp_path: Path) -> None:
    result = compare_row(tmp_path, published_row(1, lab_kernel="other"), measured_point(1))
    assert (result.state, result.our_value, result.reason) == (
        "bring your own",
        None,
        "the sources of Other OS were not added (`rtoslab kernel tree add`), and it has no reference result",
    )


@pytest.mark.parametrize(
    ("stored", "state", "why"),
    [
        ([], "not yet measured", "the run has no throughput with cores=1"),
        ([measured_point(2)], "not yet measured", "the run has no throughput with cores=1"),
        (
            [
                results.FailedMeasurement(
                    run_id="0" * 16, point=point(1), stage="proof", error="ProofError", message="no switch"
                )
            ],
            "failed",
            "proof: no switch",
        ),
        ([results.NotApplicableMeasurement(run_id="0" * 16, point=point(1), reason="no heap")], "n/a", "no heap"),
        (
            [results.NotApplicableMeasurement(run_id="0" * 16, point=point(2), reason="one core")],
            "not yet measured",
            "the run has no throughput with cores=1",
        ),
    ],
)
def test_missing_value_has_a_reason_and_no_figure(
    tmp_path: Path, stored: list[AnyResult], state: str, why: str
) -> None:
    result = compare_row(tmp_path, published_row(1), *stored)
    assert (result.state, result.our_value, result.ratio_to_paper, result.reason) == (state, None, None, why)


def test_mapping_that_fits_several_values_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"2 values match row 1 of .*make lab_config more specific: cores=1 or 2\."):
        compare_row(tmp_path, published_row(1, lab_config=""), measured_point(1), measured_point(2))


def test_mapping_to_another_quantity_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="is in bytes, but our value is in 1/s"):
        compare_row(tmp_path, published_row(1, unit="bytes"), measured_point(1))


def test_damaged_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"published.csv, line 3: the id 1 is used twice"):
        _ = folder(tmp_path, [published_row(1), published_row(1)]).paper_values_by_row_id
    with pytest.raises(CatalogueError, match=r"published.csv, line 2, id: "):
        _ = folder(tmp_path, [published_row(1, id="one")]).paper_values_by_row_id


def test_table_is_redrawn_with_its_groups(tmp_path: Path) -> None:
    paper = folder(tmp_path, [published_row(1), published_row(2, kernel="Other", lab_kernel="other", value="900")])
    table = redraw_paper_table(
        RedrawnTable(title="Table 1", rows=(1, 2), across=("kernel",)), done_with(paper, measured_point(1, 1000))
    )
    assert table.title == "Table 1, 1/s"
    assert [name for name, _ in table.column_heads] == [
        "metric", "K: paper", "K: here", "K: ratio", "Other: paper", "Other: here", "Other: ratio",
    ]  # fmt: skip
    assert table.rows == [["rate", "2000", "4,000", "2.00", "900", "n/a [1]", "\N{EN DASH}"]]
    why = "the sources of Other OS were not added (`rtoslab kernel tree add`), and it has no reference result"
    assert table.note == f"n = 1,000. Versions: K. [1] {why}."
    ours = [record for record in table.records if record["source"] == "here"]
    assert [(mine["value"], mine["n"], mine["note"]) for mine in ours] == [(4000, 1000, ""), (None, None, why)]
    assert [record["value"] for record in table.records if record["source"] == "paper"] == [2000, 900]


def test_chart_has_published_marks_even_without_ours(tmp_path: Path) -> None:
    paper = folder(tmp_path, [published_row(1), published_row(2, kernel="Other", lab_kernel="other", value="900")])
    result = compare_published_values_with_ours(paper, (), values_of_points([measured_point(1, 1000)]), KERNELS, {})
    (chart,) = published_and_our_values_chart(
        RedrawnTable(title="T", rows=(1, 2)), paper.paper_values_by_row_id, result
    )
    assert [(row["x"], row["series"], row["y"]) for row in chart.rows] == [
        ("rate (K)", "paper", 2000), ("rate (K)", "here", 4000), ("rate (Other)", "paper", 900),
    ]  # fmt: skip
    assert chart.y_title == "1/s"


def test_figure_is_normalised_to_its_base(tmp_path: Path) -> None:
    figure = RedrawnPaperChart.model_validate(FACTS["part"][1]["figure"][0])
    done = done_with(folder(tmp_path, []), measured_point(1, 1000), measured_point(2, 800))
    drawn = redraw_paper_figure(figure, done, done.values)
    assert drawn is not None
    assert [(row["x"], row["series"], row["y"]) for row in drawn[0].rows] == [
        ("t2", "1 core", 100),
        ("t2", "2 cores (pinned)", 80),
    ]
    assert drawn[1].rows == [["t2", "100", "80"]]
    single = done_with(folder(tmp_path, []), measured_point(2, 800))
    assert redraw_paper_figure(figure, single, single.values) is None


def test_whole_report_in_every_format(tmp_path: Path) -> None:
    slips = '[[slip]]\nid = "s"\nkind = "slip"\nrows = [1]\nsays = "it slipped"\nprinted = 3\ncomputed = "r1 / 2"\n'
    claims = f'[[claim]]\nid = "c"\nsection = "2"\nsays = "K gains"\n{LOSES}'
    paper = folder(tmp_path, [published_row(1), published_row(2, lab_kernel="other", kernel="Other")], claims, slips)
    manifest: dict[str, object] = {"build": {"kernel_version": "V9", "kernel": "k"}}
    points = [
        StoredMeasurementPoint(tmp_path, item, manifest) for item in (measured_point(1, 1000), measured_point(2, 800))
    ]
    document = paper_comparison_report(CATALOGUE, reproduce_paper(CATALOGUE, paper, points, ["t77"]))
    for suffix in ("html", "md"):
        text = report_formats()[suffix](document)
        assert "it slipped" in text
        assert "1,000" in text  # r1 / 2, computed anew
        assert "V9" in text
        assert "t77" in text
        assert "different" in text
    assert document.summary.startswith("Of the paper's 1 statement 1 does not hold. Contradicted: K gains.")
    assert document == paper_comparison_report(CATALOGUE, reproduce_paper(CATALOGUE, paper, points, ["t77"]))
    stable = paper_comparison_report(CATALOGUE, reproduce_paper(CATALOGUE, paper, points, ["t77"]), {"c": "29 of 32"})
    (claims_of,) = (section for section in stable.sections if section.id == "claims")
    assert claims_of.tables[0].columns[-1] == ">in builds"
    assert [row[-1] for row in claims_of.tables[0].rows] == ["29 of 32"]


def test_kernel_that_deviates_is_flagged_in_the_papers_tables(tmp_path: Path) -> None:
    """Also where no row names it: at its figure."""
    paper = folder(
        tmp_path, [published_row(1, lab_kernel="freertos"), published_row(2, lab_kernel="other", kernel="Other")]
    )
    apart = measured_point(1, 1000, kernel="freertos").model_copy(
        update={"deviations": {"Order": "noted 2 1; declared: by design"}}
    )
    points = [
        StoredMeasurementPoint(tmp_path, item, {"build": {"kernel": "k"}})
        for item in (apart, measured_point(2, 900, kernel="even"))
    ]
    done = reproduce_paper(CATALOGUE, paper, points)
    console = Console(width=160, record=True, file=io.StringIO())
    print_paper_reproduction(done, console)
    for text in (report_formats()["md"](paper_comparison_report(CATALOGUE, done)), console.export_text()):
        assert re.search(r"[0-9]†", text), text
        assert "† deviates from the port contract" in text
    plain = reproduce_paper(CATALOGUE, paper, points[1:])
    assert "†" not in report_formats()["md"](paper_comparison_report(CATALOGUE, plain))


def test_report_without_any_point_still_shows_the_paper(tmp_path: Path) -> None:
    paper = folder(tmp_path, [published_row(1), published_row(2)])
    text = report_formats()["md"](paper_comparison_report(CATALOGUE, reproduce_paper(CATALOGUE, paper, [])))
    assert "the sources of K were not added" in text
    assert "Figure 9: not yet measured." in text


def test_conditions_are_read_from_the_manifests(tmp_path: Path) -> None:
    build = {"features": {"icache": "0", "art": "1"}, "flags": ["-mthumb", "-O3"], "clock_hz": 8_000_000, "kernel": "k"}
    facts = {**FACTS, "part": [], "condition": [
        {"what": "caches", "paper": "off", "manifest": "build.features"},
        {"what": "flags", "paper": "-O3", "manifest": "build.flags", "only": "-O"},
        {"what": "clock", "paper": "8 MHz", "manifest": "build.clock_hz"},
        {"what": "kernel", "paper": "K", "manifest": "build.kernel build.kernel_version"},
        {"what": "window", "paper": "1 s", "manifest": "window_ms", "unit": "ms"},
        {"what": "board", "paper": "B", "here": "B, virtual"},
    ]}  # fmt: skip
    paper = PaperFolder("doe2020", folder(tmp_path, []).folder, Paper.model_validate(facts), ())
    points = [
        StoredMeasurementPoint(tmp_path, measured_point(1), {"build": build, "window_ms": window_ms})
        for window_ms in (250, 100)
    ]
    sections = paper_comparison_report(CATALOGUE, reproduce_paper(CATALOGUE, paper, points)).sections
    (conditions,) = (section for section in sections if section.id == "conditions")
    assert [row[2] for row in conditions.tables[0].rows] == [
        "icache off, art on", "-O3", "8 MHz", "k", "250 ms; 100 ms", "B, virtual",
    ]  # fmt: skip


def test_values_are_on_their_axes() -> None:
    (peak,) = select_values_by_coordinates(
        values_of_points([measured_point(2)]), {"metric": "heap", "cores": 2, "clock_mhz": 125, "family": "m"}
    )
    assert (peak.value, peak.unit, peak.coordinate_on_axis("param.words")) == (3000, "bytes", "")
    assert peak.axis_value_in_unit("us") is None
    as_usual, other = ({"metric": "heap", "opt": opt} for opt in ("-O2", "-O3"))
    assert select_values_by_coordinates(values_of_points([measured_point(2)]), as_usual) == [peak]
    assert select_values_by_coordinates(values_of_points([measured_point(2)]), other) == []


@pytest.mark.parametrize("expression", ["r9", "r1 +", "open('x')", "r1 / 0", "r1 ** 2", "__import__('os')"])
def test_invalid_arithmetic_is_reported(expression: str) -> None:
    with pytest.raises(CatalogueError, match=r"of a slips.toml cannot be computed"):
        evaluate_expression(expression, {1: 2.0})


def test_ratio_to_an_impossible_figure_is_omitted(tmp_path: Path) -> None:
    slips = '[[slip]]\nid = "s"\nkind = "slip"\nrows = [1]\nsays = "it never ran"\nno_ratio = true\n'
    rows = [published_row(ident, value=value, lab_kernel="freertos") for ident, value in ((1, "4"), (2, "2000"))]
    paper = folder(tmp_path, rows, slips=slips)
    manifest: dict[str, object] = {"build": {"kernel_version": "V9", "kernel": "k"}}
    points = [
        StoredMeasurementPoint(tmp_path, measured_point(cores, 1000, kernel="freertos"), manifest) for cores in (1, 2)
    ]
    done = reproduce_paper(CATALOGUE, paper, points)
    senseless, plain = (done.compared[ident] for ident in (1, 2))
    assert (senseless.our_value, senseless.ratio_to_paper, ratio_to_paper_value_text(senseless)) == (
        4000,
        None,
        "says nothing",
    )
    assert (plain.ratio_to_paper, ratio_to_paper_value_text(plain)) == (2, "2.00")
    assert mean_deviation_factor_from_paper(done.compared) == pytest.approx(2)
    document = paper_comparison_report(CATALOGUE, done)
    assert (
        "ours are 2.00 to 2.00 times the paper's, median 2.00; 1 further ratio is not meaningful." in document.summary
    )
    tables = {table.title: table for section in document.sections for table in section.tables}
    assert "A ratio says nothing: it never ran." in tables["Table 1, 1/s"].note
