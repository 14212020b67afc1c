"""Two cores of a Raspberry Pi Pico: measured, checked and searched. What must be measured first is long."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rtoslab.base.errors import TaskSetCheckError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.intake.elf_images import ElfFile
from rtoslab.rta.board_check import run_and_check_task_set
from rtoslab.rta.bound_search import TaskSetTestBench, search_violated_bounds
from rtoslab.rta.firmware import build_task_set_firmware
from rtoslab.rta.images import TaskSetImages
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTaskSet
from tests.rta.benches import search_bench
from tests.rta.systems import task
from tests.rta.test_check_end_to_end import run_rta_command
from tests.rta.test_sends import linked

EXAMPLE = find_checkout_root() / "examples" / "response-time" / "two-cores.toml"
EVENTS_EXAMPLE = EXAMPLE.with_name("two-cores-events.toml")
CACHE_BYTES = 16_384
"""Of the memory that the Pico's flash is read through."""


def two_cores() -> TaskSetTestBench:
    return search_bench("freertos", "pico", cores=2)


def test_jobs_run_on_their_core() -> None:
    images = TaskSetImages.build_images(Catalogue(find_checkout_root()), "freertos", "pico", {}, cores=2)
    tick = images.firmware.tick_cycles
    present = (task("B", 3 * tick, 20_000, 2, core=1), task("C", 5 * tick, 90_000, 1, core=1))
    tasks = (task("A", 2 * tick, 10_000, 1), *present)
    system = IntegerTimeTaskSet(tasks, units_per_second=images.firmware.clock_hz)
    seen = run_and_check_task_set(system, images.firmware, images.work, 60)
    assert [len(item.response_times) for item in seen.tasks] == [30, 20, 12]
    assert [{job.task for job in seen.trace.trace_of_core(core).jobs} for core in (0, 1)] == [{0}, {1, 2}]
    request = [handler for handler in seen.trace.handlers if handler.is_reschedule_interrupt]
    assert {item.core for item in request} == {1}, "the first core releases the other's tasks"
    assert seen.ledger.lock_waits, "nobody ever waited for a lock"
    assert all(spin.without_holder == 0 for spin in seen.ledger.lock_waits)


def test_code_fits_the_xip_cache() -> None:
    """So nothing that was fetched once is fetched again, and the image fetches all of it before its first job."""
    for cores, events in ((2, False), (1, True)):
        built = build_task_set_firmware(
            Catalogue(find_checkout_root()), "freertos", "pico", {}, cores=cores, events=events
        ).build
        segments = ElfFile(built.elf_path.read_bytes()).segments
        assert 0 < sum(segment.file_bytes for segment in segments) <= CACHE_BYTES


def test_board_with_one_core_and_code_in_flash_are_refused() -> None:
    catalogue = Catalogue(find_checkout_root())
    with pytest.raises(TaskSetCheckError, match="has 1 core"):
        build_task_set_firmware(catalogue, "freertos", "nucleo-f446re", {}, cores=2)
    with pytest.raises(TaskSetCheckError, match="no symmetric multiprocessing"):
        build_task_set_firmware(catalogue, "rt", "pico", {}, cores=2)
    with pytest.raises(TaskSetCheckError, match="the code cannot be in flash"):
        TaskSetImages.build_images(catalogue, "freertos", "pico", {"code": "flash"}, cores=2, events=1)
    with pytest.raises(TaskSetCheckError, match="no task of the image can release several tasks"):
        build_task_set_firmware(catalogue, "freertos", "pico", {}, cores=2, events=4)


def test_events_happen_on_their_core() -> None:
    """An interrupt, a section and a mask on core 1, a timer on core 0 whose task releases one of core 1."""
    images = TaskSetImages.build_images(Catalogue(find_checkout_root()), "freertos", "pico", {}, cores=2, events=3)
    tick, clock_hz = images.firmware.tick_cycles, images.firmware.clock_hz
    line = IntegerTimeInterrupt("I", 5 * tick, 2_000, 5 * tick, core=1, gives="D")
    first, second, third = linked(
        task("T", 4 * tick, 3_000, 3, is_timer=True),
        task("A", 4 * tick, 20_000, 1),
        task("B", 4 * tick, 9_000, 2, core=1),
    )
    tasks = (
        first,
        replace(second, gives_by="message"),
        third,
        task("C", 6 * tick, 90_000, 0, core=1, sections=(("r", 4_000),), masked=3_000),
        task("D", 5 * tick, 30_000, 3, core=1, released_by="I", sections=(("r", 2_000),)),
    )
    system = IntegerTimeTaskSet(tasks, (line,), units_per_second=clock_hz)
    seen = run_and_check_task_set(system, images.firmware, images.work, 60)
    assert [len(item.response_times) for item in seen.tasks] == [15, 15, 15, 10, 12]
    assert {handler.core for handler in seen.trace.handlers if handler.line} == {1}
    assert {job.task for job in seen.trace.trace_of_core(1).jobs} == {2, 3, 4}
    assert {at for _, at in seen.trace.trace_of_core(0).sent} == {0, 1}
    assert seen.trace.trace_of_core(1).sent == []
    masked = [part for part in seen.trace.parts if part.is_masked]
    assert len(masked) >= 10, "one for each job of C"
    assert {part.core for part in masked} == {1}
    assert all(spin.without_holder == 0 for spin in seen.ledger.lock_waits)


@pytest.mark.long
def test_example_with_events_meets_its_bounds() -> None:
    code, out = run_rta_command(EVENTS_EXAMPLE, "--kernel", "freertos", "--board", "pico", "--check", "--json")
    result = json.loads(out)
    assert code == 0, result["answer"]
    assert all(item["tightness"]["c"] >= 1 for item in result["check"]["tasks"].values())
    assert result["check"]["uncovered"] == []


@pytest.mark.long
def test_example_meets_its_bounds() -> None:
    code, out = run_rta_command(EXAMPLE, "--kernel", "freertos", "--board", "pico", "--check", "--json")
    result = json.loads(out)
    assert code == 0, result["answer"]
    assert all(1 <= item["tightness"]["c"] < 1.25 for item in result["check"]["tasks"].values())
    assert result["check"]["uncovered"] == []


@pytest.mark.long
def test_omitting_an_inter_core_overhead_breaks_a_bound() -> None:
    of = two_cores()
    tried = [item for item in search_violated_bounds(of, 6, 1) if len(item.system.used_core_numbers) == 2]
    # Not `yield_cycles`: the switch that comes with such an interrupt is cheaper than a tick's, by which it is priced.
    for name, least in (("lock_wait_cycles", 0), ("contention_permille", 100)):
        smp = of.overheads.smp.model_copy(update={name: least})
        wrong = TaskSetTestBench(of.firmware, of.work, of.overheads.model_copy(update={"smp": smp}))
        assert any(wrong.does_run_violate_bounds_or_overheads(item.system, item.starts) for item in tried), name


@pytest.mark.long
def test_short_search_on_two_cores_finds_nothing() -> None:
    tried = list(search_violated_bounds(two_cores(), 24, 20261122))
    assert [attempt.findings for attempt in tried if attempt.findings] == []
    assert sum(len(attempt.ratios) for attempt in tried) > 60
