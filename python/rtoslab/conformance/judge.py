"""Turns the notes of the suite's image into one finding for each check and core. The functions are pure, of the
records and their counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from rtoslab.base import Strict
from rtoslab.catalogue import Board, Check, Kernel
from rtoslab.records import DecodedRun
from rtoslab.targets import SYSTICK

if TYPE_CHECKING:
    from rtoslab._sim import Stats

"""Number of the exception that drives every kernel's tick here."""


class Outcome(StrEnum):
    """The outcome of one check on one core."""

    HOLDS = "holds"
    FAILS = "fails"
    DEVIATES = "deviates"
    """Fails, as kernel.toml declares with a reason."""
    NOT_APPLICABLE = "n/a"
    UNSEEN = "unseen"
    """Nobody could look: a real board has no counters, an image that was built elsewhere may not play it."""


class CheckFinding(Strict):
    """The requirement of a check and the observation, in prose. For n/a, the reason."""

    check: str
    title: str
    core: int | None
    """None means: on no core, because it does not apply."""
    demands: str
    saw: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes that one scene left on one core, with the facts that explain them."""

    values: tuple[int, ...]
    tick_hz: int
    time_slice_ticks: int
    timer_hz: int
    clock_hz: int
    stats: "Stats | None"


@dataclass(frozen=True, slots=True)
class BrokenScene:
    """A scene that did not come to its end."""

    scene: str
    core: int
    how: str
    """What became of it, as a clause."""


@dataclass(frozen=True, slots=True)
class Play:
    """The output of the suite, in one play or several. After a scene that broke it is played again without that
    scene."""

    decoded: DecodedRun
    stats: "Stats | None"
    broken: tuple[BrokenScene, ...] = ()
    earlier: tuple[DecodedRun, ...] = ()
    """The notes of the plays that broke, up to there."""
    whole: bool = True
    """Whether the last play came to its end."""
    is_external: bool = False
    """Whether the image was built elsewhere: then it alone knows which scenes it holds."""

    def began(self, scene: str, core: int) -> bool:
        """Whether the last play said that it begins the scene."""
        return any((check.name, check.core) == (scene, core) for check in self.decoded.checks)

    def scenes(self) -> dict[str, tuple[int, ...]]:
        """The notes of each scene on each core that came to its end, from the last play that has them."""
        scenes_: dict[str, tuple[int, ...]] = {}
        for play in (*self.earlier, self.decoded):
            notes: dict[str, list[int]] = {}
            for sample in play.samples:
                notes.setdefault(sample.metric, []).extend(sample.values)
            scenes_ |= {metric: tuple(values) for metric, values in notes.items()}
        return scenes_


def judge_all(checks: Sequence[Check], played: Play, kernel: Kernel, board: Board) -> tuple[CheckFinding, ...]:
    """Every check in the table's order, on every core it is for."""
    scenes = played.scenes()
    findings: list[CheckFinding] = []
    for check in checks:
        obstacle = not_applicable(check, kernel, board, played.decoded.begin.cores)
        if obstacle is not None:
            findings.append(_finding(check, None, obstacle, Outcome.NOT_APPLICABLE))
            continue
        applicable = _of_this_kernel(check, kernel)
        cores = range(1 if check.first_core_only else played.decoded.begin.cores)
        result = [_judge(applicable, core, _notes(scenes, check, core, played), played) for core in cores]
        findings += (
            _declared_deviations(result, kernel.deviations[check.id]) if check.id in kernel.deviations else result
        )
    return tuple(findings)


def _of_this_kernel(check: Check, kernel: Kernel) -> Check:
    """Returns the check with its alternative requirement, if the kernel declares one."""
    if check.instead is None:
        return check
    fact, word = check.instead.when.split(" = ")
    if kernel.fact(fact) != word:
        return check
    return check.model_copy(update=check.instead.model_dump(exclude={"when"}))


def _declared_deviations(findings: Sequence[CheckFinding], reason: str) -> list[CheckFinding]:
    """The findings of a check that kernel.toml says will fail: they deviate; that none does is a failure."""
    if any(finding.outcome is Outcome.FAILS for finding in findings):
        saw = {finding.core: f"{finding.saw}; declared: {reason}" for finding in findings}
        return [
            finding.model_copy(update={"outcome": Outcome.DEVIATES, "saw": saw[finding.core]})
            if finding.outcome is Outcome.FAILS
            else finding
            for finding in findings
        ]
    if any(finding.outcome is Outcome.UNSEEN for finding in findings):
        return list(findings)
    remove = "declared to deviate, but conforms: remove it from [deviations] of kernel.toml"
    return [
        finding.model_copy(update={"outcome": Outcome.FAILS, "saw": f"{finding.saw}; {remove}"}) for finding in findings
    ]


