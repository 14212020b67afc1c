"""Kernels whose word of the current task is at times no task, lies at an offset, or is written before the switch."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rtoslab.base import SymbolError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.targets.board import load_image_into_board, make_board_at_reset
from rtoslab.targets.current_task import (
    IdleInHandlerEventFilter,
    NoCurrentTaskEventRemover,
    OmittedTaskPointerWriteInserter,
    TaskSwitchEventFilter,
    last_running_task_of_each_core,
)
from rtoslab.targets.event_kinds import (
    IDENT_CURRENT,
    IDENT_IDLE,
    IDENT_IDLE_OVER,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_WRITE,
)
from rtoslab.targets.events import EVENT
from rtoslab.targets.exceptions import HARDFAULT, PENDSV, SVCALL, SYSTICK, task_switching_exceptions
from rtoslab.targets.handlings import UNKNOWN, HandlerRunColumns, HandlerRunReader
from rtoslab.targets.observe import MeasurementWindowObserver, TaskSwitch
from rtoslab.targets.profiles import IDLE, PROFILE, cycles_by_function, load_of_each_core
from rtoslab.targets.task_words import current_task_addresses, find_memory_word_address, idle_code_ranges
from tests.fakes import events, kernel

NONE = frozenset({0})
PROBES = {"current_task_single": "state+CURRENT", "no_task_value": 0, "idle_labels": [["wait", "ready"]]}


def write(value: int, core: int = 0) -> tuple[int, int, int, int]:
    return KIND_WRITE, IDENT_CURRENT + core, core, value


def enter(number: int) -> tuple[int, int, int, int]:
    return KIND_EXCEPTION_ENTER, number, 0, 12


def leave(number: int) -> tuple[int, int, int, int]:
    return KIND_EXCEPTION_EXIT, number, 0, 0


def label(ident: int) -> tuple[int, int, int, int]:
    return KIND_EXEC, ident, 0, 0


IDLES = label(IDENT_IDLE)
GOES_ON = label(IDENT_IDLE_OVER)


def test_switch_over_no_task_counts_once_and_none_if_the_same_continues() -> None:
    observer = MeasurementWindowObserver((), {0: 7})
    observer.add_events(
        NoCurrentTaskEventRemover(NONE).filter_events(events([write(0), write(8), write(0), write(0), write(8)]))
    )
    assert observer.window_observations({}).switches == {TaskSwitch(0, 7, 8, ""): 1}


def test_every_write_counts_without_a_no_task_value() -> None:
    raw = events([write(0), write(8)])
    assert NoCurrentTaskEventRemover(frozenset()).filter_events(raw) is raw


def test_last_task_before_the_window_is_known() -> None:
    raw = NoCurrentTaskEventRemover(NONE).filter_events(events([write(5), write(6, core=1), write(0)]))
    assert last_running_task_of_each_core(raw, NONE, {0: 0, 1: 6}) == {0: 5, 1: 6}
    assert last_running_task_of_each_core(b"", NONE, {0: 0}) == {0: 0}


WAITS = [write(0), IDLES, IDLES, write(0), IDLES, GOES_ON, write(7), write(0), GOES_ON, write(8)]


@pytest.mark.parametrize("cut", range(len(WAITS)))
def test_idling_kernel_switches_to_no_task(cut: int) -> None:
    """And comes back from, to the same task too; the second switch finds one that is ready, and does not idle."""
    observer, reader = MeasurementWindowObserver((), {0: 7}), NoCurrentTaskEventRemover(NONE)
    for rows in (WAITS[:cut], WAITS[cut:]):
        observer.add_events(reader.filter_events(events(rows)))
    assert observer.window_observations({}).switches == {
        TaskSwitch(0, 7, 0, ""): 1,
        TaskSwitch(0, 0, 7, ""): 1,
        TaskSwitch(0, 7, 8, ""): 1,
    }


CHOOSES = [
    *(enter(SYSTICK), write(8), write(9), write(6), leave(SYSTICK), enter(PENDSV), leave(PENDSV)),  # woken by one tick
    *(write(7), enter(SYSTICK), write(6), leave(SYSTICK), enter(PENDSV), leave(PENDSV)),  # a tick before the switch
    *(write(8), enter(PENDSV), leave(PENDSV), write(6), enter(PENDSV), leave(PENDSV)),
]


@pytest.mark.parametrize("cut", range(len(CHOOSES) + 1))
def test_last_task_named_before_a_switch_counts(cut: int) -> None:
    facts = kernel(probes={**PROBES, "named_before_switch": True})
    observer, reader = MeasurementWindowObserver((), {0: 7}), TaskSwitchEventFilter(facts)
    rows = np.frombuffer(events(CHOOSES), dtype=EVENT)
    observer.add_events(reader.filter_events(rows[:cut].tobytes()))
    observer.add_events(reader.filter_events(rows[cut:].tobytes(), is_end=True))
    assert observer.window_observations({}).switches == {
        TaskSwitch(0, 7, 6, ""): 1,
        TaskSwitch(0, 6, 8, ""): 1,
        TaskSwitch(0, 8, 6, ""): 1,
    }


def test_choice_without_a_switch_counts_at_the_end() -> None:
    rows = events([write(8), enter(SYSTICK), leave(SYSTICK)])
    reader = TaskSwitchEventFilter(kernel(probes={**PROBES, "named_before_switch": True}))
    assert reader.filter_events(rows) == b""
    assert reader.filter_events(b"", is_end=True) == rows


def test_kernel_that_writes_in_its_switch_may_switch_twice_in_a_row() -> None:
    rows = events([enter(PENDSV), write(8), enter(PENDSV), leave(PENDSV), write(6), write(9), leave(PENDSV)])
    assert TaskSwitchEventFilter(kernel(probes=PROBES)).filter_events(rows) == rows


IDLING = [
    *(enter(PENDSV), write(0), IDLES, IDLES, enter(SYSTICK), leave(SYSTICK), IDLES),
    *(GOES_ON, write(8), leave(PENDSV)),
]


@pytest.mark.parametrize("cut", range(len(IDLING)))
def test_kernel_that_idles_inside_its_switch_has_left_the_handler(cut: int) -> None:
    reader = HandlerRunReader(7)
    reader.add_events(events(IDLING[:cut]))
    later = np.frombuffer(events(IDLING), dtype=EVENT)[cut:]
    reader.add_events(later.tobytes())
    result = reader.runs
    assert list(result.exception) == [PENDSV, SYSTICK, PENDSV]
    assert list(zip(result.before, result.after, strict=True)) == [(7, 0), (0, 0), (0, 8)]
    assert list(result.cycles) == [2, 1, 2]


KEEPS = kernel(probes={**PROBES, "idle_keeps_task": True})
KEPT_IDLING = [
    *(enter(PENDSV), write(7), GOES_ON, leave(PENDSV)),
    *(enter(PENDSV), IDLES, enter(SYSTICK), leave(SYSTICK), IDLES, write(8), GOES_ON, leave(PENDSV)),
    *(enter(PENDSV), IDLES, GOES_ON, leave(PENDSV)),
    *(enter(PENDSV), GOES_ON, leave(PENDSV), enter(PENDSV), write(7), GOES_ON, leave(PENDSV)),
]
COMPLETE_IDLING = [
    *(enter(PENDSV), write(7), leave(PENDSV)),
    *(enter(PENDSV), write(0), IDLES, enter(SYSTICK), leave(SYSTICK), IDLES, GOES_ON, write(8), leave(PENDSV)),
    *(enter(PENDSV), write(0), IDLES, GOES_ON, write(8), leave(PENDSV)),
    *(enter(PENDSV), leave(PENDSV), enter(PENDSV), write(7), leave(PENDSV)),
]


@pytest.mark.parametrize("cut", range(len(KEPT_IDLING)))
def test_kernel_that_keeps_its_task_while_it_idles_gets_the_omitted_writes(cut: int) -> None:
    reader = OmittedTaskPointerWriteInserter(KEEPS, {})
    rows = np.frombuffer(events(KEPT_IDLING), dtype=EVENT)
    read = np.frombuffer(
        reader.filter_events(rows[:cut].tobytes()) + reader.filter_events(rows[cut:].tobytes()), dtype=EVENT
    )
    expected = np.frombuffer(events(COMPLETE_IDLING), dtype=EVENT)
    assert read[["kind", "id", "core"]].tolist() == expected[["kind", "id", "core"]].tolist()
    is_write = expected["kind"] == KIND_WRITE
    assert read["value"][is_write].tolist() == expected["value"][is_write].tolist()
    assert (np.diff(read["cycle"].astype(np.int64)) >= 0).all()


def test_task_before_the_first_event_follows_idling() -> None:
    rows = events([enter(PENDSV), IDLES, GOES_ON, leave(PENDSV)])
    read = np.frombuffer(OmittedTaskPointerWriteInserter(KEEPS, {0: 5}).filter_events(rows), dtype=EVENT)
    assert read["value"][read["kind"] == KIND_WRITE].tolist() == [0, 5]


def test_events_of_a_kernel_that_writes_no_task_stay() -> None:
    rows = events(IDLING)
    assert OmittedTaskPointerWriteInserter(kernel(probes=PROBES), {}).filter_events(rows) == rows


def test_labels_outside_a_handler_are_ignored() -> None:
    built = np.frombuffer(events([IDLES, GOES_ON, enter(SYSTICK), leave(SYSTICK), GOES_ON]), dtype=EVENT)
    assert IdleInHandlerEventFilter().filter_events(built)["id"].tolist() == [SYSTICK, SYSTICK]


def read_switches(rows: list[tuple[int, int, int, int]], *names: str) -> HandlerRunColumns:
    facts = kernel(behaviour={"switch_exceptions": names} if names else {})
    reader = HandlerRunReader(7, UNKNOWN, task_switching_exceptions(facts))
    reader.add_events(events(rows))
    return reader.runs


def test_kernel_that_names_the_next_task_before_it_switches() -> None:
    """The tick's handler, or a task's own call, writes the word; the switch is where the kernel says."""
    result = read_switches([enter(SYSTICK), write(8), leave(SYSTICK), enter(PENDSV), leave(PENDSV)])
    assert list(zip(result.exception, result.before, result.after, strict=True)) == [(SYSTICK, 7, 7), (PENDSV, 7, 8)]


@pytest.mark.parametrize(
    ("name", "number"), [("svcall", SVCALL), ("systick", SYSTICK), ("hardfault", HARDFAULT), ("pendsv", PENDSV)]
)
def test_switch_is_at_the_declared_place(name: str, number: int) -> None:
    rows = [enter(number), write(8), leave(number)]
    assert list(read_switches(rows, name).after) == [8]
    other = "pendsv" if name != "pendsv" else "svcall"
    assert 8 not in read_switches(rows, other).after


def test_idle_time_is_between_the_labels() -> None:
    record = np.zeros(3, dtype=PROFILE)
    record["address"], record["cycles"], record["executions"] = (0x1000, 0x1010, 0x1020), (10, 70, 20), 1
    symbols = [(0x1000, 0x40, "isr_pendsv")]
    facts = kernel(classes={"switch": ["isr_pendsv"]})
    functions = cycles_by_function({0: record.tobytes()}, symbols, facts, [(0x1010, 0x1020, "wait")])
    assert {(function.name, function.kind, function.cycles) for function in functions} == {
        ("wait", IDLE, 70),
        ("isr_pendsv", "switch", 30),
    }
    assert load_of_each_core(functions, {0: 5}, {0: 105})[0].idle_cycles == 75


SOURCE = """
    .syntax unified
    .thumb
    .global CURRENT
    .set CURRENT, 12
    .section .vectors, "a"
    .word 0x20001000, reset + 1
    .text
    .thumb_func
    .global reset
