"""Compares the work of tasks and handlers with the benchmark's round: these calls, of these objects, in this order,
by these tasks, with each switch out of the expected call, and hardly anything between them.

benchmark.toml writes the round down step by step (`expected_steps` has the words). A call of the kernel that does not
are there breaks it. Between two steps lies the benchmark's own code: at most `own_cycles`, in three of four
rounds; in a latency benchmark only where it is part of an interval. Seen are the window's first
`targets.steps.MOST_EVENTS` events. That the rest is alike is for the rules that count. A kernel that slices time
among equals may break the order at every tick. If sleeps last a tick longer, one more tick passes before the one that
ends a sleep."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil, comb, log, log1p
from typing import Final

from pydantic import model_validator

from rtoslab.base import Strict
from rtoslab.proofs.evidence import Evidence, RuleParams, finding, unseen
from rtoslab.proofs.expected_steps import ExpectedStep, parse, present
from rtoslab.proofs.observed_steps import are_cut, steps_of
from rtoslab.proofs.sequence_match import MatchResult, follow
from rtoslab.proofs.step_match import Matcher, Names
from rtoslab.results import Finding
from rtoslab.targets import steps as seen

USUAL_OF_FOUR: Final = 3
"""Own cycles are judged by what so many of four rounds take at most."""

UNLUCKY: Final = 1e-6
"""So likely may honest draws be refused."""


class DrawnRounds(Strict):
    """Rounds that a draw decides about: passes of a loop without one are before a round's first step."""

    percent: str
    """The parameter that says how many of a hundred passes have a round."""
    cycles: int
    """What a pass without one takes, at most. More where the code is slower."""

    def passes(self, percent: int, rounds: int) -> int:
        """Without a round, before the usual of so many rounds: as many as it takes to be `UNLUCKY`."""
        if not 0 < percent < 100:
            return 0
        above = rounds - rounds * USUAL_OF_FOUR // 4
        return ceil((log(comb(rounds, above)) - log(UNLUCKY)) / (-log1p(-percent / 100) * above))


class Params(RuleParams):
    """Keys of `rule = "course"`."""

    round: tuple[str, ...] = ()
    rounds: tuple[tuple[str, ...], ...] = ()
    """Instead: alternatives, of which each round is one."""
    besides: tuple[str, ...] = ()
    """Steps that may come anywhere."""
    cores: tuple[int, ...] | None = None
    """Only these. None: all."""
    own_cycles: int = 250
    """More where the code is slower and on more cores, see `Evidence.longest_own`. And where a proof bounds the
    instructions of a round, so much more as each of them took longer in this window."""
    per: str | None = None
    """A parameter: so many own cycles for each of its value."""
    drawn: DrawnRounds | None = None
    everywhere: bool = False
    """For a latency benchmark: own cycles count outside intervals, too."""
    at_least: int = 3
    """Rounds. 0: the first one may last to the window's end."""
    tolerance: int = 0
    """Breaks of the order that are accepted."""

    @model_validator(mode="after")
    def _one_of_both(self) -> "Params":
        if bool(self.round) == bool(self.rounds):
            raise ValueError("say either round or rounds")
        return self


