"""How many rounds a run of steps is. See `course`."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from rtoslab.proofs.expected_steps import ExpectedStep
from rtoslab.proofs.step_match import Matcher, Names, Test
from rtoslab.targets import HANDLER, INTERRUPT, Step

Round = tuple[ExpectedStep, ...]
_Parts = tuple["_Part", ...]
OwnCycles = dict[str, list[int]]
"""Text of a wanted step -> cycles of the tasks' own code before it, each time."""
_Own = list[tuple[str, int]]
"""The same in the order of time."""
_PREAMBLE: Final = 400
"""Steps before the first whole round, or after a break, that are passed over at most, beside a part of a round."""


@dataclass(slots=True)
class MatchResult:
    """How far the steps were what was wanted."""

    rounds: int = 0
    broken: list[str] = field(default_factory=list)
    own_cycles: OwnCycles = field(default_factory=lambda: defaultdict(list))


@dataclass(slots=True)
class _Try:
    end: int
    """After its last step that fitted."""
    missed: str = ""
    """What was wanted of the next step, which is not that."""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """A step of a round, or several, ready to be held against thousands."""

    text: str
    kind: str
    least: int
    repeated: bool
    fits: Test
    may: Callable[[Step], bool]
    """Whether a step can be this one, if it must be there."""
    parts: "_Parts"
    """The parts of a group."""


def _part(matcher: Matcher, step: ExpectedStep) -> _Part:
    may = matcher.may(step) if step.kind != "group" and step.least else lambda _: True
    parts = tuple(_part(matcher, one) for one in step.parts) if step.kind == "group" else ()
    return _Part(step.text, step.kind, step.least, step.repeated, matcher.test(step), may, parts)


def follow(matcher: Matcher, steps: Sequence[Step], rounds: Sequence[Round], *, only_inside: bool) -> MatchResult:
    """Matches the steps against rounds. Each of them may be any of the alternatives. They may begin anywhere.

    `only_inside`: of own cycles keep those inside intervals.
    """
    walk = _Walk(matcher, steps, only_inside)
    result = MatchResult()
    names = Names()
    alternatives = [tuple(_part(matcher, item) for item in one) for one in rounds]
    at = walk.begin(0, alternatives, names)
    if at is None:
        if not walk.is_within(alternatives):
            result.broken.append(walk.nothing(alternatives))
        return result
    while at is not None and at < len(steps):
        tries = [_Trial(walk, at, alternative, names) for alternative in alternatives if alternative[0].may(steps[at])]
        best = max(tries, key=lambda item: (item.made.whole, item.made.end), default=None)
        if best is None or (not best.made.whole and best.made.end == at):
            best = _Trial(walk, at, alternatives[0], names)  # of several that miss their first step it says so
        if best.made.missed:
            result.broken.append(walk.problem(best.made))
            at = walk.begin(best.made.end + 1, alternatives, names)
            continue
        names = best.names
        for text, cycles in best.own:
            result.own_cycles[text].append(cycles)
        result.rounds += best.made.whole
        if best.made.end == at:
            break
        at = best.made.end
    return result


class _Trial:
    """A round tried, with what it would leave behind."""

    def __init__(self, walk: "_Walk", at: int, parts: _Parts, names: Names) -> None:
        self.names: Names = names.copy()
        self.own: _Own = []
        self.made = walk.once(at, parts, self.names, self.own)


@dataclass(frozen=True, slots=True)
class _Walk:
    matcher: Matcher
    steps: Sequence[Step]
    only_inside: bool

    def begin(self, at: int, rounds: Sequence[_Parts], names: Names) -> int | None:
        """Returns the begin of a whole round, not far from here."""
        for start in range(at, len(self.steps)):
            likely = [round_ for round_ in rounds if round_[0].may(self.steps[start])]
            tries = [self.once(start, round_, names.copy(), None) for round_ in likely]
            longest = max((round_.end - start for round_ in tries if round_.whole), default=0)
            # Where a round has hundreds of calls, so has the part of one that comes first.
            if longest:
                return start if start - at < _PREAMBLE + longest else None
        return None

    def is_within(self, rounds: Sequence[_Parts]) -> bool:
        """Whether the steps are the beginning of a round, which continues for longer."""
        tries = [self.once(0, round_, Names(), None) for round_ in rounds]
        return any(0 < round_.end == len(self.steps) and not round_.missed for round_ in tries)

    def nothing(self, rounds: Sequence[_Parts]) -> str:
        """Why no round was found: how far the best try came."""
        tries = [
            self.once(start, round_, Names(), None)
            for start in range(min(_PREAMBLE, len(self.steps)))
            for round_ in rounds
        ]
        problem = self.problem(max(tries, key=lambda round_: round_.end)) if tries else "nothing was called"
        return f"no whole round in {len(self.steps)} steps; {problem}"

    def problem(self, attempt: _Try) -> str:
        """Returns the end of an attempt, in words. Empty if it fitted as far as it went."""
        return (
            f"{self.matcher.describe(self.steps[attempt.end])} instead of `{attempt.missed}`" if attempt.missed else ""
        )

    def once(self, at: int, parts: _Parts, names: Names, own: _Own | None) -> _Try:
        """One round from here."""
        steps, all_count, inside = self.steps, not self.only_inside, False
        for index, item in enumerate(parts):
            times, least = 0, item.least
            while times < least or item.repeated or (least == 0 and times == 0):
                if at == len(steps):
                    rest = parts[index + 1 :]
                    return _Try(at, whole=times >= least and all(one.least == 0 for one in rest))
                mine = own if inside or all_count else None
                if item.parts:
                    end = self._group(at, item.parts, names, mine)
                    if end is None:
                        break
                    at = end
                else:
                    step = steps[at]
                    if not item.fits(step, names):
                        break
                    if mine is not None and step.own_cycles is not None and not self._is_dispatched(at):
                        mine.append((item.text, step.own_cycles))
                    at += 1
                inside = item.kind == "start" or (inside and item.kind != "stop")
                times += 1
            if times < least:
                return _Try(at, item.text)
        return _Try(at, whole=True)

    def _group(self, at: int, parts: _Parts, names: Names, own: _Own | None) -> int | None:
        """Returns the place after one occurrence. None if it is none."""
        trial = _Trial(self, at, parts, names)
        ran_out = trial.made.end == len(self.steps) and not trial.made.missed
        if not (trial.made.whole or ran_out) or trial.made.end == at:
            return None
        names.learn(trial.names)
        if own is not None:
            own.extend(trial.own)
        return trial.made.end

    def _is_dispatched(self, at: int) -> bool:
        """Whether a kernel's dispatcher is before a handler's first step: its cycles are not the benchmark's."""
        before = self.steps[at - 1] if at else None
        dispatches = self.matcher.dispatches and self.steps[at].who == HANDLER
        return dispatches and before is not None and before.kind == INTERRUPT
