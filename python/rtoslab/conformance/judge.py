"""Turns the notes of the suite's image into one finding for each check and core. The functions are pure, of the
records and their counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from rtoslab.base import StrictFileSchemaModel
from rtoslab.catalogue import Board, ConformanceCheck, Kernel
from rtoslab.records import DecodedRun
from rtoslab.targets import SYSTICK

if TYPE_CHECKING:
    from rtoslab._sim import Stats


class CheckOutcome(StrEnum):
    """The outcome of one conformance check on one core."""

    HOLDS = "holds"
    FAILS = "fails"
    DEVIATES = "deviates"
    """Fails, as kernel.toml declares with a reason."""
    NOT_APPLICABLE = "n/a"
    UNSEEN = "unseen"
    """Not observed: a real board has no counters, and an image that was built elsewhere may lack the scene."""


class ConformanceCheckResult(StrictFileSchemaModel):
    """The finding of a conformance check on a core: requirement and observation. For n/a, the reason."""

    check: str
    title: str
    core: int | None
    """None if the check does not apply, so it concerns no core."""
    demands: str
    saw: str
    outcome: CheckOutcome


@dataclass(frozen=True, slots=True)
class ConformanceTestReportedNumbers:
    """The notes (numbers) that one scene, a small test program, reported on one core."""

    values: tuple[int, ...]
    tick_hz: int
    time_slice_ticks: int
    timer_hz: int
    clock_hz: int
    stats: "Stats | None"


@dataclass(frozen=True, slots=True)
class UnfinishedConformanceTest:
    """A scene (a test program of the conformance suite) that did not end as it should."""

    scene: str
    core: int
    ending: str
    """How it ended, as a clause: `got stuck`."""


@dataclass(frozen=True, slots=True)
class ConformanceOutput:
    """The output of the conformance suite. After a broken scene the suite runs again without that scene."""

    decoded: DecodedRun
    stats: "Stats | None"
    broken_scenes: tuple[UnfinishedConformanceTest, ...] = ()
    earlier_runs: tuple[DecodedRun, ...] = ()
    """The runs that ended in a broken scene, up to there."""
    is_complete: bool = True
    """Whether the last run came to its end."""
    is_external: bool = False
    """Whether the image was built elsewhere. Such an image may lack scenes."""

    def has_conformance_test_begun(self, scene: str, core: int) -> bool:
        """Whether the last run of the suite reported that a scene began on a core."""
        return any((check.name, check.core) == (scene, core) for check in self.decoded.checks)

    def reported_numbers_by_test(self) -> dict[str, tuple[int, ...]]:
        """Returns the notes (numbers) of each finished scene on each core, by `SCENE/CORE`."""
        scenes_: dict[str, tuple[int, ...]] = {}
        for play in (*self.earlier_runs, self.decoded):
            notes: dict[str, list[int]] = {}
            for sample in play.samples:
                notes.setdefault(sample.metric, []).extend(sample.values)
            scenes_ |= {metric: tuple(values) for metric, values in notes.items()}
        return scenes_


def judge_conformance_checks(
    checks: Sequence[ConformanceCheck], output: ConformanceOutput, kernel: Kernel, board: Board
) -> tuple[ConformanceCheckResult, ...]:
    """Returns a finding for each check of the port contract on each core, in the order of `checks`."""
    scenes = output.reported_numbers_by_test()
    findings: list[ConformanceCheckResult] = []
    for check in checks:
        obstacle = reason_check_is_not_applicable(check, kernel, board, output.decoded.begin.cores)
        if obstacle is not None:
            findings.append(_make_check_finding(check, None, obstacle, CheckOutcome.NOT_APPLICABLE))
            continue
        applicable = _adapt_check_to_kernel_properties(check, kernel)
        cores = range(1 if check.first_core_only else output.decoded.begin.cores)
        result = [
            _judge_conformance_check(
                applicable, core, _numbers_from_conformance_test(scenes, check, core, output), output
            )
            for core in cores
        ]
        findings += (
            _mark_declared_conformance_deviations(result, kernel.deviations[check.id])
            if check.id in kernel.deviations
            else result
        )
    return tuple(findings)


def _adapt_check_to_kernel_properties(check: ConformanceCheck, kernel: Kernel) -> ConformanceCheck:
    """Returns the check, with another requirement if the kernel declares a property that calls for it."""
    if check.instead is None:
        return check
    fact, word = check.instead.when.split(" = ")
    if kernel.find_declared_kernel_toml_value(fact) != word:
        return check
    return check.model_copy(update=check.instead.model_dump(exclude={"when"}))


def _mark_declared_conformance_deviations(
    findings: Sequence[ConformanceCheckResult], reason: str
) -> list[ConformanceCheckResult]:
    """Returns the findings of a check that kernel.toml declares to fail: failures become deviations. If none fails,
    that is a failure itself."""
    if any(finding.outcome is CheckOutcome.FAILS for finding in findings):
        saw = {finding.core: f"{finding.saw}; declared: {reason}" for finding in findings}
        return [
            finding.model_copy(update={"outcome": CheckOutcome.DEVIATES, "saw": saw[finding.core]})
            if finding.outcome is CheckOutcome.FAILS
            else finding
            for finding in findings
        ]
    if any(finding.outcome is CheckOutcome.UNSEEN for finding in findings):
        return list(findings)
    remove = "declared to deviate, but conforms: remove it from [deviations] of kernel.toml"
    return [
        finding.model_copy(update={"outcome": CheckOutcome.FAILS, "saw": f"{finding.saw}; {remove}"})
        for finding in findings
    ]


def reason_check_is_not_applicable(check: ConformanceCheck, kernel: Kernel, board: Board, cores: int) -> str | None:
    """Returns why a check does not apply to a kernel on so many cores of a board. None if it applies."""
    lacking = kernel.why_lacking_services(check.services)
    if lacking is None and cores < check.min_cores:
        return f"{check.min_cores} cores or more are needed to show it"
    if lacking is None and check.needs_fpu and not board.has_fpu:
        return f"{board.title} has no floating-point unit"
    return lacking


def _numbers_from_conformance_test(
    scenes: Mapping[str, tuple[int, ...]], check: ConformanceCheck, core: int, output: ConformanceOutput
) -> ConformanceTestReportedNumbers:
    """Returns the notes (numbers) that the scene of a check left on one core. `scenes`: from
    `reported_numbers_by_test`."""
    decoded = output.decoded
    return ConformanceTestReportedNumbers(
        values=scenes.get(f"{check.id}/{core}", ()),
        tick_hz=int(decoded.params["tick_hz"]),
        time_slice_ticks=int(decoded.params["time_slice_ticks"]),
        timer_hz=decoded.begin.timer_hz,
        clock_hz=decoded.begin.clock_hz,
        stats=output.stats,
    )


def _judge_conformance_check(
    check: ConformanceCheck, core: int, notes: ConformanceTestReportedNumbers, output: ConformanceOutput
) -> ConformanceCheckResult:
    """Returns the finding of a check on one core, by what its scene noted there."""
    broken = next((number for number in output.broken_scenes if number.scene == check.id), None)
    if broken is not None and (broken.core == core or not notes.values):
        where = "" if broken.core == core else f"not played, because on core {broken.core} "
        return _make_check_finding(check, core, f"{where}its scene {broken.ending}", CheckOutcome.FAILS)
    if not output.is_complete and (check.kind == "ticks" or not notes.values):
        return _make_check_finding(check, core, "the suite ended before", CheckOutcome.UNSEEN)
    if check.kind == "ticks" and notes.stats is None:
        return _make_check_finding(check, core, "this target does not count cycles", CheckOutcome.UNSEEN)
    if output.is_external and check.kind != "ticks" and not output.has_conformance_test_begun(check.id, core):
        return _make_check_finding(check, core, "the image does not play its scene", CheckOutcome.UNSEEN)
    if check.kind != "ticks" and not notes.values:
        return _make_check_finding(check, core, "its scene left no notes", CheckOutcome.FAILS)
    holds, saw = _JUDGES[check.kind](check, notes)
    return _make_check_finding(check, core, saw, CheckOutcome.HOLDS if holds else CheckOutcome.FAILS)


def _make_check_finding(
    check: ConformanceCheck, core: int | None, saw: str, outcome: CheckOutcome
) -> ConformanceCheckResult:
    """Returns the finding of a check on one core, with what was observed."""
    return ConformanceCheckResult(
        check=check.id, title=check.title, core=core, demands=check.demands, saw=saw, outcome=outcome
    )


def _judge_reported_test_numbers(check: ConformanceCheck, notes: ConformanceTestReportedNumbers) -> tuple[bool, str]:
    """Returns whether a scene noted exactly the required numbers, and the observation as text."""
    if notes.values == check.notes:
        return True, f"noted {_join_with_blanks(notes.values)}"
    return False, f"noted {_join_with_blanks(notes.values)} where {_join_with_blanks(check.notes)} was due"


def _judge_conformance_timer_intervals(
    check: ConformanceCheck, notes: ConformanceTestReportedNumbers
) -> tuple[bool, str]:
    """Returns whether the intervals that a scene noted are within the tolerance, and the observation as text."""
    due = [tick * notes.timer_hz / notes.tick_hz for tick in check.ticks]
    if len(notes.values) != len(due):
        return False, f"{len(notes.values)} intervals where {len(due)} were due"
    worst = max(abs(seen / due_value - 1) * 100 for seen, due_value in zip(notes.values, due, strict=True))
    total = abs(sum(notes.values) / sum(due) - 1) * 100
    good = worst <= check.tolerance_percent and total <= check.total_tolerance_percent
    return good, f"intervals off by at most {worst:.2f} %, their sum by {total:.3f} %"


def _judge_time_slices(check: ConformanceCheck, notes: ConformanceTestReportedNumbers) -> tuple[bool, str]:
    """Returns whether two computing tasks took turns as often as the kernel's time slice says, and the observation as
    text.

    Without time slices the second runs after the first has ended.
    """
    turns = len(notes.values)
    alternate = all(one != other for one, other in zip(notes.values, notes.values[1:], strict=False))
    if notes.time_slice_ticks == 0:
        return turns == 2 and alternate, f"{turns} turns where 2 were due, one a task"
    slices = check.span_ticks // notes.time_slice_ticks
    # At the end each of the two may take one more turn, having read the clock before it was preempted.
    return alternate and -1 <= turns - slices <= 2, f"{turns} turns where {slices} were due, one a slice"


def _judge_reported_size_growth(check: ConformanceCheck, notes: ConformanceTestReportedNumbers) -> tuple[bool, str]:
    """Returns whether a size that a scene noted grew enough and stayed below its limit, and the observation as text."""
    if len(notes.values) != 3:
        return False, f"noted {_join_with_blanks(notes.values)} where three figures were due"
    before, after, size = notes.values
    return 0 < before <= after - check.least and after < size, f"{before} bytes, then {after} of {size}"


def _judge_tick_count(check: ConformanceCheck, notes: ConformanceTestReportedNumbers) -> tuple[bool, str]:
    """Returns whether the number of tick interrupts fits the cycles that passed, and the observation as text."""
    assert notes.stats is not None
    core = notes.stats["cores"][0]
    taken = core["exceptions"].get(SYSTICK, 0)
    due = core["cycles"] * notes.tick_hz / notes.clock_hz
    slack = 1 + due * check.tolerance_percent / 100  # the span's two ends lie anywhere between two ticks
    return due > 1 and abs(taken - due) <= slack, f"{taken} tick interrupts in {due:.1f} tick periods"


_JUDGES: Final[Mapping[str, Callable[[ConformanceCheck, ConformanceTestReportedNumbers], tuple[bool, str]]]] = {
    "sequence": _judge_reported_test_numbers,
    "timer": _judge_conformance_timer_intervals,
    "slices": _judge_time_slices,
    "growth": _judge_reported_size_growth,
    "ticks": _judge_tick_count,
}


def _join_with_blanks(values: Sequence[int]) -> str:
    """Returns the values as text, with blanks between them."""
    return " ".join(map(str, values))
