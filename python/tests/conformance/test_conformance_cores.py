"""What only several cores show: tasks that no core binds run where there is room, and a port that binds them fails."""

from pathlib import Path

import pytest

from rtoslab.base.paths import find_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.conformance.judge import CheckFinding, Outcome
from rtoslab.plan.plan import Options, make_plan
from tests.checkouts import alter
from tests.conformance.test_conformance_whole import conformance

PORT = "kernels/freertos/port.c"
FREE = "request->core == PORT_ANY_CORE ? tskNO_AFFINITY : (UBaseType_t)1u << request->core"


def found(root: Path, kernel: str, cores: int) -> list[CheckFinding]:
    return [finding for finding in conformance(root, kernel, cores=cores).findings if finding.check == "any_core"]


def test_a_task_for_any_core_gets_on_wherever_there_is_room() -> None:
    findings = found(find_root(), "freertos", 2)
    assert [(finding.core, finding.outcome) for finding in findings] == [(0, Outcome.HOLDS), (1, Outcome.HOLDS)]


def test_on_one_core_and_on_kernels_of_one_core_there_is_nothing_to_show() -> None:
    (single,) = found(find_root(), "freertos", 1)
    (lacking,) = found(find_root(), "rt", 1)
    assert (single.outcome, single.saw) == (Outcome.NOT_APPLICABLE, "2 cores or more are needed to show it")
    assert lacking.outcome is Outcome.NOT_APPLICABLE
    assert "rt schedules one core" in lacking.saw


@pytest.mark.long
@pytest.mark.parametrize("core", [0, 1])
def test_a_port_that_binds_such_a_task_fails_where_its_core_is_held(checkout: Path, core: int) -> None:
    alter(checkout, PORT, FREE, f"(UBaseType_t)1u << (request->core == PORT_ANY_CORE ? {core} : request->core)")
    findings = found(checkout, "freertos", 2)
    assert [finding.core for finding in findings if finding.outcome is Outcome.FAILS] == [core]


@pytest.mark.parametrize(
    ("kernel", "cores", "why"),
    [
        ("freertos", 1, "on one core every task runs where it must"),
        ("rt", 2, "rt has no any_core service: rt schedules one core"),
        ("freertos", 2, None),
    ],
)
def test_what_cannot_be_unpinned_is_not_applicable(kernel: str, cores: int, why: str | None) -> None:
    options = Options([kernel], ["pico"], [cores], config={"param.pinned": "0"})
    for point in make_plan(Catalogue(find_root()), ["t2_cooperative", "t3_preemptive", "t4_interrupt"], options).points:
        assert point.not_applicable == why
