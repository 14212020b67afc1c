"""Comparisons over placements: what merely moved is neither slower nor faster, what is slower everywhere is."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rtoslab.analyses.named_figures import NamedMetricValue
from rtoslab.analyses.place_matters import does_timing_depend_on_code_addresses
from rtoslab.cli import app
from rtoslab.compare.comparison import ChangeVerdict, compare_runs_or_baselines
from rtoslab.compare.document import comparison_document
from rtoslab.compare.machines import comparisons_as_junit
from rtoslab.compare.placement_pairs import merge_measurements_over_code_placements
from rtoslab.compare.sides import ComparedMeasurementSet, MeasuredPointValues
from rtoslab.reports import report_formats
from tests.checkouts import build_apart, copy_checkout, replace_text
from tests.cli.test_cli import rtoslab
from tests.fakes import STEADY, measured_point, point
from tests.parity.test_parity import compiler_calls

TAKE = "    return xSemaphoreTake(*semaphore, portMAX_DELAY) == pdTRUE;"


def side(
    values: Sequence[float], *, exact: bool = True, resolution: float = 0.002, tree: dict[str, Any] | None = None
) -> ComparedMeasurementSet:
    results = []
    for number, cycles in enumerate(values):
        where = point().model_copy(update={"config": {"placement": str(number)} if number else {}})
        metric = NamedMetricValue("cycles_per_count", "cycles", cycles, resolution=resolution)
        manifest = {"build.placement": str(number)}
        results.append(MeasuredPointValues(where, {metric.id: metric}, exact, manifest, measured_point(), tree or {}))
    return merge_measurements_over_code_placements(ComparedMeasurementSet("s", results))


def verdict(before: Sequence[float], after: Sequence[float]) -> ChangeVerdict:
    (change,) = compare_runs_or_baselines(side(before), side(after)).changes
    return change.verdict


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ([428.67, 439.81, 437.69], [437.09, 428.10, 441.09], ChangeVerdict.PLACEMENT),
        ([428.67, 439.81, 437.69], [439.82, 441.00, 443.00], ChangeVerdict.WORSE),
        ([428.67, 439.81, 437.69], [420.00, 428.00, 427.00], ChangeVerdict.BETTER),
        ([490.73, 490.73, 490.73], [491.73, 491.73, 491.73], ChangeVerdict.WORSE),
        ([490.73, 490.73, 490.73], [490.73, 490.731, 490.73], ChangeVerdict.SAME),
        ([428.67, 439.81, 437.69], [445.00], ChangeVerdict.PLACEMENT),
        ([428.67, 439.81, 437.69], [460.00], ChangeVerdict.WORSE),
        ([445.00], [428.67, 439.81, 437.69], ChangeVerdict.PLACEMENT),
        ([437.09], [428.67], ChangeVerdict.ONE_PLACEMENT),
        ([437.09], [437.091], ChangeVerdict.SAME),
    ],
)
def test_verdict_by_bands(before: list[float], after: list[float], wanted: ChangeVerdict) -> None:
    assert verdict(before, after) is wanted


def test_point_in_several_placements_is_compared_by_its_median() -> None:
    (one,) = side([428.67, 439.81, 437.69]).figures
    assert one.point.config == {}
    metric = one.metrics["cycles_per_count"]
    assert metric.value == 437.69
    assert metric.band is not None
    assert list(metric.band.values) == [428.67, 439.81, 437.69]
    assert one.manifest["build.placement"] == "3 placements"
    assert len(one.placed_results) == 3


def test_point_that_failed_in_a_placement_is_not_compared() -> None:
    (whole,) = side([1.0]).figures
    other = point().model_copy(update={"config": {"placement": "1"}})
    failed = replace(whole, point=other, metrics={}, result=None, missing_reason="failed: a proof")
    assert merge_measurements_over_code_placements(ComparedMeasurementSet("s", [whole, failed])).figures == [
        whole,
        failed,
    ]


def test_report_states_the_rule() -> None:
    result = compare_runs_or_baselines(side([428.67, 439.81]), side([437.09, 441.09]))
    text = report_formats()["md"](comparison_document([result]))
    assert "do not overlap" in text
    assert "-2.72 to 12.42" in text
    assert "was measured in one placement" not in text
    text = report_formats()["md"](comparison_document([compare_runs_or_baselines(side([428.67]), side([437.09]))]))
    assert "in one placement each: exact, but other placements may give other times" in text
    assert "no figure is called worse or better" in text
    assert "1 differs in one placement each, so it is not known whether the code or its placement is the cause" in text
    assert "The largest difference: t2, cycles_per_count: +8.42 cycles" in text
    alike = report_formats()["md"](comparison_document([compare_runs_or_baselines(side([428.67]), side([428.67]))]))
    assert "was measured in one placement" not in alike


def build_record(core: str, code: str = "flash", waits: str = "0", cores: int = 1, **build: Any) -> dict[str, Any]:
    clock = {"wait_states": waits} if waits else {}
    known = {"cores": cores, "code": code, "clock": clock, "flags": ["-O1", "-O2"], "compiler": {"id": "GNU"}}
    return {"build": {**known, **build}, "board": {"core": core}}


@pytest.mark.parametrize(
    ("manifest", "matters"),
    [
        (build_record("cortex-m4f"), False),
        (build_record("cortex-m3", waits="2"), True),
        (build_record("cortex-m3", "sram", "2"), False),
        (build_record("cortex-m4f", flags=["-O2", "-Os"]), True),  # functions on halfwords
        (build_record("cortex-m0plus", flags=["-Os"]), False),
        (build_record("cortex-m4f", calls=compiler_calls()), False),
        (build_record("cortex-m4f", calls=compiler_calls(kernel="-Os")), True),
        (
            build_record("cortex-m4f", calls=compiler_calls(others={"kernel/queue.c": {"options": ["...", "-O0"]}})),
            True,
        ),
        (
            build_record("cortex-m4f", calls=compiler_calls(others={"kernel/queue.c": {"options": ["...", "-g3"]}})),
            False,
        ),
        (build_record("cortex-m4f", calls=compiler_calls(others={"kernel/queue.c": {"options": ["-g3"]}})), True),
        (build_record("cortex-m4f", compiler={"id": "Clang"}), True),  # nobody looked
        (build_record("cortex-m4f", data="kernel"), True),  # an export
        (build_record("cortex-m0plus", waits=""), True),  # behind a cache, as on the Pico
        (build_record("cortex-m0plus", "sram", ""), False),
        (build_record("cortex-m0plus", "sram", "", cores=2), True),  # collisions
        (build_record("cortex-m7", "itcm"), True),
        ({}, True),
    ],
)
def test_difference_in_one_placement_counts_without_wait_states(manifest: dict[str, Any], matters: bool) -> None:
    assert does_timing_depend_on_code_addresses(manifest) is matters
    sides = [side([cycles], tree=manifest) for cycles in (428.67, 437.09)]
    (change,) = compare_runs_or_baselines(*sides).changes
    assert change.verdict is (ChangeVerdict.ONE_PLACEMENT if matters else ChangeVerdict.WORSE)
    steady = side([428.67], tree=build_record("cortex-m4f"))
    (mixed,) = compare_runs_or_baselines(steady, sides[1]).changes
    assert mixed.verdict is change.verdict, "one side whose place matters is enough"
    (gated,) = compare_runs_or_baselines(*sides, is_gate=True).changes
    assert gated.verdict is ChangeVerdict.WORSE, "a gate is exact"
    assert comparisons_as_junit([compare_runs_or_baselines(*sides)]).count("<failure") == (not matters)


@pytest.mark.parametrize(
    ("metric", "tree", "other", "wanted"),
    [
        ("image.text", {}, {}, ChangeVerdict.BETTER),
        ("image.text", {}, {"build": {"placement": 3}}, ChangeVerdict.ONE_PLACEMENT),  # padded otherwise
        ("stack.c0t0", {}, {}, ChangeVerdict.ONE_PLACEMENT),
        ("stack.c0t0", STEADY, STEADY, ChangeVerdict.BETTER),
        ("heap.peak", STEADY, STEADY, ChangeVerdict.ONE_PLACEMENT),  # its first block is aligned
    ],
)
def test_sizes_are_compared_in_one_placement(
    metric: str, tree: dict[str, Any], other: dict[str, Any], wanted: ChangeVerdict
) -> None:
    sides = [
        ComparedMeasurementSet(
            "s",
            [
                MeasuredPointValues(
                    point(), {metric: NamedMetricValue(metric, "bytes", size)}, True, {}, manifest_tree=item
                )
            ],
        )
        for size, item in ((100.0, tree), (92.0, other))
    ]
    (change,) = compare_runs_or_baselines(*sides).changes
    assert change.verdict is wanted
    (gated,) = compare_runs_or_baselines(*sides, is_gate=True).changes
    assert gated.verdict is ChangeVerdict.BETTER


def lying_at(digest: str, address: int, config: str = "1") -> ComparedMeasurementSet:
    (one,) = side([437.09 if digest == "d" and address == 0x100 else 428.67]).figures
    return ComparedMeasurementSet(
        "s", [replace(one, code=digest, places=str(address), manifest={"build.kernel_config.A": config})]
    )


@pytest.mark.parametrize(
    ("after", "wanted"),
    [
        (lying_at("d", 0x104), ChangeVerdict.PLACEMENT),
        (lying_at("e", 0x104), ChangeVerdict.ONE_PLACEMENT),
        (lying_at("d", 0x104, config="2"), ChangeVerdict.ONE_PLACEMENT),
    ],
)
def test_same_code_at_other_addresses_is_called_placement(after: ComparedMeasurementSet, wanted: ChangeVerdict) -> None:
    result = compare_runs_or_baselines(lying_at("d", 0x100), after)
    (change,) = result.changes
    assert change.verdict is wanted
    text = report_formats()["md"](comparison_document([result]))
    assert ("So only the placement differs" in text) == (wanted is ChangeVerdict.PLACEMENT)


def test_planted_nop_exceeds_placement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In RAM, where no flash waits: the take is slower in every place, the give beside it in none."""
    config = ("--config", "code=sram", "--config", "samples=20", "--config", "instrument=probe", "--placements", "2")
    ask = ("run", "call_times", "--board", "nucleo-f446re", *config, "--out")
    assert app.main([*ask, str(tmp_path / "before")], standalone_mode=False) == 0
    root = copy_checkout(tmp_path / "checkout")
    replace_text(root, "kernels/freertos/port.h", TAKE, f'    __asm volatile("nop");\n{TAKE}')
    monkeypatch.setenv("RTOSLAB_ROOT", str(root))
    monkeypatch.setenv("RTOSLAB_BUILD", str(build_apart(tmp_path / "build")))
    assert app.main([*ask, str(tmp_path / "after")], standalone_mode=False) == 0
    shown = rtoslab("compare", tmp_path / "before", tmp_path / "after", "--format", "json")
    (result,) = json.loads(shown.stdout)["comparisons"]
    changes = {change["metric"]: change for change in result["changes"]}
    take = changes["semaphore.take.available.median"]
    assert (take["verdict"], len(take["before_band"])) == ("worse", 2)
    assert take["placement_interval"][0] >= 1, "no place of the one is as good as any of the other"
    assert changes["semaphore.give.no_waiter.median"]["verdict"] in {"same", "placement"}
