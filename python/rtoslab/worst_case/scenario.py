"""Prepares a board at the place where a sweep begins, from a benchmark or an image, and the interrupt that the sweep
raises there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rtoslab.base import ImageFileError, PlanError, RunError, SymbolError, count_with_noun
from rtoslab.catalogue import Benchmark, Board, Catalogue
from rtoslab.conformance import check_port_conformance
from rtoslab.images import build_measurement_point_image
from rtoslab.intake import read_program_image
from rtoslab.plan import PlanOptions, make_measurement_plan
from rtoslab.reports import Deviations
from rtoslab.store import make_measurement_manifest, virtual_board_manifest_entries
from rtoslab.targets import (
    EVENT,
    FIRST_EXTERNAL,
    KIND_EXCEPTION_ENTER,
    SETUP_LIMIT_S,
    SYSTICK,
    WINDOW_SYMBOL,
    Progress,
    apply_timing_settings_to_virtual_board,
    convert_simulator_errors,
    find_exception_number,
    find_symbol_address,
    first_symbol_per_address,
    load_image_into_board,
    make_board_at_reset,
    parse_cycle_count,
    read_interval_marker_addresses,
    read_systick_period_in_cycles,
)
from rtoslab.worst_case.own_interrupts import FirmwareRaisedInterrupt, find_firmware_raised_interrupts

if TYPE_CHECKING:
    from rtoslab._sim import Snapshot

WINDOW_MS: Final = 1000
"""The window of the images that are swept: longer than any span worth sweeping."""
SETTLE_S: Final = 0.005
"""The time from the window's opening in which ticks and periods are looked for."""
EARLIER_ARRIVAL_S: Final = 0.001
"""The time that the woken task has after each earlier arrival, before the next one."""
_NEAR: Final = 50
"""SysTick's register says how long an observed tick is if they differ by at most the 50th part."""
LOOK_S: Final = 0.25
"""The time from an image's snapshot on in which its own interrupts are looked for."""
NEVER_STOPPED: Final = "The image stopped ({reason}) before a sweep could begin: {detail}."


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptSweepScenario:
    """A board just before the first arrival of a sweep, and the interrupt that the sweep raises."""

    title: str
    board: Board
    elf: Path
    snapshot: "Snapshot"
    exception: int
    """The exception that is raised, and answered by its handler."""
    core: int
    task: int | None
    """The first instruction of the task that the handler wakes. None: there is none."""
    giver: int | None = None
    """The instruction at which a task that the handler wakes is about to wake `task`. The latency of `task` then counts
    from there. None: the handler wakes `task`."""
    clock_hz: int
    period_cycles: int | None
    """The cycles from the snapshot to the next beginning of the background's period. None: it is unknown."""
    tick_cycles: int | None
    """The cycles from one tick interrupt to the next. None: none was seen."""
    symbols: tuple[tuple[int, int, str], ...]
    """(address, size in bytes, name) of functions and objects, by address."""
    manifest: Mapping[str, Any]
    """Everything that can change a number."""
    interrupts: Mapping[int, FirmwareRaisedInterrupt] = field(default_factory=dict)
    """The exceptions that an image's own hardware raises in `LOOK_S` from the snapshot on. Empty for a benchmark."""
    deviations: Deviations
    """The declared deviations of the kernel from the port contract. Empty for a user's image."""
    earlier_arrivals: int = 0
    """How often the interrupt was raised before the snapshot, so that a cache can hold the code that it runs."""


@dataclass(frozen=True, slots=True)
class InterruptSweepTarget:
    """The interrupt that a sweep of an image raises, and the place where it begins, by the user's names."""

    interrupt: str
    """`irq26`, `26`, an exception by name (`nmi`, `pendsv`, `systick`), or its handler (`TIM2_IRQHandler`)."""
    task: str | None = None
    """Symbol or address."""
    start: str = "0"
    """Symbol or address that executes for the first time, or cycles since reset."""
    core: int = 0
    earlier_arrivals: int = 0
    """How often the interrupt is raised after `start`, before the sweep begins."""


def _sweepable_benchmarks(catalogue: Catalogue) -> list[str]:
    """Returns the ids of the benchmarks that can be swept for the worst case: those with a `[phase]`."""
    return [name for name, entry in catalogue.benchmarks.items() if entry.facts.phase]


def default_interrupt_sweep_benchmark(catalogue: Catalogue) -> str:
    """Returns the id of the default benchmark for sweeps of an interrupt's arrival: the first one whose background can
    call a chosen service."""
    return next(name for name in _sweepable_benchmarks(catalogue) if catalogue.find_benchmark(name).facts.picks)


def settings_for_background_service_calls(facts: Benchmark, service: str) -> dict[str, str]:
    """Returns the settings with which a benchmark's background task calls this kernel service. Empty if it cannot call
    it."""
    return {
        f"param.{name}": str(services.index(service)) for name, services in facts.picks.items() if service in services
    }


def kernel_services_of_background_task(facts: Benchmark) -> list[str]:
    """Returns the kernel services that a benchmark's background task can call."""
    return [service for services in facts.picks.values() for service in services]


