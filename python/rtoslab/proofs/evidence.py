"""What a proof looks at, and what it says."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from rtoslab.run.observe import Observed, Switch
from rtoslab.samples import Decoded
from rtoslab.schemas import Benchmark, Board, Kernel, Strict


class Verdict(StrEnum):
    """The outcome of one proof."""

    HOLDS = "holds"
    FAILS = "fails"
    UNSEEN = "unseen"
    """The proof could not look: a real board has no probes, or there is nothing of the kind without a kernel."""


class Finding(BaseModel):
    """What a proof demanded and saw, in prose."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    demands: str
    saw: str
    verdict: Verdict


class RuleParams(Strict):
    """Base of every rule's keys."""

    rule: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One run: the firmware's word, the probes' word, the facts to read them by."""

    decoded: Decoded
    observed: Observed | None
    benchmark: Benchmark
    board: Board
    kernel: Kernel

    @property
    def cores(self) -> range:
        """Cores the kernel ran on."""
        return range(self.decoded.begin.cores)

    @property
    def slices(self) -> int:
        """At most so many switches among equals on a core come from the tick: this kernel cannot be told not to."""
        period = self.kernel.time_slice_ticks
        if period == 0:
            return 0
        begin, (window, *_) = self.decoded.begin, self.decoded.windows
        ticks = (window.close_ticks - window.open_ticks) * int(self.decoded.params["tick_hz"]) // begin.timer_hz
        return (ticks + 1) // period

    def counted(self, core: int) -> int:
        """Counts of the metric's tasks on one core, all windows."""
        return sum(
            each.count
            for each in self.decoded.counts
            if each.core == core and each.index in self.benchmark.metric.tasks
        )

    def counters(self, core: int) -> dict[int, int]:
        """Task index -> count on one core, for the metric's tasks."""
        return {
            each.index: each.count
            for each in self.decoded.counts
            if each.core == core and each.index in self.benchmark.metric.tasks
        }

    def handle(self, core: int, index: int) -> int | None:
        """Control block address of a task under test."""
        found = [task.handle for task in self.decoded.tasks if (task.core, task.index) == (core, index) and task.handle]
        return found[0] if found else None

    def controls(self) -> set[int]:
        """Control blocks of tasks that are not under test (the window's own control task)."""
        return {task.handle for task in self.decoded.tasks if task.index >= self.benchmark.tasks_per_core}

    def switches(self, core: int) -> Counter[Switch]:
        """Switches of one core that do not enter or leave a control task."""
        assert self.observed is not None
        controls = self.controls()
        return Counter(
            {
                switch: count
                for switch, count in self.observed.switches.items()
                if switch.core == core and not {switch.before, switch.after} & controls
            }
        )

    def checks(self, core: int) -> dict[str, int]:
        """The firmware's self-checks of one core by name."""
        return {each.name: each.value for each in self.decoded.checks if each.core == core}


def finding(rule: str, demands: str, problems: list[str], seen: list[str]) -> Finding:
    """The finding of a rule that looked: it holds if there are no problems."""
    verdict = Verdict.FAILS if problems else Verdict.HOLDS
    return Finding(rule=rule, demands=demands, saw="; ".join(problems or seen), verdict=verdict)


def unseen(rule: str, demands: str, why: str = "this target has no probes") -> Finding:
    """The finding of a rule that had nothing to look at or nothing to look with."""
    return Finding(rule=rule, demands=demands, saw=why, verdict=Verdict.UNSEEN)


def compare(core: int, what: str, found: int, wanted: float, tolerance: float, extra: int = 0) -> tuple[str, bool]:
    """A sentence on `found` against `wanted`, and whether they agree; up to `extra` more may have another cause.

    Nothing counted never agrees.
    """
    more = f" and up to {extra} by time slices" if extra else ""
    sentence = f"core {core}: {found} {what}, {wanted:g} expected{more}"
    return sentence, found > 0 and -tolerance <= found - wanted <= tolerance + extra
