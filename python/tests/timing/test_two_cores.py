"""Two cores: launch, ties, collisions, events, and that observing or slicing a run changes nothing."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from rtoslab import _sim
from tests.differential.engines import SRAM, elf
from tests.timing.bench import CODE, DATA, ISER, NOP, SELF, SIO, VECTORS, halves

CORE1 = SRAM + 0x3000
MAILBOX = SRAM + 0x9000
STACK1 = SRAM + 0xB000
PARKED = 0xE0
SPINLOCK = SIO + 0x100 + 4 * 7

# The launch handshake: r4 -> the six words, r5 = SIO; then core 0 waits at CODE + PARKED.
LAUNCH = [
    0x2600,  # movs r6, #0: index of the word
    0x00B1, 0x5861,  # next: lsls r1, r6, #2; ldr r1, [r4, r1]
    0x2900, 0xD105,  # cmp r1, #0; bne send
    0x6D28, 0x07C0, 0xD501, 0x6DA8, 0xE7FA,  # drain: while FIFO_ST.VLD read FIFO_RD
    0xBF40,  # sev
    0x6569, 0xBF40,  # send: str r1, [r5, #0x54]; sev
    0x6D28, 0x07C0, 0xD5FC, 0x6DA8,  # wait for FIFO_ST.VLD; ldr r0, [r5, #0x58]
    0x3601, 0x4288, 0xD000, 0x2600,  # adds r6, #1; on another echo from the start again
    0x2E06, 0xD1E9,  # cmp r6, #6; bne next
]  # fmt: skip


class Pair:
    """Core 0 runs `first` and core 1 `second`, started within two cycles of each other."""

    def __init__(self, first: list[int], second: list[int], *more: tuple[int, bytes], **registers: int) -> None:
        """`more`: other segments of the image."""
        self.machine = _sim.Machine("rp2040", cores=2)
        self.machine.load(elf([(SRAM, halves(SELF) * 0x8000), *more], SRAM), "pair.elf")
        words = [0, 0, 1, VECTORS, STACK1, CORE1 | 1]
        self.machine.write(MAILBOX + 0x100, struct.pack("<6I", *words))
        self.machine.write(CODE, halves(*LAUNCH, 0xE000 | (PARKED - 2 * len(LAUNCH) - 4) // 2))
        self.machine.write(CODE + 0x100, halves(*first, SELF))
        self.machine.write(CORE1, halves(SELF, NOP, NOP, *second, SELF))
        # Core 1 announces itself with a 0 first; a handshake that starts before it would stay one word behind.
        self.machine.run(300)
        self.machine.set_register(0, "sp", SRAM + 0xA000)
        for name, value in {"r4": MAILBOX + 0x100, "r5": SIO}.items():
            self.machine.set_register(0, name, value)
        self.machine.set_register(0, "pc", CODE)
        self.machine.write(CODE + PARKED, halves(NOP, SELF))
        self.machine.until(CODE + PARKED)
        stop = self.machine.run(100_000)
        assert stop["reason"] == "until", stop
        self.machine.run(200)
        for core in (0, 1):
            for name, value in {"r5": SIO, **registers}.items():
                self.machine.set_register(core, name, value)
        self.machine.set_register(0, "pc", CODE + 0x100)
        self.machine.set_register(1, "pc", CORE1 + 6)
        self.start = self.machine.cycle()

    def run(self, cycles: int = 2000) -> tuple[dict[str, int], dict[str, int]]:
        """Both cores' registers afterwards."""
        self.machine.run(cycles)
        return self.machine.registers(0), self.machine.registers(1)


def test_core_1_starts_by_the_handshake() -> None:
    """It gets its vector table, stack and entry, and knows who it is."""
    pair = Pair([NOP], [0x6828])  # ldr r0, [r5]: CPUID
    zero, one = pair.run()
    assert (one["r0"], one["sp"]) == (1, STACK1)
    assert zero["pc"] != one["pc"]


def test_core_0_wins_a_tie_for_a_spinlock() -> None:
    """Whoever reads first gets the lock; when both read in one cycle, core 0."""
    ties = 0
    for lead in range(-4, 5):
        pair = Pair([*[NOP] * (4 + lead), 0x6808], [*[NOP] * 4, 0x6808], r1=SPINLOCK, r0=9)
        for core, address in enumerate((CODE + 0x100 + 2 * (4 + lead), CORE1 + 6 + 2 * 4)):
            pair.machine.watch_exec(address, core)
        zero, one = pair.run(100)
        issued = {
            core: cycle for cycle, _, _, _, _, core, _ in struct.iter_unpack("<QIIHBBI", pair.machine.take_events())
        }
        winner = 1 if issued[1] < issued[0] else 0
        assert (zero["r0"], one["r0"]) == ((1 << 7, 0), (0, 1 << 7))[winner], (lead, issued)
        ties += issued[0] == issued[1]
    assert ties > 0


@pytest.mark.parametrize(("distance", "collide"), [(0, True), (4, False), (8, False), (16, True)])
def test_only_the_same_bank_collides(distance: int, collide: bool) -> None:
    """Words are striped over four banks; twenty loads each, in step."""
    pair = Pair([0x680A] * 20, [0x681A] * 20, r1=DATA, r3=DATA + distance)
    pair.machine.reset_stats()
    pair.run(200)
    waits = [core["bus_wait_cycles"] for core in pair.machine.stats()["cores"]]
    # Code of both cores lies in SRAM too and collides now and then; sharing a bank for data adds to that.
    baseline = _waits_without_data()
    assert (sum(waits) > baseline + 5) == collide, (waits, baseline)


