"""The observer on virtual boards: every cycle once, no cycle more, and what single-stepping sees."""

import random
from typing import Any, cast

import numpy as np
import pytest

from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.records import INTERVAL, LOCK, ROW, WAYS
from rtoslab.instruments.subject import ObservedImage, find_observed_image
from rtoslab.targets.board import find_symbol_address, load_image_into_board, make_board_at_reset
from rtoslab.targets.events import EVENT
from rtoslab.targets.virtual import WINDOW_SYMBOL
from tests.board_images import Program
from tests.instruments.images import CATALOGUE

CYCLES = 1_500_000
EACH_CORE = ["nucleo-l073rz", "nucleo-f103rb", "nucleo-f446re", "nucleo-f767zi"]
OTHERS = ["nucleo-l053r8", "stm32f407ig", "stm32f411ce", "nucleo-h743zi", "pico"]
CASES = [
    pytest.param("t6", "freertos", "pico", 2, id="pico-2"),
    *(pytest.param("t5", "freertos", board, 1, id=board) for board in EACH_CORE),
    *(pytest.param("t5", "freertos", board, 1, id=board, marks=pytest.mark.long) for board in OTHERS),
    *(pytest.param("t4", "bare", board, 1, id=f"bare-{board}", marks=pytest.mark.long) for board in EACH_CORE),
]


def subject(benchmark: str, kernel: str, board: str, cores: int) -> ObservedImage:
    """Of images that other tests have built."""
    image = Program(benchmark, board, cores, kernel).elf()
    return find_observed_image(CATALOGUE, str(image), kernel=kernel, board=board, cores=cores)


def machine_of(chosen: ObservedImage) -> ObservedMachine:
    machine = cast("ObservedMachine", make_board_at_reset(chosen.board, cores=chosen.cores))
    load_image_into_board(machine, chosen.image, chosen.label)
    return machine


def trace(machine: ObservedMachine) -> None:
    machine.trace_exceptions(True)
    machine.trace_pins(True)


def outcome(machine: ObservedMachine, cores: int) -> tuple[Any, ...]:
    """All that a run shows without an instrument."""
    memory = machine.read(0x2000_0000, 0x2000)
    return machine.stats(), machine.take_uart(), [machine.registers(core) for core in range(cores)], memory


def trace_bytes(machine: ObservedMachine) -> bytes:
    """What the plain traces recorded."""
    events = np.frombuffer(machine.take_events(), dtype=EVENT)
    return np.sort(events[events["kind"] < 6], order=["cycle", "core", "kind", "id"]).tobytes()


@pytest.mark.parametrize(("benchmark_id", "kernel", "board", "cores"), CASES)
def test_every_cycle_is_attributed_once_and_none_is_added(
    benchmark_id: str, kernel: str, board: str, cores: int
) -> None:
    chosen = subject(benchmark_id, kernel, board, cores)
    plain, only_traced, observed = machine_of(chosen), machine_of(chosen), machine_of(chosen)
    plain.run(CYCLES)
    trace(only_traced)
    only_traced.run(CYCLES)
    trace(observed)
    calls = [(address, number) for number, (address, _, name) in enumerate(observed.symbols()) if "isr" in name]
    observed.observe(True, priorities=[0, 64, 128, 192], keep_intervals=9, calls=calls, events=True)
    random_source = random.Random(board)  # noqa: S311 (windows of any length)
    instructions = [0] * cores
    ways = np.zeros((cores, len(WAYS)), dtype=np.uint64)
    while observed.cycle() < CYCLES:
        before = observed.cycle()
        observed.run(min(random_source.choice([1, 7, 1000, 40_000]), CYCLES - before))
        for core, account in enumerate(observed.observed()["cores"][:cores]):
            rows = np.frombuffer(account["rows"], dtype=ROW)
            assert (account["from_cycle"], account["until_cycle"]) == (before, observed.cycle())
            assert int(rows["cycles"].sum()) == observed.cycle() - before
            instructions[core] += int(rows["executions"].sum())
            ways[core] += rows["cycles"].sum(axis=0)
    stats = observed.stats()["cores"]
    assert instructions == [stat["instructions"] for stat in stats[:cores]]
    for core, item in enumerate(stats[:cores]):
        # A wait inside an exception's entry counts as the exception's; what a pipeline hides of one costs nothing.
        assert ways[core][WAYS.index("bus")] <= item["bus_wait_cycles"]
        assert ways[core][WAYS.index("flash")] <= item["flash_wait_cycles"]
        assert ways[core][WAYS.index("sleep")] >= item["sleep_cycles"]
        assert ways[core][WAYS.index("execute")] > 0
    assert outcome(plain, cores) == outcome(observed, cores) == outcome(only_traced, cores)
    assert trace_bytes(observed) == trace_bytes(only_traced)


