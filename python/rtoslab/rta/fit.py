"""Fits the overheads of a kernel on a board, from task sets run on the virtual board that show each of them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from pydantic import ValidationError

from rtoslab.base import (
    OverheadsFileError,
    TaskSetCheckError,
    build_folder,
    make_folder,
    package_digest,
    write_file_atomically,
)
from rtoslab.catalogue import DEFAULT_CODE, Catalogue
from rtoslab.intake import read_json_object
from rtoslab.rta import training
from rtoslab.rta.entries import CycleLedger, JobEnd, JobPhaseExecution, TaskInterruption
from rtoslab.rta.firmware import TaskSetFirmware
from rtoslab.rta.fitcores import (
    add_release_delay_to_overheads,
    fit_contention_permille,
    kernel_overheads_with_cross_core_waits,
    kernel_overheads_with_job_end_interrupts,
    kernel_overheads_with_sram_bus_conflicts,
    multicore_interrupt_costs,
    overheads_with_multicore_costs,
    overheads_with_remote_releases,
)
from rtoslab.rta.fitted_lines import (
    LEAST_RESERVE,
    RESERVE_PART,
    fit_least_squares_line,
    fit_upper_bound_line,
    group_by_key,
    interrupt_costs_from_ticks,
    largest_cost_with_double_margin,
    sampling_safety_margin_cycles,
)
from rtoslab.rta.ledger import make_cycle_ledger
from rtoslab.rta.overheads import (
    EventCosts,
    JobCosts,
    KernelOverheads,
    LinearOverheadFit,
    MaskingTimes,
    MulticoreInterferenceCosts,
    SendCosts,
    TaskSwitchCosts,
    TickCosts,
    TimerCosts,
)
from rtoslab.rta.prices import CycleLedgerEntryCosts
from rtoslab.rta.record import TaskSetTrace
from rtoslab.rta.rows import InterruptLine, TaskRow
from rtoslab.rta.trace import FullQueueError, LostInterruptError, has_lost_interrupt, run_task_set
from rtoslab.rta.work import BusyWork
from rtoslab.targets import simulator_fingerprint

Progress = Callable[[str, float], None]


def measure_kernel_overheads(
    catalogue: Catalogue,
    firmware: TaskSetFirmware,
    work: BusyWork,
    progress: Progress = lambda *_: None,
    one_core: KernelOverheads | None = None,
) -> KernelOverheads:
    """Returns the overheads of a kernel on a board, measured in training runs or read from the cache.
    Raises TaskSetCheckError.

    `one_core`: the overheads of the same kernel on one core, which an image for several cores needs besides.
    """
    digest = hashlib.sha256(
        json.dumps(
            [
                package_digest(),
                firmware.build.elf_sha256,
                simulator_fingerprint(),
                sorted(firmware.point.timing.items()),
                *([] if one_core is None else [one_core.model_dump(mode="json")]),
                *([] if firmware.other_build is None else [firmware.other_build.elf_sha256]),
            ]
        ).encode()
    ).hexdigest()
    cached = (
        build_folder(catalogue.root) / "overheads" / f"{firmware.kernel_name}-{firmware.board.id}-{digest[:16]}.json"
    )
    try:
        return KernelOverheads.model_validate(read_json_object(cached, "the overheads", OverheadsFileError))
    except (OverheadsFileError, ValidationError):
        pass
    if (firmware.is_smp or firmware.does_each_core_run_own_kernel) and one_core is None:
        raise TaskSetCheckError(
            f"The overheads of {firmware.kernel.id} on several cores need its overheads on one core; "
            "measure those first."
        )
    fitted_overheads = fit_kernel_overheads(
        make_cycle_ledger(_run_calibration_task_sets(firmware, work, progress), work), firmware, one_core
    )
    make_folder(cached.parent)
    write_file_atomically(cached, fitted_overheads.model_dump_json(indent=1), "the overheads")
    return fitted_overheads


def _run_calibration_task_sets(firmware: TaskSetFirmware, work: BusyWork, progress: Progress) -> list[TaskSetTrace]:
    """Runs the training task sets and returns their traces."""
    if firmware.does_each_core_run_own_kernel:
        return _run_calibration_sets_on_both_kernels(firmware, work, progress)
    traces: list[TaskSetTrace] = []
    plain = [*training.basic_calibration_task_sets(firmware, work), *training.long_job_calibration_sets(firmware, work)]
    if firmware.is_smp:
        plain = [
            *training.task_sets_spread_over_cores(plain, firmware),
            *training.calibration_sets_on_all_cores(firmware, work),
        ]
        plain = plain[:: training.systematic_calibration_task_set_stride(firmware)]
    for rows, ticks in plain:
        traces.append(run_task_set(firmware, rows, ticks))
        progress("overheads", len(traces) / (len(plain) * 2))
    reach = max(job.begin - job.release for job in traces[0].jobs)
    met = training.calibration_sets_with_ticks_in_switches(firmware, work, reach)
    sets = list(met if firmware.core_count == 1 else training.task_sets_spread_over_cores(met, firmware))
    sets = sets[:: training.systematic_calibration_task_set_stride(firmware)]
    for rows, ticks in sets:
        traces.append(run_task_set(firmware, rows, ticks))
        progress("overheads", 0.5 + (len(traces) - len(plain)) / (len(sets) * 2))
    if firmware.can_interrupts_release_tasks:
        near = training.semaphore_calibration_sets_near_ticks(firmware, work, reach)
        near = near if firmware.core_count == 1 else training.semaphore_calibration_sets_on_all_cores(near, firmware)
        given = [*near, *training.event_driven_calibration_task_sets(firmware, work)]
        traces += (
            [run_task_set(firmware, rows, ticks, lines) for rows, ticks, lines in given]
            if firmware.core_count == 1
            else _traces_without_lost_interrupts(firmware, given)
        )
    if firmware.supports_task_releases:
        sent = [
            *training.calibration_sets_with_releases_near_ticks(firmware, work, reach),
            *training.task_release_calibration_sets(firmware, work),
        ]
        sent = [
            *_calibration_task_sets_for_each_core(firmware, sent),
            *training.random_task_release_calibration_sets(firmware, work),
        ]
        traces += _traces_without_lost_interrupts(firmware, sent)
    if firmware.supports_kernel_timers:
        expiring = [
            *training.timer_expiry_calibration_sets_near_ticks(firmware, work, reach),
            *training.timer_calibration_sets(firmware, work),
        ]
        expiring = [
            *_calibration_task_sets_for_each_core(firmware, expiring),
            *training.random_calibration_task_sets_with_timers(firmware, work),
        ]
        traces += _traces_without_lost_interrupts(firmware, expiring)
    if firmware.can_tasks_release_several_tasks:
        traces += _traces_without_lost_interrupts(firmware, training.fork_join_calibration_task_sets(firmware, work))
    return traces


def _run_calibration_sets_on_both_kernels(
    firmware: TaskSetFirmware, work: BusyWork, progress: Progress
) -> list[TaskSetTrace]:
    """Runs the training task sets of one core on both kernels at once, and returns their traces."""
    one_kernel = firmware.as_single_core_firmware
    plain: list[training.TrainingSet] = [
        (rows, ticks, [])
        for rows, ticks in (
            *training.basic_calibration_task_sets(one_kernel, work),
            *training.long_job_calibration_sets(one_kernel, work),
        )
    ]
    first = run_task_set(firmware, *next(training.calibration_sets_on_both_kernels(plain)))
    reach = max(job.begin - job.release for job in first.jobs)
    sets = [
        *plain,
        *(
            (rows, ticks, [])
            for rows, ticks in training.calibration_sets_with_ticks_in_switches(one_kernel, work, reach)
        ),
    ]
    if firmware.can_interrupts_release_tasks:
        sets += [
            *training.semaphore_calibration_sets_near_ticks(one_kernel, work, reach),
            *training.event_driven_calibration_task_sets(one_kernel, work),
        ]
    if firmware.supports_task_releases:
        sets += [
            *training.calibration_sets_with_releases_near_ticks(one_kernel, work, reach),
            *training.task_release_calibration_sets(one_kernel, work),
        ]
        sets += training.random_task_release_calibration_sets(one_kernel, work)
    if firmware.supports_kernel_timers:
        sets += [
            *training.timer_expiry_calibration_sets_near_ticks(one_kernel, work, reach),
            *training.timer_calibration_sets(one_kernel, work),
        ]
        sets += training.random_calibration_task_sets_with_timers(one_kernel, work)
    traces = []
    for trace in _traces_without_lost_interrupts(firmware, training.calibration_sets_on_both_kernels(sets)):
        traces.append(trace)
        progress("overheads", len(traces) / len(sets))
    return traces


def _calibration_task_sets_for_each_core(
    firmware: TaskSetFirmware, sets: list[training.TrainingSet]
) -> list[training.TrainingSet]:
    """Returns training sets with their tasks on each of the cores."""
    if firmware.core_count == 1:
        return sets
    return [
        *training.spread_calibration_sets_over_cores(
            sets[:: training.systematic_calibration_task_set_stride(firmware)], firmware
        )
    ]


def _traces_without_lost_interrupts(
    firmware: TaskSetFirmware, sets: Iterable[tuple[list[TaskRow], int, list[InterruptLine]]]
) -> Iterator[TaskSetTrace]:
    """Yields the traces of training sets, without those in which a burst came faster than its handler could begin, or
    messages faster than their receiver took them.
    """
    for rows, ticks, lines in sets:
        try:
            trace = run_task_set(firmware, rows, ticks, lines)
        except (FullQueueError, LostInterruptError):
            continue
        if not has_lost_interrupt(trace):
            yield trace


def fit_kernel_overheads(
    ledger: CycleLedger, firmware: TaskSetFirmware, one_core: KernelOverheads | None = None
) -> KernelOverheads:
    """Returns the cycles a kernel adds to its tasks, fitted to a ledger. Raises TaskSetCheckError if a kind is missing.

    `one_core`: the overheads of the same kernel on one core, where this ledger is of several.
    """
    single = [item for item in ledger.interruptions if _is_interruption_by_single_tick(item)]
    ticks = group_by_key((item.released, item.cycles) for item in single if item.switches == 0)
    starts = [
        start.cycles
        for start in ledger.starts
        if _is_job_phase_uninterrupted(start) and _is_task_released_by_tick(start)
    ]
    all_leaves = _uninterrupted_job_ends(ledger.job_ends)
    leaves = [job_end for job_end in all_leaves if _is_task_released_by_tick(job_end.span)]
    switched = all_leaves if firmware.is_smp else leaves  # a wait for a semaphore switches in more cycles there
    ends = group_by_key((job_end.task_count, job_end.span.cycles) for job_end in leaves)
    down, to_idle = _job_end_switch_handler_durations(switched)
    switching = [item for item in single if item.switches == 1]
    round_ = [
        -(-(span.cycles - work) // len(span.interruptions))
        for span, work in ledger.works
        if span.interruptions and not span.kernel_calls
    ]
    _require_calibration_samples(firmware, {
        "ticks that release none, one and more tasks": len(ticks) > 2,
        "switches up, down, to and from the idle task": len(ledger.switch_handlers) == 2 and bool(down and to_idle),
        "starts and ends of jobs": bool(starts and ends),
        "interrupted jobs": bool(round_ and ledger.tick_entries),
    })  # fmt: skip
    tick_base, tick_per_task = fit_upper_bound_line(ticks)
    down_base, down_per_task = fit_upper_bound_line(down)
    end_base, end_per_task = fit_upper_bound_line(ends)
    interrupt, permille = interrupt_costs_from_ticks(ledger.tick_entries, round_), 0
    if one_core is not None:
        permille = fit_contention_permille(ledger)
        interrupt, round_ = multicore_interrupt_costs(one_core.interrupt, ledger.tick_entries, permille), []
    start_margins = 2 if firmware.can_interrupts_release_tasks else 1
    work_reserve = LEAST_RESERVE if firmware.supports_task_releases else 0
    simple = KernelOverheads(
        kernel=firmware.kernel_name,
        board=firmware.board.id,
        clock_hz=firmware.clock_hz,
        config=_image_configuration_of_overheads(firmware),
        note="measured on the virtual board; largest values observed",
        tick=TickCosts(
            period_cycles=firmware.tick_cycles,
            base_cycles=tick_base + max(sampling_safety_margin_cycles(tick) for tick in ticks.values()),
            per_task_cycles=tick_per_task,
            switch_cycles=_task_switch_cycles_in_tick(switching, tick_base, tick_per_task, among_equals=False),
            slice_cycles=_task_switch_cycles_in_tick(switching, tick_base, tick_per_task, among_equals=True),
        ),
        switch=TaskSwitchCosts(
            up_cycles=max(ledger.switch_handlers["up"]),
            down_cycles=down_base,
            down_per_priority_cycles=down_per_task,
            to_idle_cycles=max(to_idle),
            from_idle_cycles=max(ledger.switch_handlers["from_idle"]),
        ),
        interrupt=interrupt,
        job=JobCosts(
            start_cycles=max(starts) + start_margins * sampling_safety_margin_cycles(starts),
            # Some paths to a job's work cost a cycle of it, and random sets of this kind meet them seldom.
            work_cycles=max(_work_cycles_above_calibration(ledger, permille), work_reserve),
            end_cycles=end_base + max(sampling_safety_margin_cycles(end) for end in ends.values()),
            end_per_task_cycles=end_per_task,
        ),
        equals="slices" if ledger.equals_rotate else "any" if ledger.preempted_goes_behind else "fifo",
        fit=_fit_kernel_overhead_lines(
            ledger, ticks, down, ends, {"to_idle": to_idle, "around": round_, "starts": starts}
        ),
    )
    return _overheads_with_event_costs(simple, ledger, firmware, permille)


def _image_configuration_of_overheads(firmware: TaskSetFirmware) -> dict[str, str]:
    """Returns the configuration that the overheads of an image hold for."""
    point = firmware.point
    code = {} if point.code == DEFAULT_CODE else {"code": point.code}
    return {**point.kernel_config, "opt": point.opt, **code}


def _job_end_switch_handler_durations(ends: Iterable[JobEnd]) -> tuple[dict[int, list[int]], list[int]]:
    """Returns the durations of the handlers that switch away as jobs end: to less urgent tasks, by the difference of
    the priorities less 1, and to the idle task.
    """
    down: dict[int, list[int]] = {}
    to_idle = []
    for end in ends:
        if end.to_idle:
            to_idle.append(end.chain.total_cycles)
        else:
            down.setdefault(max(0, end.priority_distance - 1), []).append(end.chain.total_cycles)
    return down, to_idle


def _task_switch_cycles_in_tick(
    switching: Iterable[TaskInterruption], tick_base: int, tick_per_task: int, *, among_equals: bool
) -> int | None:
    """Returns how many cycles a tick with a task switch takes more than one without.

    None if no such tick was seen.
    """
    more = [
        max(0, entry.cycles - tick_base - tick_per_task * entry.released)
        for entry in switching
        if entry.among_equals == among_equals
    ]
    return max(more) + sampling_safety_margin_cycles(more) if more else None


def _overheads_with_event_costs(
    simple: KernelOverheads, ledger: CycleLedger, firmware: TaskSetFirmware, permille: int
) -> KernelOverheads:
    """Returns the overheads with the costs of interrupts, critical sections and several cores, if it has them."""
    if firmware.does_each_core_run_own_kernel:
        smp = MulticoreInterferenceCosts(kernels=firmware.core_count, contention_permille=permille)
        simple = simple.model_copy(update={"smp": smp})
    if firmware.is_smp:
        simple = overheads_with_multicore_costs(
            simple, ledger, firmware.core_count, permille, largest_cost_with_double_margin
        )
    if firmware.can_interrupts_release_tasks:
        simple = simple.model_copy(
            update={"events": fit_event_costs(simple, ledger, has_sends=firmware.supports_task_releases)}
        )
    if firmware.supports_task_releases:
        simple = simple.model_copy(update={"sends": fit_send_costs(simple, ledger)})
    if firmware.supports_kernel_timers:
        simple = simple.model_copy(update={"timers": fit_timer_costs(ledger)})
    if firmware.is_smp and simple.events is not None:
        # The other core delays handlers in more ways than the training sets show.
        longer = simple.events.handler_cycles + simple.events.handler_cycles // RESERVE_PART
        simple = simple.model_copy(update={"events": simple.events.model_copy(update={"handler_cycles": longer})})
    if not firmware.is_smp:
        combined = _add_nested_tick_costs_to_overheads(simple, ledger)
        return (
            kernel_overheads_with_sram_bus_conflicts(combined) if firmware.does_each_core_run_own_kernel else combined
        )
    simple = kernel_overheads_with_job_end_interrupts(simple, ledger)
    simple = overheads_with_remote_releases(simple, ledger, largest_cost_with_double_margin)
    simple = kernel_overheads_with_cross_core_waits(simple, ledger, largest_cost_with_double_margin)
    several = add_release_delay_to_overheads(
        _add_nested_tick_costs_to_overheads(simple, ledger), ledger, largest_cost_with_double_margin
    )
    return kernel_overheads_with_sram_bus_conflicts(several) if firmware.can_interrupts_release_tasks else several


def _require_calibration_samples(firmware: TaskSetFirmware, seen: Mapping[str, bool]) -> None:
    """Raises TaskSetCheckError if the training runs did not show a kind of entry."""
    for kind, was_seen in seen.items():
        if not was_seen:
            raise TaskSetCheckError(
                f"No overheads can be fitted for {firmware.kernel.id} on {firmware.board.id}: "
                f"the virtual board saw no {kind}."
            )


def _is_interruption_by_single_tick(interruption: TaskInterruption) -> bool:
    """Whether an interruption contains nothing but one tick, which did not come while the kernel was at work."""
    is_alone = not interruption.interrupts.count and not interruption.core_requests
    return is_alone and interruption.ticks == 1 and not interruption.meets_kernel


def _is_task_released_by_tick(span: JobPhaseExecution) -> bool:
    """Whether the task is one that sleeps until the tick releases it."""
    return not span.is_woken and not span.is_timer


def _is_job_phase_uninterrupted(span: JobPhaseExecution) -> bool:
    """Whether nothing interrupted the task in this span."""
    return not span.interruptions and not span.compensated_ticks and not span.remote_gives


def _uninterrupted_job_ends(leaves: Iterable[JobEnd]) -> list[JobEnd]:
    """Returns the ends of jobs that nothing interrupted."""
    quiet = (
        job_end
        for job_end in leaves
        if not job_end.chain.kernel_tick_count
        and not job_end.chain.reschedule_interrupt_count
        and not job_end.chain.interrupts.count
    )
    return [job_end for job_end in quiet if _is_job_phase_uninterrupted(job_end.span)]


def fit_event_costs(simple: KernelOverheads, ledger: CycleLedger, *, has_sends: bool = False) -> EventCosts:
    """Returns the costs of interrupts that release tasks, and of work under locks, from a ledger.
    A cost that was not seen is 0.

    If tasks release each other, an interrupt may come with a switch handler that a task's call requested and that does
    not switch. Such an interrupt does not count as a single one.
    """
    single = [
        interruption
        for interruption in ledger.interruptions
        if interruption.interrupts.count == 1
        and interruption.interrupts.begins_chain
        and not interruption.ticks
        and not interruption.core_requests
        and not (has_sends and interruption.meets_kernel)
    ]
    plain_prices = CycleLedgerEntryCosts(simple)
    silent = [
        entry.cycles - _work_cycles_under_contention(entry.interrupts.work_cycles, plain_prices)
        for entry in single
        if not entry.interrupts.gives and not entry.switches
    ]
    handler = largest_cost_with_double_margin(silent)
    giving = [
        max(0, entry.cycles - _work_cycles_under_contention(entry.interrupts.work_cycles, plain_prices) - handler)
        for entry in single
        if entry.interrupts.gives
    ]
    ends = [job_end.span.cycles for job_end in _uninterrupted_job_ends(ledger.job_ends) if job_end.span.is_woken]
    starts = [start.cycles for start in ledger.starts if start.is_woken and _is_job_phase_uninterrupted(start)]
    quiet = [(entry, work) for entry, work in ledger.works if _is_job_phase_uninterrupted(entry)]
    calls = [
        -(-(entry.cycles - _work_cycles_under_contention(work, plain_prices)) // entry.kernel_calls)
        for entry, work in quiet
        if entry.kernel_calls and not entry.handovers
    ]
    plain = [handover.cycles for handover in ledger.handovers if handover.is_task_switch_without_other_events]
    events = EventCosts(
        handler_cycles=handler,
        give_cycles=largest_cost_with_double_margin(giving),
        start_cycles=largest_cost_with_double_margin(starts),
        end_cycles=largest_cost_with_double_margin(ends),
        call_cycles=largest_cost_with_double_margin(calls),
        handover_cycles=largest_cost_with_double_margin(plain),
    )
    prices = CycleLedgerEntryCosts(simple.model_copy(update={"events": events}))
    met = [
        -(-max(0, entry.cycles - prices.job_work_cycles_with_calls(entry, work)) // entry.handovers)
        for entry, work in ledger.works
        if entry.handovers and not entry.waits_across_cores
    ]
    mixed = [
        -(
            -max(0, interruption.cycles - prices.overhead_cycles_of_interruption(interruption))
            // interruption.interrupts.count
        )
        for interruption in ledger.interruptions
        if interruption.interrupts.count and not interruption.meets_kernel
    ]
    return events.model_copy(
        update={
            "contended_cycles": largest_cost_with_double_margin(met),
            "handler_cycles": handler + (largest_cost_with_double_margin(mixed) if any(mixed) else 0),
        }
    )


def _work_cycles_under_contention(cycles: int, prices: CycleLedgerEntryCosts) -> int:
    """Returns the cycles that work lasts if other cores delay its accesses as much as they can."""
    return cycles + prices.bus_interference_overhead_cycles(cycles)


def fit_send_costs(simple: KernelOverheads, ledger: CycleLedger) -> SendCosts:
    """Returns the costs of calls with which tasks release other tasks, from a ledger."""
    quiet = [send for send in ledger.sends if _is_job_phase_uninterrupted(send)]
    calls = largest_cost_with_double_margin([send.cycles for send in quiet if not send.handovers])
    entry_and_exit = CycleLedgerEntryCosts(simple).interruption_entry_and_exit_cost
    contended = [max(0, send.cycles - calls - entry_and_exit) for send in quiet if send.handovers]
    switches = [handover.cycles for handover in ledger.send_switches if handover.is_task_switch_without_other_events]
    return SendCosts(
        call_cycles=calls,
        contended_cycles=largest_cost_with_double_margin(contended),
        switch_cycles=largest_cost_with_double_margin(switches),
    )


def fit_timer_costs(ledger: CycleLedger) -> TimerCosts:
    """Returns the costs of the kernel's timer task, from a ledger."""
    starts = [start.cycles for start in ledger.starts if start.is_timer and _is_job_phase_uninterrupted(start)]
    ends = [end.span.cycles for end in _uninterrupted_job_ends(ledger.job_ends) if end.span.is_timer]
    return TimerCosts(
        start_cycles=largest_cost_with_double_margin(starts), end_cycles=largest_cost_with_double_margin(ends)
    )


