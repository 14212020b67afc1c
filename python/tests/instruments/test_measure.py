"""Functions measured call by call: against cycles counted by hand, against probes and against the profile."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner

from rtoslab.base import SymbolError
from rtoslab.cli import app
from rtoslab.instruments.call_counts import CallStatistics, ValueDistribution
from rtoslab.instruments.functions import ImageFunctions
from rtoslab.instruments.measured_calls import MeasuredCalls, MeasuredFunction, measure_function_calls
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.profiler import profile_image
from rtoslab.instruments.records import CALL, RETURNED, WAYS
from rtoslab.instruments.subject import ObservedRunSection, find_observed_image
from rtoslab.targets.board import load_image_into_board, make_board_at_reset
from tests.board_images import Program
from tests.instruments.images import CATALOGUE
from tests.instruments.small_program import CALLS, CPUS, line_of, small_program

WITHOUT_WAITS = ["pico", "nucleo-l073rz"]
BY_HAND = {"leaf": (12, 12, 0), "outer": (28, 16, 8), "jumping": (14, 2, 0)}
"""Inclusive and exclusive cycles by the Cortex-M0+'s table, and bytes of stack: NOP 1, BX and B 2, BL 3, PUSH 1 and POP
with PC 3 more than registers."""

INSTRUCTIONS = {"leaf": (11, 11), "outer": (19, 8), "jumping": (12, 1)}
"""Inclusive and exclusive, on every core: leaf's ten nops and BX, outer's PUSH, five nops, BL and POP, jumping's B."""


@cache
def measure_example(board: str, *names: str) -> dict[str, MeasuredFunction]:
    subject = find_observed_image(
        CATALOGUE, str(small_program(board)), board=board, cores=1, stretch=ObservedRunSection(cycles=100_000)
    )
    return {function.function.requested[0]: function for function in measure_function_calls(subject, names).functions}


def constant_spread(value: int, calls: int) -> CallStatistics:
    return CallStatistics(value, value, value, value, value * calls)


@pytest.mark.parametrize("board", WITHOUT_WAITS)
def test_cycles_equal_a_manual_count(board: str) -> None:
    result = measure_example(board, *BY_HAND, "recursive")
    for name, (inclusive, exclusive, stack) in BY_HAND.items():
        calls = CALLS * (3 if name == "leaf" else 1)
        assert result[name].tally.calls == calls
        assert result[name].cycles["inclusive"] == constant_spread(inclusive, calls)
        assert result[name].cycles["undisturbed"] == constant_spread(inclusive, calls)
        assert result[name].cycles["exclusive"] == constant_spread(exclusive, calls)
        assert result[name].cycles["interrupts"] == result[name].cycles["other tasks"] == constant_spread(0, calls)
        assert result[name].tally.stack_bytes == stack
    recursive = result["recursive"]
    assert (recursive.tally.calls, recursive.tally.recursive, recursive.tally.stack_bytes) == (3 * CALLS, 2 * CALLS, 12)
    # PUSH 2, SUBS 1, BEQ 1 or 2, BL 3, POP 4: 9 of the innermost, 11 of each other.
    assert recursive.cycles["inclusive"] == CallStatistics(9, 20, 31, 31, (9 + 20 + 31) * CALLS)
    assert recursive.cycles["exclusive"] == CallStatistics(9, 11, 11, 11, 31 * CALLS)


@pytest.mark.parametrize("board", CPUS)
def test_instructions_equal_a_manual_count(board: str) -> None:
    result = measure_example(board, *INSTRUCTIONS)
    for name, (inclusive, exclusive) in INSTRUCTIONS.items():
        calls = CALLS * (3 if name == "leaf" else 1)
        assert result[name].instructions == {
            "inclusive": constant_spread(inclusive, calls),
            "exclusive": constant_spread(exclusive, calls),
        }


