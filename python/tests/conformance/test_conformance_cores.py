"""What only several cores show: tasks that no core binds run where there is room, and a port that binds them fails."""

from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.conformance.judge import CheckOutcome, ConformanceCheckResult
from rtoslab.plan.plan import PlanOptions, make_measurement_plan
from tests.checkouts import replace_text
from tests.conformance.test_conformance_end_to_end import conformance

PORT = "kernels/freertos/port.c"
AFFINITY = "kernels/freertos/services/affinity/port_affinity.h"
FREE = "request->core == PORT_ANY_CORE ? tskNO_AFFINITY : (UBaseType_t)1u << request->core"


def core_findings(root: Path, kernel: str, cores: int, check: str = "any_core") -> list[ConformanceCheckResult]:
    return [finding for finding in conformance(root, kernel, cores=cores).findings if finding.check == check]


def test_unpinned_task_runs_on_any_free_core() -> None:
    findings = core_findings(find_checkout_root(), "freertos", 2)
    assert [(finding.core, finding.outcome) for finding in findings] == [
        (0, CheckOutcome.HOLDS),
        (1, CheckOutcome.HOLDS),
    ]


def test_core_checks_do_not_apply_to_one_core() -> None:
    (single,) = core_findings(find_checkout_root(), "freertos", 1)
    (lacking,) = core_findings(find_checkout_root(), "rt", 1)
    assert (single.outcome, single.saw) == (CheckOutcome.NOT_APPLICABLE, "2 cores or more are needed to show it")
    assert lacking.outcome is CheckOutcome.NOT_APPLICABLE
    assert "rt schedules one core" in lacking.saw


@pytest.mark.long
@pytest.mark.parametrize("core", [0, 1])
def test_port_that_pins_an_unpinned_task_fails(checkout: Path, core: int) -> None:
    replace_text(checkout, PORT, FREE, f"(UBaseType_t)1u << (request->core == PORT_ANY_CORE ? {core} : request->core)")
    findings = core_findings(checkout, "freertos", 2)
    assert [finding.core for finding in findings if finding.outcome is CheckOutcome.FAILS] == [core]


def test_task_bound_to_another_core_continues_there() -> None:
    findings = core_findings(find_checkout_root(), "freertos", 2, "affinity_moves")
    assert [(finding.core, finding.outcome) for finding in findings] == [
        (0, CheckOutcome.HOLDS),
        (1, CheckOutcome.HOLDS),
    ]


@pytest.mark.long
def test_port_that_binds_a_task_to_the_core_it_is_on_fails(checkout: Path) -> None:
    replace_text(checkout, AFFINITY, "1u << core", "1u << (core * 0u + portGET_CORE_ID())")
    findings = core_findings(checkout, "freertos", 2, "affinity_moves")
    assert [(finding.core, finding.outcome) for finding in findings] == [
        (0, CheckOutcome.FAILS),
        (1, CheckOutcome.FAILS),
    ]


@pytest.mark.parametrize(
    ("kernel", "cores", "why"),
    [
        ("freertos", 1, "on one core every task runs where it must"),
        ("rt", 2, "rt has no any_core service: rt schedules one core"),
        ("freertos", 2, None),
    ],
)
def test_unpinned_tasks_are_not_applicable_without_support(kernel: str, cores: int, why: str | None) -> None:
    options = PlanOptions([kernel], ["pico"], [cores], config={"param.pinned": "0"})
    for point in make_measurement_plan(
        Catalogue(find_checkout_root()), ["t2_cooperative", "t3_preemptive", "t4_interrupt"], options
    ).points:
        assert point.not_applicable == why
