"""Why cycles differ: `placement` only where all else that is known is equal."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rtoslab.analyses.named_figures import NamedMetricValue
from rtoslab.compare.baseline import (
    baseline_as_comparison_side,
    make_regression_baseline,
    read_regression_baseline_file,
    write_baseline,
)
from rtoslab.compare.brief_manifest import shorten_manifest_for_baseline
from rtoslab.compare.causes import CycleDifferenceExplanation, DifferenceCause, find_cycle_difference_reason
from rtoslab.compare.comparison import compare_runs_or_baselines
from rtoslab.compare.executions import ExecutedFunction, executed_functions
from rtoslab.compare.gate import (
    compare_run_with_baseline,
    gate_verdict_text,
    regression_gate_document,
    without_moved_code_regressions,
)
from rtoslab.compare.rules import MeasuredValueLimits
from rtoslab.compare.sides import ComparedMeasurementSet, MeasuredPointValues, values_of_stored_measurement
from rtoslab.reports import report_formats
from rtoslab.results.results import FunctionCodeLocation, MeasuredPoint
from rtoslab.store import StoredMeasurementPoint
from tests.compare.test_compare import profiled_point
from tests.fakes import point

FLAT = {
    "build.compiler.banner": "gcc 12", "build.kernel_config.A": "1", "build.sources.flash.c": "s1",
    "target.settings.x": "1", "build.calls.linked": "[]", "target.sources_sha256": "v1",
}  # fmt: skip
STATE: dict[str, str | int] = {"icache": 1, "flash_wait_states": 2, "heap_pieces": 1, "fpu_context": "none"}
TAKE = ExecutedFunction("c1", 40.0, 1.0)


def figures(
    cycles: float,
    places: str,
    flat: Mapping[str, str] = FLAT,
    *,
    state: Mapping[str, str | int] = STATE,
    take: ExecutedFunction = TAKE,
) -> MeasuredPointValues:
    return MeasuredPointValues(
        point(), {"cycles_per_count": NamedMetricValue("cycles_per_count", "cycles", cycles)}, True, {**FLAT, **flat},
        code=take.code, places=places, functions={"take": take}, state=state, waits={"flash waits": cycles / 2},
    )  # fmt: skip


def reason(before: MeasuredPointValues, after: MeasuredPointValues) -> CycleDifferenceExplanation:
    """As a gate finds it: a baseline and a run have brief manifests then."""
    return find_cycle_difference_reason(
        *(replace(item, manifest=shorten_manifest_for_baseline(item.manifest)) for item in (before, after))
    )


BEFORE = figures(100.0, "p1")
ANOTHER_SOURCE = {"build.sources.flash.c": "s2"}


@pytest.mark.parametrize(
    ("after", "cause", "words"),
    [
        (figures(120.0, "p2"), DifferenceCause.PLACEMENT, "at other addresses"),
        (figures(120.0, "p2", ANOTHER_SOURCE), DifferenceCause.PLACEMENT, "at other addresses"),
        (figures(120.0, "p1"), DifferenceCause.UNKNOWN, "at the same addresses"),
        (figures(120.0, "p2", state={**STATE, "icache": 0}), DifferenceCause.STATE, "icache: 1 to 0"),
        (figures(120.0, "p2", state={**STATE, "heap_pieces": 9}), DifferenceCause.STATE, "heap_pieces: 1 to 9"),
        (
            figures(120.0, "p2", state={**STATE, "fpu_context": "task"}),
            DifferenceCause.STATE,
            "fpu_context: none to task",
        ),
        (figures(120.0, "p2", state={"icache": 1}), DifferenceCause.STATE, "flash_wait_states: 2 to not recorded"),
        (figures(120.0, "p2", ANOTHER_SOURCE, state={}), DifferenceCause.UNKNOWN, "firmware sources differ"),
        (figures(120.0, "p2", ANOTHER_SOURCE, state={}), DifferenceCause.UNKNOWN, "flash waits +10.00"),
        (figures(120.0, "p2", state={}), DifferenceCause.PLACEMENT, "at other addresses"),
        (figures(120.0, "p2", take=replace(TAKE, code="c2", instructions=45.0)), DifferenceCause.CODE,
         "take (40 to 45 instructions a call)"),
        (figures(120.0, "p2", take=replace(TAKE, instructions=52.0)), DifferenceCause.WORK,
         "take (40 to 52 instructions a call)"),
        (figures(120.0, "p2", take=replace(TAKE, instructions=80.0, calls=2.0)), DifferenceCause.WORK,
         "take (1 to 2 calls)"),
        (figures(120.0, "p2", {"build.kernel_config.A": "2"}), DifferenceCause.SETTINGS, "configuration differs"),
        (figures(120.0, "p2", {"build.compiler.banner": "gcc 13"}), DifferenceCause.SETTINGS, "compiler differs"),
        (figures(120.0, "", state=STATE), DifferenceCause.UNKNOWN, "its addresses are not recorded"),
        (replace(figures(120.0, "p2"), code=""), DifferenceCause.UNKNOWN, "has no symbol"),
        (replace(figures(120.0, "p2"), manifest={}), DifferenceCause.SETTINGS, "the manifest"),
    ],
)  # fmt: skip
def test_every_cause_is_distinguished_from_placement(
    after: MeasuredPointValues, cause: DifferenceCause, words: str
) -> None:
    result = reason(BEFORE, after)
    assert (result.cause, words in result.text) == (cause, True), result.text
    assert ("lacement" in result.text) == (cause is DifferenceCause.PLACEMENT)
    baseline = make_regression_baseline(ComparedMeasurementSet("b", [BEFORE]), {})
    judged = compare_run_with_baseline(
        baseline,
        "b",
        ComparedMeasurementSet("run", [after]),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    passing = without_moved_code_regressions(judged)
    assert bool(passing.regressions) == (cause is not DifferenceCause.PLACEMENT), "only a move is let pass"
    assert words in report_formats()["md"](regression_gate_document(judged)) or words in gate_verdict_text(judged)


def test_baseline_stores_everything_that_causes_need(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    write_baseline(make_regression_baseline(ComparedMeasurementSet("b", [BEFORE]), {}), path)
    (back,) = baseline_as_comparison_side(read_regression_baseline_file(path), "b").figures
    assert (back.state, back.places, back.functions, back.waits) == (STATE, "p1", {"take": TAKE}, {"flash waits": 50.0})
    after = replace(figures(120.0, "p2"), manifest=shorten_manifest_for_baseline(FLAT))
    assert find_cycle_difference_reason(back, after).cause is DifferenceCause.PLACEMENT


def test_more_instructions_are_found_although_placement_hides_their_cycles() -> None:
    """Five nops, and a shift of the code that makes up for them."""
    slower = figures(99.0, "p2", take=replace(TAKE, code="c2", instructions=45.0))
    baseline = make_regression_baseline(ComparedMeasurementSet("b", [BEFORE]), {})
    judged = compare_run_with_baseline(
        baseline,
        "b",
        ComparedMeasurementSet("run", [slower]),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    ((change, limit),) = judged.regressions
    assert (change.before.id, change.change_in_unit, str(limit)) == (
        "instructions.changed_code",
        5.0,
        "+0 instructions",
    )
    assert "take (40 to 45 instructions a call)" in gate_verdict_text(judged)
    assert not compare_run_with_baseline(
        baseline,
        "b",
        ComparedMeasurementSet("run", [slower]),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, ["instructions.*=+5 instructions"]),
    ).regressions
    inlined = replace(slower, functions={"take": replace(TAKE, code="c2", instructions=30.0)})
    assert not compare_run_with_baseline(
        baseline,
        "b",
        ComparedMeasurementSet("run", [inlined]),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    ).regressions


def test_function_may_exist_on_one_side_only() -> None:
    first = replace(BEFORE, code="one", functions={"take": TAKE, "old": ExecutedFunction("c3", 5.0, 1.0)})
    second = replace(BEFORE, code="two", functions={"take": TAKE, "new": ExecutedFunction("c4", 7.0, 1.0)})
    assert find_cycle_difference_reason(first, second).text == "changed code: new (new), old (gone)"
    judged = compare_run_with_baseline(
        make_regression_baseline(ComparedMeasurementSet("b", [first]), {}),
        "b",
        ComparedMeasurementSet("run", [second]),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    assert [(regression.before.value, regression.after.value) for regression, _ in judged.regressions] == [(5.0, 7.0)]


def stored_figures(result: MeasuredPoint) -> MeasuredPointValues:
    return values_of_stored_measurement(StoredMeasurementPoint(Path(), result, {"target": {"kind": "virtual"}}))


def test_stored_point_contains_everything_that_causes_need() -> None:
    plain = profiled_point(1000, {"give": (40_000, 1000), "take": (10_000, 2000)})
    assert plain.virtual is not None
    code = {name: FunctionCodeLocation(digest=name * 8, address=8 * at) for at, name in enumerate(("give", "take"))}

    def with_instructions(result: MeasuredPoint, value: int | None, **more: Any) -> MeasuredPoint:
        assert result.virtual is not None
        uses = tuple(use.model_copy(update={"instructions": value}) for use in result.virtual.functions)
        virtual = result.virtual.model_copy(update={"functions": uses})
        return result.model_copy(update={"virtual": virtual, "code": code, **more})

    results = stored_figures(with_instructions(plain, 30_000, state=STATE))
    assert results.state == STATE
    assert results.functions["take"] == ExecutedFunction("taketaketake", 30.0, 2.0)
    assert results.code
    assert results.places
    moved = {name: place.model_copy(update={"address": 4}) for name, place in code.items()}
    elsewhere = stored_figures(with_instructions(plain, 30_000, state=STATE, code=moved))
    assert (elsewhere.code == results.code, elsewhere.places == results.places) == (True, False)
    old = executed_functions(with_instructions(plain, None))
    assert old["take"].instructions is None
    assert not stored_figures(with_instructions(plain, None, code={"give": code["give"]})).code, (
        "a part of it has no digest"
    )


def test_different_board_state_is_listed_before_figures() -> None:
    """But not where one side's was not read."""
    plain = profiled_point(1000, {"give": (40_000, 1000)})
    cold, warm, unread = (
        ComparedMeasurementSet("s", [stored_figures(plain.model_copy(update={"state": state}))])
        for state in ({"icache": 0}, {"icache": 1}, {})
    )
    assert [
        (difference.key, difference.before, difference.after)
        for difference in compare_runs_or_baselines(cold, warm).differences
    ] == [("state.icache", "0", "1")]
    assert not compare_runs_or_baselines(cold, unread).differences
