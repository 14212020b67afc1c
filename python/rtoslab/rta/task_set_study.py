"""The study of one task set: bounds by every model, sensitivity, the cost of each overhead, observed responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rtoslab.base import count_with_noun
from rtoslab.rta.analysis import compute_response_time_bounds, response_increase_per_overhead_part
from rtoslab.rta.board_check import TaskSetBoardCheck
from rtoslab.rta.bounds import ResponseBound, ResponseTimeAnalysis
from rtoslab.rta.chains import ChainBound, chain_latency_bound, longest_observed_chain_latency
from rtoslab.rta.charges import INVERSION_OPERATIONS, SECTION_OPERATIONS, KernelOverheadAccountingModel
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.prices import KernelOverheadExcess
from rtoslab.rta.senders import preceding_tasks_in_release_chain
from rtoslab.rta.sensitivity import Progress, WcetGrowthMargin, find_wcet_sensitivity
from rtoslab.rta.system import IntegerTimeTask, IntegerTimeTaskSet, convert_to_integer_task_set
from rtoslab.rta.taskset import TaskSet
from rtoslab.rta.units import microseconds_with_decimals

_BETWEEN_CORES = ("lock_wait_cycles", "release_cycles", "yield_cycles")


@dataclass(frozen=True, slots=True)
class TaskSetStudy:
    """The full analysis of one task set: bounds, sensitivity, costs, observed run."""

    task_set: TaskSet
    system: IntegerTimeTaskSet
    overheads: KernelOverheads | None
    analyses: Mapping[KernelOverheadAccountingModel, ResponseTimeAnalysis]
    """The analysis by each model. Without overheads, only that of the model without overheads."""
    notes: tuple[str, ...]
    sensitivity: WcetGrowthMargin | None = None
    """None until it is computed: it takes hundreds of analyses."""
    costs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By task and component of the overhead, by how much the bound is lower without the component."""
    check: TaskSetBoardCheck | None = None
    compared_overheads: KernelOverheads | None = None
    """Another source's overheads, which tables show next to these."""

    @property
    def overhead_model_of_schedulability_answer(self) -> KernelOverheadAccountingModel:
        """Returns the overhead model on which the answer rests."""
        return (
            KernelOverheadAccountingModel.SPLIT_TICK
            if KernelOverheadAccountingModel.SPLIT_TICK in self.analyses
            else KernelOverheadAccountingModel.NO_OVERHEAD
        )

    @property
    def analysis_of_schedulability_answer(self) -> ResponseTimeAnalysis:
        """Returns the response-time bounds on which the answer rests."""
        return self.analyses[self.overhead_model_of_schedulability_answer]

    @property
    def tasks_over_bound(self) -> list[str]:
        """Returns the names of the tasks and chains that took longer in the run than their bound."""
        return (
            [*self.check.tasks_over_bound(self.analysis_of_schedulability_answer), *self.chains_over_bound]
            if self.check is not None
            else []
        )

    @property
    def task_chain_latency_bounds(self) -> list[ChainBound]:
        """Returns the latency bounds of the chains of tasks."""
        return [
            chain_latency_bound(chain, self.system, self.analysis_of_schedulability_answer)
            for chain in self.system.chains
        ]

    @property
    def observed_chain_latencies(self) -> dict[str, int | None]:
        """Returns the longest observed latency of each chain. Empty where nothing was run."""
        if self.check is None:
            return {}
        return {
            chain.name: longest_observed_chain_latency(chain, self.system, self.check.trace)
            for chain in self.system.chains
        }

    @property
    def chains_over_bound(self) -> list[str]:
        """Returns the names of the chains of tasks that took longer in the run than their bound."""
        bounds = {chain.name: chain.latency for chain in self.task_chain_latency_bounds}
        seen = self.observed_chain_latencies.items()
        return [name for name, longest in seen if None not in (longest, bounds[name]) and longest > bounds[name]]  # type: ignore[operator]

    @property
    def kernel_entries_above_charge(self) -> list[KernelOverheadExcess]:
        """Returns the kernel's activities in the run that took longer than the overheads charge, the worst first."""
        return (
            self.check.kernel_entries_above_charge(self.overheads)
            if self.check is not None and self.overheads is not None
            else []
        )

    @property
    def multicore_costs_without_measurement(self) -> list[str]:
        """Returns the costs of several cores that the overheads lack, so that no positive answer is possible.
        A yes without them would be a guess.
        """
        if self.overheads is None or len(self.system.used_core_numbers) == 1:
            return []
        return _unknown_multicore_costs(self.system, self.overheads)

    @property
    def is_schedulability_undecided(self) -> bool:
        """Whether some bounds are unknown, while no deadline is known to be missed and no observation contradicts a
        bound."""
        bounds = (*self.analysis_of_schedulability_answer.tasks, *self.analysis_of_schedulability_answer.interrupts)
        missed = any(bound.can_deadline_be_missed for bound in bounds) or any(
            chain.can_deadline_be_missed for chain in self.task_chain_latency_bounds
        )
        return (
            not self.is_schedulable
            and not missed
            and not self.tasks_over_bound
            and not self.kernel_entries_above_charge
        )

    @property
    def is_schedulable(self) -> bool:
        """Whether the bounds meet every deadline, and no observation contradicts them."""
        if self.multicore_costs_without_measurement:
            return False
        met = self.analysis_of_schedulability_answer.is_schedulable and all(
            chain.is_deadline_met for chain in self.task_chain_latency_bounds
        )
        return met and not self.tasks_over_bound and not self.kernel_entries_above_charge

    def schedulability_answer_sentences(self) -> list[str]:
        """Returns the answer in sentences: whether the task set is schedulable, and why."""
        analysis = self.analysis_of_schedulability_answer
        bounds = [*analysis.tasks, *analysis.interrupts]
        exceeded, uncovered = self.tasks_over_bound, self.kernel_entries_above_charge
        if exceeded:
            names = ", ".join(exceeded)
            return [f"No bound can be trusted: {names} took longer than the bound; measure the overheads again."]
        if uncovered:
            worst, clock = uncovered[0], self.system.clock_hz
            seen = f"at {1e3 * worst.ended_at / clock:,.3f} ms {worst.event} took {worst.took_cycles:,} cycles"
            charged = f"the overheads charge it with {worst.charged_cycles:,} ({len(uncovered)} such)"
            advice = "save the overheads (--save-overheads), increase them in the file, and use it with --overheads"
            return [
                (
                    f"No bound can be trusted: {seen}, {charged}. The measured overheads do not cover this task "
                    f"set; {advice}."
                )
            ]
        late = [
            self._chain_deadline_missed_text(chain)
            for chain in self.task_chain_latency_bounds
            if not chain.is_deadline_met
        ]
        if analysis.is_schedulable and late:
            return late
        if analysis.is_schedulable and self.multicore_costs_without_measurement:
            costs = ", ".join(self.multicore_costs_without_measurement)
            left_out = f"the overheads do not contain {costs}, which the bounds leave out"
            advice = "save the overheads (--save-overheads), add it to the file, and use it with --overheads"
            return [f"No answer: every bound is below its deadline, but {left_out}; {advice}."]
        if analysis.is_schedulable:
            tightest = min(bounds, key=lambda bound: (bound.slack_until_deadline or 0) / bound.deadline)
            left = (
                f"{self._microseconds_text(tightest.slack_until_deadline or 0)} of "
                f"{self._microseconds_text(tightest.deadline)} us left"
            )
            return [
                f"Yes: every deadline is met. The tightest is {tightest.name}, with {left}.",
                *self._schedulability_condition_sentences(),
            ]
        return [*(self._missed_deadline_text(bound) for bound in bounds if not bound.is_deadline_met), *late]

    def _chain_deadline_missed_text(self, chain: ChainBound) -> str:
        """Returns the sentence for a chain that misses its deadline."""
        if chain.latency is None:
            return f"No answer: the chain {chain.name} has no bound, because one of its tasks has none."
        latency, deadline = self._different_microseconds_texts(chain.latency, chain.deadline)
        return f"No: the chain {chain.name} may take {latency} us from end to end, its deadline is {deadline} us."

    def _schedulability_condition_sentences(self) -> list[str]:
        """Returns sentences on the kernel, clock and overheads on which the answer rests."""
        overheads = self.overheads
        if overheads is None:
            return []
        tick_hz = overheads.clock_hz / overheads.tick.period_cycles
        where = " on ".join(item for item in (overheads.kernel, overheads.board) if item) or "overheads written by hand"
        config = "".join(f", {name}={value}" for name, value in overheads.config.items() if value)
        if overheads.smp.contention_permille:
            longer = overheads.smp.contention_permille / 10
            cores = max(overheads.smp.cores, overheads.smp.kernels)
            config += f", {cores} cores, work up to {longer:g} % longer for that"
        source = f"; its overheads: {overheads.note}" if overheads.note else ""
        seen = (
            ""
            if self.check is None
            else f", {count_with_noun(self.check.job_count, 'job')} of this set compared with the bounds"
        )
        return [f"For {where} at {overheads.clock_hz / 1e6:g} MHz, {tick_hz:g} ticks a second{config}{source}{seen}."]

    def _missed_deadline_text(self, bound: ResponseBound) -> str:
        """Returns the sentence for a task that misses its deadline."""
        if bound.response is None:
            answer = "No" if bound.can_deadline_be_missed else "No answer"
            return f"{answer}: {bound.name} has no bound, because {bound.reason}."
        parts = sorted(bound.parts.items(), key=lambda part: -part[1])
        spent = ", ".join(f"{name} {self._microseconds_text(value)}" for name, value in parts if value > 0)
        response, deadline = self._different_microseconds_texts(bound.response, bound.deadline)
        return f"No: {bound.name} may take {response} us, its deadline is {deadline} us ({spent})."

    def _different_microseconds_texts(self, first: int, second: int) -> tuple[str, str]:
        """Returns two different times in microseconds, with as many decimals as show that they differ."""
        decimals = self.system.printed_decimals
        while True:
            texts = (self._microseconds_text(first, decimals), self._microseconds_text(second, decimals))
            if texts[0] != texts[1] or first == second:
                return texts
            decimals += 1

    def _microseconds_text(self, units: int, decimals: int | None = None) -> str:
        """Returns units of the system in microseconds, as text."""
        return microseconds_with_decimals(
            self.system.exact_microseconds(units), whole_from=None, decimals=decimals or self.system.printed_decimals
        )