def prepare_benchmark_sweep_scenario(
    catalogue: Catalogue,
    name: str,
    options: PlanOptions,
    *,
    core: int = 0,
    earlier_arrivals: int = 0,
    progress: Progress = lambda *_: None,
) -> InterruptSweepScenario:
    """Returns the start of a sweep of a benchmark's image, at the beginning of a period in its measurement window.

    The interrupt is raised `earlier_arrivals` times before this period. Raises PlanError if the image cannot be swept,
    also BuildError, ConformanceError, RunError."""
    (point,) = make_measurement_plan(catalogue, [name], options).points
    facts = catalogue.find_benchmark(point.benchmark).facts
    if facts.phase is None:
        sweepable = ", ".join(_sweepable_benchmarks(catalogue))
        raise PlanError(
            f"{facts.id} has no [phase] in its benchmark.toml, so it cannot be swept; these can: {sweepable}."
        )
    if point.not_applicable is not None:
        raise PlanError(f"{facts.title} is n/a on {point.board} with {point.kernel}: {point.not_applicable}.")
    if core >= point.cores:
        raise PlanError(f"The image runs on {count_with_noun(point.cores, 'core')}; there is no core {core}.")
    progress("building", 0.0)
    built = build_measurement_point_image(catalogue, point)
    conformance = check_port_conformance(catalogue, point, progress)
    conformance.require_port_conforms()
    board = catalogue.find_board(point.board).facts
    manifest = make_measurement_manifest(
        point,
        board,
        built,
        virtual_board_manifest_entries(catalogue.root, point, board),
        conformance.outcomes_by_conformance_check(),
    )
    machine: Any = make_board_at_reset(board, cores=point.cores)
    apply_timing_settings_to_virtual_board(machine, point.timing)
    image = built.elf_path.read_bytes()
    load_image_into_board(machine, image, built.elf_path.name)
    _run_to_measurement_window(machine, point.clock_hz or board.clock.sys_hz)
    marks = read_interval_marker_addresses(image, built.elf_path.name)
    at = {
        tag: {mark.address for mark in marks if _interval_marker_number(mark) == tag}
        for tag in (facts.phase.period, facts.phase.woken)
    }
    gives = {mark.address for mark in marks if _interval_marker_number(mark) == facts.phase.given}
    for addresses, what in ((at[facts.phase.woken], "is woken"), (gives, "is about to be woken")):
        if len(addresses) > 1:
            raise ImageFileError(
                f"{built.elf_path} has {len(addresses)} places where the task {what} instead of one; this is an error "
                "in the benchmark, please report it."
            )
    picked = facts.kernel_services_needed_by_benchmark(point.params)[len(facts.services) :]
    exception = FIRST_EXTERNAL + board.irq.soft
    beginning = _run_to_first_tick_free_period(machine, at[facts.phase.period])
    if earlier_arrivals:
        _trigger_exceptions_before_sweep(machine, exception, core, earlier_arrivals)
        beginning = _run_to_first_tick_free_period(machine, at[facts.phase.period])
    return InterruptSweepScenario(
        title=f"{', '.join(picked) or facts.title}, {catalogue.find_kernel(point.kernel).facts.title} on {board.title}",
        board=board,
        elf=built.elf_path,
        snapshot=beginning.snapshot,
        exception=exception,
        core=core,
        task=next(iter(at[facts.phase.woken]), None),
        giver=next(iter(gives), None),
        clock_hz=machine.clock_hz(),
        period_cycles=beginning.period_cycles,
        tick_cycles=beginning.tick_cycles,
        symbols=tuple(first_symbol_per_address(machine.symbols())),
        manifest=manifest,
        deviations={point.kernel: conformance.contract_deviation_reasons}
        if conformance.contract_deviation_reasons
        else {},
        earlier_arrivals=earlier_arrivals,
    )


def prepare_elf_image_sweep_scenario(
    image: Path, board: Board, target: InterruptSweepTarget, *, cores: int | None = None
) -> InterruptSweepScenario:
    """Returns the start of a sweep of a user's ELF file, after it has run to `target.start`. Raises ImageFileError,
    SymbolError, PlanError, RunError."""
    machine: Any = make_board_at_reset(board, cores=cores or board.cores)
    load_image_into_board(machine, read_program_image(image), image.name)
    task = find_symbol_address(machine, target.task) if target.task is not None else None
    cycle = parse_cycle_count(target.start)
    if cycle is not None:
        _run_machine_for_cycles(machine, cycle)
    else:
        address = find_symbol_address(machine, target.start)
        finder = machine.snapshot().open()
        with convert_simulator_errors(SymbolError):
            finder.until(address)
        stop = finder.run(int(SETUP_LIMIT_S * board.clock.sys_hz))
        if stop["reason"] != "until":
            raise RunError(f"{target.start} did not execute within {SETUP_LIMIT_S:g} s of virtual time.")
        _run_machine_for_cycles(machine, finder.cycle())
    exception = find_exception_number(machine, board, target.core, target.interrupt)
    _trigger_exceptions_before_sweep(machine, exception, target.core, target.earlier_arrivals)
    beginning = _run_to_first_tick_free_period(machine, set())
    snapshot = machine.snapshot()
    return InterruptSweepScenario(
        title=f"{image.name} on {board.title}",
        board=board,
        elf=image,
        snapshot=snapshot,
        exception=exception,
        core=target.core,
        task=task,
        clock_hz=machine.clock_hz(),
        period_cycles=None,
        tick_cycles=beginning.tick_cycles,
        interrupts=find_firmware_raised_interrupts(snapshot, target.core, int(LOOK_S * machine.clock_hz())),
        symbols=tuple(first_symbol_per_address(machine.symbols())),
        manifest={"image": image.name, "board": board.model_dump(mode="json")},
        deviations={},
        earlier_arrivals=target.earlier_arrivals,
    )


