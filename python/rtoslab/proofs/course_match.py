"""How many rounds a run of steps is; see `course`."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rtoslab.proofs.step_match import Matcher, Names
from rtoslab.proofs.steps_wanted import Wanted
from rtoslab.targets import HANDLER, INTERRUPT, Step

Round = tuple[Wanted, ...]
OwnCycles = dict[str, list[int]]
"""Text of a wanted step -> cycles of the tasks' own code before it, each time."""
_Own = list[tuple[str, int]]
"""The same in the order of time."""
_PREAMBLE: Final = 400
"""Steps before the first whole round, or behind a break, that are passed over at most, beside a part of a round."""


@dataclass(slots=True)
class Followed:
    """How far the steps were what was wanted."""

    rounds: int = 0
    broken: list[str] = field(default_factory=list)
    own_cycles: OwnCycles = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True, slots=True)
class _Try:
    end: int
    """Behind its last step that fitted."""
    problem: str = ""
    whole: bool = False


def follow(matcher: Matcher, steps: Sequence[Step], rounds: Sequence[Round], *, only_inside: bool) -> Followed:
    """Matches the steps against rounds, each of which may be any of the alternatives; they may begin anywhere.

    `only_inside`: of own cycles keep those inside intervals.
    """
    walk = _Walk(matcher, steps, only_inside)
    found = Followed()
    names = Names()
    at = walk.begin(0, rounds, names)
    if at is None:
        if not walk.is_within(rounds):
            found.broken.append(walk.nothing(rounds))
        return found
    while at is not None and at < len(steps):
        tries = [_Trial(walk, at, each, names) for each in rounds]
        best = max(tries, key=lambda each: (each.made.whole, each.made.end))
        if best.made.problem:
            found.broken.append(best.made.problem)
            at = walk.begin(best.made.end + 1, rounds, names)
            continue
        names = best.names
        for text, cycles in best.own:
            found.own_cycles[text].append(cycles)
        found.rounds += best.made.whole
        if best.made.end == at:
            break
        at = best.made.end
    return found


class _Trial:
    """A round tried, with what it would leave behind."""

    def __init__(self, walk: "_Walk", at: int, wanted: Round, names: Names) -> None:
        self.names: Names = names.copy()
        self.own: _Own = []
        self.made = walk.once(at, wanted, self.names, self.own)


@dataclass(frozen=True, slots=True)
class _Walk:
    matcher: Matcher
    steps: Sequence[Step]
    only_inside: bool

    def begin(self, at: int, rounds: Sequence[Round], names: Names) -> int | None:
        """Where a whole round begins, not far from here."""
        for start in range(at, len(self.steps)):
            tries = [self.once(start, each, names.copy(), None) for each in rounds]
            longest = max((each.end - start for each in tries if each.whole), default=0)
            # Where a round has hundreds of calls, so has the part of one that comes first.
            if longest:
                return start if start - at < _PREAMBLE + longest else None
        return None

    def is_within(self, rounds: Sequence[Round]) -> bool:
        """Whether the steps are the beginning of a round, which goes on for longer."""
        tries = [self.once(0, each, Names(), None) for each in rounds]
        return any(0 < each.end == len(self.steps) and not each.problem for each in tries)

    def nothing(self, rounds: Sequence[Round]) -> str:
        """Why no round was found: how far the best try came."""
        tries = [
            self.once(start, each, Names(), None) for start in range(min(_PREAMBLE, len(self.steps))) for each in rounds
        ]
        problem = max(tries, key=lambda each: each.end).problem if tries else "nothing was called"
        return f"no whole round in {len(self.steps)} steps; {problem}"

    def once(self, at: int, wanted: Round, names: Names, own: _Own | None) -> _Try:
        """One round from here."""
        inside = False
        for index, each in enumerate(wanted):
            times = 0
            while times < each.least or each.repeated or (each.least == 0 and times == 0):
                if at == len(self.steps):
                    rest = wanted[index + 1 :]
                    return _Try(at, whole=times >= each.least and all(one.least == 0 for one in rest))
                end = self._one(at, each, names, own if inside or not self.only_inside else None)
                if end is None:
                    break
                inside = each.kind == "start" or (inside and each.kind != "stop")
                at = end
                times += 1
            if times < each.least:
                return _Try(at, f"{self.matcher.describe(self.steps[at])} instead of `{each.text}`")
        return _Try(at, whole=True)

    def _one(self, at: int, each: Wanted, names: Names, own: _Own | None) -> int | None:
        """Behind one occurrence; None if it is none."""
        if each.kind == "group":
            trial = _Trial(self, at, each.parts, names)
            ran_out = trial.made.end == len(self.steps) and not trial.made.problem
            if not (trial.made.whole or ran_out) or trial.made.end == at:
                return None
            names.learn(trial.names)
            if own is not None:
                own.extend(trial.own)
            return trial.made.end
        step = self.steps[at]
        if not self.matcher.fits(step, each, names):
            return None
        if own is not None and step.own_cycles is not None and not self._dispatched(at):
            own.append((each.text, step.own_cycles))
        return at + 1

    def _dispatched(self, at: int) -> bool:
        """Whether a kernel's dispatcher stands before a handler's first step: its cycles are not the benchmark's."""
        before = self.steps[at - 1] if at else None
        dispatches = self.matcher.dispatches and self.steps[at].who == HANDLER
        return dispatches and before is not None and before.kind == INTERRUPT