def judge(params: Params, evidence: Evidence) -> Finding:
    """Judges from the steps on each core."""
    services = evidence.benchmark.services
    texts = tuple(present(item, services) for item in params.rounds or (params.round,))
    demands = "each round is: " + "; or: ".join(", ".join(text) for text in texts)
    if evidence.observed is None:
        return unseen(params.rule, demands)
    parsed = [parse(text, evidence.decoded.params) for text in texts]
    besides = parse(params.besides, evidence.decoded.params)
    kinds = {kind for one in parsed for item in one for kind in _kinds(item)}
    problems: list[str] = []
    words: list[str] = []
    for core in params.cores if params.cores is not None else evidence.cores:
        matcher = Matcher(evidence, core)
        mine = [step for step in steps_of(evidence) if step.core == core and not matcher.is_others(step)]
        ticks = sum(step.kind == seen.TICK for step in mine)
        steps = [step for step in mine if step.kind not in {seen.TICK, seen.PIN} or step.kind in kinds]
        names = Names()
        tests = [matcher.test(beside) for beside in besides]
        steps = [step for step in steps if not any(fits(step, names) for fits in tests)]
        latency = evidence.benchmark.kind == "latency"
        rounds = [matcher.visible(item) for item in parsed]
        if not all(rounds):
            return unseen(params.rule, demands, "what a round calls is no function of this kernel")
        if evidence.kernel.behaviour.sleep_adds_ticks:
            steps = _without_waited(steps, rounds, matcher)
        followed = follow(matcher, steps, rounds, only_inside=latency and not params.everywhere)
        allowed = params.tolerance + (3 * ticks if evidence.kernel.time_slice_ticks else 0)
        own_cycles = _longest_own(params, evidence, core)
        least = min(params.at_least, max(1, evidence.samples // 2)) if latency else params.at_least
        if are_cut(evidence):
            least = 0  # What is kept may be the beginning of one.
        limits = _limits(params, evidence, followed, own_cycles, {item[0].text for item in rounds})
        problems += [f"core {core}: {problem}" for problem in _problems(followed, least, allowed, limits)]
        words.append(f"core {core}: {followed.rounds} rounds")
    return finding(params.rule, demands, problems, words)


def _longest_own(params: Params, evidence: Evidence, core: int) -> int:
    times = int(evidence.decoded.params[params.per]) if params.per is not None else 1
    usual = evidence.longest_own(params.own_cycles * times)
    if not evidence.bounds_instructions:
        return usual
    return max(usual, int(params.own_cycles * times * evidence.pace(core)))


def _without_waited(
    steps: Sequence[seen.Step], rounds: Sequence[Sequence[ExpectedStep]], matcher: Matcher
) -> list[seen.Step]:
    """Without the tick that each sleep waits longer: after it comes nothing that a round wants after a tick.

    No two of them in a row are left out: a sleep that lasts still longer breaks the order. If a round itself says how
    many ticks in a row pass, those after the same step stay."""
    behind = [
        matcher.test(step)
        for sequence in rounds
        for tick, step in pairwise(sequence)
        if tick.kind == seen.TICK and step.kind != seen.TICK
    ]
    outcome = [
        matcher.test(before)
        for sequence in rounds
        for before, tick, more in zip(sequence, sequence[1:], sequence[2:], strict=False)
        if tick.kind == more.kind == seen.TICK
    ]
    steps_left: list[seen.Step] = []
    waited = is_waited = False
    for step, next_one in zip(steps, [*steps[1:], None], strict=True):
        if step.kind != seen.TICK:
            is_waited = any(fits(step, Names()) for fits in outcome)
        elif not is_waited:
            ends = next_one is None or any(fits(next_one, Names()) for fits in behind)
            waited = not (waited or ends)
            if waited:
                continue
        steps_left.append(step)
    return steps_left


def _kinds(step: ExpectedStep) -> set[str]:
    return {step.kind}.union(*map(_kinds, step.parts))


def _limits(
    params: Params, evidence: Evidence, followed: MatchResult, own_cycles: int, first: set[str]
) -> Mapping[str, int]:
    """Text of a step -> cycles of own code before it."""
    limits = dict.fromkeys(followed.own_cycles, own_cycles)
    if params.drawn is not None:
        percent = int(evidence.decoded.params[params.drawn.percent])
        for text in first & limits.keys():
            passes = params.drawn.passes(percent, len(followed.own_cycles[text]))
            limits[text] += int(passes * params.drawn.cycles * evidence.slowness())
    return limits


def _problems(followed: MatchResult, least: int, allowed: int, limits: Mapping[str, int]) -> list[str]:
    problems = []
    if len(followed.broken) > allowed or (followed.broken and not followed.rounds):
        problems.append(f"after {followed.rounds} rounds: {'; '.join(followed.broken[:2])}")
    elif followed.rounds < least:
        problems.append(f"{followed.rounds} rounds, {least} or more expected")
    for text, cycles in followed.own_cycles.items():
        usual = sorted(cycles)[len(cycles) * USUAL_OF_FOUR // 4]
        if usual > limits[text]:
            problems.append(f"{usual} cycles of the benchmark's own code before `{text}`, {limits[text]} at most")
    return problems