@pytest.mark.parametrize("board", WITHOUT_WAITS)
def test_profile_counts_calls_and_no_passes_of_a_loop(board: str) -> None:
    """`endless` is one branch to itself: its first instruction is executed thousands of times, in one call."""
    subject = find_observed_image(
        CATALOGUE, str(small_program(board)), board=board, cores=1, stretch=ObservedRunSection(cycles=100_000)
    )
    calls: dict[str, int] = {}
    for spent in profile_image(subject).spent:
        calls[spent.stack[-1]] = calls.get(spent.stack[-1], 0) + spent.calls
    expected = {"reset": 1, "leaf": 3 * CALLS, "outer": CALLS, "jumping": CALLS, "recursive": 3 * CALLS, "endless": 1}
    assert calls == expected


@pytest.mark.parametrize("board", CPUS)
def test_cycles_equal_those_between_probes(board: str) -> None:
    result = measure_example(board, "outer", "jumping")
    machine = machine_with(board)
    pairs = {}
    for name in result:
        start, end = machine.symbol(name), machine.symbol(f"behind_{name}")
        assert start is not None
        assert end is not None
        pairs[name] = machine.between(start & ~1, end & ~1)
    machine.run(100_000)
    for name, pair in pairs.items():
        seen = machine.between_result(pair)
        mine = result[name].cycles["inclusive"]
        assert (seen["count"], seen["min_cycles"], seen["max_cycles"]) == (CALLS, mine.minimum, mine.maximum)
        assert seen["total_cycles"] == mine.total


def machine_with(board: str) -> ObservedMachine:
    machine = cast("ObservedMachine", make_board_at_reset(CATALOGUE.find_board(board).facts, cores=1))
    load_image_into_board(machine, small_program(board).read_bytes(), "small")
    return machine


def test_interrupt_time_is_separated_at_every_instruction() -> None:
    """In each cycle of the first call of `outer`; the handler is of 20 instructions and its return."""
    board = "nucleo-l073rz"
    start = measure_example(board, "outer")["outer"].greatest[0].start
    taken = []
    for offset in range(-20, 40):
        machine = machine_with(board)
        leaf, outer, handler = (machine.symbol(name) for name in ("leaf", "outer", "handler"))
        assert leaf is not None
        assert outer is not None
        assert handler is not None
        machine.observe(True, measured=[(leaf & ~1, 1), (outer & ~1, 2), (handler & ~1, 3)])
        machine.inject_exception(start + offset, 14)
        machine.run(start + 400 - machine.cycle())
        calls = np.frombuffer(machine.observed()["calls"], dtype=CALL)
        (seen,) = calls[(calls["id"] == 2) & (calls["start"] < start + 100)]
        (handled,) = calls[calls["id"] == 3]
        # Its return is the exception's exit.
        assert handled["until"] - handled["start"] == handled["own"] == 20
        # PUSH and POP are abandoned by an interrupt and begin anew: what they had done is the function's own.
        again = int(seen["own"]) - 16
        assert again == 0 if 3 <= offset < 23 else again in range(5), offset
        inside = calls[(calls["id"] == 1) & (calls["start"] >= seen["start"]) & (calls["until"] <= seen["until"])]
        assert [int(item) for item in inside["own"]] == [12], offset
        assert seen["until"] - seen["start"] - seen["interrupts"] == 28 + again
        assert bool(seen["interruptions"]) == bool(seen["interrupts"])
        taken.append(int(seen["interrupts"]))
    assert taken[0] == taken[-1] == 0
    hits = [item for item in taken if item]
    assert len(hits) in range(26, 31)
    assert all(20 + 20 <= hit <= 20 + 40 for hit in hits)


def test_longest_call_is_described_completely() -> None:
    result = measure_example("pico", "outer", "jumping", "endless", "never_called")
    (outer,) = result["outer"].greatest
    assert (outer.measures, outer.path, outer.core) == (("inclusive", "undisturbed"), ("reset", "outer"), 0)
    assert outer.spending is not None
    assert sorted(outer.spending.inside.values()) == [12, 16]
    assert not outer.spending.beside
    (jumping,) = result["jumping"].greatest
    assert jumping.spending is not None
    assert dict(jumping.spending.inside) == {"itself": 2, "leaf": 12}
    assert (result["jumping"].tally.went_on, result["outer"].tally.went_on) == (CALLS, 0)
    assert not result["endless"].tally.calls
    assert [call.path for call in result["endless"].open] == [("reset", "endless")]
    assert not result["never_called"].open
    assert result["never_called"].tally.stack_bytes is None