def study_task_set(task_set: TaskSet, overheads: KernelOverheads | None, clock_hz: int | None = None) -> TaskSetStudy:
    """Returns the full analysis of a task set, without a run. Raises TaskSetError."""
    return add_sensitivity_to_study(compute_task_set_study(task_set, overheads, clock_hz))


def add_sensitivity_to_study(study: TaskSetStudy, progress: Progress = lambda _: None) -> TaskSetStudy:
    """Returns the study with its sensitivity and the cost of each overhead added, which takes hundreds of analyses."""
    system, overheads, holds = study.system, study.overheads, study.analysis_of_schedulability_answer.is_schedulable
    grown = find_wcet_sensitivity(system, overheads, study.overhead_model_of_schedulability_answer, holds, progress)
    progress("what each overhead costs")
    by_task = (
        response_increase_per_overhead_part(system, overheads, study.overhead_model_of_schedulability_answer)
        if overheads is not None
        else {}
    )
    return replace(study, sensitivity=grown, costs=by_task)


def compute_task_set_study(
    task_set: TaskSet, overheads: KernelOverheads | None, clock_hz: int | None = None
) -> TaskSetStudy:
    """Returns the response-time bounds of a task set. Raises TaskSetError."""
    system = convert_to_integer_task_set(task_set, overheads.clock_hz if overheads is not None else clock_hz)
    notes = []
    if overheads is None:
        notes.append("No overheads are known, so the kernel is assumed to cost nothing; add --kernel or --overheads.")
    else:
        system, observed_overheads = _order_equal_priority_tasks_as_observed(system, overheads)
        notes += observed_overheads
        system, late = task_set_with_tick_releases(system, overheads.tick.period_cycles * system.units_per_cycle)
        if late:
            notes.append(
                f"These tasks are released by the tick, up to one tick after their period begins: {', '.join(late)}."
            )
        notes += _missing_cost_notes(system, overheads)
    notes += _notes_on_released_tasks(system)
    models = (
        tuple(KernelOverheadAccountingModel) if overheads is not None else (KernelOverheadAccountingModel.NO_OVERHEAD,)
    )
    analyses = {model: compute_response_time_bounds(system, overheads, model) for model in models}
    return TaskSetStudy(task_set, system, overheads, analyses, tuple(notes))


