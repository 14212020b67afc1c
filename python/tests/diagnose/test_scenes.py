"""Each planted fault of firmware/scenes/ is found, and its healthy twin gets no finding."""

from functools import cache

import pytest

from rtoslab.diagnose import FirmwareDiagnosis, Limits, diagnose_problems_of_image
from tests.instruments.images import scene_subject

BOARD = "nucleo-f446re"
MILLISECONDS = {"starvation": 150, "background_work": 150, "endless_handler": 12}
"""A task is starved after 100 ms. An endless handler is slow to look at."""


@cache
def diagnosis_of(name: str, kernel: str = "freertos", board: str = BOARD) -> FirmwareDiagnosis:
    return diagnose_problems_of_image(scene_subject(name, kernel, board, MILLISECONDS.get(name, 60)), Limits())


def kinds(result: FirmwareDiagnosis) -> list[str]:
    return [finding.kind for finding in result.findings]


FAULTY = (
    ("priority_inversion", ["inversion"]),
    ("deadlock", ["deadlock"]),
    ("starvation", ["starvation"]),
    ("missed_period", ["missed period"]),
    ("full_stack", ["stack"]),
    ("full_queue", ["queue"]),
    ("wild_pointer", ["fault"]),
    ("endless_handler", ["storm"]),
    ("repeated_handler", ["repeated handler"]),
    ("masked_for_ever", ["masked"]),
    ("long_handler", ["masked", "late interrupt"]),
    ("lost_ticks", ["lost interrupt", "masked"]),
    ("missed_wakeup", ["lost wake-up"]),
)
HEALTHY = (
    "priority_inheritance", "lock_order", "background_work", "kept_period", "half_stack", "roomy_queue",
    "short_critical_section", "brief_handler", "cleared_handler",
)  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), FAULTY)
def test_planted_fault_is_found(name: str, expected: list[str]) -> None:
    result = diagnosis_of(name)
    assert kinds(result)[: len(expected)] == expected
    assert {kind for kind in kinds(result) if kind not in expected} <= {"late interrupt"}
    assert result.failing_findings


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("kernel", ["freertos", "rt"])
def test_healthy_twin_has_no_finding(name: str, kernel: str) -> None:
    assert diagnosis_of(name, kernel).findings == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("priority_inversion", "inversion"), ("deadlock", "deadlock"), ("missed_period", "missed period")],
)
def test_another_kernel_has_the_same_faults(name: str, expected: str) -> None:
    assert kinds(diagnosis_of(name, "rt")) == [expected]


def test_inversion_names_three_tasks_and_their_lines() -> None:
    (finding,) = diagnosis_of("priority_inversion").findings
    assert finding.who == ("high", "low", "medium")
    waits, holds, runs = finding.where
    assert "high_entry (firmware/scenes/priority_inversion/priority_inversion.c:43)" in waits
    assert "low_entry (firmware/scenes/priority_inversion/priority_inversion.c:19)" in holds
    assert "medium_entry (firmware/scenes/priority_inversion/priority_inversion.c:32)" in runs
    assert finding.facts["lock"] == "lock"
    wait, lengthened = int(finding.facts["wait_cycles"]), int(finding.facts["lengthened_cycles"])
    assert 0.5 * wait < lengthened < wait


def test_deadlock_names_the_circle() -> None:
    (finding,) = diagnosis_of("deadlock").findings
    assert set(finding.who) == {"left", "right"}
    assert "waits for a, which left holds" in finding.title
    assert "waits for b, which right holds" in finding.title
    assert all("deadlock.c:" in line for line in finding.where)


def test_starved_task_is_reported_with_the_running_tasks() -> None:
    (finding,) = diagnosis_of("starvation").findings
    assert finding.who[:2] == ("background", "greedy")
    assert finding.cycles > 100 * 84_000


def test_missed_period_names_the_tasks_that_ran() -> None:
    (finding,) = diagnosis_of("missed_period").findings
    assert finding.who == ("control", "logger")
    assert finding.facts["period_cycles"] == 168_000
    assert finding.cycles > 168_000
    assert "control_entry" in finding.where[0]


def test_lost_ticks_are_counted() -> None:
    finding = diagnosis_of("lost_ticks").findings[0]
    assert "careless" in finding.who
    sections = diagnosis_of("lost_ticks").findings[1].count
    assert sections <= finding.count <= 2 * sections, "each section holds off two or three ticks"


def test_fault_has_line_and_caller() -> None:
    (finding,) = diagnosis_of("wild_pointer").findings
    assert "store" in finding.title
    assert "wild_pointer.c:13" in finding.title
    assert any("entry" in line for line in finding.where)


def test_queue_that_loses_items_names_the_handler_that_sent_them() -> None:
    (finding,) = diagnosis_of("full_queue").findings
    assert "irq" in finding.who[0]
    assert finding.facts == {"queue": "queue", "failed": finding.count, "sends": 36}


def test_final_endless_loop_gets_a_note() -> None:
    result = diagnosis_of("parked_end")
    (finding,) = result.findings
    assert (finding.kind, finding.level) == ("masked", "note")
    assert finding.title.startswith("The program ended in an endless loop.")
    assert not result.failing_findings


def test_loads_add_up_to_100_percent() -> None:
    result = diagnosis_of("priority_inheritance")
    assert sum(share.percent for share in result.loads) == pytest.approx(100, abs=0.5)
    assert {share.name for share in result.loads if share.is_idle} == {"IDLE"}


def test_stacks_are_measured_against_their_sizes() -> None:
    stacks = {use.task: use for use in diagnosis_of("half_stack").stacks}
    assert stacks["task"].size_bytes == 1024
    assert 400 < stacks["task"].used_bytes < 560
    assert diagnosis_of("full_stack").findings[0].facts["size_bytes"] == 1024
