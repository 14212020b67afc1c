"""What holds the kernel's tick off: a mask under which the core sleeps does not, one under which it works does."""

import pytest

from rtoslab.instruments.profiler import CallPathCycles, InterruptMaskingIntervals, Profile
from rtoslab.rta.masked_calls import is_masked_sleep

IDLE = ("thread", "idle")
CALL = ("task", "give")


def masked_intervals(closer: tuple[str, ...], count: int, total: int, longest: int) -> InterruptMaskingIntervals:
    return InterruptMaskingIntervals(
        priority=240,
        core=0,
        opener=(*IDLE, "lock [inlined]"),
        opener_line="",
        closer=closer,
        closer_line="",
        count=count,
        total_cycles=total,
        longest_cycles=longest,
        longest_start=0,
    )


def sleep_profile(*sleeps: tuple[tuple[str, ...], int]) -> Profile:
    spent = tuple(CallPathCycles(0, stack, "", (10, 0, 0, 0, cycles, 0, 0), 5, 1) for stack, cycles in sleeps)
    return Profile("", {}, 84_000_000, (sum(item.total_cycles for item in spent),), None, spent, (), ())


@pytest.mark.parametrize(
    ("slept", "is_asleep"),
    [
        (9_800, True),  # ten intervals of 1000, all but 20 cycles of each asleep
        (10_600, True),  # and the window began in an eleventh
        (60_000, False),  # what sleeps there does so unmasked
        (3_000, False),  # mostly awake
        (0, False),
    ],
)
def test_sleep_at_the_end_of_a_mask_reveals_it(slept: int, is_asleep: bool) -> None:
    assert is_masked_sleep(sleep_profile((IDLE, slept)), masked_intervals(IDLE, 10, 10_000, 1_000)) is is_asleep


def test_sleep_elsewhere_reveals_nothing() -> None:
    assert not is_masked_sleep(sleep_profile((IDLE, 9_800)), masked_intervals(CALL, 10, 10_000, 1_000))
