"""Exception entry, return, order and sleep (ARMv6-M B1.5, ARM DDI0484C 3.6, HARDWARE rules in docs/accuracy.md)."""

from __future__ import annotations

import struct

import pytest

from rtoslab import _sim
from rtoslab.targets.exceptions import PENDSV, SVCALL, SYSTICK
from tests.timing.bench import (
    CODE,
    DATA,
    HANDLER,
    ISER,
    ISPR,
    NOP,
    OTHER_HANDLER,
    PRIORITIES,
    SCS,
    SELF,
    STACK,
    SYST_CSR,
    VECTORS,
    VTOR,
    Board,
)

ENTRY, EXIT, TAIL = 15, 12, 8
BX_LR, CPSID, CPSIE, WFI, WFE, SEV, UDF, SVC = 0x4770, 0xB672, 0xB662, 0xBF30, 0xBF20, 0xBF40, 0xDE00, 0xDF00
STORE = 0x6001  # str r1, [r0]
IRQ26, IRQ27 = 16 + 26, 16 + 27
HARD_FAULT = 3


def _board(handlers: dict[int, int], enabled: int = 0) -> Board:
    board = Board()
    board.vectors(handlers)
    board.poke([(VTOR, VECTORS), (ISER, enabled)])
    board.machine.trace_exceptions(True)
    return board


def _events(board: Board) -> list[tuple[int, int, int, int]]:
    """(kind, exception number, cycle, value) in order."""
    raw = board.machine.take_events()
    return [(kind, ident, cycle, value) for cycle, value, _, ident, kind, _, _ in struct.iter_unpack("<QIIHBBI", raw)]


def _entered_exceptions(board: Board) -> list[int]:
    return [ident for kind, ident, _, _ in _events(board) if kind == _sim.EVENT_EXCEPTION_ENTER]


def test_entry_and_exit_take_their_cycles() -> None:
    """The pending store takes 2; the handler's first instruction issues 15 later; BX LR to the next one takes 12."""
    board = _board({IRQ26: HANDLER}, 1 << 26)
    board.code(BX_LR, at=HANDLER)
    board.code(STORE, NOP, NOP, SELF)
    board.start(r0=ISPR, r1=1 << 26)
    entry = board.machine.between(CODE, HANDLER)
    whole = board.between(CODE, CODE + 2)
    assert board.machine.between_result(entry)["max_cycles"] == 2 + ENTRY
    assert whole == 2 + ENTRY + EXIT


@pytest.mark.parametrize("low", range(16))
def test_exception_return_targets(low: int) -> None:
    """Bit 0 of EXC_RETURN does not matter, bits 3 to 1 say whose stack is read; a reserved value faults."""
    board = _board({IRQ26: HANDLER, HARD_FAULT: OTHER_HANDLER}, 1 << 26)
    board.code(0x4700 | 2 << 3, at=HANDLER)  # bx r2
    board.code(SELF, at=OTHER_HANDLER)
    process = STACK - 0x400
    frames = [*range(4), 12, 14, CODE + 4, 1 << 24]
    board.poke([(process + 4 * index, word) for index, word in enumerate(frames)])
    # msr psp, r3; str r1, [r0]; nop; and behind it, where the frame on the process stack leads: b .
    board.code(0xF383, 0x8809, STORE, NOP, SELF)
    board.start(r0=ISPR, r1=1 << 26, r2=0xFFFFFFF0 | low, r3=process)
    board.machine.run(300)
    left = board.machine.registers(0)
    faulted = HARD_FAULT in _entered_exceptions(board)
    assert faulted == (low | 1 not in {9, 13})
    if not faulted:
        assert (left["r3"] == 3) == (low | 1 == 13), "only a frame on the process stack holds 3 for r3"


def test_two_pending_exceptions_chain_in_order_of_priority_then_number() -> None:
    """The second handler follows the first without unstacking."""
    for priorities, order in [(0, [IRQ26, IRQ27]), (0x0080_0000, [IRQ27, IRQ26])]:
        board = _board({IRQ26: HANDLER, IRQ27: OTHER_HANDLER}, 3 << 26)
        board.poke([(PRIORITIES + 24, priorities)])
        board.code(BX_LR, at=HANDLER)
        board.code(BX_LR, at=OTHER_HANDLER)
        board.code(STORE, NOP, SELF)
        board.start(r0=ISPR, r1=3 << 26)
        chain = (HANDLER, OTHER_HANDLER) if order[0] == IRQ26 else (OTHER_HANDLER, HANDLER)
        index = board.machine.between(*chain)
        assert board.between(CODE, CODE + 2) == 2 + ENTRY + TAIL + EXIT
        assert board.machine.between_result(index)["max_cycles"] == TAIL
        assert _entered_exceptions(board) == order


