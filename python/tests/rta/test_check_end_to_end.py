"""Task sets on the virtual board: bounds against every job, work of exact length, what is seen when a set overloads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import median

import pytest
from click.testing import CliRunner

from rtoslab.base.errors import PlanError, RtoslabError, TaskSetCheckError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.cli import app
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.arrange import image_task_rows
from rtoslab.rta.board_check import TaskSetBoardCheck, run_and_check_task_set
from rtoslab.rta.charges import KernelOverheadAccountingModel
from rtoslab.rta.firmware import TaskSetFirmware, build_task_set_firmware
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.randomsets import random_task_set
from rtoslab.rta.system import IntegerTimeTaskSet
from rtoslab.rta.work import BusyWork
from tests.rta.benches import search_bench
from tests.rta.systems import task

BOARD = "nucleo-f446re"
EXAMPLE = find_checkout_root() / "examples" / "response-time" / "control.toml"


def image_work_overheads(
    kernel: str = "freertos", board: str = BOARD, *macros: str
) -> tuple[TaskSetFirmware, BusyWork, KernelOverheads]:
    """`macros`: of the kernel, NAME=VALUE."""
    of = search_bench(kernel, board, *macros)
    return of.firmware, of.work, of.overheads


def test_kernel_that_switches_in_thread_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = Catalogue(find_checkout_root())
    plain = catalogue.find_kernel("freertos")
    behaviour = plain.facts.behaviour.model_copy(update={"switch_mode": "thread"})
    in_thread = replace(plain, facts=plain.facts.model_copy(update={"behaviour": behaviour}))
    monkeypatch.setattr(catalogue, "find_kernel", lambda _: in_thread)
    monkeypatch.setattr(
        "rtoslab.rta.firmware.check_port_conformance", lambda *_: pytest.fail("the port was examined before")
    )
    with pytest.raises(TaskSetCheckError, match="FreeRTOS switches tasks in thread mode"):
        build_task_set_firmware(catalogue, "freertos", BOARD, {})


def random_checks(
    seeds: range, *of: str, in_turns: bool = False
) -> Iterator[tuple[IntegerTimeTaskSet, TaskSetBoardCheck, KernelOverheads]]:
    """`of`: kernel, board and macro of `image_work_overheads`; `in_turns`: tasks share priorities and take turns."""
    firmware, work, overheads = image_work_overheads(*of)
    for seed in seeds:
        system = random_task_set(Random(seed), firmware.clock_hz, firmware.tick_cycles)
        if in_turns:
            tasks = tuple(replace(task, priority=task.priority // 3) for task in system.tasks)
            system = replace(system, tasks=tasks, equals="slices")
        yield system, run_and_check_task_set(system, firmware, work, 240), overheads


def assert_no_bound_is_exceeded(seeds: range, *of: str, in_turns: bool = False) -> float:
    """The median tightness by the split tick, never above the worst tick."""
    ratios: list[float] = []
    for system, seen, overheads in random_checks(seeds, *of, in_turns=in_turns):
        worst, partition = (
            compute_response_time_bounds(system, overheads, model)
            for model in (KernelOverheadAccountingModel.WORST_TICK, KernelOverheadAccountingModel.SPLIT_TICK)
        )
        assert seen.tasks_over_bound(partition) == [], system
        assert seen.tasks_over_bound(worst) == [], system
        ratios += seen.ratio_of_bound_to_response(partition).values()
        for low, high in zip(partition.tasks, worst.tasks, strict=True):
            assert high.response is None or (low.response is not None and low.response <= high.response)
    return median(ratios)


def test_no_job_exceeds_its_bound() -> None:
    assert assert_no_bound_is_exceeded(range(1000, 1008)) < 1.10


@pytest.mark.long
@pytest.mark.parametrize(
    ("board", "sets"),
    [(BOARD, 220), ("pico", 40), ("nucleo-l053r8", 40), ("nucleo-f103rb", 40), ("nucleo-f767zi", 20)],
)
def test_no_job_of_many_sets_exceeds_its_bound(board: str, sets: int) -> None:
    assert assert_no_bound_is_exceeded(range(sets), "freertos", board) < 1.10


@pytest.mark.long
def test_no_job_exceeds_its_bound_with_another_kernel() -> None:
    assert assert_no_bound_is_exceeded(range(20), "rt") < 1.10


@pytest.mark.long
@pytest.mark.parametrize("macro", ["configUSE_PORT_OPTIMISED_TASK_SELECTION=0", "configUSE_TIME_SLICING=1"])
def test_no_job_exceeds_its_bound_in_other_configurations(macro: str) -> None:
    """With a search for the next task, longer the further down it is; with turns among equals, any order of which is
    bounded, so that the bounds are less tight."""
    in_turns = "SLICING" in macro
    middle = assert_no_bound_is_exceeded(range(20), "freertos", BOARD, macro, in_turns=in_turns)
    assert middle < (2.0 if in_turns else 1.10)


@pytest.mark.parametrize(
    "forgotten",
    [
        {"tick": {"per_task_cycles": 0}},
        {
            "switch": {"up_cycles": 0, "from_idle_cycles": 0, "down_cycles": 0},
            "job": {"end_cycles": 0, "start_cycles": 0},
        },
    ],
)
def test_missing_overhead_is_found(forgotten: dict[str, dict[str, int]]) -> None:
    """The check can fail: bounds made without a part of the overhead are exceeded."""
    result = set()
    for system, seen, overheads in random_checks(range(1000, 1004)):
        wrong = overheads.model_copy(
            update={
                **{part: getattr(overheads, part).model_copy(update=values) for part, values in forgotten.items()},
                "masks": overheads.masks.model_copy(update={"masked_cycles": 0}),
            }
        )
        result |= set(
            seen.tasks_over_bound(compute_response_time_bounds(system, wrong, KernelOverheadAccountingModel.SPLIT_TICK))
        )
    assert result


def test_generated_work_is_exact_and_overload_is_detected() -> None:
    """C of three tasks, undisturbed: to the cycle. The last of them has no bound, and misses as soon as it can."""
    firmware, work, overheads = image_work_overheads()
    tick = firmware.tick_cycles
    system = IntegerTimeTaskSet(
        (task("A", 2 * tick, 40_001, 2), task("B", 3 * tick, 100_003, 1), task("C", 5 * tick, 200_002, 0)),
        units_per_second=firmware.clock_hz,
    )
    seen = run_and_check_task_set(system, firmware, work)
    assert [item.job_work for item in seen.tasks] == [40_001, 100_003, 200_002]
    single = [(stretch.cycles, cycles) for stretch, cycles in seen.ledger.works if not stretch.interruptions]
    assert len(single) > 10
    assert all(took == cycles for took, cycles in single)
    result = compute_response_time_bounds(system, overheads)
    assert result.find_response_bound("C").response is None
    assert "% of the processor" in result.find_response_bound("C").reason
    assert [item.misses == 0 for item in seen.tasks] == [True, True, False]
    assert all(item.misses <= item.job_count for item in seen.tasks)
    assert seen.tasks_over_bound(result) == []


def test_overload_of_long_runs_is_detected() -> None:
    """995 us of work every millisecond: one job of it looks well."""
    firmware, work, overheads = image_work_overheads()
    system = IntegerTimeTaskSet((task("A", firmware.tick_cycles, 83_580, 1),), units_per_second=firmware.clock_hz)
    assert compute_response_time_bounds(system, overheads).find_response_bound("A").response is None
    seen = run_and_check_task_set(system, firmware, work)
    assert (seen.ticks, seen.hyperperiod_ticks) == (200, 1)
    assert 150 < seen.missed_deadlines <= seen.job_count == 200


def test_uncovered_overhead_is_reported() -> None:
    """Each price by itself, taken away: the ledger of a run finds something that cost more."""
    firmware, work, overheads = image_work_overheads()
    system = random_task_set(Random(1000), firmware.clock_hz, firmware.tick_cycles)
    seen = run_and_check_task_set(system, firmware, work, 240)
    assert seen.kernel_entries_above_charge(overheads) == []
    for part, values in (
        ("tick", {"base_cycles": 0}),
        ("tick", {"per_task_cycles": 0}),
        ("tick", {"switch_cycles": 0}),
        ("job", {"start_cycles": 0}),
        ("job", {"end_cycles": 0}),
        ("interrupt", {"entry_cycles": 0, "exit_cycles": 0}),
    ):
        less = overheads.model_copy(update={part: getattr(overheads, part).model_copy(update=values)})
        assert seen.kernel_entries_above_charge(less), values


def test_table_in_the_image_changes_nothing_else() -> None:
    """Copies of the image differ in the table and the priorities alone, and the same table runs to the same cycle."""
    firmware, work, _ = image_work_overheads()
    system = random_task_set(Random(1), firmware.clock_hz, firmware.tick_cycles, most=4)
    rows = image_task_rows(system, firmware, work)
    plain, filled = firmware.build.elf_path.read_bytes(), firmware.elf_image_with_task_table(rows)
    assert len(plain) == len(filled)
    assert 0 < sum(one != other for one, other in zip(plain, filled, strict=True)) < 16 * firmware.max_tasks + 16
    first, second = (
        run_and_check_task_set(system, firmware, work, 50),
        run_and_check_task_set(system, firmware, work, 50),
    )
    assert first.trace == second.trace


def test_impossible_task_set_is_reported() -> None:
    firmware, work, _ = image_work_overheads()
    tick = firmware.tick_cycles

    def refusal_of(system: IntegerTimeTaskSet) -> str:
        with pytest.raises(TaskSetCheckError) as result:
            run_and_check_task_set(replace(system, units_per_second=firmware.clock_hz), firmware, work, 10)
        return str(result.value)

    assert "A: its period is 1.5 ticks of 1000 us" in refusal_of(
        IntegerTimeTaskSet((task("A", 3 * tick // 2, 1000, 1),))
    )
    assert "A: its offset is 0.5 ticks" in refusal_of(IntegerTimeTaskSet((task("A", tick, 1000, 1, offset=tick // 2),)))
    assert "A: Work of 3 cycles is too short" in refusal_of(IntegerTimeTaskSet((task("A", tick, 3, 1),)))
    many = tuple(task(f"T{at}", 4 * tick, 1000, at) for at in range(11))
    assert "The image can run 10 tasks, but the set has 11" in refusal_of(IntegerTimeTaskSet(many))
    assert "has a task on core 1, but the last core of the image is 0" in refusal_of(
        IntegerTimeTaskSet((task("A", tick, 1000, 1, core=1),))
    )


def run_rta_command(*arguments: object) -> tuple[int, str]:
    """Exit code and standard output; errors that a user can cause are raised."""
    done = CliRunner().invoke(app, ["rta", *map(str, arguments)], catch_exceptions=True, standalone_mode=False)
    if isinstance(done.exception, RtoslabError):
        raise done.exception
    assert done.exception is None, done.exception
    return done.return_value, done.stdout


def test_command_prints_answer_and_writes_report(tmp_path: Path) -> None:
    where = ("--kernel", "freertos", "--board", BOARD)
    image, report = tmp_path / "image.elf", tmp_path / "report.html"
    code, out = run_rta_command(EXAMPLE, *where, "--check", "--json", "--save-image", image, "-o", report)
    assert code == 0
    result = json.loads(out)
    assert result["holds"]
    assert result["check"]["misses"] == 0
    assert (result["check"]["ticks"], result["check"]["hyperperiod_ticks"]) == (200, 100)
    assert result["check"]["uncovered"] == []
    assert all(1 <= item["tightness"]["c"] < 1.10 for item in result["check"]["tasks"].values())
    assert image.read_bytes()[:4] == b"\x7fELF"
    text = report.read_text()
    assert text.count("<svg ") == 4
    assert "Yes: every deadline is met." in text


def test_command_without_a_kernel_and_with_a_missed_deadline(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_text("name,period_us,wcet_us,deadline_us,priority\nA,100,40,,2\nB,200,90,150,1\n")
    code, out = run_rta_command(path)
    assert code == 3
    assert "No: B may take 170.0 us, its deadline is 150.0 us (own 90.0, tasks 80.0)." in out
    assert "the kernel is assumed to cost nothing" in out
    with pytest.raises(PlanError, match="add --kernel"):
        run_rta_command(path, "--board", "pico")
    with pytest.raises(PlanError, match="add --kernel"):
        run_rta_command(path, "--check")
    with pytest.raises(PlanError, match="no overheads to save or to compare"):
        run_rta_command(path, "--save-overheads", tmp_path / "x.toml")
