"""Who moves a cycle of a board raises the version of the timing, by which it is told whether stored results hold."""

import pytest

from rtoslab import _sim
from tests.timing_version import chips, digests, machines, stored_version, times


def test_versions_are_the_stored_ones() -> None:
    stored = stored_version()["chips"]
    assert sorted(stored) == chips()
    versions = {chip: _sim.timing_version(chip) for chip in stored}
    assert {chip: report["version"] for chip, report in stored.items()} == versions, (
        "run `python -m tests.timing_version`"
    )


@pytest.mark.parametrize("chip", chips())
def test_every_program_takes_the_cycles_of_the_timing_version(chip: str) -> None:
    was, now = stored_version()["chips"][chip], digests(chip)
    assert now["programs"] == was["programs"], "the programs are others than those of the stored digests"
    assert now["times"] == was["times"], "raise the version of the chip in sim/timing/src/lib.rs: a cycle has moved"


def test_one_more_wait_state_changes_the_cycles() -> None:
    """The digests are of time, not of what the programs compute."""
    (_, before), (_, after) = next(machines("stm32f103")), next(machines("stm32f103"))
    after.set("flash.wait_states", 1)
    assert times(before) != times(after)