def to_window(machine: ObservedMachine) -> int:
    """Runs to where the benchmark opens its window; the cycle."""
    word = find_symbol_address(machine, WINDOW_SYMBOL)
    machine.watch_write(word, 1, True)
    while machine.read(word, 1) != b"\1":
        assert machine.run(20_000_000)["reason"] == "watch"
    return machine.cycle()


def test_lock_waits_equal_the_counters_of_the_locks() -> None:
    """The locks' own statistics count from read to read; the account from the first instruction to the last."""
    chosen = subject("t6", "freertos", "pico", 2)
    machine = machine_of(chosen)
    to_window(machine)
    machine.observe(True)
    machine.reset_stats()
    machine.run(400_000)
    taken = machine.observed()
    locks, stats = np.frombuffer(taken["locks"], dtype=LOCK), machine.stats()["locks"]
    assert stats
    for stat in stats:
        mine = locks[(locks["lock"] == stat["lock"]) & (locks["core"] == stat["core"])]
        held, waited = mine[mine["waited"] == 0], mine[mine["waited"] == 1]
        assert abs(int(held["count"].sum()) - stat["acquisitions"]) <= 1, "one may be held as the window begins or ends"
        assert abs(int(waited["count"].sum()) - stat["contended"]) <= 1
        assert int(waited["total"].sum()) == pytest.approx(stat["wait_cycles"], rel=0.01)
        assert int(held["total"].sum()) == pytest.approx(stat["hold_cycles"], rel=0.01)
    for core in (0, 1):
        rows = np.frombuffer(taken["cores"][core]["rows"], dtype=ROW)
        spent = int(rows["cycles"][:, WAYS.index("lock")].sum())
        assert spent == pytest.approx(sum(stat["wait_cycles"] for stat in stats if stat["core"] == core), rel=0.02)


LOWEST = {"pico": 0xC0, "nucleo-f446re": 0xF0}


@pytest.mark.parametrize(
    ("benchmark_id", "kernel", "board", "cores"),
    [("t6", "freertos", "pico", 2), ("t5", "freertos", "nucleo-f446re", 1)],
)
def test_masked_intervals_equal_those_of_single_stepping(
    benchmark_id: str, kernel: str, board: str, cores: int
) -> None:
    chosen = subject(benchmark_id, kernel, board, cores)
    lowest = LOWEST[board]
    recorder, stepper = machine_of(chosen), machine_of(chosen)
    recorder.observe(True, priorities=[lowest], keep_intervals=1_000_000)
    start = to_window(recorder)
    assert to_window(stepper) == start
    recorder.observed()
    end = start + 12_000
    recorder.run(end - start)
    stored = np.frombuffer(recorder.observed()["intervals"], dtype=INTERVAL)
    result = sorted(
        (int(stored_item["core"]), int(stored_item["start"]), int(stored_item["end"])) for stored_item in stored
    )
    stepped = stepped_intervals(stepper, cores, end)
    inside = [stored_item for stored_item in result if stored_item[1] > start + 200 and stored_item[2] < end - 200]
    seen = [stored_item for stored_item in stepped if stored_item[1][1] > start + 200 and stored_item[2][1] < end - 200]
    assert len(seen) == len(inside) > 10
    for (core, began, ended), (core_seen, began_within, ended_within) in zip(inside, seen, strict=True):
        assert core == core_seen
        for cycle, (after, until) in ((began, began_within), (ended, ended_within)):
            # With two cores awake a step may be two instructions of one word.
            assert (after < cycle <= until) if cores > 1 else cycle == until


Bracket = tuple[int, int]


def stepped_intervals(machine: ObservedMachine, cores: int, end: int) -> list[tuple[int, Bracket, Bracket]]:
    """By core: between which steps each interval begins and ends.

    Interrupts of the lowest priority are masked by any mask and in any handler, until its frame is read back.
    """
    since: dict[int, Bracket] = {}
    results = []
    before = [machine.registers(core) for core in range(cores)]
    at = [machine.core_cycle(core) for core in range(cores)]
    held = [True] * cores
    while machine.cycle() < end:
        machine.run(1)
        for core in range(cores):
            now, cycle = machine.registers(core), machine.core_cycle(core)
            masked = bool(now["primask"] or now.get("basepri") or now.get("faultmask") or now["xpsr"] & 0x1FF)
            if not masked and held[core] and now["pc"] == before[core]["pc"]:
                continue  # the core still stands at the instruction that returned
            if masked and not held[core]:
                since[core] = (at[core], cycle)
            elif not masked and held[core] and core in since:
                results.append((core, since.pop(core), (at[core], cycle)))
            held[core], before[core], at[core] = masked, now, cycle
    return sorted(results)
