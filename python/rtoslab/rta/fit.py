"""Overheads of a kernel on a board, from task sets made to show them, run on the virtual board."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from pydantic import ValidationError

from rtoslab.base import CheckError, OverheadsError, build_folder, make_folder, package_digest, write_whole
from rtoslab.catalogue import Catalogue
from rtoslab.intake import read_object
from rtoslab.rta import training
from rtoslab.rta.entries import Interruption, Leave, Ledger, Stretch
from rtoslab.rta.firmware import Firmware
from rtoslab.rta.fitcores import around, contention_permille, late_releases, shared
from rtoslab.rta.fitted_lines import fit, upper
from rtoslab.rta.ledger import enter
from rtoslab.rta.overheads import Events, Fit, Interrupt, Job, Kernel, Overheads, Switch, Tick
from rtoslab.rta.prices import Prices
from rtoslab.rta.record import Trace
from rtoslab.rta.trace import run
from rtoslab.rta.work import Work
from rtoslab.targets import simulator_fingerprint

LEAST_RESERVE, _RESERVED = 8, 4

Progress = Callable[[str, float], None]


def measure(
    catalogue: Catalogue,
    firmware: Firmware,
    work: Work,
    progress: Progress = lambda *_: None,
    one_core: Overheads | None = None,
) -> Overheads:
    """Fits the overheads, or finds them fitted for the same image, virtual board and way to fit. Raises CheckError.

    `one_core`: those of the same kernel on one core, which an image for several needs besides.
    """
    digest = hashlib.sha256(
        json.dumps(
            [
                package_digest(),
                firmware.build.elf_sha256,
                simulator_fingerprint(),
                sorted(firmware.point.timing.items()),
                *([] if one_core is None else [one_core.model_dump(mode="json")]),
            ]
        ).encode()
    ).hexdigest()
    cached = build_folder(catalogue.root) / "overheads" / f"{firmware.kernel.id}-{firmware.board.id}-{digest[:16]}.json"
    try:
        return Overheads.model_validate(read_object(cached, "the overheads", OverheadsError))
    except (OverheadsError, ValidationError):
        pass
    if firmware.cores > 1 and one_core is None:
        raise CheckError(f"Overheads of {firmware.kernel.id} on several cores need those on one; measure them first.")
    fitted_overheads = fit_overheads(enter(_training_traces(firmware, work, progress), work), firmware, one_core)
    make_folder(cached.parent)
    write_whole(cached, fitted_overheads.model_dump_json(indent=1), "the overheads")
    return fitted_overheads


def _training_traces(firmware: Firmware, work: Work, progress: Progress) -> list[Trace]:
    """All training sets, run."""
    traces: list[Trace] = []
    plain = [*training.sets(firmware, work), *training.long_jobs(firmware, work)]
    if firmware.cores > 1:
        plain = [*training.at_home(plain, firmware), *training.on_all_cores(firmware, work)]
    for rows, ticks in plain:
        traces.append(run(firmware, rows, ticks))
        progress("overheads", len(traces) / (len(plain) * 2))
    reach = max(job.begin - job.release for job in traces[0].jobs)
    met = training.meetings(firmware, work, reach)
    sets = list(met if firmware.cores == 1 else training.at_home(met, firmware))
    for rows, ticks in sets:
        traces.append(run(firmware, rows, ticks))
        progress("overheads", 0.5 + (len(traces) - len(plain)) / (len(sets) * 2))
    if firmware.events:
        given = [*training.gives_in_ticks(firmware, work, reach), *training.events(firmware, work)]
        traces += [run(firmware, rows, ticks, lines) for rows, ticks, lines in given]
    return traces


def fit_overheads(ledger: Ledger, firmware: Firmware, one_core: Overheads | None = None) -> Overheads:
    """The models, from the ledger's entries that are made of one thing. Raises CheckError where a kind is missing.

    `one_core`: of the same kernel on one core, where this ledger is of several.
    """
    single = [
        entry for entry in ledger.interruptions if entry.ticks == 1 and not entry.meets_kernel and _by_tick(entry)
    ]
    ticks = _by((item.released, item.cycles) for item in single if item.switches == 0)
    starts = [start.cycles for start in ledger.starts if _whole(start) and not start.woken]
    leaves = [leave for leave in _plain(ledger.leaves) if not leave.stretch.woken]
    ends = _by((leave.tasks, leave.stretch.cycles) for leave in leaves)
    down = _by((max(0, leave.distance - 1), leave.chain.cycles) for leave in leaves if not leave.to_idle)
    to_idle = [leave.chain.cycles for leave in leaves if leave.to_idle]
    switching = [item for item in single if item.switches == 1]
    round_ = [
        -(-(stretch.cycles - work) // len(stretch.interruptions))
        for stretch, work in ledger.works
        if stretch.interruptions and not stretch.calls
    ]
    _require_all(firmware, {
        "ticks that release none, one and more tasks": len(ticks) > 2,
        "switches up, down, to and from the idle task": len(ledger.handlers) == 2 and bool(down and to_idle),
        "starts and ends of jobs": bool(starts and ends),
        "interrupted jobs": bool(round_ and ledger.entries),
    })  # fmt: skip
    tick_base, tick_per_task = upper(ticks)
    down_base, down_per_task = upper(down)
    end_base, end_per_task = upper(ends)
    entry, permille = max(ledger.entries), 0
    interrupt = Interrupt(entry_cycles=entry, exit_cycles=max(0, max(round_) - entry) + _reserve(round_))
    if one_core is not None:
        permille = contention_permille(ledger)
        interrupt, round_ = around(one_core.interrupt, ledger.entries, permille), []

    simple = Overheads(
        kernel=firmware.kernel.id,
        board=firmware.board.id,
        clock_hz=firmware.clock_hz,
        config={**firmware.point.kernel_config, "opt": firmware.point.opt},
        note="measured on the virtual board; largest values observed",
        tick=Tick(
            period_cycles=firmware.tick_cycles,
            base_cycles=tick_base + max(_reserve(tick) for tick in ticks.values()),
            per_task_cycles=tick_per_task,
            switch_cycles=_hand_over_cycles(switching, tick_base, tick_per_task, among_equals=False),
            slice_cycles=_hand_over_cycles(switching, tick_base, tick_per_task, among_equals=True),
        ),
        switch=Switch(
            up_cycles=max(ledger.handlers["up"]),
            down_cycles=down_base,
            down_per_priority_cycles=down_per_task,
            to_idle_cycles=max(to_idle),
            from_idle_cycles=max(ledger.handlers["from_idle"]),
        ),
        interrupt=interrupt,
        job=Job(
            start_cycles=_most(starts) if firmware.events else max(starts) + _reserve(starts),
            work_cycles=_late_work(ledger, permille),
            end_cycles=end_base + max(_reserve(end) for end in ends.values()),
            end_per_task_cycles=end_per_task,
        ),
        equals="slices" if ledger.equals_rotate else "any" if ledger.preempted_goes_behind else "fifo",
        fit=_lines(ledger, ticks, down, ends, {"to_idle": to_idle, "around": round_, "starts": starts}),
    )
    return _whole_of(simple, ledger, firmware, permille)


def _hand_over_cycles(
    switching: Iterable[Interruption], tick_base: int, tick_per_task: int, *, among_equals: bool
) -> int | None:
    """Cycles that ticks with a switch cost more than those without one. None where no such tick was seen."""
    more = [
        max(0, entry.cycles - tick_base - tick_per_task * entry.released)
        for entry in switching
        if entry.among_equals == among_equals
    ]
    return max(more) + _reserve(more) if more else None


def _whole_of(simple: Overheads, ledger: Ledger, firmware: Firmware, permille: int) -> Overheads:
    """Adds the costs that the image has besides: events, several cores."""
    if firmware.events:
        simple = simple.model_copy(update={"events": with_events(simple, ledger)})
    if firmware.cores == 1:
        return _compose(simple, ledger)
    simple = shared(simple, ledger, firmware.cores, permille, _most)
    return late_releases(_compose(simple, ledger), ledger, _most)


def _require_all(firmware: Firmware, seen: Mapping[str, bool]) -> None:
    """Raises CheckError for a kind that was not seen."""
    for what, kind in seen.items():
        if not kind:
            raise CheckError(
                f"No overheads can be fitted for {firmware.kernel.id} on {firmware.board.id}: "
                f"the virtual board saw no {what}."
            )


def _by_tick(interruption: Interruption) -> bool:
    """Nothing but the kernel's tick was in it."""
    return not interruption.irqs.count and not interruption.yields