def not_applicable(check: Check, kernel: Kernel, board: Board, cores: int) -> str | None:
    """Why this kernel on so many cores of this board need not show it. None if it must."""
    lacking = kernel.lacking(check.services)
    if lacking is None and cores < check.min_cores:
        return f"{check.min_cores} cores or more are needed to show it"
    if lacking is None and check.needs_fpu and not board.has_fpu:
        return f"{board.title} has no floating-point unit"
    return lacking


def _notes(scenes: Mapping[str, tuple[int, ...]], check: Check, core: int, played: Play) -> Notes:
    decoded = played.decoded
    return Notes(
        values=scenes.get(f"{check.id}/{core}", ()),
        tick_hz=int(decoded.params["tick_hz"]),
        time_slice_ticks=int(decoded.params["time_slice_ticks"]),
        timer_hz=decoded.begin.timer_hz,
        clock_hz=decoded.begin.clock_hz,
        stats=played.stats,
    )


def _judge(check: Check, core: int, notes: Notes, played: Play) -> CheckFinding:
    broken = next((number for number in played.broken if number.scene == check.id), None)
    if broken is not None and (broken.core == core or not notes.values):
        where = "" if broken.core == core else f"not played, because on core {broken.core} "
        return _finding(check, core, f"{where}its scene {broken.how}", Outcome.FAILS)
    if not played.whole and (check.kind == "ticks" or not notes.values):
        return _finding(check, core, "the suite ended before", Outcome.UNSEEN)
    if check.kind == "ticks" and notes.stats is None:
        return _finding(check, core, "this target does not count cycles", Outcome.UNSEEN)
    if played.is_external and check.kind != "ticks" and not played.began(check.id, core):
        return _finding(check, core, "the image does not play its scene", Outcome.UNSEEN)
    if check.kind != "ticks" and not notes.values:
        return _finding(check, core, "its scene left no notes", Outcome.FAILS)
    holds, saw = _KINDS[check.kind](check, notes)
    return _finding(check, core, saw, Outcome.HOLDS if holds else Outcome.FAILS)


def _finding(check: Check, core: int | None, saw: str, outcome: Outcome) -> CheckFinding:
    return CheckFinding(check=check.id, title=check.title, core=core, demands=check.demands, saw=saw, outcome=outcome)


def _sequence(check: Check, notes: Notes) -> tuple[bool, str]:
    if notes.values == check.notes:
        return True, f"noted {_values_text(notes.values)}"
    return False, f"noted {_values_text(notes.values)} where {_values_text(check.notes)} was due"


def _timer(check: Check, notes: Notes) -> tuple[bool, str]:
    due = [tick * notes.timer_hz / notes.tick_hz for tick in check.ticks]
    if len(notes.values) != len(due):
        return False, f"{len(notes.values)} intervals where {len(due)} were due"
    worst = max(abs(seen / due_value - 1) * 100 for seen, due_value in zip(notes.values, due, strict=True))
    total = abs(sum(notes.values) / sum(due) - 1) * 100
    good = worst <= check.tolerance_percent and total <= check.total_tolerance_percent
    return good, f"intervals off by at most {worst:.2f} %, their sum by {total:.3f} %"


def _slices(check: Check, notes: Notes) -> tuple[bool, str]:
    """Two tasks that compute for so many ticks: without slices the second runs when the first has ended."""
    turns = len(notes.values)
    alternate = all(one != other for one, other in zip(notes.values, notes.values[1:], strict=False))
    if notes.time_slice_ticks == 0:
        return turns == 2 and alternate, f"{turns} turns where 2 were due, one a task"
    slices = check.span_ticks // notes.time_slice_ticks
    # At the end each of the two may take one more turn, having read the clock before it was preempted.
    return alternate and -1 <= turns - slices <= 2, f"{turns} turns where {slices} were due, one a slice"


def _growth(check: Check, notes: Notes) -> tuple[bool, str]:
    if len(notes.values) != 3:
        return False, f"noted {_values_text(notes.values)} where three figures were due"
    before, after, size = notes.values
    return 0 < before <= after - check.least and after < size, f"{before} bytes, then {after} of {size}"


def _ticks(check: Check, notes: Notes) -> tuple[bool, str]:
    assert notes.stats is not None
    core = notes.stats["cores"][0]
    taken = core["exceptions"].get(SYSTICK, 0)
    due = core["cycles"] * notes.tick_hz / notes.clock_hz
    slack = 1 + due * check.tolerance_percent / 100  # the span's two ends lie anywhere between two ticks
    return due > 1 and abs(taken - due) <= slack, f"{taken} tick interrupts in {due:.1f} tick periods"


_KINDS: Final[Mapping[str, Callable[[Check, Notes], tuple[bool, str]]]] = {
    "sequence": _sequence,
    "timer": _timer,
    "slices": _slices,
    "growth": _growth,
    "ticks": _ticks,
}


def _values_text(values: Sequence[int]) -> str:
    return " ".join(map(str, values))
