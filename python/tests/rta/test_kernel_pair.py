"""A kernel of its own on each core: their image, their runs and their bounds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rtoslab.base.errors import TaskSetCheckError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.board_check import run_and_check_task_set
from rtoslab.rta.bound_search import search_violated_bounds
from rtoslab.rta.firmware import build_task_set_firmware
from rtoslab.rta.images import TaskSetImages
from rtoslab.rta.kernel_pair import image_table_rows_of_core, image_with_embedded_image
from rtoslab.rta.overheads import MulticoreInterferenceCosts, SendCosts
from rtoslab.rta.rows import InterruptLine, TaskRow
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTaskSet
from tests.rta.benches import search_bench
from tests.rta.systems import KERNEL, task
from tests.rta.test_check_end_to_end import run_rta_command
from tests.rta.test_sends import linked

PAIR = "freertos+freertos"
EXAMPLE = find_checkout_root() / "examples" / "response-time" / "two-kernels.toml"
TICK = KERNEL.tick.period_cycles


def pair_images(events: int = 0, **config: str) -> TaskSetImages:
    return TaskSetImages.build_images(Catalogue(find_checkout_root()), PAIR, "pico", config, events=events)


def test_each_image_has_the_tasks_of_its_core() -> None:
    rows = [
        TaskRow(2, 0, 10, 0, 5, receiver=3),
        TaskRow(3, 0, 20, 0, 4, core=1, line=2),
        TaskRow(1, 0, 30, 0, 3),
    ]
    lines = [InterruptLine(1), InterruptLine(2, core=1)]
    assert image_table_rows_of_core(rows, lines, 0) == ([replace(rows[0], receiver=2), rows[2]], [lines[0]])
    assert image_table_rows_of_core(rows, lines, 1) == ([replace(rows[1], core=0, line=1)], [InterruptLine(2)])
    with pytest.raises(TaskSetCheckError, match="cannot release a task of the other one"):
        image_table_rows_of_core([replace(rows[0], receiver=2), *rows[1:]], lines, 0)


def test_image_without_the_other_one_is_refused() -> None:
    firmware = pair_images().firmware
    alone = firmware.as_single_core_firmware.build.elf_path.read_bytes()
    assert firmware.other_build is not None
    other = firmware.other_build.elf_path.read_bytes()
    with pytest.raises(TaskSetCheckError, match=r"Core 0's image does not contain that of core 1"):
        image_with_embedded_image(other, alone)


def test_jobs_run_on_the_kernel_of_their_core() -> None:
    images = pair_images(events=1)
    tick, clock_hz = images.firmware.tick_cycles, images.firmware.clock_hz
    line = IntegerTimeInterrupt("I", 5 * tick, 2_000, 5 * tick, core=1, gives="D")
    tasks = (
        task("A", 2 * tick, 10_000, 1),
        task("B", 3 * tick, 20_000, 2, core=1),
        task("C", 6 * tick, 90_000, 0, core=1, sections=(("r", 4_000),)),
        task("D", 5 * tick, 30_000, 3, core=1, released_by="I"),
    )
    seen = run_and_check_task_set(
        IntegerTimeTaskSet(tasks, (line,), units_per_second=clock_hz), images.firmware, images.work, 60
    )
    assert [len(item.response_times) for item in seen.tasks] == [30, 20, 10, 12]
    assert len(seen.interrupts[0].response_times) >= 12
    homes = [{job.task for job in kernel.jobs} for kernel in seen.trace.kernels]
    assert homes == [{0}, {0, 1, 2}], "each kernel has indices of its own"
    origins = {kernel.origin for kernel in seen.trace.kernels}
    assert len(origins) == 2
    assert max(origins) - min(origins) < tick
    assert all(handler.line == (1 if handler.core else 0) for handler in seen.trace.handlers if handler.line)
    assert seen.ledger.lock_waits == []


def test_each_kernel_calls_the_timers_of_its_core() -> None:
    """The timer task of each kernel has the priority of its own timers."""
    images = pair_images(events=3)
    tick, clock_hz = images.firmware.tick_cycles, images.firmware.clock_hz
    first, second = linked(task("T", 4 * tick, 3_000, 5, core=1, is_timer=True), task("A", 4 * tick, 20_000, 1, core=1))
    timers = (task("S", 3 * tick, 2_000, 0, is_timer=True), task("R", 6 * tick, 1_000, 0, is_timer=True))
    tasks = (*timers, task("B", 2 * tick, 30_000, 2), first, second)
    seen = run_and_check_task_set(
        IntegerTimeTaskSet(tasks, units_per_second=clock_hz), images.firmware, images.work, 60
    )
    counts = [len(item.response_times) for item in seen.tasks]
    assert counts[:3] == [20, 10, 30]
    assert min(counts[3:]) >= 15
    assert max(seen.tasks[0].response_times) > 30_000, "B is more urgent than the timers of its core"
    assert max(seen.tasks[3].response_times) < 15_000
    assert sum(span.is_timer for span in seen.ledger.starts) >= 20 + 15


def test_bounds_are_those_of_each_core_alone() -> None:
    pair = KERNEL.model_copy(update={"smp": MulticoreInterferenceCosts(kernels=2, contention_permille=250)})
    here = (task("A", 2 * TICK, 20_000, 2), task("B", 8 * TICK, 60_000, 1))
    there = (task("X", 4 * TICK, 90_000, 2, core=1), task("Y", 8 * TICK, 50_000, 1, core=1))
    both = compute_response_time_bounds(IntegerTimeTaskSet((*here, *there)), pair)
    for tasks in (here, tuple(replace(item, core=0) for item in there)):
        alone = compute_response_time_bounds(IntegerTimeTaskSet(tasks), KERNEL)
        for bound in alone.tasks:
            parts = both.find_response_bound(bound.name).parts
            work = parts["own"] + parts.get("tasks", 0)
            assert parts["bus"] == -(-work // 4)
            assert parts.get("locks", 0) == 0
            assert both.find_response_bound(bound.name).response >= bound.response + parts["bus"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        (
            linked(task("A", 9 * TICK, 900, 1), task("X", 9 * TICK, 900, 1, core=1)),
            "A releases X, which another kernel runs",
        ),
        (
            (
                task("A", 9 * TICK, 900, 1, sections=(("r", 100),)),
                task("X", 9 * TICK, 900, 1, core=1, sections=(("r", 100),)),
            ),
            "r is shared by tasks of two kernels (A, X)",
        ),
    ],
)
def test_kernels_that_would_meet_have_no_bound(tasks: tuple[object, ...], reason: str) -> None:
    pair = KERNEL.model_copy(update={"smp": MulticoreInterferenceCosts(kernels=2), "sends": SendCosts()})
    result = compute_response_time_bounds(IntegerTimeTaskSet(tasks), pair)  # type: ignore[arg-type]
    assert {bound.reason for bound in result.tasks} == {reason}


def test_what_two_kernels_cannot_run_is_refused() -> None:
    catalogue = Catalogue(find_checkout_root())
    with pytest.raises(TaskSetCheckError, match="both kernels must be the same"):
        build_task_set_firmware(catalogue, "freertos+rt", "pico", {})
    with pytest.raises(TaskSetCheckError, match="in the images of two kernels no task can release several tasks"):
        build_task_set_firmware(catalogue, PAIR, "pico", {}, events=4)
    with pytest.raises(TaskSetCheckError, match="no map that divides"):
        build_task_set_firmware(catalogue, PAIR, "nucleo-f446re", {})
    with pytest.raises(TaskSetCheckError, match="the code cannot be in flash"):
        pair_images(code="flash")


@pytest.mark.long
def test_example_meets_its_bounds() -> None:
    code, out = run_rta_command(EXAMPLE, "--kernel", PAIR, "--board", "pico", "--check", "--json")
    result = json.loads(out)
    assert code == 0, result["answer"]
    assert all(1 <= item["tightness"]["c"] < 2 for item in result["check"]["tasks"].values())
    assert result["check"]["uncovered"] == []


@pytest.mark.long
def test_omitting_the_other_cores_accesses_breaks_a_bound() -> None:
    of = search_bench(PAIR, "pico", events=2, cores=2)
    smp = of.overheads.smp.model_copy(update={"contention_permille": 0})
    wrong = replace(of, overheads=of.overheads.model_copy(update={"smp": smp}))
    tried = list(search_violated_bounds(of, 12, 5))
    assert [item.findings for item in tried if item.findings] == []
    assert any(wrong.does_run_violate_bounds_or_overheads(item.system, item.starts) for item in tried)
