"""How stable statements are: which builds are made, what they share, how shares are counted, the kept file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.analyses import CodePlacementValueRange, MeasuredValue
from rtoslab.base import AlteredFileError, find_checkout_root
from rtoslab.catalogue import Catalogue, PaperClaim, find_paper
from rtoslab.reference import StoredPointValues, json_lines_with_digest
from rtoslab.results import PointId
from rtoslab.stability import (
    build_count_texts_by_paper_claim,
    plan_paper_claim_stability_points,
    read_stability_file,
    stability_file_path,
    statement_stability_report,
    write_stability_file,
)
from rtoslab.stability.build_points import points_of_paper_suites
from rtoslab.stability.builds import (
    NONE,
    BuildVariationFactor,
    KernelBuild,
    kernel_build_of_paper_suites,
    kernel_builds_for_claim_stability,
    varied_build_factors_of_paper,
)
from rtoslab.stability.judged import JudgedPaper, judge_paper_claims_in_builds
from rtoslab.stability.shares import StatementStability, VerdictCounts, VerdictReversal, count_verdicts
from rtoslab.stability.values_file import PaperClaimStabilityFile

ROOT = find_checkout_root()
OPT = BuildVariationFactor("optimisation", ("-O2", "-O3", "-Os"))
ASSERT = BuildVariationFactor("assertions", ("off", "on"))
FACTORS = (OPT, ASSERT)
BASE = KernelBuild(("-O2", "off"))
YES, NO, EVEN = "same", "different", "tie"


def test_builds_are_every_combination_then_each_switch_alone() -> None:
    switch = BuildVariationFactor("switch", (NONE, "A=1 (k)", "B=0 (k)"))
    builds = kernel_builds_for_claim_stability((OPT, ASSERT, switch))
    crossed = [KernelBuild((opt, on, NONE)) for opt in OPT.levels for on in ASSERT.levels]
    assert builds == [*crossed, KernelBuild(("-O2", "off", "A=1 (k)")), KernelBuild(("-O2", "off", "B=0 (k)"))]
    assert builds[0] == kernel_build_of_paper_suites((OPT, ASSERT, switch))


@pytest.mark.parametrize("paper", ["eren2024", "lentka2022", "miranda2021", "ungurean2020", "vieira2026"])
def test_level_of_the_paper_comes_first_and_its_own_variations_are_no_factor(paper: str) -> None:
    catalogue = Catalogue(ROOT)
    result = find_paper(catalogue, paper)
    factors = {factor.name: factor.levels for factor in varied_build_factors_of_paper(catalogue, result)}
    experiments = [experiment for suite in result.suites for experiment in suite.experiments]
    optimised = {experiment.config.get("opt", "-O2") for experiment in experiments}
    swept = any("opt" in experiment.sweep for experiment in experiments)
    assert ("optimisation" in factors) == (len(optimised) == 1 and not swept)
    if "optimisation" in factors:
        assert {factors["optimisation"][0]} == optimised
        assert sorted(factors["optimisation"]) == ["-O2", "-O3", "-Os"]
    assert factors["switch"][0] == NONE


def test_only_points_with_the_parameters_of_a_statement_are_measured() -> None:
    """lentka2022's statements are about messages of 4 bytes, those of vieira2026 about objects of each core's own and
    about every level of stress."""
    catalogue = Catalogue(ROOT)
    points = points_of_paper_suites(catalogue, find_paper(catalogue, "lentka2022"), authors=True)
    assert points
    assert {point.params.get("message_bytes", "4") for point in points} == {"4"}
    points = points_of_paper_suites(catalogue, find_paper(catalogue, "vieira2026"), authors=True)
    assert {point.params["shared"] for point in points if "shared" in point.params} == {"0"}
    assert len({point.params["stress_percent"] for point in points if "stress_percent" in point.params}) == 11


def test_builds_share_rows_where_a_kernel_does_not_change() -> None:
    catalogue = Catalogue(ROOT)
    plan = plan_paper_claim_stability_points(catalogue, find_paper(catalogue, "eren2024"), 2)
    assert plan.rows, "FreeRTOS comes with the checkout"
    assert all(len(set(members)) == len(members) for members in plan.rows_by_build)
    for build, members in zip(plan.builds, plan.rows_by_build, strict=True):
        for number in members:
            (kernel,) = {item.kernel for item in plan.rows[number].points}
            options = {item.opt for item in plan.rows[number].points}
            assert options == {build.levels[plan_place(plan.factors, "optimisation")]}
            assert kernel in catalogue.buildable_kernels
    # A switch of FreeRTOS leaves the points of `bare` as they are: no row is measured twice.
    base, *_, last = plan.rows_by_build
    bare = {number for number in base if plan.rows[number].points[0].kernel == "bare"}
    assert bare <= set(last)
    placements = {tuple(item.placement for item in row.points) for row in plan.rows}
    assert placements <= {(0,), (0, 1)}
    assert (0, 1) in placements


def plan_place(factors: tuple[BuildVariationFactor, ...], name: str) -> int:
    return [factor.name for factor in factors].index(name)


@pytest.mark.parametrize(
    ("told", "share"),
    [([], VerdictCounts(0, 0, 0)), ([YES, NO, EVEN, YES], VerdictCounts(2, 1, 1)), ([NO] * 3, VerdictCounts(0, 3, 0))],
)
def test_share_counts_every_verdict(told: list[str], share: VerdictCounts) -> None:
    assert count_verdicts(told) == share  # type: ignore[arg-type]
    assert share.statement_observation_count == len(told)


@pytest.mark.parametrize(
    ("held", "observed", "low", "high"),
    # By the formula of Wilson 1927, checked by hand and against published tables.
    [(29, 32, 0.7578, 0.9676), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 2, 0.0945, 0.9055)],
)
def test_interval_is_wilsons(held: int, observed: int, low: float, high: float) -> None:
    assert VerdictCounts(held, observed - held, 0).wilson_interval == pytest.approx((low, high), abs=5e-4)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_interval_contains_its_share_and_narrows_with_more(held: int, turned: int, tied: int) -> None:
    share = VerdictCounts(held, turned, tied)
    low, high = share.wilson_interval
    assert 0 <= low <= share.confirming_observation_fraction + 1e-12
    assert share.confirming_observation_fraction - 1e-12 <= high <= 1
    wider = VerdictCounts(4 * held, 4 * turned, 4 * tied).wilson_interval
    assert wider[1] - wider[0] <= high - low


def stability(**by_build: tuple[str, ...]) -> StatementStability:
    """Of builds named like `O2_on`."""
    message = {KernelBuild((f"-{name[:2]}", name[3:])): verdicts for name, verdicts in by_build.items()}
    return StatementStability("it holds", message, FACTORS)  # type: ignore[arg-type]


def test_changed_verdicts_are_counted_over_otherwise_equal_builds() -> None:
    seen = stability(O2_off=(YES, YES), O3_off=(NO, YES), O2_on=(NO, NO), O3_on=(NO, NO), Os_on=(YES, YES))
    assert {turn.change: turn for turn in seen.verdict_reversals()} == {
        "placement": VerdictReversal("placement", 1, 5),
        "-O3": VerdictReversal("-O3", 1, 4),
        "-Os": VerdictReversal("-Os", 2, 2),  # with assertions on alone: without them it was not computed
        "assertions on": VerdictReversal("assertions on", 3, 4),
    }
    assert [turn.change for turn in seen.verdict_reversals()] == ["-Os", "assertions on", "-O3", "placement"]


def test_single_placement_is_paired_with_each_of_many() -> None:
    seen = stability(O2_off=(YES,), O3_off=(NO, YES, NO))
    assert next(turn for turn in seen.verdict_reversals() if turn.change == "-O3") == VerdictReversal("-O3", 2, 3)


@pytest.mark.parametrize(
    ("seen", "fewest"),
    [
        (stability(O2_off=(YES, NO)), ("placement 1",)),
        (stability(O2_off=(YES, YES), O3_on=(NO, NO), Os_off=(YES, NO)), ("-O3", "assertions on")),
        (stability(O2_off=(YES,), O3_off=(NO,), O3_on=(NO,)), ("-O3",)),
        (stability(O2_off=(NO,), O2_on=(YES,)), ("assertions on",)),
        (stability(O2_off=(YES,), O2_on=(EVEN,)), None),
        (stability(O2_off=(EVEN,), O2_on=(YES,)), None),
        (stability(O2_on=(YES,)), None),
    ],
)
def test_fewest_changes_that_reverse_a_statement(seen: StatementStability, fewest: tuple[str, ...] | None) -> None:
    assert seen.fewest_verdict_reversing_changes() == fewest


def point(kernel: str) -> PointId:
    return PointId(benchmark="call_times", title="Calls", kernel=kernel, board="b", cores=1, window_ms=250, config={})


def row(kernel: str, *numbers: float) -> StoredPointValues:
    result = MeasuredValue(
        point(kernel),
        "row",
        8_000_000,
        {"samples": "9"},
        "latency",
        "semaphore.take",
        "median",
        numbers[0],
        "cycles",
        9,
    )
    if len(numbers) > 1:
        band = CodePlacementValueRange(numbers)
        result = replace(result, value=band.median, band=band)
    return StoredPointValues(point(kernel), kernel, "1.0", (result,))


def stored_stability(
    rows: tuple[StoredPointValues, ...], members: tuple[tuple[int, ...], ...], builds: tuple[KernelBuild, ...]
) -> PaperClaimStabilityFile:
    return PaperClaimStabilityFile("lentka2022", 2, FACTORS, builds, members, rows, {"compiler": "GNU 12"})


def example() -> PaperClaimStabilityFile:
    refused = StoredPointValues(point("c"), "c", "", (), "it does not fit")
    return stored_stability(
        (row("a", 10, 12), row("b", 11, 11), row("b", 9), refused),
        ((0, 1), (0, 2), (0, 1), (3,)),
        (BASE, KernelBuild(("-O3", "off")), KernelBuild(("-Os", "off")), KernelBuild(("-O2", "on"))),
    )


def test_values_file_survives_writing_and_reading(tmp_path: Path) -> None:
    path = tmp_path / "lentka2022.ndjson"
    write_stability_file(path, example())
    result = read_stability_file(path)
    for one, other in zip(example().rows, result.rows, strict=True):
        assert replace(one, values=()) == replace(other, values=())
        assert [(value.value, tuple(value.placement_band.values)) for value in other.values] == [
            (value.value, tuple(value.placement_band.values)) for value in one.values
        ]
    assert replace(result, rows=()) == replace(example(), rows=())
    before = path.read_bytes()
    write_stability_file(path, result)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new"),
    [('"cycles"', '"ms"'), ("[10,12]", "[10,11]"), ('"-O3"', '"-O1"'), ('"sha256":"', '"sha256":"0'), ("}\n", "}")],
)
def test_edited_values_file_is_refused(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "lentka2022.ndjson"
    write_stability_file(path, example())
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(AlteredFileError, match=r"lentka2022\.ndjson cannot be read as values of builds .* --measure"):
        read_stability_file(path)


@pytest.mark.parametrize(
    "change", [{"format": 9}, {"paper": "else"}, {"members": [[7]]}, {"builds": [["-O2"]]}, {"factors": []}]
)
def test_inconsistent_sealed_file_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "lentka2022.ndjson"
    write_stability_file(path, example())
    head, *rows, _ = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(json_lines_with_digest([{**head, **change}, *rows]))
    with pytest.raises(AlteredFileError):
        read_stability_file(path)


def judge_example(claims: tuple[PaperClaim, ...], values: PaperClaimStabilityFile | None = None) -> JudgedPaper:
    catalogue = Catalogue(ROOT)
    paper = find_paper(catalogue, "lentka2022")
    paper.__dict__["claims"] = claims
    return judge_paper_claims_in_builds(catalogue, paper, values or example())


LEAST = PaperClaim.model_validate(
    {
        "id": "a_is_least",
        "section": "4",
        "says": "a takes a semaphore in less time than b",
        "kind": "ratio",
        "where": {"benchmark": "call_times", "metric": "semaphore.take", "stat": "median"},
        "of": [{"kernel": "b"}, {"kernel": "a"}],
        "at_least": 1.0,
        "bound_from": "times",
    }
)
UNKNOWN = LEAST.model_copy(update={"id": "of_c", "says": "c is quicker", "of": ({"kernel": "c"}, {"kernel": "a"})})


def test_statements_are_judged_in_each_build_and_placement() -> None:
    result = judge_example((LEAST, UNKNOWN))
    (statement,) = result.statements
    assert result.not_judged == (UNKNOWN,)
    assert statement.whole.by_build == {BASE: (YES, NO), KernelBuild(("-O3", "off")): (NO, NO)}
    assert statement.whole.verdict_counts_over_all_builds == VerdictCounts(1, 3, 0)
    assert statement.whole.verdict_counts_of_paper_suite_build == VerdictCounts(1, 1, 0)
    assert statement.cases == ()


def test_build_with_the_rows_of_an_earlier_one_is_not_counted() -> None:
    assert KernelBuild(("-Os", "off")) not in judge_example((LEAST,)).builds


def test_report_states_what_was_counted() -> None:
    document = statement_stability_report(judge_example((LEAST, UNKNOWN)))
    assert document.summary == (
        "3 builds of each kernel in up to 2 placements. 1 statement: 0 true in every build, 0 in none, 1 in some. "
        "The placement of the code alone changes the result of 1 statement. Of the other changes, -O3 affects the most "
        "statements: 1."
    )
    tables = {table.title: table.rows for section in document.sections for table in section.tables}
    assert tables["Share of builds"] == [
        [
            "a takes a semaphore in less time than b (4)", "1 of 2 (9 to 91 %)", "1 of 4", "placement: 1 of 2 pairs",
            "-O3",
        ]
    ]  # fmt: skip
    assert tables["Not judged"] == [["4", "c is quicker", "not measured in any build"]]
    assert tables["Builds"][2][0] == "-Os (not counted: its images are those of an earlier build)"
    (chart,) = [chart for section in document.sections for chart in section.charts]
    assert {(row["series"], row["value"]) for row in chart.rows} == {("a", 10), ("a", 12), ("b", 11), ("b", 9)}


def test_paper_report_shows_builds(tmp_path: Path) -> None:
    """Nothing where no values are kept; by statement where they are."""
    catalogue = Catalogue(ROOT)
    paper = find_paper(catalogue, "lentka2022")
    elsewhere = Catalogue(tmp_path)
    assert build_count_texts_by_paper_claim(elsewhere, paper) == {}
    planned = judge_example((LEAST,)).stored
    path = stability_file_path(tmp_path, paper.key)
    write_stability_file(path, replace(planned, paper=paper.key))
    paper.__dict__["claims"] = (LEAST, UNKNOWN)
    assert build_count_texts_by_paper_claim(elsewhere, paper) == {LEAST.id: "1 of 4"}
