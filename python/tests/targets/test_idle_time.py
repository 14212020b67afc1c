"""Whether cores are at the test where a kernel waits for another core's lock asleep."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from rtoslab.proofs.rules import busy
from rtoslab.results import ProofVerdict
from rtoslab.targets.observe import CoreLoad, TaskSwitch
from tests.fakes import handle

IDLE = 0x77


def evidence(idle_percent: int, to_idle: int, lock_wait: str) -> Any:
    loads = {core: CoreLoad(1000, 10 * idle_percent, 100) for core in (0, 1)}
    switches = Counter(
        {TaskSwitch(1, handle(0), IDLE, "semaphore_take"): to_idle, TaskSwitch(1, IDLE, handle(0), ""): to_idle}
    )
    return SimpleNamespace(
        are_tasks_pinned=True,
        decoded=SimpleNamespace(
            params={},
            counts=[SimpleNamespace(core=core, count_in_window=10) for core in (0, 1)],
            tasks=[SimpleNamespace(handle=handle(0))],
        ),
        observed=SimpleNamespace(loads=loads, switches=switches),
        cores=(0, 1),
        kernel=SimpleNamespace(behaviour=SimpleNamespace(lock_wait=lock_wait)),
        board_slowdown_over_pico=lambda: 1,
        settings={},
    )


@pytest.mark.parametrize(
    ("allowed", "idle", "to_idle", "lock_wait", "verdict"),
    [
        (2, 40, 0, "spins", ProofVerdict.FAILS),
        (2, 40, 0, "asleep", ProofVerdict.HOLDS),
        (2, 40, 9, "asleep", ProofVerdict.FAILS),
        (60, 40, 900, "asleep", ProofVerdict.HOLDS),
        (60, 70, 900, "asleep", ProofVerdict.FAILS),
        (60, 40, 900, "spins", ProofVerdict.HOLDS),
    ],
)
def test_sleep_is_idle_time_unless_waiting_for_a_lock(
    allowed: int, idle: int, to_idle: int, lock_wait: str, verdict: ProofVerdict
) -> None:
    """Switches to the idle task tell, of a benchmark that never waits; the share, where tasks wait for each other."""
    params = busy.BusyCoresProofParameters.model_validate({"rule": "busy", "idle_percent": allowed, "instructions": 20})
    assert busy.judge_evidence(params, evidence(idle, to_idle, lock_wait)).verdict is verdict
