"""One task set studied: bounds by every model, sensitivity, what each overhead costs, what was observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rtoslab.base import count_text
from rtoslab.rta.analysis import Analysis, ResponseBound, analyse, costs
from rtoslab.rta.board_check import Check
from rtoslab.rta.chains import ChainBound, chain_bound, observed_latency
from rtoslab.rta.charges import INVERSION_OPERATIONS, SECTION_OPERATIONS, Model
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.prices import Excess
from rtoslab.rta.sensitivity import Progress, Sensitivity, sensitivity
from rtoslab.rta.system import System, Task, make_system
from rtoslab.rta.taskset import TaskSet
from rtoslab.rta.units import format_microseconds

_BETWEEN_CORES = ("lock_wait_cycles", "release_cycles", "yield_cycles")


@dataclass(frozen=True, slots=True)
class Study:
    """The full result of a task set."""

    task_set: TaskSet
    system: System
    overheads: Overheads | None
    analyses: Mapping[Model, Analysis]
    """Keyed by model. That without overheads alone where no overheads are known."""
    notes: tuple[str, ...]
    sensitivity: Sensitivity | None = None
    """None where it was not asked for yet: it takes hundreds of analyses."""
    costs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Task -> component of the overhead -> by how much its bound is lower without it."""
    check: Check | None = None
    beside: Overheads | None = None
    """Another source's overheads, to be shown next to these."""

    @property
    def model(self) -> Model:
        """The one that the answer rests on."""
        return Model.PARTITION if Model.PARTITION in self.analyses else Model.NOTHING

    @property
    def analysis(self) -> Analysis:
        """Returns the analysis by that model."""
        return self.analyses[self.model]

    @property
    def exceeded_tasks(self) -> list[str]:
        """Tasks observed to take longer than their bound."""
        return [*self.check.exceeded_tasks(self.analysis), *self.chains_exceeded] if self.check is not None else []

    @property
    def chains(self) -> list[ChainBound]:
        """Bounds of the chains, by the model that the answer rests on."""
        return [chain_bound(chain, self.system, self.analysis) for chain in self.system.chains]

    @property
    def chains_observed(self) -> dict[str, int | None]:
        """Chain -> the longest seen. Empty where nothing was run."""
        if self.check is None:
            return {}
        return {chain.name: observed_latency(chain, self.system, self.check.trace) for chain in self.system.chains}

    @property
    def chains_exceeded(self) -> list[str]:
        """Chains seen to take longer than bounded."""
        bounds = {chain.name: chain.latency for chain in self.chains}
        seen = self.chains_observed.items()
        return [name for name, longest in seen if None not in (longest, bounds[name]) and longest > bounds[name]]  # type: ignore[operator]

    @property
    def uncovered_entries(self) -> list[Excess]:
        """Returns what took longer on the board than the overheads say, the worst first."""
        return (
            self.check.uncovered_entries(self.overheads)
            if self.check is not None and self.overheads is not None
            else []
        )

    @property
    def unknown(self) -> list[str]:
        """Returns what the overheads of several cores do not tell: a yes without it would be a guess."""
        if self.overheads is None or len(self.system.cores) == 1:
            return []
        return _silent(self.system, self.overheads)

    @property
    def is_undecided(self) -> bool:
        """No deadline is known to be missed and nothing observed speaks against the bounds, but some are unknown."""
        bounds = (*self.analysis.tasks, *self.analysis.interrupts)
        missed = any(bound.can_be_missed for bound in bounds) or any(chain.can_be_missed for chain in self.chains)
        return not self.holds and not missed and not self.exceeded_tasks and not self.uncovered_entries

    @property
    def holds(self) -> bool:
        """Every deadline is met by the bounds, and nothing observed speaks against them."""
        if self.unknown:
            return False
        met = self.analysis.schedulable and all(chain.meets for chain in self.chains)
        return met and not self.exceeded_tasks and not self.uncovered_entries

    def answer(self) -> list[str]:
        """Yes or no, and why: the tightest task, or each that misses and what its time goes to."""
        analysis = self.analysis
        bounds = [*analysis.tasks, *analysis.interrupts]
        exceeded, uncovered = self.exceeded_tasks, self.uncovered_entries
        if exceeded:
            names = ", ".join(exceeded)
            return [f"No bound can be trusted: {names} took longer than bounded; measure the overheads again."]
        if uncovered:
            worst, clock = uncovered[0], self.system.clock_hz
            seen = f"at {1e3 * worst.at / clock:,.3f} ms {worst.what} took {worst.took:,} cycles"
            charged = f"the overheads charge it with {worst.charged:,} ({len(uncovered)} such)"
            advice = "write larger overheads by hand (--save-overheads, then --overheads)"
            return [f"No bound can be trusted: {seen}, {charged}. What was measured does not cover this set; {advice}."]
        late = [self._late(chain) for chain in self.chains if not chain.meets]
        if analysis.schedulable and late:
            return late
        if analysis.schedulable and self.unknown:
            left_out = f"the overheads do not tell {', '.join(self.unknown)}, which is left out of the bounds"
            advice = "write it into a file of overheads (--save-overheads, then --overheads)"
            return [f"Every bound is below its deadline, but {left_out}: no yes; {advice}."]
        if analysis.schedulable:
            tightest = min(bounds, key=lambda bound: (bound.slack or 0) / bound.deadline)
            left = f"{self._us(tightest.slack or 0)} of {self._us(tightest.deadline)} us left"
            return [f"Yes: every deadline is met. The tightest is {tightest.name}, with {left}.", *self._conditions()]
        return [*(self._why(bound) for bound in bounds if not bound.meets), *late]

    def _late(self, chain: ChainBound) -> str:
        if chain.latency is None:
            return f"No answer: the chain {chain.name} has no bound, for one of its tasks has none."
        latency, deadline = self._us(chain.latency), self._us(chain.deadline)
        return f"No: the chain {chain.name} may take {latency} us from end to end, its deadline is {deadline} us."

    def _conditions(self) -> list[str]:
        """Returns what the answer rests on."""
        overheads = self.overheads
        if overheads is None:
            return []
        tick_hz = overheads.clock_hz / overheads.tick.period_cycles
        where = (
            " on ".join(item for item in (overheads.kernel, overheads.board) if item) or "a kernel written down by hand"
        )
        config = "".join(f", {name}={value}" for name, value in overheads.config.items() if value)
        if overheads.smp.cores > 1:
            longer = overheads.smp.contention_permille / 10
            config += f", {overheads.smp.cores} cores, work up to {longer:g} % longer for that"
        source = f"; its overheads: {overheads.note}" if overheads.note else ""
        seen = (
            "" if self.check is None else f", {count_text(self.check.jobs, 'job')} of this set held against the bounds"
        )
        return [f"For {where} at {overheads.clock_hz / 1e6:g} MHz, {tick_hz:g} ticks a second{config}{source}{seen}."]

    def _why(self, bound: ResponseBound) -> str:
        if bound.response is None:
            answer = "No" if bound.can_be_missed else "No answer"
            return f"{answer}: {bound.name} has no bound, for {bound.reason}."
        parts = sorted(bound.parts.items(), key=lambda part: -part[1])
        spent = ", ".join(f"{name} {self._us(value)}" for name, value in parts if value > 0)
        return (
            f"No: {bound.name} may take {self._us(bound.response)} us, its deadline is {self._us(bound.deadline)} us "
            f"({spent})."
        )

    def _us(self, units: int) -> str:
        return format_microseconds(self.system.exact_microseconds(units), whole_from=None)