def _waits_without_data() -> int:
    pair = Pair([NOP] * 40, [NOP] * 40)
    pair.machine.reset_stats()
    pair.run(200)
    return sum(core["bus_wait_cycles"] for core in pair.machine.stats()["cores"])


def test_fifo_holds_eight_words() -> None:
    """The ninth write is dropped and flagged; reads give the words in order; one more flags an empty read."""
    writes = [0x6569, 0x3101] * 9  # str r1, [r5, #0x54]; adds r1, #1
    pair = Pair([0x2101, *writes, 0x6D2A], [*[NOP] * 80, *[0x6DA8, 0x18C3] * 8, 0x6DA8, 0x6D2E], r1=0, r3=0)
    zero, one = pair.run()
    assert zero["r2"] & 4, "write on full"
    assert one["r3"] == sum(range(1, 9))
    assert one["r6"] & 8, "read on empty"


def test_event_crosses_to_the_sleeping_core() -> None:
    """SEV on core 0 ends core 1's WFE; without it core 1 sleeps on."""
    for event, woken in [(0xBF40, 1), (NOP, 0)]:
        pair = Pair([*[NOP] * 50, event], [0xBF40, 0xBF20, 0x2600, 0xBF20, 0x2601], r6=0)
        _, one = pair.run()
        assert one["r6"] == woken


def _workload() -> Pair:
    mixed = [0x680A, 0x600A, 0xB40F, 0x4348, 0xBC0F, 0x3201, 0x6828, 0xD1F7]
    return Pair(mixed, mixed, r1=DATA)


def _outcome(machine: Any) -> tuple[Any, ...]:
    return machine.cycle(), machine.registers(0), machine.registers(1), machine.stats()


def _run_with_interrupts(slice_cycles: int) -> tuple[Any, ...]:
    """Core 0 sends words at odd distances; each interrupts core 1, which counts what it does meanwhile."""
    send = [*[NOP] * 50, 0x6569, *[0x3201] * 61, 0x6569, 0xE78D]  # str r1, [r5, #0x54] twice; b
    count = [0x6011, *[0x3301] * 9, 0xE7F5]  # str r1, [r2]: ISER; adds r3, #1; b
    pair = Pair(send, count, r1=1 << 16, r2=ISER, r3=0, r6=0)
    pair.machine.write(VECTORS, struct.pack("<48I", *[(VECTORS + 0x800) | 1] * 16, *[(VECTORS + 0x900) | 1] * 32))
    # ldr r0, [r5, #0x58]; str r0, [r5, #0x50]: the flags; adds r6, r3, r6; bx lr
    pair.machine.write(VECTORS + 0x900, halves(0x6DA8, 0x6528, 0x199E, 0x4770))
    for _ in range(6000 // slice_cycles):
        pair.machine.run(slice_cycles)
    return _outcome(pair.machine)


@pytest.mark.parametrize("slice_cycles", [3, 8, 25, 1000])
def test_interrupt_from_the_other_core_comes_in_time_however_the_run_is_sliced(slice_cycles: int) -> None:
    """The sum over all interrupts of how far core 1 had come tells when each was taken."""
    assert _run_with_interrupts(slice_cycles) == _run_with_interrupts(6000)


def test_slicing_a_run_changes_nothing() -> None:
    """One run of 30000 cycles, and 3000 of ten, and one again: the same cycles, registers and statistics."""
    whole, sliced, again = _workload(), _workload(), _workload()
    whole.machine.run(30_000)
    for _ in range(3000):
        sliced.machine.run(10)
    again.machine.run(30_000)
    assert _outcome(whole.machine) == _outcome(again.machine)
    assert whole.machine.registers(0) == sliced.machine.registers(0)
    assert whole.machine.registers(1) == sliced.machine.registers(1)


def test_observing_changes_nothing() -> None:
    """Probes, intervals, traces and the profile on or off."""
    plain, observed = _workload(), _workload()
    observed.machine.profile(True)
    observed.machine.trace_exceptions(True)
    observed.machine.trace_pins(True)
    observed.machine.watch_exec(CODE + 0x104, 1)
    observed.machine.watch_write(DATA, 2)
    observed.machine.between(CODE + 0x100, CORE1 + 8)
    plain.machine.run(20_000)
    observed.machine.run(20_000)
    assert _outcome(plain.machine) == _outcome(observed.machine)
    assert observed.machine.take_events()


def test_profile_accounts_for_every_cycle() -> None:
    """Instructions, exceptions and sleep add up to the time that passed, but for the instruction in flight."""
    pair = _workload()
    pair.machine.reset_stats()
    pair.machine.profile(True)
    pair.machine.run(20_000)
    for core, stats in enumerate(pair.machine.stats()["cores"]):
        cells = struct.iter_unpack("<IIQQQ", pair.machine.take_profile(core))
        attributed = sum(cycles for _, _, cycles, _, _ in cells)
        total = attributed + stats["exception_cycles"] + stats["sleep_cycles"]
        assert abs(total - stats["cycles"]) <= 8


def test_core_keeps_its_time_while_the_other_is_idle() -> None:
    """Core 1 loops on its own code word; core 0's loop from another bank takes what it takes alone."""
    body = [0x3101, 0x3101, 0x3101, 0x3101] * 16
    lone, beside = Pair(body, [0xBF20]), Pair(body, [SELF])
    ends = []
    for pair in (lone, beside):
        pair.machine.reset_stats()
        index = pair.machine.between(CODE + 0x100, CODE + 0x100 + 2 * len(body))
        pair.run(400)
        ends.append(pair.machine.between_result(index)["max_cycles"])
    waits = beside.machine.stats()["cores"][0]["bus_wait_cycles"]
    assert ends[0] == len(body)
    assert ends[1] == len(body) + waits
