"""No figure of several placements stands alone: each has its band beside it, or it says that it is of one placement.

What a placement decides is found, not listed: a report of each placement by itself shows which cells, marks and lines
differ. Those must have a band in the report of all of them.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from rich.console import Console

from rtoslab.analyses.placed_times import measurement_id_without_code_placement
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.reports import (
    ChartData,
    ReportSection,
    TableData,
    make_report_document,
    print_point_results,
    report_formats,
)
from rtoslab.reports.sections.naming import MIDDLE_NOTE
from rtoslab.reports.sections.rivals import IN_ONE_PLACEMENT
from rtoslab.reports.table import ReportDocument
from rtoslab.results.results import HeapUse, MeasuredPoint, NotApplicableMeasurement, StackUse
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.analyses.test_losses import pattern, stress_point
from tests.fakes import measured_point
from tests.latency_fakes import latency_point

CATALOGUE: Final = Catalogue(find_checkout_root())
PLACES: Final = 3
BAND: Final = re.compile(r"\([^()]+ to [^()]+\)")


def points_at(place: int) -> list[MeasuredPoint]:
    """Every kind of point; each of its figures is another one in each placement."""
    more = 20 * place
    locked = [
        measured_point(1, 1000 + more),
        measured_point(2, 600 + more, wait=3_000_000 + 9000 * more, heap=3000 + more),
    ]
    used = [StackUse(core=0, name="c0t0", index=0, used_bytes=200 + more, size_bytes=1024)]
    heap = HeapUse(size_bytes=65536, peak_bytes=3000 + more, allocations=5 + place)
    counting = [item.model_copy(update={"stacks": tuple(used), "heap": heap}) for item in locked]
    patterns = [pattern(1, 1000 + more), pattern(2, 700 + 3 * more)]
    stress = [stress_point(0, 1000 + more), stress_point(50, 300 + more, failed=(3, 20 + place))]
    take = [100 + more, 104 + more, 130 + 2 * more, 101 + more]
    timing = [
        latency_point(
            "counter", [7 + place + item for item in take], empty=7 + place, marks=[item + place for item in take]
        ),
        latency_point("pin", [3 + item for item in take], empty=2 + place),
        latency_point("probe", take),
    ]
    results = []
    for number, item in enumerate([*counting, *patterns, *stress, *timing]):
        config = {**item.point.config, **({"placement": str(place)} if place else {})}
        title = f"T{number // 2} test"
        point = item.point.model_copy(update={"config": config, "benchmark": title, "title": title})
        results.append(item.model_copy(update={"point": point, "run_id": f"{number:08x}{place:08x}"}))
    return results


def stored_points(points: Sequence[MeasuredPoint]) -> list[StoredMeasurementPoint]:
    return [StoredMeasurementPoint(Path(point.run_id), point, {}) for point in points]


def alone(place: int) -> list[MeasuredPoint]:
    return [
        item.model_copy(update={"point": measurement_id_without_code_placement(item.point)})
        for item in points_at(place)
    ]


def points_of_all_placements() -> list[MeasuredPoint]:
    return [item for alike in zip(*(points_at(place) for place in range(PLACES)), strict=True) for item in alike]


@pytest.fixture(scope="module")
def singles() -> list[ReportDocument]:
    return [make_report_document(CATALOGUE, stored_points(alone(place)), None) for place in range(PLACES)]


@pytest.fixture(scope="module")
def together() -> ReportDocument:
    return make_report_document(CATALOGUE, stored_points(points_of_all_placements()), None)


def differing(tables: Sequence[TableData]) -> Iterator[tuple[int, int]]:
    """(row, column) of the cells that the placement decides."""
    assert len({len(table.rows) for table in tables}) == 1, tables[0].title
    for row in range(len(tables[0].rows)):
        for column in range(len(tables[0].columns)):
            if len({table.rows[row][column] for table in tables}) > 1:
                yield row, column


def says_one(section: ReportSection, table: TableData) -> bool:
    """Whether it is said of the section, or of each row of the table, that it is of one placement."""
    return MIDDLE_NOTE in section.prose or any("placement=" in cell for row in table.rows for cell in row)


def test_cell_that_depends_on_placement_has_a_band(singles: list[ReportDocument], together: ReportDocument) -> None:
    result: dict[str, int] = {}
    wanting = []
    whole = {item.id: item for item in together.shown_sections}
    for sections in zip(*(single.shown_sections for single in singles), strict=True):
        section = whole[sections[0].id]
        for tables in zip(*(item.tables for item in sections), strict=True):
            (table,) = [data for data in section.tables if data.title == tables[0].title]
            decided = list(differing(tables))
            result[section.id] = result.get(section.id, 0) + len(decided)
            if not says_one(section, table):
                wanting += [
                    f"{section.id}, {table.title}: {table.columns[column]} {table.rows[row][column]}"
                    for row, column in decided
                    if not BAND.search(table.rows[row][column])
                ]
    assert not wanting
    must = {"throughput", "gain", "scaling", "stress", "losses", "latency", "instruments", "memory", "cycles", "locks"}
    assert must <= {name for name, cells in result.items() if cells}, "the fakes must move them all"


def test_chart_mark_that_depends_on_placement_has_a_band(
    singles: list[ReportDocument], together: ReportDocument
) -> None:
    drawn = 0
    whole = {item.id: item for item in together.shown_sections}
    for sections in zip(*(single.shown_sections for single in singles), strict=True):
        section = whole[sections[0].id]
        for number, charts in enumerate(zip(*(item.charts for item in sections), strict=True)):
            chart: ChartData = section.charts[number]
            if MIDDLE_NOTE in section.prose or MIDDLE_NOTE in chart.caption:
                continue
            for row, marks in enumerate(zip(*(item.rows for item in charts), strict=True)):
                if any(mark != marks[0] for mark in marks):
                    drawn += 1
                    assert chart.rows[row]["low"] < chart.rows[row]["high"], (section.id, chart.rows[row])
    assert drawn >= 6


def answer(document: ReportDocument) -> str:
    return "\n".join(text for section in document.shown_sections if section.leads for text in section.prose)


def test_report_of_one_placement_names_no_band(singles: list[ReportDocument]) -> None:
    """But its sentence about the second core says what it rests on."""
    for document in singles:
        (gained,) = re.findall(r"The second core .*", answer(document))
        assert gained.count(f", {IN_ONE_PLACEMENT}.") == 1
        text = report_formats()["md"](document).replace(f", {IN_ONE_PLACEMENT}.", ".")
        assert "may depend on where the code is in memory" in text
        assert "placement" not in re.sub(r"How fast a board executes .*", "", text)


def test_answer_respects_the_bands(together: ReportDocument) -> None:
    """What holds in whichever places is claimed, with its band; what some choice of places undoes is not."""
    raised = re.search(r"raises the total throughput of k at (.*)", answer(together))
    assert raised is not None
    assert "test (T0, x 1.22, x 1.15 to x 1.28)" in raised[1]
    assert "in one placement" not in answer(together)
    points = [item for item in points_of_all_placements() if item.point.title == "T0 test"]
    near = [item if item.point.cores == 1 else with_counts(item, 505 + place) for place, item in places(points)]
    document = make_report_document(CATALOGUE, stored_points(near), None)
    assert not re.search("raises|lowers", answer(document))
    assert "changes the total throughput of k at test (T0, x 0." in answer(document)
    assert "by no more than the placement of the code does" in answer(document)


@pytest.mark.parametrize(
    ("two_cores", "outcome", "seen"),
    [
        ((300, 310, 320), "partly (1 of 2)", "holds in freertos; "),
        (
            (480, 520, 500),
            "tie",
            "tie in freertos: the result depends on the placement of the code, same in 2, ",
        ),
    ],
)
def test_statement_of_a_suites_paper_is_judged_in_each_placement(
    two_cores: tuple[int, ...], outcome: str, seen: str
) -> None:
    """One core counts 1,000 to 1,020."""
    points = []
    for place in range(PLACES):
        config = {"placement": str(place)} if place else {}
        for cores, count in ((1, 1000 + 10 * place), (2, two_cores[place])):
            point = measured_point(cores, count, benchmark_id="t8_allocation", kernel="freertos", config=config)
            points.append(point.model_copy(update={"run_id": f"{cores}{place}"}))
    document = make_report_document(CATALOGUE, stored_points(points), "vieira2026")
    (section,) = [item for item in document.sections if item.id == "paper"]
    drops = "allocation (T8) loses throughput in total when the second core is used, in both kernels"
    (row,) = (sequence for sequence in section.tables[0].rows if sequence[1] == drops)
    assert row[2] == outcome
    assert row[3].startswith(seen), row


def places(points: Sequence[MeasuredPoint]) -> Iterator[tuple[int, MeasuredPoint]]:
    for point in points:
        yield int(point.point.config.get("placement", "0")), point


def with_counts(point: MeasuredPoint, per_core: int) -> MeasuredPoint:
    return point.model_copy(
        update={"counters": tuple(counter.model_copy(update={"count": per_core}) for counter in point.counters)}
    )


def lines(points: Sequence[MeasuredPoint]) -> list[list[str]]:
    text = io.StringIO()
    print_point_results(points, Console(file=text, width=300))
    return [[cell.strip() for cell in line.split("│")] for line in text.getvalue().splitlines() if "│" in line]


def test_terminal_shows_the_bands() -> None:
    whole = lines(points_of_all_placements())
    decided = 0
    for row, *rows in zip(whole, *(lines(alone(place)) for place in range(PLACES)), strict=True):
        for column, cells in enumerate(zip(*rows, strict=True)):
            if len(set(cells)) > 1:
                decided += 1
                assert BAND.search(row[column]), row
    assert decided > 10


def test_point_without_figures_in_all_placements_is_one_row() -> None:
    point = points_at(0)[0].point
    absent = [
        NotApplicableMeasurement(
            point=item.point.model_copy(update={"kernel": "other"}), reason="no heap", run_id=item.run_id
        )
        for item in points_of_all_placements()
        if measurement_id_without_code_placement(item.point) == point
    ]
    document = make_report_document(
        CATALOGUE,
        [
            *stored_points(points_of_all_placements()),
            *(StoredMeasurementPoint(Path(), applicable, {}) for applicable in absent),
        ],
        None,
    )
    (section,) = [item for item in document.shown_sections if item.id == "missing"]
    ((_, name, outcome, why),) = section.tables[0].rows
    assert (name.endswith(f", {PLACES} placements"), outcome, why) == (True, "n/a", "no heap")
    text = io.StringIO()
    print_point_results([*points_of_all_placements(), *absent], Console(file=text, width=300))
    assert text.getvalue().count("no heap") == 1
    assert "placement=" not in text.getvalue()


def test_boards_with_the_same_reason_share_one_line() -> None:
    first = points_at(0)[0]
    absent = [
        NotApplicableMeasurement(
            point=first.point.model_copy(update={"kernel": kernel, "board": board, "benchmark": name, "title": name}),
            reason="no heap", run_id=f"{kernel}{board}{name}",
        )
        for kernel, boards in (("a", ("x", "y", "z")), ("b", ("x",)))
        for board in boards
        for name in ("T8", "heap_mixed")
    ]  # fmt: skip
    other = absent[0].model_copy(update={"reason": "no export for x", "run_id": "o"})
    text = io.StringIO()
    print_point_results([*points_at(0), *absent, other], Console(file=text, width=300))
    message = [line.partition(" ")[2] for line in text.getvalue().splitlines() if line.startswith("n/a")]
    assert message == [
        "T8, heap_mixed a x, y, z 1 core: no heap",
        "T8, heap_mixed b x 1 core: no heap",
        "T8 a x 1 core: no export for x",
    ]


def test_point_in_one_placement_is_marked() -> None:
    """Without brackets it would be taken for the same in all of them, as of a kernel with a script of its own."""
    lone = alone(0)[0]
    point = lone.point.model_copy(update={"kernel": "exported"})
    points = [*points_of_all_placements(), lone.model_copy(update={"point": point, "run_id": "e"})]
    document = make_report_document(CATALOGUE, stored_points(points), None)
    (section,) = [item for item in document.shown_sections if item.id == "placements"]
    assert section.prose[-1] == "Measured in one placement, without a band: T0 (exported, 1 core)."
    text = io.StringIO()
    print_point_results(points, Console(file=text, width=300))
    assert "Measured in one placement, without a band: T0 test exported b 1 core." in text.getvalue()
    print_point_results(points_of_all_placements(), Console(file=(whole := io.StringIO()), width=300))
    assert "Measured in one placement" not in whole.getvalue()


def test_data_frame_rows_have_their_placement(together: ReportDocument) -> None:
    rows = list(csv.DictReader(io.StringIO(report_formats()["csv"](together))))
    assert {row["placement"] for row in rows} == {"0", "1", "2", "median", "least", "most"}
    key = ("benchmark", "cores", "config", "core", "quantity", "unit")
    result: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        result.setdefault(tuple(row[name] for name in key), {})[row["placement"]] = float(row["value"])
    assert len(result) > 100
    for name, values in result.items():
        numbers = sorted(values[str(place)] for place in range(PLACES))
        assert [values["least"], values["median"], values["most"]] == numbers, name


def test_json_contains_the_bands(together: ReportDocument) -> None:
    whole = json.loads(report_formats()["json"](together))
    assert len(whole["bands"]) == len(points_at(0))
    for item in whole["bands"]:
        for figure in item["figures"].values():
            assert figure["least"] < figure["median"] < figure["most"]
    pairs = [tuple(sorted(item.items(), key=str)) for item in whole["gains"]]
    assert len(pairs) == len({str(pair) for pair in pairs}), "one of a point in all its placements"
    assert all(item["gain_band"][0] < item["gain"] < item["gain_band"][1] for item in whole["gains"])


def test_run_in_one_placement_needs_no_note(together: ReportDocument) -> None:
    plain = replace(together, points=tuple(stored_points(alone(0))))
    assert {item["placement"] for item in csv.DictReader(io.StringIO(report_formats()["csv"](plain)))} == {"0"}
    assert json.loads(report_formats()["json"](plain))["bands"] == []