def study(task_set: TaskSet, overheads: Overheads | None, clock_hz: int | None = None) -> Study:
    """Analyses a task set, with its sensitivity and what each overhead costs. Raises TaskSetError."""
    return with_growth(study_bounds(task_set, overheads, clock_hz))


def with_growth(study: Study, progress: Progress = lambda _: None) -> Study:
    """Returns the study with its sensitivity and the cost of each overhead, which takes hundreds of analyses."""
    system, overheads, holds = study.system, study.overheads, study.analysis.schedulable
    grown = sensitivity(system, overheads, study.model, holds, progress)
    progress("what each overhead costs")
    by_task = costs(system, overheads, study.model) if overheads is not None else {}
    return replace(study, sensitivity=grown, costs=by_task)


def study_bounds(task_set: TaskSet, overheads: Overheads | None, clock_hz: int | None = None) -> Study:
    """Bounds a task set at the overheads' clock, or the one given. Raises TaskSetError."""
    system = make_system(task_set, overheads.clock_hz if overheads is not None else clock_hz)
    notes = []
    if overheads is None:
        notes.append("No overheads are known, so the kernel costs nothing here: give --kernel or --overheads.")
    else:
        system, observed_overheads = _as_seen(system, overheads)
        notes += observed_overheads
        system, late = release_by_tick(system, overheads.tick.period_cycles * system.units_per_cycle)
        if late:
            notes.append(
                f"Released by the tick, which is up to one tick later than their periods say: {', '.join(late)}."
            )
        notes += _lacking(system, overheads)
    models = tuple(Model) if overheads is not None else (Model.NOTHING,)
    analyses = {model: analyse(system, overheads, model) for model in models}
    return Study(task_set, system, overheads, analyses, tuple(notes))