reset:
    ldr r0, =state
    movs r1, #5
    str r1, [r0, #CURRENT]
done:
    b done
    .ltorg
    .thumb_func
    .type rest, %function
rest:
    wfi
    bx lr
    .size rest, . - rest
    .bss
    .balign 4
    .global state
    .type state, %object
    .size state, 16
state:
    .space 16
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("offset")
    source, image = folder / "state.S", folder / "state.elf"
    source.write_text(SOURCE)
    places = ["-Wl,-Ttext=0x08000008", "-Wl,--section-start=.vectors=0x08000000", "-Wl,-Tbss=0x20000100"]
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", *places, "-Wl,-ereset"]
    subprocess.run([*command, "-o", image, source], check=True)
    built = make_board_at_reset(Catalogue(find_checkout_root()).find_board("nucleo-f446re").facts, cores=1)
    load_image_into_board(built, image.read_bytes(), image.name)
    return built


@pytest.mark.parametrize("place", ["state+12", "state+0xc", "state+CURRENT", "state + 8 + 4"])
def test_word_at_an_offset_is_read(machine: Any, place: str) -> None:
    assert find_memory_word_address(machine, place) == 0x2000_010C
    assert current_task_addresses(machine, kernel(probes={**PROBES, "current_task_single": place}), 1) == {
        0: 0x2000_010C
    }


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"current_task_smp": "state", "current_task_smp_stride_bytes": 8}, {0: 0x2000_0100, 1: 0x2000_0108}),
        ({"current_task_smp": ["state+8", "state+4"]}, {0: 0x2000_0108, 1: 0x2000_0104}),
    ],
)
def test_word_of_each_core_is_in_an_array_or_named(machine: Any, facts: dict[str, Any], words: dict[int, int]) -> None:
    assert current_task_addresses(machine, kernel(probes={**PROBES, **facts}), 2) == words


