"""Snapshots: the same bytes and cycles again, on every board, at any cycle, in the same machine and in another one."""

import random
from itertools import permutations
from typing import Any, Final

import pytest

from rtoslab._sim import SimError
from tests.board_images import CATALOGUE, EVERY_BOARD, Program

TRIALS: Final = 8
HANDLERS: Final = {14, 15}


def state(machine: Any, program: Program) -> list[Any]:
    """All that can be seen of a board; takes its events and output."""
    memory = CATALOGUE.find_board(program.board).facts.memory
    cores = range(program.cores)
    return [
        machine.cycle(),
        machine.clock_hz(),
        [machine.registers(core) for core in cores],
        [machine.position(core) for core in cores],
        machine.stats(),
        machine.take_events(),
        machine.take_uart(),
        machine.warnings(),
        machine.read(memory.sram_start, min(memory.sram_bytes, 0x4000)),
    ]


def name(program: Program) -> str:
    return f"{program.board}-{program.cores}"


@pytest.mark.parametrize("program", EVERY_BOARD, ids=name)
def test_restored_snapshot_repeats_the_run(program: Program) -> None:
    machine = program.in_window()
    machine.trace_exceptions(True)
    machine.trace_pins(True)
    interval = machine.between(machine.symbol("isr_pendsv"), machine.symbol("vTaskSwitchContext"))
    opened = machine.snapshot()
    draw = random.Random(program.board)  # noqa: S311
    seen = set()
    for trial in range(TRIALS):
        machine.restore(opened)
        machine.run(draw.randrange(200_000))
        for _ in range(draw.randrange(40) if trial % 2 else 0):
            machine.run(1)
        more = draw.randrange(2_000, 20_000)
        present = machine.snapshot()
        assert present.cycle() == machine.cycle()
        machine.run(more)
        once = [*state(machine, program), machine.between_result(interval)]
        machine.restore(present)
        seen.add(machine.registers(0)["xpsr"] & 0x1FF)
        machine.run(more)
        assert [*state(machine, program), machine.between_result(interval)] == once
        other = present.open()
        other.run(more)
        assert [*state(other, program), other.between_result(interval)] == once
    assert len(seen) > 1 or program.cores == 2, "never in a handler"


@pytest.mark.parametrize("program", EVERY_BOARD, ids=name)
def test_taking_snapshots_at_every_cycle_disturbs_nothing(program: Program) -> None:
    """Through an interrupt and the task switch behind it: cut-short transfers, entries, exits."""
    machine = program.in_window()
    start = machine.snapshot()
    finder = start.open()
    finder.until(finder.symbol("isr_pendsv"))
    while finder.run(1_000_000)["reason"] != "until":
        pass
    entered = finder.cycle() - start.cycle()
    machine.run(entered + 2_000)
    undisturbed = state(machine, program)
    machine.restore(start)
    machine.run(entered - 150)
    for _ in range(300):
        machine.restore(machine.snapshot())
        machine.run(1)
    machine = machine.snapshot().open()
    machine.run(start.cycle() + entered + 2_000 - machine.cycle())
    assert state(machine, program) == undisturbed


def test_sleeping_core_is_woken_by_an_injected_interrupt() -> None:
    """A core in WFI with nothing scheduled: the snapshot of it sleeps too, and both wake alike."""
    program = Program("t5", "nucleo-f446re")
    machine = program.in_window()
    ram = CATALOGUE.find_board(program.board).facts.memory.sram_start
    machine.write(ram, bytes.fromhex("30bf00bffce7"))  # wfi; nop; b .-4
    machine.set_register(0, "pc", ram)
    machine.run(200)
    present = machine.snapshot()
    assert present.open().position(0)[2], "asleep"
    line = 16 + CATALOGUE.find_board(program.board).facts.irq.soft
    entries = []
    for board in (machine, present.open()):
        board.trace_exceptions(True)
        board.inject_exception(present.cycle() + 77, line)
        board.run(1_000)
        entries.append(board.take_events())
    assert entries[0]
    assert entries[0] == entries[1]


def test_code_written_after_the_snapshot_is_discarded() -> None:
    program = Program("t5", "nucleo-f446re")
    machine = program.in_window()
    ram = CATALOGUE.find_board(program.board).facts.memory.sram_start
    machine.write(ram, bytes.fromhex("0120fee7"))  # movs r0, #1; b .
    machine.set_register(0, "pc", ram)
    machine.run(50)
    present = machine.snapshot()
    machine.write(ram, bytes.fromhex("0220fee7"))  # movs r0, #2
    machine.set_register(0, "pc", ram)
    machine.run(50)
    assert machine.registers(0)["r0"] == 2
    machine.restore(present)
    machine.set_register(0, "pc", ram)
    machine.run(50)
    assert machine.registers(0)["r0"] == 1


def test_probes_stay_and_their_records_are_restored() -> None:
    machine = Program("t5", "nucleo-l073rz").in_window()
    before = machine.snapshot()
    switches = machine.between(machine.symbol("isr_pendsv"), machine.symbol("isr_pendsv"))
    machine.run(100_000)
    result = machine.between_result(switches)
    assert result["count"] > 10
    machine.restore(before)
    assert machine.between_result(switches)["count"] == 0
    machine.run(100_000)
    assert machine.between_result(switches) == result


def test_probe_changes_no_cycle_of_two_cores() -> None:
    """An instruction that minds no order takes no part in a tie for a lock; nor does its stand-in."""
    program = EVERY_BOARD[-1]
    machine = program.in_window()
    start = machine.snapshot()
    machine.run(60_000)
    plain = [machine.position(core) for core in (0, 1)]
    machine.restore(start)
    for address, size, _ in machine.symbols():
        if 0x1000_0000 <= address < 0x1000_4000:
            for index in range(address & ~1, (address & ~1) + size, 2):
                machine.watch_exec(index, 7)
    machine.run(60_000)
    assert [machine.position(core) for core in (0, 1)] == plain


def test_snapshot_of_another_chip_is_refused() -> None:
    from rtoslab.targets.board import make_board_at_reset  # noqa: PLC0415

    boards = ("nucleo-f446re", "stm32f407ig", "pico", "nucleo-l053r8", "nucleo-l073rz")
    machines: list[Any] = [make_board_at_reset(CATALOGUE.find_board(board).facts, cores=1) for board in boards]
    for taken, given in permutations(machines, 2):
        with pytest.raises(SimError, match=r"snapshot is from a board with the chip .*open it with"):
            given.restore(taken.snapshot())