def _as_seen(system: System, overheads: Overheads) -> tuple[System, list[str]]:
    """Equals run in the order of their releases only where the kernel was seen to let them."""
    shared = len({(task.core, task.priority) for task in system.tasks}) < len(system.tasks)
    if system.equals != "fifo" or overheads.equals in {"", "fifo"} or not shared:
        return system, []
    how = "by the tick" if overheads.equals == "slices" else "and put a preempted task behind its equals"
    note = (
        f"The kernel was seen to let equals take turns {how}, not in the order of their releases: any order is bounded."
    )
    return replace(system, equals="any"), [note]


def release_by_tick(system: System, tick: int) -> tuple[System, list[str]]:
    """If a period or an offset is no whole number of ticks, the tick releases the task up to one tick late.

    `tick` is its period in units of the system.
    """
    by_tick = [task for task in system.tasks if not task.released_by]
    late = [item.name for item in by_tick if item.period % tick or (item.offset or 0) % tick]

    def change_task(task: Task) -> Task:
        return replace(task, jitter=task.jitter + tick, offset=None) if task.name in late else task

    return replace(system, tasks=tuple(change_task(task) for task in system.tasks)), late


def _silent(system: System, overheads: Overheads) -> list[str]:
    """Returns what several cores cost each other and the overheads do not tell."""
    silent = [f"smp.{name}" for name in _BETWEEN_CORES if not getattr(overheads.smp, name)]
    called = bool(system.interrupts) or any(task.calls for task in system.tasks)
    return [*silent, "events"] if called and overheads.events is None else silent


def _lacking(system: System, overheads: Overheads) -> list[str]:
    """Returns what the analysis counts as nothing because the overheads do not tell it."""
    lacking = []
    if not overheads.interrupt.entry_cycles and not overheads.interrupt.exit_cycles:
        lacking.append("interrupt")
    if not overheads.job.start_cycles and not overheads.job.end_cycles:
        lacking.append("job")
    if overheads.events is None and any(task.sections for task in system.tasks):
        operations = (*SECTION_OPERATIONS, *INVERSION_OPERATIONS)
        lacking += [f"operations.{name}" for name in operations if name not in overheads.operations]
    if len(system.cores) > 1:
        lacking += _silent(system, overheads)
    notes = [f"The overheads do not tell {', '.join(lacking)}: counted as nothing."] if lacking else []
    if len(system.cores) > overheads.smp.cores:
        notes.append("Handlers and switches are charged as the one-core kernel's; on several cores they take longer.")
    return notes