def test_primask_delays_interrupts_until_cleared() -> None:
    """The interrupt waits for CPSIE and is taken before the next instruction."""
    board = _board({IRQ26: HANDLER}, 1 << 26)
    board.code(0x3501, BX_LR, at=HANDLER)  # adds r5, #1
    board.code(CPSID, STORE, 0x462E, CPSIE, 0x462F, SELF)  # mov r6, r5 ... mov r7, r5
    board.start(r0=ISPR, r1=1 << 26, r5=0, r6=9, r7=9)
    board.machine.run(200)
    left = board.machine.registers(0)
    assert (left["r6"], left["r7"]) == (0, 1)


@pytest.mark.parametrize(("late", "order"), [(5, [IRQ27, IRQ26]), (10, [IRQ27, IRQ26]), (13, [IRQ26, IRQ27])])
def test_late_arriving_interrupt_takes_over(late: int, order: list[int]) -> None:
    """SysTick, more urgent, pends `late` cycles after IRQ 26 was recognised: up to cycle 11 it takes the vector."""
    board = _board({IRQ26: HANDLER, SYSTICK: OTHER_HANDLER}, 1 << 26)
    board.poke([(PRIORITIES + 24, 0xC0C0_C0C0), (SYST_CSR + 4, 2 + late), (SYST_CSR + 8, 0)])
    board.code(SELF, at=HANDLER)
    board.code(SELF, at=OTHER_HANDLER)
    # SysTick starts with the first store and raises its exception reload + 1 cycles later.
    board.code(STORE, 0x6013, NOP, SELF)  # str r1, [r0]; str r3, [r2]
    board.start(r0=SYST_CSR, r1=7, r2=ISPR, r3=1 << 26)
    board.machine.run(80)
    expected = [SYSTICK if number == IRQ27 else number for number in order]
    # A less urgent exception cannot interrupt the endless handler.
    assert _entered_exceptions(board) == (expected[:1] if expected[0] == SYSTICK else expected)


def test_systick_comes_every_reload_plus_one_cycles() -> None:
    """Recognition is exact while one-cycle instructions run."""
    board = _board({SYSTICK: HANDLER})
    board.code(BX_LR, at=HANDLER)
    board.poke([(SYST_CSR + 4, 99), (SYST_CSR + 8, 0)])
    board.code(STORE, *[NOP] * 500, SELF)
    board.start(r0=SYST_CSR, r1=7)
    begin = board.machine.cycle()
    board.machine.run(460)
    cycles = [cycle for kind, _, cycle, _ in _events(board) if kind == _sim.EVENT_EXCEPTION_ENTER]
    assert [cycle - begin for cycle in cycles] == [100 + ENTRY, 200 + ENTRY, 300 + ENTRY, 400 + ENTRY]


def test_countflag_is_cleared_by_reading_it() -> None:
    """COUNTFLAG is set when the counter reaches zero and reads once."""
    board = _board({})
    board.poke([(SYST_CSR + 4, 20), (SYST_CSR + 8, 0)])
    board.code(STORE, *[NOP] * 40, 0x6804, 0x6805, SELF)  # ldr r4, [r0]; ldr r5, [r0]
    board.start(r0=SYST_CSR, r1=5)
    board.machine.run(60)
    left = board.machine.registers(0)
    assert (left["r4"] >> 16 & 1, left["r5"] >> 16 & 1) == (1, 0)


@pytest.mark.parametrize("reload", range(3, 10))
def test_multiple_load_is_abandoned_and_restarted(reload: int) -> None:
    """Whatever word SysTick hits, the registers and the base end as without it, and the entry is not delayed, but for
    the cycle behind the last word, which is not given up."""
    board = _board({SYSTICK: HANDLER})
    board.code(0x2100, STORE, BX_LR, at=HANDLER)  # stops SysTick
    board.machine.write(DATA, struct.pack("<6I", *range(11, 17)))
    board.poke([(SYST_CSR + 4, reload), (SYST_CSR + 8, 0)])
    board.code(STORE, NOP, 0xCF7E, NOP, SELF)  # ... ldm r7!, {r1-r6}
    board.start(r0=SYST_CSR, r1=7, r7=DATA)
    begin = board.machine.cycle()
    board.machine.until(CODE + 6)
    board.machine.run(400)
    left = board.machine.registers(0)
    assert [left[f"r{n}"] for n in range(1, 8)] == [*range(11, 17), DATA + 24]
    first = next(cycle for kind, _, cycle, _ in _events(board) if kind == _sim.EVENT_EXCEPTION_ENTER)
    in_last_cycle = reload + 1 == 2 + 1 + 6
    assert first - begin == reload + 1 + ENTRY + in_last_cycle