def test_calls_begun_before_the_interval_are_not_counted() -> None:
    inside = f"{measure_example('pico', 'leaf')['leaf'].function.address + 4:#x}"
    stretch = ObservedRunSection(start=inside, cycles=100_000)
    subject = find_observed_image(CATALOGUE, str(small_program("pico")), board="pico", cores=1, stretch=stretch)
    leaf, outer = measure_function_calls(subject, ["leaf", "outer"]).functions
    assert (leaf.tally.begun_before, leaf.tally.calls) == (1, 3 * CALLS - 1)
    assert (outer.tally.begun_before, outer.tally.calls) == (0, CALLS)


def test_functions_are_named_by_symbol_address_or_line() -> None:
    known = ImageFunctions(small_program("pico"), machine_with("pico"))
    leaf = known.find_function("leaf")
    assert (leaf.name, leaf.also) == ("leaf", ("leaf_too",))
    assert (
        known.find_function(f"{leaf.address:#x}").address
        == known.find_function(f"0x{leaf.address + 1:X}").address
        == leaf.address
    )
    line = line_of("function outer") + 1
    assert (
        known.find_function(f"small.s:{line}").name == known.find_function(f"some/where/small.s:{line}").name == "outer"
    )
    for request, message in (
        ("outr", "did you mean 'outer'"),
        ("value", "value is data"),
        (f"{known.find_function('outer').address + 4:#x}", "is inside outer"),
        ("small.s:2", "nearest lines with code"),
        ("other.c:2", "no code of other.c"),
        ("0xzz", "not an address"),
    ):
        with pytest.raises(SymbolError, match=message):
            known.find_function(request)