def _notes_on_released_tasks(system: IntegerTimeTaskSet) -> list[str]:
    """Returns notes on tasks that other tasks release."""
    lasts = [task for task in system.tasks if task.sender and not task.gives]
    if not lasts:
        return []
    by_name = {task.name: task for task in system.tasks}
    paths = [[*reversed(preceding_tasks_in_release_chain(last, by_name)), last.name] for last in lasts]
    chains = [" > ".join(by_name[name].task_name for name in path) for path in paths]
    notes = [
        f"Tasks release each other: {'; '.join(chains)}. The response of each counts from the arrival of the first one."
    ]
    several = [task for task in system.tasks if task.base_name]
    if several:
        notes.append(
            f"Some tasks are released by several tasks and have several rows: `{several[0].name}` shows the jobs of "
            f"{several[0].task_name} that are released in this way."
        )
    if system.equals == "fifo" and len({(task.core, task.priority) for task in system.tasks}) < len(system.tasks):
        notes.append("With tasks that other tasks release, the bounds hold for any order of tasks of equal priority.")
    return notes


def _order_equal_priority_tasks_as_observed(
    system: IntegerTimeTaskSet, overheads: KernelOverheads
) -> tuple[IntegerTimeTaskSet, list[str]]:
    """Returns the system with the order in which the kernel runs tasks of equal priority, and notes.
    The order is that of their releases only if the kernel was observed to keep it. Otherwise any order is assumed.
    """
    shared = len({(task.core, task.priority) for task in system.tasks}) < len(system.tasks)
    if system.equals != "fifo" or overheads.equals in {"", "fifo"} or not shared:
        return system, []
    how = "by the tick" if overheads.equals == "slices" else "and put a preempted task after the others of its priority"
    note = (
        f"The kernel lets tasks of equal priority take turns {how}, not in the order of their releases. The bounds "
        "hold for any order."
    )
    return replace(system, equals="any"), [note]