def _work_cycles_above_calibration(ledger: CycleLedger, permille: int) -> int:
    """Returns by how many cycles undisturbed work lasted longer than calibrated, with a reserve."""
    quiet = ((item, work) for item, work in ledger.works if not item.interruptions and not item.kernel_calls)
    return 2 * max(0, *(item.cycles - work - math.ceil(work * permille / 1000) for item, work in quiet))


def _fit_kernel_overhead_lines(
    ledger: CycleLedger,
    ticks: Mapping[int, list[int]],
    down: Mapping[int, list[int]],
    ends: Mapping[int, list[int]],
    constants: Mapping[str, list[int]],
) -> tuple[LinearOverheadFit, ...]:
    """Returns least-squares fits of the overheads, to be printed."""
    return (
        fit_least_squares_line("tick", "base + slope for each task released", ticks),
        fit_least_squares_line("switch up", "constant", {0: ledger.switch_handlers["up"]}),
        fit_least_squares_line("switch down", "base at one priority below, slope for each further", down),
        fit_least_squares_line("switch to idle", "constant", {0: constants["to_idle"]}),
        fit_least_squares_line("switch from idle", "constant", {0: ledger.switch_handlers["from_idle"]}),
        fit_least_squares_line("entry of an interrupt", "constant", {0: ledger.tick_entries}),
        *(
            fit_least_squares_line("entry and exit of an interrupt", "constant", {0: value})
            for value in (constants["around"],)
            if value
        ),
        fit_least_squares_line("start of a job", "constant", {0: constants["starts"]}),
        fit_least_squares_line("end of a job", "base + slope for each task of the set", ends),
        *(
            [fit_least_squares_line("tick waits for the kernel", "constant", {0: ledger.tick_delays})]
            if ledger.tick_delays
            else []
        ),
    )