def _whole(stretch: Stretch) -> bool:
    """Nothing came in between, nor had to be made up for."""
    return not stretch.interruptions and not stretch.compensated


def _plain(leaves: Iterable[Leave]) -> list[Leave]:
    """Ends of jobs that nothing interrupted."""
    quiet = (
        leave for leave in leaves if not leave.chain.ticks and not leave.chain.yields and not leave.chain.irqs.count
    )
    return [leave for leave in quiet if _whole(leave.stretch)]


def with_events(simple: Overheads, ledger: Ledger) -> Events:
    """Returns what interrupts that release tasks and work under locks show besides. 0 where nothing was seen."""
    single = [
        interruption
        for interruption in ledger.interruptions
        if interruption.irqs.count == 1 and interruption.irqs.first and not interruption.ticks
    ]
    silent = [entry.cycles - entry.irqs.work for entry in single if not entry.irqs.gives and not entry.switches]
    handler = _most(silent)
    giving = [max(0, entry.cycles - entry.irqs.work - handler) for entry in single if entry.irqs.gives]
    ends = [leave.stretch.cycles for leave in _plain(ledger.leaves) if leave.stretch.woken]
    starts = [start.cycles for start in ledger.starts if start.woken and not start.interruptions]
    quiet = [(entry, work) for entry, work in ledger.works if not entry.interruptions]
    calls = [-(-(entry.cycles - work) // entry.calls) for entry, work in quiet if entry.calls and not entry.handovers]
    plain = [
        handover.cycles
        for handover in ledger.handovers
        if handover.switches == 1 and not handover.ticks and not handover.irqs.count
    ]
    events = Events(
        handler_cycles=handler,
        give_cycles=_most(giving),
        start_cycles=_most(starts),
        end_cycles=_most(ends),
        call_cycles=_most(calls),
        handover_cycles=_most(plain),
    )
    prices = Prices(simple.model_copy(update={"events": events}))
    met = [
        -(-max(0, entry.cycles - prices.work(entry, work)) // entry.handovers)
        for entry, work in ledger.works
        if entry.handovers
    ]
    mixed = [
        -(-max(0, interruption.cycles - prices.interruption(interruption)) // interruption.irqs.count)
        for interruption in ledger.interruptions
        if interruption.irqs.count and not interruption.meets_kernel
    ]
    return events.model_copy(
        update={"contended_cycles": _most(met), "handler_cycles": handler + (_most(mixed) if any(mixed) else 0)}
    )


def _late_work(ledger: Ledger, permille: int) -> int:
    """Returns what plain work lasted longer than it should. Its reserve is as much again."""
    quiet = ((item, work) for item, work in ledger.works if not item.interruptions and not item.calls)
    return 2 * max(0, *(item.cycles - work - math.ceil(work * permille / 1000) for item, work in quiet))


def _most(cycles: Sequence[int]) -> int:
    """Returns the largest value with twice the reserve, because there are fewer of these."""
    return max(cycles) + 2 * _reserve(cycles) if cycles else 0


def _lines(
    ledger: Ledger,
    ticks: Mapping[int, list[int]],
    down: Mapping[int, list[int]],
    ends: Mapping[int, list[int]],
    constants: Mapping[str, list[int]],
) -> tuple[Fit, ...]:
    """Least squares, for the reader."""
    return (
        fit("tick", "base + slope for each task released", ticks),
        fit("switch up", "constant", {0: ledger.handlers["up"]}),
        fit("switch down", "base at one priority below, slope for each further", down),
        fit("switch to idle", "constant", {0: constants["to_idle"]}),
        fit("switch from idle", "constant", {0: ledger.handlers["from_idle"]}),
        fit("entry of an interrupt", "constant", {0: ledger.entries}),
        *(fit("entry and exit of an interrupt", "constant", {0: value}) for value in (constants["around"],) if value),
        fit("start of a job", "constant", {0: constants["starts"]}),
        fit("end of a job", "base + slope for each task of the set", ends),
        *([fit("tick waits for the kernel", "constant", {0: ledger.delays})] if ledger.delays else []),
    )


def _compose(simple: Overheads, ledger: Ledger) -> Overheads:
    """Adds the costs that appear in combined entries alone: ticks that meet the kernel at work."""
    prices = Prices(simple)
    stretches = [(start, prices.start(start)) for start in ledger.starts]
    met = [(item.cycles - price, _ticks_in(item)) for item, price in stretches]
    met += [
        (leave.cycles - prices.leave(leave), leave.chain.ticks + _ticks_in(leave.stretch)) for leave in ledger.leaves
    ]
    per_tick = [max(0, -(-excess // ticks)) for excess, ticks in met if ticks] or [0]
    waits = [max(0, wait.cycles - prices.wait(wait)) for wait in ledger.waits if not wait.remote]
    return simple.model_copy(
        update={
            "tick": simple.tick.model_copy(update={"deferred_cycles": max(per_tick) + _reserve(per_tick)}),
            "masks": Kernel(masked_cycles=_most(ledger.delays), wait_cycles=_most(waits)),
        }
    )


def _ticks_in(stretch: Stretch) -> int:
    return sum(one.ticks for one in stretch.interruptions) + len(stretch.compensated)


def _reserve(cycles: Sequence[int]) -> int:
    """Returns a reserve for cases that sampling missed: a part of how far the largest is above the median.

    A cost that does not depend on the kernel's path (a fetch that misses, a branch of a list's walk) has next to none.
    """
    return LEAST_RESERVE + math.ceil((max(cycles) - median(cycles)) / _RESERVED)


def _by(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
