"""The findings of a diagnosis, worst first, each with when, where and by whom."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Level = Literal["error", "warning", "note"]
"""A note is a fact that may be meant so. It counts for no exit code."""

KINDS: Final = {
    "fault": "fault",
    "unhandled": "interrupt without a handler",
    "ignored store": "store without effect",
    "reset": "reset",
    "deadlock": "deadlock",
    "stack": "stack",
    "inversion": "priority inversion",
    "starvation": "starvation",
    "storm": "handlers leave no time",
    "lost interrupt": "interrupt lost",
    "missed period": "missed period",
    "queue": "queue full",
    "masked": "interrupts masked",
    "late interrupt": "interrupt late",
    "repeated handler": "handler runs twice",
    "lost wake-up": "lost wake-up",
    "warning": "warning of the board",
}
"""Kind of finding -> what it is called. The order is that of the report: what stops a system first."""
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class FindingTimelineBar:
    """A bar on the timeline of a finding. Cycles since reset."""

    start: int
    end: int
    role: Literal["runs", "waits", "holds", "handler", "masked", "ready"]
    label: str = ""


@dataclass(frozen=True, slots=True)
class TimelineTrack:
    """A line on the timeline of a finding: a task, a handler, a lock."""

    name: str
    spans: tuple[FindingTimelineBar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisFinding:
    """One thing in an image that is wrong, or may be: what, when, where and how often."""

    kind: str
    level: Level
    title: str
    """One sentence."""
    cycle: int
    """When it began."""
    cycles: int = 0
    """How long it lasted. 0: a moment."""
    count: int = 1
    """How often it was seen. The rest of the finding is about the worst one."""
    who: tuple[str, ...] = ()
    """Tasks and handlers that take part, the sufferer first."""
    where: tuple[str, ...] = ()
    """Lines about places: who did what, in which function, at which line."""
    tracks: tuple[TimelineTrack, ...] = ()
    """The timeline around it."""
    is_time_known: bool = True
    """False for warnings of the board that do not say when: then `cycle` is the end of the run."""
    facts: dict[str, int | str] = field(default_factory=dict)
    """Figures for programs that read the report."""


def sort_worst_findings_first(findings: Sequence[DiagnosisFinding]) -> tuple[DiagnosisFinding, ...]:
    """Returns the findings of a diagnosis ordered by level, kind and length, the worst first."""
    kinds = list(KINDS)
    return tuple(
        sorted(
            findings,
            key=lambda finding: (
                LEVELS.index(finding.level), kinds.index(finding.kind), -finding.cycles, finding.cycle, finding.title,
            ),
        )
    )  # fmt: skip