def test_quantiles_equal_those_of_a_sorted_list() -> None:
    values = np.random.default_rng(1).integers(0, 40, 1001).astype(np.uint64)
    for number in (1, 2, 99, 100, 101, 1000):
        distribution = ValueDistribution()
        for piece in np.array_split(values[:number], 7):
            distribution.add_values_to_counts(piece)
        ordered = sorted(values[:number].tolist())
        p99 = ordered[-(-99 * number // 100) - 1]
        expected = CallStatistics(ordered[0], float(np.median(values[:number])), p99, ordered[-1], sum(ordered))
        assert distribution.value_statistics() == expected
    assert ValueDistribution().value_statistics() is None


PROGRAMS = [
    pytest.param(Program("t5", "nucleo-f446re"), id="f446re"),
    pytest.param(Program("t6", "pico", cores=2), id="pico-2"),
    pytest.param(Program("t5", "nucleo-f767zi"), id="f767zi", marks=pytest.mark.long),
]


def kernel_calls(program: Program, *names: str) -> tuple[MeasuredCalls, Mapping[str, Any]]:
    """Functions of a kernel, and the profile of the same stretch."""
    subject = find_observed_image(
        CATALOGUE,
        str(program.elf()),
        board=program.board,
        cores=program.cores,
        stretch=ObservedRunSection(cycles=8_000_000),
    )
    own: dict[str, int] = {}
    for spent in profile_image(subject).spent:
        name = next(name for name in reversed(spent.stack) if not name.endswith("[inlined]")).partition(" [")[0]
        own[name] = own.get(name, 0) + spent.total_cycles - spent.cycles[WAYS.index("exception")]
    return measure_function_calls(subject, names), own


@pytest.mark.parametrize("program", PROGRAMS)
def test_kernel_functions_agree_with_probe_and_profile(program: Program) -> None:
    """Called from tasks and handlers, interrupted and switched away in the middle, on one core and two."""
    names = ["vTaskSwitchContext", "xTaskIncrementTick", "isr_pendsv", "isr_systick"]
    names += ["xQueueReceive", "xQueueGenericSend"] if program.benchmark == "t6" else []
    result, own = kernel_calls(program, *names)
    machine: Any = make_board_at_reset(CATALOGUE.find_board(program.board).facts, cores=program.cores)
    load_image_into_board(machine, program.elf().read_bytes(), "kernel")
    for number, item in enumerate(result.functions):
        machine.watch_exec(item.function.address, number)
    machine.run(8_000_000)
    entered = np.frombuffer(machine.take_events(), dtype="<u8,<u4,<u4,<u2,u1,u1,<u4")["f3"]
    for number, item in enumerate(result.functions):
        assert item.tally.calls > 5
        assert item.tally.calls + len(item.open) + item.tally.lost == int((entered == number).sum())
        assert not item.tally.left
        if not item.open:
            assert item.cycles["exclusive"].total == own[item.function.name]
        for call in item.greatest:
            assert (
                sum(call.cycles[name] for name in ("undisturbed", "interrupts", "other tasks"))
                == (call.cycles["inclusive"])
            )
            spending = call.spending
            assert spending is not None
            # Tasks on the same path cannot be told apart while one waits, but only then.
            assert not spending.problem or call.cycles["other tasks"]
            if not spending.problem:
                assert sum(spending.inside.values()) == call.cycles["undisturbed"]
                assert sum(spending.beside.values()) == call.cycles["inclusive"] - call.cycles["undisturbed"]
                assert spending.inside.get("itself", 0) == call.cycles["exclusive"]
    if program.benchmark == "t6":
        receive = {function.function.name: function for function in result.functions}["xQueueReceive"]
        assert receive.cycles["interrupts"].maximum
        assert receive.cycles["other tasks"].maximum


def measure(*words: str | Path) -> Any:
    return CliRunner().invoke(app, ["measure", *map(str, words)], standalone_mode=False)


def test_command_prints_80_columns_and_json() -> None:
    words = ("outer", "endless", "recursive", "--image", small_program("pico"), "--cores", "1", "--for", "1ms")
    done = measure(*words)
    assert done.return_value == 0, done.output
    assert max(map(len, done.output.splitlines())) <= 80
    for message in ("20 calls", "│ exclusive       │  16 │", "path    reset > outer", "did not return"):
        assert message in done.output
    result = json.loads(measure(*words, "--json").stdout)
    assert [item["calls"] for item in result["functions"]] == [20, 0, 60]
    assert result["functions"][0]["cycles"]["inclusive"]["p99"] == 28
    assert result["functions"][0]["greatest"][0]["callees"] == {"leaf": 12}


def test_interval_that_did_not_end_is_a_failure() -> None:
    program = ("outer", "--image", small_program("pico"), "--cores", "1", "--for", "1ms")
    assert measure(*program, "--until", "endless").return_value == 0
    missed = measure(*program, "--until", "never_called")
    assert missed.return_value == 3
    assert "never_called was not reached" in " ".join(missed.output.split())


@pytest.mark.parametrize(("board", "clock_hz"), [("nucleo-f446re", 16_000_000), ("nucleo-l073rz", 2_097_152)])
def test_time_is_by_the_clock_of_the_image(board: str, clock_hz: int) -> None:
    """The program leaves the clock as it is after reset, not as the board's usual clock."""
    done = measure("outer", "--image", small_program(board), "--board", board, "--for", "1ms", "--json")
    assert json.loads(done.stdout)["clock_hz"] == clock_hz


def test_missing_arguments_are_reported() -> None:
    assert "--image" in str(measure("outer").exception)
    assert "no image nowhere.elf" in str(measure("outer", "--image", "nowhere.elf").exception)


def test_measuring_changes_no_cycle() -> None:
    program = Program("t6", "pico", cores=2)
    plain, watched = (make_board_at_reset(CATALOGUE.find_board("pico").facts, cores=2) for _ in range(2))
    for machine in (plain, watched):
        load_image_into_board(machine, program.elf().read_bytes(), "t6")
    mine = cast("ObservedMachine", watched)
    mine.observe(
        True, measured=[(address, 1) for address, size, name in mine.symbols() if name.startswith("xQueue") and size]
    )
    for machine in (plain, watched):
        for cycles in (1_000_003, 6_999_997):
            machine.run(cycles)
    assert plain.stats() == watched.stats()
    assert plain.take_uart() == watched.take_uart()
    assert [plain.registers(core) for core in (0, 1)] == [watched.registers(core) for core in (0, 1)]
    assert plain.read(0x2000_0000, 0x4000) == watched.read(0x2000_0000, 0x4000)
    calls = np.frombuffer(mine.observed()["calls"], dtype=CALL)
    assert (calls["end"] == RETURNED).any()