def _add_nested_tick_costs_to_overheads(simple: KernelOverheads, ledger: CycleLedger) -> KernelOverheads:
    """Returns the overheads with the costs of ticks that come while the kernel is at work."""
    prices = CycleLedgerEntryCosts(simple)
    stretches = [(start, prices.job_start_cost(start)) for start in ledger.starts]
    met = [(item.cycles - price, _count_ticks_in_span(item)) for item, price in stretches]
    met += [
        (send.cycles - prices.overhead_of_task_release_call(send), _count_ticks_in_span(send)) for send in ledger.sends
    ]
    met += [
        (
            job_end.cycles - prices.job_end_overhead_cycles(job_end),
            job_end.chain.kernel_tick_count + _count_ticks_in_span(job_end.span),
        )
        for job_end in ledger.job_ends
    ]
    per_tick = [max(0, -(-excess // ticks)) for excess, ticks in met if ticks] or [0]
    waits = [
        max(0, wait.cycles - prices.overhead_from_release_to_job_start(wait))
        for wait in ledger.waits
        if not wait.by_other_core
    ]
    return simple.model_copy(
        update={
            "tick": simple.tick.model_copy(
                update={"deferred_cycles": max(per_tick) + sampling_safety_margin_cycles(per_tick)}
            ),
            "masks": MaskingTimes(
                masked_cycles=largest_cost_with_double_margin(ledger.tick_delays),
                wait_cycles=largest_cost_with_double_margin(waits),
            ),
        }
    )


def _count_ticks_in_span(span: JobPhaseExecution) -> int:
    """Returns the number of kernel ticks in a span, those of another core included."""
    return sum(one.ticks for one in span.interruptions) + len(span.compensated_ticks)
