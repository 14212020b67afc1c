"""The lint: boards that were not set alike as their windows opened are named, by register, and nobody else is."""

from typing import Any

import pytest

from rtoslab.parity.board_settings import STATE_PREFIX, fairness_condition_of_board_setting
from rtoslab.parity.unfairness import (
    ComparedMeasuredPoint,
    UnfairDifference,
    group_comparable_measurements,
    unfair_differences_in_groups,
)
from rtoslab.targets import board_state
from tests.fakes import point
from tests.parity.test_parity import BUILD, CATALOGUE

STATE_F446: dict[str, int] = {
    "clock_hz": 84_000_000, "wait_states": 2, "feature.icache": 1, "feature.dcache": 1, "feature.prefetch": 1, "mpu": 0,
    "fpu": 15, "fpu.lazy": 3, "float_contexts": 0, "isr_urgency": 0, "urgency.svcall": 0, "urgency.pendsv": 240,
    "urgency.systick": 240, "urgency.irq5": 1, "core1.mpu": 0, "heap.free_pieces": 1,
}  # fmt: skip


def subject(who: str, kernel: Any = "freertos", build: Any = None, **state: int) -> ComparedMeasuredPoint:
    where = point().model_copy(update={"kernel": kernel})
    read = {key.replace("__", "."): value for key, value in state.items()}
    return ComparedMeasuredPoint(who, where, {"build": {**BUILD, **(build or {})}}, {**STATE_F446, **read})


def findings(*subjects: ComparedMeasuredPoint) -> list[UnfairDifference]:
    return [
        unfairness
        for unfairness in unfair_differences_in_groups(CATALOGUE, group_comparable_measurements(subjects))
        if unfairness.concept.is_board_setting
    ]


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        ({"clock_hz": 42_000_000}, "clock: 84000000 for a; 42000000 for b."),
        ({"wait_states": 5}, "flash wait states (FLASH_ACR, LATENCY): 2 for a; 5 for b."),
        ({"feature__icache": 0}, "instruction cache (FLASH_ACR, ICEN; M7: CCR, IC): on for a; off for b."),
        ({"feature__prefetch": 0}, "prefetch (FLASH_ACR, PRFTEN): on for a; off for b."),
        ({"mpu": 1}, "memory protection (MPU_CTRL, ENABLE): off for a; on for b."),
        ({"core1__mpu": 1}, "memory protection (MPU_CTRL, ENABLE) of core 1: off for a; on for b."),
        ({"fpu": 0}, "floating-point unit (CPACR, CP10 and CP11): on for a; off for b."),
        ({"fpu__lazy": 2}, "frames of the floating-point unit (FPCCR, ASPEN and LSPEN): 3 for a; 2 for b."),
        ({"float_contexts": 1}, "tasks that used the floating-point unit: no for a; yes for b."),
        ({"heap__free_pieces": 9}, "fragments of free memory in the heap: 1 for a; 9 for b."),
        ({"urgency__irq5": 3}, "urgency of interrupt 5 (NVIC): 1 for a; 3 for b."),
        ({"urgency__irq7": 3}, "urgency of interrupt 7 (NVIC): not enabled for a; 3 for b."),
        ({"urgency__systick": 0}, "urgency of systick (SHPR): 240 for a; 0 for b."),
    ],
)
def test_board_with_other_settings_is_reported(planted: dict[str, int], words: str) -> None:
    (result,) = findings(subject("a"), subject("b", **planted))
    title, _, values = words.rpartition(": ")
    assert result.sentence.startswith(f"{title} at the beginning of the window: {values}")
    assert result.unfair_difference_cost_text == "not measured; set it to the same value and measure again"


def test_boards_with_equal_settings_are_not_reported() -> None:
    assert not findings(subject("a"), subject("b"))
    unread = ComparedMeasuredPoint("c", point().model_copy(update={"kernel": "freertos"}), {"build": BUILD})
    assert not findings(subject("a"), unread), "of points that were stored before it was read nothing is known"


def test_difference_explained_by_the_manifest_is_reported_once() -> None:
    slow = subject("b", build={"clock": {"wait_states": "7"}}, wait_states=7)
    assert [
        unfairness.concept.id
        for unfairness in unfair_differences_in_groups(CATALOGUE, group_comparable_measurements([subject("a"), slow]))
    ] == ["wait_states"]


def test_port_specific_settings_are_compared_within_a_kernel() -> None:
    other = {"urgency__svcall": 240, "urgency__irq9": 4, "isr_urgency": 5, "heap__free_pieces": 3}
    assert not findings(subject("a"), subject("b", kernel="rt", **other))
    assert [finding.concept.id for finding in findings(subject("a"), subject("b", kernel="rt", mpu=1))] == [
        f"{STATE_PREFIX}mpu"
    ]


def test_every_setting_has_a_description() -> None:
    """A new setting of `board_state` would be shown by its key."""
    chips = board_state._CHIPS.values()
    keys = {key for fields in (board_state._CORE, board_state._ARMV7M, board_state._M7, *chips) for key in fields}
    for key in keys | {"clock_hz", board_state.FLOAT_CONTEXTS, board_state.ISR_URGENCY}:
        title = fairness_condition_of_board_setting(STATE_PREFIX + key).title
        assert key.startswith("urgency.") or not title.endswith(key), key