@pytest.mark.parametrize(
    ("code", "registers", "number", "returns_to"),
    [
        ([SVC, NOP], {}, SVCALL, CODE + 2),
        ([UDF, NOP], {}, HARD_FAULT, CODE),
        ([0x6808, NOP], {"r1": DATA + 2}, HARD_FAULT, CODE),
        ([0x6808, NOP], {"r1": 0x3000_0000}, HARD_FAULT, CODE),
        ([0x4708, NOP], {"r1": DATA}, HARD_FAULT, DATA),
        ([CPSID, SVC], {}, HARD_FAULT, CODE + 4),
    ],
)
def test_synchronous_exceptions_stack_their_address(
    code: list[int], registers: dict[str, int], number: int, returns_to: int
) -> None:
    """SVC returns behind itself, a fault to itself; a masked SVC escalates."""
    board = _board({number: HANDLER})
    board.code(SELF, at=HANDLER)
    board.code(*code, SELF)
    board.start(**registers)
    board.machine.run(100)
    assert _entered_exceptions(board) == [number]
    frame = board.machine.registers(0)["sp"]
    assert struct.unpack("<I", board.machine.read(frame + 24, 4)) == (returns_to,)


def test_fault_in_hardfault_locks_up() -> None:
    """The run ends and says where."""
    board = _board({HARD_FAULT: HANDLER})
    board.code(UDF, at=HANDLER)
    board.code(UDF)
    board.start()
    stop = board.machine.run(1000)
    assert stop["reason"] == "lockup"
    assert f"0x{HANDLER:08x}" in stop["detail"]


@pytest.mark.parametrize("misaligned", [0, 4])
def test_frame_is_aligned_and_undone(misaligned: int) -> None:
    """SP is brought to eight bytes, bit 9 of the stacked xPSR remembers it, the return restores it."""
    board = _board({SVCALL: HANDLER})
    board.code(0x466C, BX_LR, at=HANDLER)  # mov r4, sp
    board.code(SVC, SELF)
    board.start(sp=STACK - 64 + misaligned)
    board.machine.run(100)
    left = board.machine.registers(0)
    assert left["sp"] == STACK - 64 + misaligned
    assert left["r4"] == STACK - 64 - 32
    xpsr = struct.unpack("<I", board.machine.read(left["r4"] + 28, 4))[0]
    assert xpsr >> 9 & 1 == misaligned // 4


def test_wfi_wakes_under_primask_without_taking_the_interrupt() -> None:
    """SysTick ends the sleep; the handler runs only after CPSIE."""
    board = _board({SYSTICK: HANDLER})
    board.code(0x3501, BX_LR, at=HANDLER)
    board.poke([(SYST_CSR + 4, 200), (SYST_CSR + 8, 0)])
    board.code(CPSID, STORE, WFI, 0x462E, CPSIE, NOP, 0x462F, SELF)
    board.start(r0=SYST_CSR, r1=7, r5=0)
    board.machine.reset_stats()
    board.machine.run(300)
    left = board.machine.registers(0)
    assert (left["r6"], left["r7"]) == (0, 1)
    assert 180 <= board.machine.stats()["cores"][0]["sleep_cycles"] <= 200


def test_event_register() -> None:
    """SEV lets one WFE pass; an exception's entry and return let another pass; the next one sleeps for ever."""
    board = _board({SVCALL: HANDLER})
    board.code(BX_LR, at=HANDLER)
    board.code(SEV, WFE, 0x2401, SVC, WFE, 0x2402, WFE, 0x2403, SELF)
    board.start(r4=0)
    assert board.machine.run(100_000)["reason"] == "deadlock"
    assert board.machine.registers(0)["r4"] == 2


def test_pendsv_runs_after_the_handler_that_pended_it() -> None:
    """Pended in SVCall's handler at the same priority, it chains."""
    board = _board({SVCALL: HANDLER, PENDSV: OTHER_HANDLER})
    board.code(STORE, BX_LR, at=HANDLER)
    board.code(BX_LR, at=OTHER_HANDLER)
    board.code(SVC, SELF)
    board.start(r0=SCS + 0xD04, r1=1 << 28)
    board.machine.run(200)
    kinds = [(kind, ident) for kind, ident, _, _ in _events(board)]
    enter, leave = _sim.EVENT_EXCEPTION_ENTER, _sim.EVENT_EXCEPTION_EXIT
    assert sorted(kinds) == sorted([(enter, SVCALL), (enter, PENDSV), (leave, SVCALL), (leave, PENDSV)])