@pytest.mark.parametrize("place", ["state+OTHER", "state+0x10000", "state+-4", "state+", "absent+4"])
def test_invalid_offset_is_refused(machine: Any, place: str) -> None:
    with pytest.raises(SymbolError, match=r"offset|absent") as caught:
        find_memory_word_address(machine, place)
    assert place.split("+")[1] in str(caught.value) or "absent" in str(caught.value)


@pytest.mark.parametrize(
    ("facts", "begin", "length"),
    [
        ({"idle_labels": [["done", "done+2"]]}, "done", 2),
        ({"idle_labels": [["rest", "reset+4"]], "idle_keeps_task": True}, "rest", 4),
        ({"idle_labels": [["absent", "done"]]}, "", 0),
    ],
)
def test_idle_code_is_between_labels_or_a_function(
    machine: Any, facts: dict[str, Any], begin: str, length: int
) -> None:
    ranges = idle_code_ranges(machine, kernel(probes={**PROBES, **facts}))
    if not begin:
        assert ranges == []
        return
    address = find_memory_word_address(machine, begin)
    assert ranges == [(address, address + length, begin)]


def test_absolute_symbol_is_not_a_function_boundary(machine: Any) -> None:
    assert machine.symbol("CURRENT") == 12
    assert "CURRENT" not in {name for _, _, name in machine.symbols()}


def test_write_at_an_offset_is_observed(machine: Any) -> None:
    (word,) = current_task_addresses(machine, kernel(probes=PROBES), 1).values()
    machine.watch_write(word, IDENT_CURRENT)
    machine.run(100)
    seen = np.frombuffer(machine.take_events(), dtype=EVENT)
    assert seen["value"].tolist() == [5]
