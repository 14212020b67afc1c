"""Counts the rounds in a sequence of observed steps. `course` explains rounds."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from rtoslab.proofs.expected_steps import ExpectedBenchmarkStep
from rtoslab.proofs.step_match import BenchmarkStepMatcher, PlaceholderBindings, StepTest
from rtoslab.targets import HANDLER, INTERRUPT, ObservedBenchmarkStep

Round = tuple[ExpectedBenchmarkStep, ...]
_Parts = tuple["_PreparedExpectedStep", ...]
OwnCycles = dict[str, list[int]]
"""By the text of an expected step, the cycles of the tasks' own code before it, each time."""
_Own = list[tuple[str, int]]
"""The same in the order of time."""
_PREAMBLE: Final = 400
"""The most steps skipped before the first whole round or after a break, besides a part of a round."""


@dataclass(slots=True)
class StepSequenceMatchResult:
    """The result of matching observed steps with rounds: whole rounds, breaks of the order, own cycles."""

    rounds: int = 0
    breaks: list[str] = field(default_factory=list)
    own_cycles: OwnCycles = field(default_factory=lambda: defaultdict(list))


@dataclass(slots=True)
class _RepetitionMatchResult:
    """The result of an attempt to match one round."""

    end: int
    """The index after the last step that matched."""
    expected: str = ""
    """The expected step in place of the next observed one. Empty if none was missed."""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class _PreparedExpectedStep:
    """An expected step of a round, or a group of them, with its comparison functions prepared."""

    text: str
    kind: str
    least: int
    repeated: bool
    fits: StepTest
    may_match: Callable[[ObservedBenchmarkStep], bool]
    """Whether an observed step can be this one, if it must be present."""
    parts: "_Parts"
    """The parts of a group."""


def _prepare_step_comparison(matcher: BenchmarkStepMatcher, step: ExpectedBenchmarkStep) -> _PreparedExpectedStep:
    """Returns an expected step of a benchmark's round with the functions that compare observed steps with it."""
    may = matcher.make_predicate_for_expected_step(step) if step.kind != "group" and step.least else lambda _: True
    parts = tuple(_prepare_step_comparison(matcher, one) for one in step.parts) if step.kind == "group" else ()
    return _PreparedExpectedStep(
        step.text, step.kind, step.least, step.repeated, matcher.make_benchmark_step_predicate(step), may, parts
    )


def match_observed_benchmark_steps(
    matcher: BenchmarkStepMatcher, steps: Sequence[ObservedBenchmarkStep], rounds: Sequence[Round], *, only_inside: bool
) -> StepSequenceMatchResult:
    """Matches observed steps (calls, switches, marks) with a benchmark's round and counts the whole rounds. `rounds`
    are alternatives, and the first round may begin anywhere. With `only_inside`, own cycles are counted inside measured
    intervals only."""
    sequence = _BenchmarkStepSequenceMatcher(matcher, steps, only_inside)
    result = StepSequenceMatchResult()
    names = PlaceholderBindings()
    alternatives = [tuple(_prepare_step_comparison(matcher, item) for item in one) for one in rounds]
    at = sequence.find_next_step_repetition(0, alternatives, names)
    if at is None:
        if not sequence.is_beginning_of_repetition(alternatives):
            result.breaks.append(sequence.no_matching_repetition_text(alternatives))
        return result
    while at is not None and at < len(steps):
        tries = [
            _StepSequenceMatchAttempt(sequence, at, alternative, names)
            for alternative in alternatives
            if alternative[0].may_match(steps[at])
        ]
        best = max(tries, key=lambda item: (item.result.whole, item.result.end), default=None)
        if best is None or (not best.result.whole and best.result.end == at):
            best = _StepSequenceMatchAttempt(
                sequence, at, alternatives[0], names
            )  # of several that miss their first step it says so
        if best.result.expected:
            result.breaks.append(sequence.step_mismatch_text(best.result))
            at = sequence.find_next_step_repetition(best.result.end + 1, alternatives, names)
            continue
        names = best.names
        for text, cycles in best.own:
            result.own_cycles[text].append(cycles)
        result.rounds += best.result.whole
        if best.result.end == at:
            break
        at = best.result.end
    return result


class _StepSequenceMatchAttempt:
    """An attempt to match one round, with the names and own cycles that it would add."""

    def __init__(
        self, walk: "_BenchmarkStepSequenceMatcher", at: int, parts: _Parts, names: PlaceholderBindings
    ) -> None:
        """Matches the expected `parts` with the steps from index `at` on. `names`: the values that names in a round
        have so far."""
        self.names: PlaceholderBindings = names.copy_placeholder_bindings()
        self.own: _Own = []
        self.result = walk.match_steps_of_one_repetition(at, parts, self.names, self.own)


