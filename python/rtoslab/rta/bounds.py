"""The bounds of tasks and interrupts that an analysis computes, and the reasons why one has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from rtoslab.base import count_with_noun
from rtoslab.rta.charges import KernelOverheadAccountingModel
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTask
from rtoslab.rta.windows import MAX_STEPS


class MissingBoundReason(StrEnum):
    """The reasons why a task or interrupt has no bound of its response time."""

    NONE = ""
    OVERLOAD = "overload"
    """The demand is more than the processor has: deadlines will be missed."""
    MODEL = "model"
    """The model does not apply."""
    LOST_RELEASE = "lost release"
    """A release may be lost, so no job of the task or of those that it releases is known to answer an arrival."""
    STEPS = "steps"
    """The search used up its steps without a result."""


@dataclass(frozen=True, slots=True)
class ResponseBound:
    """The bound of the response time of one task or interrupt, in units of the system."""

    name: str
    deadline: int
    response: int | None
    """None if there is no bound. `reason` then says why."""
    reason: str = ""
    parts: Mapping[str, int] = field(default_factory=dict)
    """The response of the worst job by cause. `waiting` is negative: the time from the start of the busy period to the
    arrival of that job."""
    utilisation: float = 0.0
    """The utilisation of everything at least as urgent, and the kernel."""
    obstacle: MissingBoundReason = MissingBoundReason.NONE
    """The kind of reason for which there is no bound."""

    @property
    def is_deadline_met(self) -> bool:
        """Whether the bound is known and within the deadline."""
        return self.response is not None and self.response <= self.deadline

    @property
    def can_deadline_be_missed(self) -> bool:
        """Whether the deadline can be missed: the bound is beyond it, or the processor is overloaded."""
        return self.obstacle is MissingBoundReason.OVERLOAD or (
            self.response is not None and self.response > self.deadline
        )

    @property
    def slack_until_deadline(self) -> int | None:
        """Returns the time left between bound and deadline, negative if the deadline is missed. None without a
        bound."""
        return None if self.response is None else self.deadline - self.response


@dataclass(frozen=True, slots=True)
class ResponseTimeAnalysis:
    """The response-time bounds of all tasks and interrupts of a system under one overhead model."""

    model: KernelOverheadAccountingModel
    tasks: tuple[ResponseBound, ...]
    interrupts: tuple[ResponseBound, ...]

    @property
    def is_schedulable(self) -> bool:
        """Whether every task and interrupt meets its deadline."""
        return all(task.is_deadline_met for task in (*self.tasks, *self.interrupts))

    def find_response_bound(self, name: str) -> ResponseBound:
        """Returns the bound of a task or interrupt by its name."""
        return next(task for task in (*self.tasks, *self.interrupts) if task.name == name)


def make_missing_response_time_bound(
    subject: IntegerTimeTask | IntegerTimeInterrupt, reason: str, load: Fraction, obstacle: MissingBoundReason
) -> ResponseBound:
    """Returns the result for a task or interrupt that has no bound, with the reason."""
    return ResponseBound(subject.name, subject.deadline, None, reason, utilisation=float(load), obstacle=obstacle)


def search_steps_exhausted_text(load: Fraction, max_steps: int) -> str:
    """Returns the reason for a bound that was not found within the allowed steps."""
    return f"the search ended after {count_with_noun(max_steps, 'step')}, at {float(100 * load):.2f} % of the processor"


def longest_searched_response(subject: IntegerTimeTask | IntegerTimeInterrupt, max_steps: int) -> int | None:
    """Returns the longest response that the search for a bound goes up to, counted from the release. None: no limit."""
    return None if max_steps >= MAX_STEPS else subject.deadline - subject.jitter


def nonzero_response_time_bound_parts(parts: dict[str, int], jitter: int) -> dict[str, int]:
    """Returns the parts of a response-time bound that are not 0, with the jitter."""
    return {name: value for name, value in {**parts, "jitter": jitter}.items() if value}