def task_set_with_tick_releases(system: IntegerTimeTaskSet, tick: int) -> tuple[IntegerTimeTaskSet, list[str]]:
    """Returns the system with tasks released by the tick, and the names of those that it releases late.


    `tick` is its period in units of the system.
    """
    by_tick = [task for task in system.tasks if task.is_tick_released]
    late = [item.name for item in by_tick if item.period % tick or (item.offset or 0) % tick]

    def task_with_tick_jitter(task: IntegerTimeTask) -> IntegerTimeTask:
        """Returns the task with a tick of jitter added, if the tick releases it late."""
        return replace(task, jitter=task.jitter + tick, offset=None) if task.name in late else task

    return replace(system, tasks=tuple(task_with_tick_jitter(task) for task in system.tasks)), late


def _unknown_multicore_costs(system: IntegerTimeTaskSet, overheads: KernelOverheads) -> list[str]:
    """Returns the costs of several cores to each other that the overheads do not have."""
    between = _BETWEEN_CORES if overheads.smp.kernels == 1 else ()
    unknown = [f"smp.{name}" for name in between if not getattr(overheads.smp, name)]
    called = bool(system.interrupts) or any(task.kernel_call_count for task in system.tasks)
    return [*unknown, "events"] if called and overheads.events is None else unknown


def _missing_cost_notes(system: IntegerTimeTaskSet, overheads: KernelOverheads) -> list[str]:
    """Returns notes on costs that the overheads do not have and that the analysis counts as nothing."""
    missing = []
    if not overheads.interrupt.entry_cycles and not overheads.interrupt.exit_cycles:
        missing.append("interrupt")
    if not overheads.job.start_cycles and not overheads.job.end_cycles:
        missing.append("job")
    if overheads.events is None and any(task.sections for task in system.tasks):
        operations = (*SECTION_OPERATIONS, *INVERSION_OPERATIONS)
        missing += [f"operations.{name}" for name in operations if name not in overheads.operations]
    if len(system.used_core_numbers) > 1 and overheads.smp.kernels == 1:
        missing += _unknown_multicore_costs(system, overheads)
    if overheads.timers is None and any(task.is_timer for task in system.tasks):
        missing.append("timers")
    if overheads.sends is None and any(task.sender for task in system.tasks):
        missing.append("sends")
    notes = [f"The overheads do not contain {', '.join(missing)}, which is counted as 0."] if missing else []
    if len(system.used_core_numbers) > overheads.smp.cores * overheads.smp.kernels:
        notes.append("Handlers and switches are charged as on one core, although they take longer on several cores.")
    return notes
