"""Bounds of response times for preemptive scheduling by fixed priorities, on one core, or on several cores where each
task runs on one of them only.

The busy period of Lehoczky (1990) with the jitter of Tindell, Burns and Wellings (1994). Known offsets count as the
least distance between two tasks' arrivals. Tasks of equal priority run in any order, in turns, or in the order of
arrival (Martin, Minet, George 2005). A response reaches from the arrival, before any jitter, to the job's last
instruction. Integers only. Every iteration ends after STEPS steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from rtoslab.rta.blocking import longest_blocking_by_lower_tasks
from rtoslab.rta.bounds import (
    MissingBoundReason,
    ResponseBound,
    ResponseTimeAnalysis,
    longest_searched_response,
    make_missing_response_time_bound,
    nonzero_response_time_bound_parts,
    search_steps_exhausted_text,
)
from rtoslab.rta.charges import COMPONENTS, KernelOverheadAccountingModel, KernelOverheadTimes, kernel_overhead_times
from rtoslab.rta.cores import (
    DelaysByOtherCores,
    cores_affecting_response_time_analysis,
    overhead_times_with_interrupt_delays,
    reason_two_kernels_cannot_run_tasks,
    resource_waits_of_task,
    resources_shared_by_tasks,
    split_task_set_by_kernel,
    task_delays_by_other_cores,
    task_set_with_release_delays,
    tasks_released_on_core,
)
from rtoslab.rta.demand import CompetingProcessorDemand, DemandWindowEndInstant
from rtoslab.rta.interrupt_bounds import find_interrupt_response_bound, longest_masked_time, longest_tick_wait
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.senders import (
    Sends,
    UnboundedSendError,
    preceding_tasks_in_release_chain,
    successors_at_least_as_urgent,
    tasks_released_by_other_cores,
    tasks_releasing_more_urgent_ones,
    tasks_with_sender_jitter_and_offset,
)
from rtoslab.rta.system import IntegerTimeTask, IntegerTimeTaskSet
from rtoslab.rta.windows import (
    MAX_STEPS,
    NoBoundError,
    busy_period_starts,
    longest_response_fifo,
    longest_response_in_busy_period,
    shortest_time_window_for_demand,
)

ROUNDS: Final = 40
"""On several cores, the bounds of each core depend on those of the others. They must be stable after so many rounds."""
_MAX_PERIODS: Final = 200
"""On several cores a task has no bound if its response exceeds so many periods, and as many deadlines."""
_REQUEST_STEPS: Final = 3_000
"""The most steps of the search for the longest time of a request. Without one, all requests are bounded together."""


def compute_response_time_bounds(
    system: IntegerTimeTaskSet,
    overheads: KernelOverheads | None = None,
    model: KernelOverheadAccountingModel = KernelOverheadAccountingModel.SPLIT_TICK,
    max_steps: int = MAX_STEPS,
) -> ResponseTimeAnalysis:
    """Computes the response-time bounds of every task and interrupt.
    Without overheads, or under model (a), the kernel costs nothing. `max_steps`: steps of the search for each bound. If
    they are fewer than STEPS, a search also ends with the first job that misses its deadline: the response is then
    beyond the deadline, and no bound.
    """
    parts = [
        analyse_with_kernel_overheads(
            part,
            model,
            {
                core: kernel_overhead_times(overheads, model, part, core)
                for core in cores_affecting_response_time_analysis(part, overheads)
            },
            max_steps,
        )
        for part in split_task_set_by_kernel(system, overheads)
    ]
    if len(parts) == 1:
        return parts[0]
    bounds = {bound.name: bound for part in parts for bound in (*part.tasks, *part.interrupts)}
    if obstacle := reason_two_kernels_cannot_run_tasks(system):
        bounds = {
            name: replace(bound, response=None, reason=obstacle, parts={}, obstacle=MissingBoundReason.MODEL)
            for name, bound in bounds.items()
        }
    return ResponseTimeAnalysis(
        model,
        tuple(bounds[task.name] for task in system.tasks),
        tuple(bounds[handler.name] for handler in system.interrupts if not handler.implied),
    )


def analyse_with_kernel_overheads(
    system: IntegerTimeTaskSet,
    model: KernelOverheadAccountingModel,
    charges_by_core: Mapping[int, KernelOverheadTimes],
    max_steps: int = MAX_STEPS,
) -> ResponseTimeAnalysis:
    """Returns the response-time bounds of every task and interrupt, with the kernel's charges for each core.

    On several cores, the waits of a core depend on how late the jobs of the other cores may end. So the bounds are
    computed again from those of the previous round, until they no longer change. They only grow, so the first stable
    bounds are the least ones. A task without a bound keeps the reason of the round in which this was found. A later
    round would name a task that has no bound because of this one.
    """
    has_kernel = any(charge.tick_period for charge in charges_by_core.values())
    depends = has_kernel or tasks_released_by_other_cores(system) or system.users_of_resources_across_cores
    if len(charges_by_core) == 1 or not depends:
        tasks, handlers, _ = _find_all_response_bounds(system, charges_by_core, None, {}, max_steps)
        return ResponseTimeAnalysis(model, tasks, _bounds_of_declared_interrupts(handlers, system))
    delayed = overhead_times_with_interrupt_delays(system, charges_by_core)
    if delayed is None:
        reason = "interrupts may delay releases for ever"
        load = Fraction(0)
        return ResponseTimeAnalysis(
            model,
            tuple(
                make_missing_response_time_bound(task, reason, load, MissingBoundReason.OVERLOAD)
                for task in system.tasks
            ),
            tuple(
                make_missing_response_time_bound(item, reason, load, MissingBoundReason.OVERLOAD)
                for item in system.interrupts
                if not item.implied
            ),
        )
    charges_by_core = delayed
    latest_ends: dict[str, int | None] = {task.name: task.wcet + task.jitter for task in system.tasks}
    latest_ends |= {handler.name: handler.wcet + handler.jitter for handler in system.interrupts}
    unbounded: dict[str, ResponseBound] = {}
    latest_sends: dict[str, int | None] = {
        name: latest_ends[task.name] for task, name in tasks_releasing_more_urgent_ones(system)
    }
    for _ in range(ROUNDS):
        late = task_set_with_release_delays(system, charges_by_core, latest_ends)
        *bounds, sends = _find_all_response_bounds(late, charges_by_core, latest_ends, latest_sends, max_steps)
        tasks, handlers = (tuple(unbounded.get(bound.name, bound) for bound in part) for part in bounds)
        tasks = _remove_endlessly_growing_bounds(
            _drop_bounds_of_unlimited_task_releases(tasks, handlers, system), system
        )
        unbounded |= {bound.name: bound for bound in (*tasks, *handlers) if bound.response is None}
        responses = {bound.name: bound.response for bound in (*tasks, *handlers)}
        if responses == latest_ends and sends == latest_sends:
            return ResponseTimeAnalysis(model, tasks, _bounds_of_declared_interrupts(handlers, system))
        latest_ends, latest_sends = responses, sends
    reason = f"the waits of the cores for each other do not converge within {ROUNDS} rounds"
    unsettled = (
        replace(task, response=None, reason=reason, parts={}, obstacle=MissingBoundReason.STEPS) for task in tasks
    )
    return ResponseTimeAnalysis(
        model,
        tuple(unbounded.get(bound.name, bound) for bound in unsettled),
        _bounds_of_declared_interrupts(handlers, system),
    )


def _bounds_of_declared_interrupts(
    handlers: Sequence[ResponseBound], system: IntegerTimeTaskSet
) -> tuple[ResponseBound, ...]:
    """Returns the bounds of interrupts without those for which the file has no table."""
    implied = {interrupt.name for interrupt in system.interrupts if interrupt.implied}
    return tuple(bound for bound in handlers if bound.name not in implied)


def _find_all_response_bounds(
    system: IntegerTimeTaskSet,
    charges_by_core: Mapping[int, KernelOverheadTimes],
    latest_ends: Mapping[str, int | None] | None,
    latest_sends: Sends,
    max_steps: int,
) -> tuple[tuple[ResponseBound, ...], tuple[ResponseBound, ...], dict[str, int | None]]:
    """Returns the response-time bounds of all tasks and of all interrupts, and the latest ends of sends.
    `latest_ends`: the latest end of each task's jobs after their arrival. None on one core. `latest_sends`: the latest
    ends of sends to other cores by the round before.
    """
    cores = {
        core: DelaysByOtherCores()
        if latest_ends is None
        else task_delays_by_other_cores(system, charges_by_core, core, latest_ends, latest_sends)
        for core in system.used_core_numbers
    }
    cores = {
        core: _add_resource_request_costs_to_delays(system, charges_by_core[core], delays)
        for core, delays in cores.items()
    }
    sends: dict[str, int | None] = dict(latest_sends)
    for sender, receiver in tasks_releasing_more_urgent_ones(system):
        charge, others = charges_by_core[sender.core], cores[sender.core]
        sends_done = 1 + sender.gives.index(receiver)
        latest = _find_task_response_bound(
            sender, system, charge, others, sends, MAX_STEPS, DemandWindowEndInstant.SENT, sends_done
        )
        sends[receiver] = latest.response
    bounds = [
        _find_task_response_bound(task, system, charges_by_core[task.core], cores[task.core], sends, max_steps)
        for task in system.tasks
    ]
    handlers = [
        find_interrupt_response_bound(
            interrupt, system, charges_by_core[interrupt.core], cores[interrupt.core], max_steps
        )
        for interrupt in system.interrupts
    ]
    return _remove_bounds_after_lost_releases(bounds, handlers, system), tuple(handlers), sends


def _remove_bounds_after_lost_releases(
    bounds: Sequence[ResponseBound], handlers: Sequence[ResponseBound], system: IntegerTimeTaskSet
) -> tuple[ResponseBound, ...]:
    """Returns the bounds of tasks without those after a release in their chain that may be lost.
    `handlers`: the bounds of the interrupts that may release them.
    """
    lost = {bound.name for bound in (*bounds, *handlers) if bound.obstacle is MissingBoundReason.LOST_RELEASE}
    by_name = {task.name: task for task in system.tasks}
    checked = []
    for bound in bounds:
        senders = preceding_tasks_in_release_chain(by_name[bound.name], by_name)
        first = by_name[senders[-1] if senders else bound.name]
        loser = next((name for name in (*senders, first.released_by) if name in lost), None) if lost else None
        if loser is not None and bound.response is not None:
            reason = f"it answers arrivals of {loser}, and an arrival of {loser} may be lost"
            bound = replace(bound, response=None, reason=reason, parts={}, obstacle=MissingBoundReason.LOST_RELEASE)  # noqa: PLW2901
        checked.append(bound)
    return tuple(checked)


def _remove_endlessly_growing_bounds(
    tasks: Sequence[ResponseBound], system: IntegerTimeTaskSet
) -> tuple[ResponseBound, ...]:
    """Returns the bounds of tasks without those that grow far beyond their periods and deadlines.
    The search for them would take long, and would seldom end with a bound.
    """
    longest = {task.name: _MAX_PERIODS * max(task.period, task.deadline) for task in system.tasks}
    reason = f"the waits of the cores for each other grow beyond {_MAX_PERIODS} periods"
    return tuple(
        replace(bound, response=None, reason=reason, parts={}, obstacle=MissingBoundReason.STEPS)
        if bound.response is not None and bound.response > longest[bound.name]
        else bound
        for bound in tasks
    )


def _drop_bounds_of_unlimited_task_releases(
    tasks: Sequence[ResponseBound], handlers: Sequence[ResponseBound], system: IntegerTimeTaskSet
) -> tuple[ResponseBound, ...]:
    """Returns the bounds of tasks without those that an interrupt without a bound releases."""
    unbounded = {handler.name for handler in handlers if handler.response is None}
    releases = {task.name: task.released_by for task in system.tasks if task.released_by in unbounded}
    return tuple(
        replace(
            bound,
            response=None,
            reason=f"{releases[bound.name]}, which releases it, has no bound",
            parts={},
            obstacle=MissingBoundReason.MODEL,
        )
        if bound.name in releases and bound.response is not None
        else bound
        for bound in tasks
    )


def response_increase_per_overhead_part(
    system: IntegerTimeTaskSet, overheads: KernelOverheads, model: KernelOverheadAccountingModel
) -> dict[str, dict[str, int]]:
    """Returns by how much each component of the kernel's overhead raises each task's bound.
    A component without effect on a task is left out.
    """
    if len(parts := split_task_set_by_kernel(system, overheads)) > 1:
        by_task = {
            name: costs
            for part in parts
            for name, costs in response_increase_per_overhead_part(part, overheads, model).items()
        }
        return {task.name: by_task[task.name] for task in system.tasks}
    charges_by_core = {
        core: kernel_overhead_times(overheads, model, system, core)
        for core in cores_affecting_response_time_analysis(system, overheads)
    }
    whole = analyse_with_kernel_overheads(system, model, charges_by_core).tasks
    costs: dict[str, dict[str, int]] = {bound.name: {} for bound in whole}
    for label, without in COMPONENTS.items():
        less = {core: without(item) for core, item in charges_by_core.items()}
        for one, other in zip(whole, analyse_with_kernel_overheads(system, model, less).tasks, strict=True):
            if one.response is not None and other.response is not None and other.response < one.response:
                costs[one.name][label] = one.response - other.response
    return costs


def _find_task_response_bound(
    task: IntegerTimeTask,
    system: IntegerTimeTaskSet,
    charge: KernelOverheadTimes,
    other_cores: DelaysByOtherCores,
    sends: Sends,
    max_steps: int,
    until: DemandWindowEndInstant = DemandWindowEndInstant.LAST_INSTRUCTION,
    sends_done: int = 1,
) -> ResponseBound:
    """Returns the response-time bound of one task.
    `sends`: the latest ends of less urgent tasks' sends. `until`: the instant at which the response ends, after
    `sends_done` sends of the job if this is SENT.
    """
    try:
        demand, equals = _processor_demand_of_competing_tasks(
            task, system, charge, other_cores, sends, until, sends_done
        )
    except UnboundedSendError as cause:
        return make_missing_response_time_bound(task, str(cause), Fraction(0), MissingBoundReason.MODEL)
    task = demand.task
    whole = replace(demand, others=[*demand.others, *(equals or ())])
    load = replace(whole, resource_waits=None).long_run_utilisation()
    reason, obstacle = _reason_for_missing_bound(whole, load, system, charge, other_cores)
    if reason:
        return make_missing_response_time_bound(task, reason, load, obstacle)
    try:
        response, parts = _longest_task_response(demand, equals, max_steps)
    except NoBoundError:
        return make_missing_response_time_bound(
            task, search_steps_exhausted_text(load, max_steps), load, MissingBoundReason.STEPS
        )
    if sends_lost := _describe_lost_notification(task, response + task.jitter, system):
        return make_missing_response_time_bound(task, sends_lost, load, MissingBoundReason.LOST_RELEASE)
    return ResponseBound(
        task.name,
        task.deadline,
        response + task.jitter,
        "",
        nonzero_response_time_bound_parts(parts, task.jitter),
        float(load),
    )


def _processor_demand_of_competing_tasks(
    task: IntegerTimeTask,
    system: IntegerTimeTaskSet,
    charge: KernelOverheadTimes,
    other_cores: DelaysByOtherCores,
    sends: Sends,
    until: DemandWindowEndInstant,
    sends_done: int,
) -> tuple[CompetingProcessorDemand, Sequence[IntegerTimeTask] | None]:
    """Returns the demand that competes with a task, and the tasks that run in the order of arrival with it.
    The second value is None if the order is any. Raises UnboundedSendError.
    """
    peers = [item for item in system.tasks if item.core == task.core]
    above = [peer for peer in peers if peer.priority > task.priority]
    equals = [peer for peer in peers if peer.priority == task.priority and peer is not task]
    is_chained = any(peer.sender for peer in peers)
    has_curves = any(peer.curve for peer in peers)
    in_order = system.equals == "fifo" and bool(equals) and not is_chained and not has_curves
    in_order = in_order and other_cores.shared is None
    if is_chained:
        task, *above = tasks_with_sender_jitter_and_offset([task, *above], system, task.priority, sends)
        equals = tasks_with_sender_jitter_and_offset(equals, system, task.priority, sends)
    tick_jitter = _longest_late_tick_time(task, [*peers, task, *above, *equals], system, charge)
    demand = CompetingProcessorDemand(
        task=task,
        others=above if in_order else [*above, *equals],
        interrupts=[interrupt for interrupt in system.interrupts if interrupt.core == task.core],
        released=tasks_released_on_core(system, charge, peers),
        charges=charge,
        blocking=longest_blocking_by_lower_tasks(task, peers, system, charge),
        takes_turns=charge.slice > 0 and _has_equal_priorities([task, *above, *equals]),
        shared_resources=resources_shared_by_tasks(peers),
        tick_jitter=tick_jitter,
        release_lead=tick_jitter if is_chained else 0,
        other_cores=other_cores.demands,
        requesting=other_cores.requesting,
        remote_gives=other_cores.remote_gives,
        received=other_cores.received,
        resource_waits=resource_waits_of_task(task, peers, system, charge, other_cores),
        successors=successors_at_least_as_urgent(task, system),
        until=until,
        sends_done=sends_done,
    )
    return demand, equals if in_order else None


def _add_resource_request_costs_to_delays(
    system: IntegerTimeTaskSet,
    charge: KernelOverheadTimes,
    delays: DelaysByOtherCores,
) -> DelaysByOtherCores:
    """Returns the delays of a core with the cost of the requests for shared resources by each of its tasks.

    A request is bounded by the longest time from it until the task has the resource. In this time the core may execute
    all jobs at least as urgent that have arrived and not ended.
    """
    if delays.shared is None:
        return delays
    costs: dict[str, tuple[int, int]] = {}
    for task in sorted(delays.shared.own, key=lambda task: -task.priority):
        if not delays.shared.requested_resources(task):
            continue
        known = replace(delays, request_costs=costs)
        window = _longest_resource_acquisition_time(task, delays.shared.own, system, charge, known)
        waits = resource_waits_of_task(task, delays.shared.own, system, charge, known)
        if window is not None and waits is not None:
            costs = {**costs, task.name: waits.cost_of_resource_requests(window)}
    return replace(delays, request_costs=costs)


def _longest_resource_acquisition_time(
    task: IntegerTimeTask,
    own: Sequence[IntegerTimeTask],
    system: IntegerTimeTaskSet,
    charge: KernelOverheadTimes,
    delays: DelaysByOtherCores,
) -> int | None:
    """Returns the longest time from a task's request for a shared resource until it has the resource.
    None if no bound was found. `own`: the tasks of its core, with jitter up to the latest end of their jobs.
    """
    urgent = [other for other in own if other.priority >= task.priority and other.name != task.name]
    demand = CompetingProcessorDemand(
        task=replace(task, wcet=0, masked=0, sections=(), gives=(), sender="", jitter=0, curve=()),
        others=urgent,
        interrupts=delays.handlers,
        released=tasks_released_on_core(system, charge, own),
        charges=charge,
        blocking=longest_blocking_by_lower_tasks(task, own, system, charge),
        takes_turns=charge.slice > 0 and _has_equal_priorities([task, *urgent]),
        shared_resources=resources_shared_by_tasks(own),
        tick_jitter=_longest_late_tick_time(task, own, system, charge),
        other_cores=delays.demands,
        requesting=delays.requesting,
        remote_gives=delays.remote_gives,
        received=delays.received,
        resource_waits=resource_waits_of_task(task, own, system, charge, delays),
    )
    if demand.long_run_utilisation() > 1:
        return None
    try:
        return shortest_time_window_for_demand(demand, 1, 0, 0, max_steps=_REQUEST_STEPS)[0]
    except NoBoundError:
        return None


def _longest_task_response(
    demand: CompetingProcessorDemand, equals: Sequence[IntegerTimeTask] | None, max_steps: int
) -> tuple[int, dict[str, int]]:
    """Returns the longest response of the analysed task from its release, and what it consists of.
    `equals`: the tasks that run in the order of arrival with it. None if the order is any. Raises NoBoundError.
    """
    if equals is not None:
        return longest_response_fifo(demand, equals, max_steps)
    limit = longest_searched_response(demand.task, max_steps)
    return max(
        (longest_response_in_busy_period(item, first, max_steps, limit) for item, first in busy_period_starts(demand)),
        key=lambda window: window[0],
    )


def _describe_lost_notification(task: IntegerTimeTask, response: int, system: IntegerTimeTaskSet) -> str:
    """Returns why notifications of the task may be lost. Empty if they are not, or if other calls release it."""
    sender = next((peer for peer in system.tasks if peer.name == task.sender), None)
    distance = task.least_time_between_arrivals(1)
    if sender is None or sender.gives_by != "notification":
        return ""
    if sum(peer.task_name == task.task_name for peer in system.tasks) > 1:
        return (
            f"several tasks release {sender.task_name}, which notifies {task.task_name}, so a notification may come "
            "before the previous one is taken, and be lost"
        )
    if response <= distance:
        return ""
    took, period = (f"{system.to_microseconds(value):,.1f} us" for value in (response, distance))
    what = "two arrivals may be within" if task.curve else "its period is"
    return (
        f"its response may be {took} and {what} {period}, so a notification from {sender.name} may come before "
        "the previous one is taken, and be lost"
    )


def _has_equal_priorities(tasks: Sequence[IntegerTimeTask]) -> bool:
    """Whether two of the tasks have the same priority."""
    return len({task.priority for task in tasks}) < len({task.task_name for task in tasks})


def _longest_late_tick_time(
    task: IntegerTimeTask, peers: Sequence[IntegerTimeTask], system: IntegerTimeTaskSet, charge: KernelOverheadTimes
) -> int:
    """Returns how long before a busy period a tick may have been due that is still pending as the period begins."""
    interrupts = any(interrupt.core == task.core for interrupt in system.interrupts)
    if not charge.tick_period or not (interrupts or any(peer.jitter for peer in peers)):
        return 0
    return max(charge.kernel_blocking, charge.release_delay, longest_masked_time(task.core, system, charge))


def _reason_for_missing_bound(
    demand: CompetingProcessorDemand,
    load: Fraction,
    system: IntegerTimeTaskSet,
    charge: KernelOverheadTimes,
    other_cores: DelaysByOtherCores,
) -> tuple[str, MissingBoundReason]:
    """Returns why the analysed task of a demand has no bound, and the kind of reason. Empty if it has one.
    `load`: the utilisation without waits for resources that tasks of other cores hold.
    """
    who = "tasks and interrupts of this or higher priority"
    if load > 1:
        return f"{who} need {float(100 * load):.1f} % of the processor", MissingBoundReason.OVERLOAD
    reason = _reason_task_has_no_response_bound(demand.task, system, charge, other_cores)
    if not reason and (waiting := demand.long_run_utilisation()) > 1:
        waits = "with the longest waits for resources that tasks of other cores hold"
        reason = f"{who}, {waits}, may need {float(100 * waiting):.1f} % of the processor"
    return reason, MissingBoundReason.MODEL if reason else MissingBoundReason.NONE


def _reason_task_has_no_response_bound(
    task: IntegerTimeTask, system: IntegerTimeTaskSet, charge: KernelOverheadTimes, other_cores: DelaysByOtherCores
) -> str:
    """Returns why the analysis gives no bound for the task. Empty if it gives one."""
    if other_cores.obstacle:
        return other_cores.obstacle
    if charge.tick_period and task.period < charge.tick_period and task.is_tick_released:
        return "its period is shorter than that of the tick that releases it"
    late = longest_tick_wait(task.core, system, charge, other_cores) if charge.tick_period else 0
    if late is None or late >= charge.tick_period > 0:
        lateness = "for ever" if late is None else f"for up to {system.to_microseconds(late):,.1f} us"
        every = system.to_microseconds(charge.tick_period)
        return f"the kernel's tick may be masked {lateness}, and its period is {every:,.1f} us, so ticks would be lost"
    return ""
