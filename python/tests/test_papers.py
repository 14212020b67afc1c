"""Published figures beside ours: each row finds its value or says why not, claims are judged, slips recomputed."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from rtoslab import results
from rtoslab.analyses.claims import judge_claims
from rtoslab.analyses.values import select, values
from rtoslab.catalogue import Catalogue
from rtoslab.errors import CatalogueError, ReportError
from rtoslab.papers.arithmetic import evaluate
from rtoslab.papers.compare import Compared, compare
from rtoslab.papers.document import paper_document
from rtoslab.papers.folder import PaperFolder, Published
from rtoslab.papers.plots import replot
from rtoslab.papers.reproduction import reproduce
from rtoslab.papers.schemas import Figure, Paper, Table
from rtoslab.papers.tables import pairs_chart, redraw
from rtoslab.paths import find_root
from rtoslab.reports import formats
from rtoslab.results import SeriesSamples
from rtoslab.store import AnyResult, StoredPoint
from rtoslab.suites import Claim, Resolution

from .fakes import measured, point

CATALOGUE = Catalogue(find_root())
KERNELS = ("k",)


def published(ident: int, **changes: str) -> dict[str, str]:
    row = dict.fromkeys(Published.model_fields, "")
    row |= {
        "id": str(ident), "section": "Table 1", "kind": "result", "kernel": "K", "metric": "rate", "stat": "total",
        "value": "2000", "unit": "1/s", "lab_benchmark": "t2", "lab_metric": "throughput", "lab_stat": "total",
        "lab_kernel": "k", "lab_board": "b", "lab_config": "cores=1",
    }  # fmt: skip
    return row | changes


FACTS: dict[str, Any] = {
    "title": "On K", "authors": "Doe", "year": 2020, "kernels": {"k": "K", "other": "Other OS"},
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
        writer = csv.DictWriter(file, list(Published.model_fields))
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "claims.toml").write_text(claims)
    (tmp_path / "slips.toml").write_text(slips)
    return PaperFolder("doe2020", tmp_path, Paper.model_validate(FACTS), ())


def of_measured(stored: Iterable[AnyResult]) -> list[results.Measured]:
    return [each for each in stored if isinstance(each, results.Measured)]


def compared(tmp_path: Path, row: dict[str, str], *stored: AnyResult) -> Compared:
    return compare(folder(tmp_path, [row]), stored, values(of_measured(stored)), KERNELS)[1]


def test_a_row_finds_its_value_and_its_ratio(tmp_path: Path) -> None:
    found = compared(tmp_path, published(1), measured(1, 1000), measured(2, 700))
    assert (found.state, found.here, found.ratio) == ("measured", 4000, 2)


def test_cycles_and_times_turn_into_each_other_by_the_clock(tmp_path: Path) -> None:
    row = published(1, lab_stat="cycles_per_count", unit="us", value="125")
    assert compared(tmp_path, row, measured(1, 1000)).here == pytest.approx(250)


def test_a_kernel_that_is_not_there_waits(tmp_path: Path) -> None:
    found = compared(tmp_path, published(1, lab_kernel="other"), measured(1))
    assert (found.state, found.here, found.why) == (
        "bring your own",
        None,
        "bring your own Other OS, it is not in firmware/kernels/",
    )


@pytest.mark.parametrize(
    ("stored", "state", "why"),
    [
        ([], "not yet measured", "the run holds no throughput with cores=1"),
        ([measured(2)], "not yet measured", "the run holds no throughput with cores=1"),
        (
            [results.Failed(run_id="0" * 16, point=point(1), stage="proof", error="ProofError", message="no switch")],
            "failed",
            "proof: no switch",
        ),
        ([results.NotApplicable(run_id="0" * 16, point=point(1), reason="no heap")], "n/a", "no heap"),
    ],
)
def test_what_is_missing_says_why_and_has_no_number(
    tmp_path: Path, stored: list[AnyResult], state: str, why: str
) -> None:
    found = compared(tmp_path, published(1), *stored)
    assert (found.state, found.here, found.ratio, found.why) == (state, None, None, why)


def test_a_mapping_that_fits_several_values_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"2 values fit row 1 of .*say more in lab_config"):
        compared(tmp_path, published(1, lab_config=""), measured(1), measured(2))


def test_a_mapping_to_another_quantity_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="is in bytes, but our value in 1/s"):
        compared(tmp_path, published(1, unit="bytes"), measured(1))


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"published.csv, line 3: id 1 stands there twice"):
        _ = folder(tmp_path, [published(1), published(1)]).published
    with pytest.raises(CatalogueError, match=r"published.csv, line 2, id: "):
        _ = folder(tmp_path, [published(1, id="one")]).published


def test_a_table_is_redrawn_with_its_groups(tmp_path: Path) -> None:
    paper = folder(tmp_path, [published(1), published(2, kernel="Other", lab_kernel="other", value="900")])
    found = compare(paper, (), values([measured(1, 1000)]), KERNELS)
    table = redraw(Table(title="Table 1", rows=(1, 2), across=("kernel",)), paper.published, found)
    assert table.title == "Table 1, 1/s"
    assert [name for name, _ in table.heads] == [
        "metric", "K: paper", "K: here", "K: ratio", "Other: paper", "Other: here", "Other: ratio",
    ]  # fmt: skip
    assert table.rows == [["rate", "2000", "4,000", "2.00", "900", "n/a: bring your own", "\N{EN DASH}"]]
    assert table.note == "Without a value here: bring your own Other OS, it is not in firmware/kernels/."


def test_the_chart_has_published_marks_even_without_ours(tmp_path: Path) -> None:
    paper = folder(tmp_path, [published(1), published(2, kernel="Other", lab_kernel="other", value="900")])
    found = compare(paper, (), values([measured(1, 1000)]), KERNELS)
    (chart,) = pairs_chart(Table(title="T", rows=(1, 2)), paper.published, found)
    assert [(row["x"], row["series"], row["y"]) for row in chart.rows] == [
        ("rate (K)", "paper", 2000), ("rate (K)", "here", 4000), ("rate (Other)", "paper", 900),
    ]  # fmt: skip
    assert chart.y_title == "1/s"


def test_a_figure_is_normalised_to_its_base() -> None:
    figure = Figure.model_validate(FACTS["part"][1]["figure"][0])
    drawn = replot(figure, values([measured(1, 1000), measured(2, 800)]))
    assert drawn is not None
    assert [(row["x"], row["series"], row["y"]) for row in drawn[0].rows] == [
        ("T2", "1 core", 100),
        ("T2", "2 cores", 80),
    ]
    assert drawn[1].rows == [["T2", "100", "80"]]
    assert replot(figure, values([measured(2, 800)])) is None


def test_the_whole_report_in_every_format(tmp_path: Path) -> None:
    slips = '[[slip]]\nid = "s"\nkind = "slip"\nrows = [1]\nsays = "it slipped"\nprinted = 3\ncomputed = "r1 / 2"\n'
    claims = '[[claim]]\nid = "c"\nsection = "2"\nsays = "K gains"\nkind = "throughput_drops"\nbenchmarks = ["t2"]\n'
    paper = folder(tmp_path, [published(1), published(2, lab_kernel="other", kernel="Other")], claims, slips)
    manifest: dict[str, object] = {"build": {"kernel_version": "V9", "kernel": "k"}}
    points = [StoredPoint(tmp_path, each, manifest) for each in (measured(1, 1000), measured(2, 800))]
    document = paper_document(CATALOGUE, reproduce(CATALOGUE, paper, points, ["t77"]))
    for suffix in ("html", "md"):
        text = formats()[suffix](document)
        assert "it slipped" in text
        assert "1,000" in text  # r1 / 2, computed anew
        assert "V9" in text
        assert "t77" in text
        assert "different" in text
    assert "Of 1 statements 1 can be told here: 0 as in the paper, 1 not. Contradicted: K gains." in document.summary
    assert document == paper_document(CATALOGUE, reproduce(CATALOGUE, paper, points, ["t77"]))


def test_a_report_without_any_point_still_shows_the_paper(tmp_path: Path) -> None:
    paper = folder(tmp_path, [published(1), published(2)])
    text = formats()["md"](paper_document(CATALOGUE, reproduce(CATALOGUE, paper, [])))
    assert "n/a: bring your own" in text
    assert "Figure 9: not yet measured." in text


def test_the_conditions_are_read_from_the_manifests(tmp_path: Path) -> None:
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
    points = [StoredPoint(tmp_path, measured(1), {"build": build, "window_ms": each}) for each in (250, 100)]
    sections = paper_document(CATALOGUE, reproduce(CATALOGUE, paper, points)).sections
    assert [row[2] for row in sections[0].tables[0].rows] == [
        "icache off, art on", "-O3", "8 MHz", "k", "250 ms; 100 ms", "B, virtual",
    ]  # fmt: skip


VALUES = (measured(1, 1000), measured(1, 1500, benchmark_id="t9"))


def claim(kind: str, **more: Any) -> Claim:
    where = {"metric": "throughput", "stat": "total"}
    source = {"bound_from": "ours"} if "bound" in more else {}
    return Claim.model_validate(
        {"id": "c", "section": "1", "says": "so", "kind": kind, "where": where, **source, **more}
    )


T2, T9 = {"benchmark": "t2"}, {"benchmark": "t9"}


@pytest.mark.parametrize(
    ("kind", "of", "bound", "outcome"),
    [
        ("ascending", [T2, T9], 0, "same"), ("ascending", [T9, T2], 0, "different"),
        ("ascending", [T2, T9], 0.5, "different"), ("ratio", [T9, T2], 1.5, "same"),
        ("ratio", [T9, T2], 1.6, "different"),
        ("alike", [T2, T9], 0.5, "same"), ("alike", [T2, T9], 0.4, "different"),
        ("ascending", [T2, {"benchmark": "t8"}], 0, "not computed"),
        ("ascending", [T2, T2], 0, "tie"), ("ratio", [T2, T2], 1.0, "tie"), ("ratio", [T9, T2], 1.0, "same"),
        ("not_longer", [T2, T2], 0, "same"), ("not_longer", [T2, T9], 0, "same"),
        ("not_longer", [T9, T2], 0, "different"),
        ("least", [T2, T9, T9], 0, "same"), ("least", [T9, T2, T9], 0, "different"), ("least", [T2, T2, T9], 0, "tie"),
        ("most", [T9, T2, T2], 0, "same"), ("most", [T2, T9], 0, "different"), ("most", [T9, T9, T2], 0, "tie"),
        ("distinct", [T9, T2], 0, "same"), ("distinct", [T2, T2], 0, "tie"),
        ("ratio_less", [T2, T9, T2, T2], 0, "same"), ("ratio_less", [T2, T2, T2, T9], 0, "different"),
        ("ratio_less", [T2, T9, T2, T9], 0, "tie"),
    ],
)  # fmt: skip
def test_claims_on_values(kind: str, of: list[dict[str, str]], bound: float, outcome: str) -> None:
    bounded = {"bound": bound} if bound else {}
    (verdict,) = judge_claims([claim(kind, of=of, **bounded)], VALUES)
    assert verdict.outcome == outcome
    assert verdict.threshold == (f"{bound:g}: ours" if bound else "")


def test_several_leaders_lead_all_others() -> None:
    outcomes = {
        leaders: judge_claims([claim("least", of=[T2, T2, T9], leaders=leaders)], VALUES)[0].outcome
        for leaders in (1, 2)
    }
    assert outcomes == {1: "tie", 2: "same"}


def test_what_must_hold_at_several_places_holds_at_each() -> None:
    of = [{"metric": "throughput", "stat": "total"}, {"metric": "heap", "stat": "peak"}]
    low, high = {"benchmark": "t2"}, {"benchmark": "t9"}
    statement = {"id": "c", "section": "1", "says": "so", "kind": "distinct", "of": of}
    other = {**statement, "kind": "not_longer", "of": [{"metric": "heap", "stat": "peak"}] * 2}
    for at, outcome in (([low, high], "same"), ([low, {"benchmark": "t8"}], "not computed")):
        (verdict,) = judge_claims([Claim.model_validate({**other, "at": at})], VALUES)
        assert verdict.outcome == outcome
    assert "t2: " in judge_claims([Claim.model_validate({**other, "at": [low, high]})], VALUES)[0].seen


TIMED = tuple(
    measured(1, benchmark_id=name).model_copy(update={"series": (SeriesSamples(
        id="call", title="call", instrument="probe", comparable=True, cycles=cycles, mark_cycles=cycles),)})
    for name, cycles in (("t2", (100, 100, 101)), ("t9", (110, 110, 112)))
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "stat", "of", "ns", "outcome"),
    [
        ("ascending", "median", [T2, T9], 0, "same"), ("ascending", "median", [T2, T9], 79, "same"),
        ("ascending", "median", [T2, T9], 81, "tie"), ("ascending", "median", [T9, T2], 81, "tie"),
        ("ascending", "median", [T9, T2], 79, "different"), ("distinct", "median", [T9, T2], 81, "tie"),
        ("not_longer", "median", [T9, T2], 81, "same"), ("not_longer", "median", [T9, T2], 79, "different"),
        ("no_spread", None, [T2], 7, "different"), ("no_spread", None, [T2], 9, "same"),
        ("spread", None, [T2], 9, "different"), ("spread", None, [T2, T9], 7, "same"),
        ("spread", None, [T2, T9], 9, "different"),
    ],
)  # fmt: skip
def test_times_are_told_apart_as_the_papers_instrument_could(
    kind: str, stat: str | None, of: list[dict[str, str]], ns: float, outcome: str
) -> None:
    """At 125 MHz a cycle is 8 ns: the medians are 80 ns apart, the first spreads by 8 ns, the second by 16 ns."""
    where = {"metric": "call", **({"stat": stat} if stat else {})}
    resolution = Resolution(seconds=ns * 1e-9, source="its sample")
    (verdict,) = judge_claims([claim(kind, of=of).model_copy(update={"where": where})], TIMED, resolution=resolution)
    assert verdict.outcome == outcome
    assert verdict.threshold == (f"no difference up to {ns} ns: its sample" if ns else "")


@pytest.mark.parametrize("kind", ["ratio", "alike", "per_core_drops", "first_step_largest", "steps_shrink", "gradual"])
def test_a_threshold_says_where_it_comes_from(kind: str) -> None:
    with pytest.raises(ValidationError, match="needs both bound and bound_from"):
        claim(kind)
    with pytest.raises(ValidationError, match="needs both bound and bound_from"):
        claim(kind, bound=2, bound_from="")


def test_a_claim_on_a_kernel_that_is_not_there_waits() -> None:
    (verdict,) = judge_claims([claim("ascending", of=[T2, T9], needs=["other"])], VALUES, KERNELS)
    assert (verdict.outcome, verdict.seen) == ("bring your own", "needs other, not in firmware/kernels/")


@pytest.mark.parametrize(
    ("counts", "first_largest", "shrink"),
    [
        ((1000, 500, 480, 460, 450, 449), "same", "same"),
        ((1000, 990, 980, 900, 600, 100), "different", "different"),
        ((1000, 1100, 500, 480, 470, 465), "different", "same"),
        ((1000, 1000, 1000, 1000, 1000, 1000), "different", "different"),
        ((1000, 998, 1001, 999, 1000, 1000), "different", "different"),
    ],
)
def test_claims_along_a_sweep(counts: tuple[int, ...], first_largest: str, shrink: str) -> None:
    swept = []
    for step, count in enumerate(counts):
        each = measured(1, count)
        swept.append(
            each.model_copy(update={"point": each.point.model_copy(update={"config": {"param.s": str(10 * step)}})})
        )
    first = claim("first_step_largest", along="param.s", bound=2)
    assert judge_claims([first], swept)[0].outcome == first_largest
    assert judge_claims([claim("steps_shrink", along="param.s", bound=0.0)], swept)[0].outcome == shrink
    assert judge_claims([first], swept[:2])[0].outcome == "not computed"


def test_noise_is_not_a_growing_step() -> None:
    swept = []
    for step, count in enumerate((1000, 290, 290, 290, 300)):
        each = measured(1, count)
        config = {"param.s": str(10 * step)}
        swept.append(each.model_copy(update={"point": each.point.model_copy(update={"config": config})}))
    assert judge_claims([claim("steps_shrink", along="param.s", bound=0.0)], swept)[0].outcome == "different"
    assert judge_claims([claim("steps_shrink", along="param.s", bound=0.02)], swept)[0].outcome == "same"


def test_runs_that_differ_in_a_seed_count_by_their_median() -> None:
    swept = []
    for step, counts in enumerate([(1000, 1010, 900), (400, 500, 480), (470, 470, 470)]):
        for seed, count in enumerate(counts):
            each = measured(1, count)
            config = {"param.s": str(10 * step), "param.seed": str(seed)}
            swept.append(each.model_copy(update={"point": each.point.model_copy(update={"config": config})}))
    (verdict,) = judge_claims([claim("first_step_largest", along="param.s", bound=2)], swept)
    assert (verdict.outcome, verdict.seen) == ("same", "0: 100.0%, 10: 48.0%, 20: 47.0%")
    figure = {
        "title": "F", "kind": "lines", "where": {"metric": "throughput", "stat": "total"}, "x": "param.s",
        "series": "kernel", "unit": "%", "y_title": "%", "x_title": "s", "percent_of": {"param.s": 0},
    }  # fmt: skip
    drawn = replot(Figure.model_validate(figure), values(swept))
    assert drawn is not None
    assert [row[1] for row in drawn[1].rows] == ["100", "49.5 (40 to 53.33)", "47 (46.53 to 52.22)"]


def test_values_lie_on_their_axes() -> None:
    (peak,) = select(values([measured(2)]), {"metric": "heap", "cores": 2, "clock_mhz": 125, "family": "m"})
    assert (peak.value, peak.unit, peak.axis("param.words")) == (3000, "bytes", "")
    assert peak.in_unit("us") is None


@pytest.mark.parametrize("expression", ["r9", "r1 +", "open('x')", "r1 / 0", "r1 ** 2", "__import__('os')"])
def test_arithmetic_that_cannot_be_done_is_named(expression: str) -> None:
    with pytest.raises(CatalogueError, match=r"of a slips.toml cannot be computed"):
        evaluate(expression, {1: 2.0})