def _interval_marker_number(mark: Any) -> int:
    """Returns the number of a mark: twice the series' number, plus 1 for an end."""
    return 2 * mark.series + mark.is_end  # type: ignore[no-any-return]


def _run_machine_for_cycles(machine: Any, cycles: int) -> None:
    """Runs a machine for so many cycles. Raises RunError if it stops by itself."""
    end = machine.cycle() + cycles
    while machine.cycle() < end:
        stop = machine.run(end - machine.cycle())
        if stop["reason"] not in {"cycles", "until", "watch"}:
            raise RunError(NEVER_STOPPED.format(**stop))


def _trigger_exceptions_before_sweep(machine: Any, exception: int, core: int, count: int) -> None:
    """Raises an exception so often, and runs the machine for `EARLIER_ARRIVAL_S` after each time. Raises RunError if
    the machine stops by itself."""
    for _ in range(count):
        machine.inject_exception(machine.cycle(), exception, core)
        _run_machine_for_cycles(machine, int(EARLIER_ARRIVAL_S * machine.clock_hz()))


def _run_to_measurement_window(machine: Any, clock_hz: int) -> None:
    """Runs a machine until its image opens the measurement window. Raises RunError if it does not."""
    with convert_simulator_errors(RunError):
        word = find_symbol_address(machine, WINDOW_SYMBOL)
    finder = machine.snapshot().open()
    finder.watch_write(word, 1, True)
    limit = int(SETUP_LIMIT_S * clock_hz)
    while int.from_bytes(finder.read(word, 4), "little") != 1:
        stop = finder.run(limit)
        if stop["reason"] != "watch":
            raise RunError(f"The image did not open its window ({stop['reason']}): {stop['detail']}.")
    _run_machine_for_cycles(machine, finder.cycle())


@dataclass(frozen=True, slots=True)
class _SweepStartSnapshot:
    """A snapshot of the board where a sweep begins, with the lengths of its period and tick in cycles."""

    snapshot: "Snapshot"
    period_cycles: int | None
    tick_cycles: int | None


def _exact_tick_length_in_cycles(machine: Any, seen: float) -> int:
    """Returns the exact length of a tick in cycles. `seen` is the observed one, which locks and masked interrupts
    change. SysTick's reload register has the exact one if it is near, and else a whole number of ticks a second is
    assumed."""
    set_cycles = read_systick_period_in_cycles(machine)
    if set_cycles is not None and abs(set_cycles - seen) <= seen / _NEAR:
        return set_cycles
    clock_hz: int = machine.clock_hz()
    return round(clock_hz / max(1, round(clock_hz / seen)))


def _run_to_first_tick_free_period(machine: Any, marks: set[int]) -> _SweepStartSnapshot:
    """Runs the machine to the first marked period that contains no tick, if there is one. Without marks, or without
    such a period in the first milliseconds, it stays where it is."""
    finder = machine.snapshot().open()
    finder.trace_exceptions(True)
    for mark in marks:
        finder.watch_exec(mark, 1)
    _run_machine_for_cycles(finder, int(SETTLE_S * machine.clock_hz()))
    events = np.frombuffer(finder.take_events(), EVENT)
    entered = events[(events["kind"] == KIND_EXCEPTION_ENTER) & (events["id"] == SYSTICK) & (events["core"] == 0)]
    ticks = (entered["cycle"] - entered["value"]).astype(np.int64)
    tick_cycles = _exact_tick_length_in_cycles(machine, float(np.median(np.diff(ticks)))) if len(ticks) > 1 else None
    begins = np.unique(events["cycle"][(events["kind"] != KIND_EXCEPTION_ENTER) & np.isin(events["pc"], list(marks))])
    after = ticks[0] if len(ticks) else machine.cycle()
    begins = begins[begins.astype(np.int64) >= after].astype(np.int64)
    if len(begins) < 2:
        return _SweepStartSnapshot(machine.snapshot(), None, tick_cycles)
    lengths = np.diff(begins)
    whole = [not np.any((ticks >= begin) & (ticks < end)) for begin, end in pairwise(begins)]
    first = whole.index(True) if any(whole) else 0
    _run_machine_for_cycles(machine, int(begins[first]) - machine.cycle())
    return _SweepStartSnapshot(machine.snapshot(), int(lengths[first]), tick_cycles)