@dataclass(frozen=True, slots=True)
class _BenchmarkStepSequenceMatcher:
    """Matches rounds of expected steps with the observed steps of one core."""

    matcher: BenchmarkStepMatcher
    steps: Sequence[ObservedBenchmarkStep]
    only_inside: bool

    def find_next_step_repetition(self, at: int, rounds: Sequence[_Parts], names: PlaceholderBindings) -> int | None:
        """Returns the index of the next whole round at or near index `at`. None if there is none near enough."""
        for start in range(at, len(self.steps)):
            likely = [round_ for round_ in rounds if round_[0].may_match(self.steps[start])]
            tries = [
                self.match_steps_of_one_repetition(start, round_, names.copy_placeholder_bindings(), None)
                for round_ in likely
            ]
            longest = max((round_.end - start for round_ in tries if round_.whole), default=0)
            # Where a round has hundreds of calls, so has the part of one that comes first.
            if longest:
                return start if start - at < _PREAMBLE + longest else None
        return None

    def is_beginning_of_repetition(self, rounds: Sequence[_Parts]) -> bool:
        """Whether the observed steps are only the beginning of one of the rounds."""
        tries = [self.match_steps_of_one_repetition(0, round_, PlaceholderBindings(), None) for round_ in rounds]
        return any(0 < round_.end == len(self.steps) and not round_.expected for round_ in tries)

    def no_matching_repetition_text(self, rounds: Sequence[_Parts]) -> str:
        """Returns a sentence that says no round matched, and where the best attempt ended."""
        tries = [
            self.match_steps_of_one_repetition(start, round_, PlaceholderBindings(), None)
            for start in range(min(_PREAMBLE, len(self.steps)))
            for round_ in rounds
        ]
        problem = self.step_mismatch_text(max(tries, key=lambda round_: round_.end)) if tries else "nothing was called"
        return f"no whole round in {len(self.steps)} steps; {problem}"

    def step_mismatch_text(self, attempt: _RepetitionMatchResult) -> str:
        """Returns a sentence on the observed step at which an attempt to match a round failed. Empty if every step
        matched."""
        return (
            f"{self.matcher.describe_observed_step(self.steps[attempt.end])} instead of `{attempt.expected}`"
            if attempt.expected
            else ""
        )

    def match_steps_of_one_repetition(
        self, at: int, parts: _Parts, names: PlaceholderBindings, own: _Own | None
    ) -> _RepetitionMatchResult:
        """Matches the observed steps from index `at` on with the parts of one round. `own` collects the own cycles
        before each step."""
        steps, counts_everywhere, inside = self.steps, not self.only_inside, False
        for index, item in enumerate(parts):
            times, least = 0, item.least
            while times < least or item.repeated or (least == 0 and times == 0):
                if at == len(steps):
                    rest = parts[index + 1 :]
                    return _RepetitionMatchResult(at, whole=times >= least and all(one.least == 0 for one in rest))
                mine = own if inside or counts_everywhere else None
                if item.parts:
                    end = self._match_benchmark_step_group(at, item.parts, names, mine)
                    if end is None:
                        break
                    at = end
                else:
                    step = steps[at]
                    if not item.fits(step, names):
                        break
                    if (
                        mine is not None
                        and step.own_cycles is not None
                        and not self._is_preceded_by_interrupt_dispatcher(at)
                    ):
                        mine.append((item.text, step.own_cycles))
                    at += 1
                inside = item.kind == "start" or (inside and item.kind != "stop")
                times += 1
            if times < least:
                return _RepetitionMatchResult(at, item.text)
        return _RepetitionMatchResult(at, whole=True)

    def _match_benchmark_step_group(
        self, at: int, parts: _Parts, names: PlaceholderBindings, own: _Own | None
    ) -> int | None:
        """Returns the index after one occurrence of a group of steps that begins at index `at`. None if it does not
        match."""
        trial = _StepSequenceMatchAttempt(self, at, parts, names)
        ran_out = trial.result.end == len(self.steps) and not trial.result.expected
        if not (trial.result.whole or ran_out) or trial.result.end == at:
            return None
        names.replace_placeholder_bindings(trial.names)
        if own is not None:
            own.extend(trial.own)
        return trial.result.end

    def _is_preceded_by_interrupt_dispatcher(self, at: int) -> bool:
        """Whether the kernel's own interrupt dispatcher ran just before the handler's first step at index `at`."""
        before = self.steps[at - 1] if at else None
        dispatches = self.matcher.dispatches and self.steps[at].who == HANDLER
        return dispatches and before is not None and before.kind == INTERRUPT
