"""Compares the work of tasks and handlers with the benchmark's round: these calls, of these objects, in this order,
by these tasks, with each switch out of the expected call, and hardly anything between them.

benchmark.toml lists the round step by step (`expected_steps` has the words). A call of the kernel that is not in the
list breaks it. The benchmark's own code between two steps takes at most `own_cycles`, in three of four rounds. In a
latency benchmark this is checked only inside intervals. The rule sees the window's first
`targets.steps.MOST_EVENTS` events.
The rules that count cover the rest. A kernel that slices time
among equals may break the order at every tick. If sleeps
last a tick longer, one more tick passes before the one that
ends a sleep."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, comb, log, log1p
from typing import Final

from pydantic import model_validator

from rtoslab.base import StrictFileSchemaModel
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_steps import ExpectedBenchmarkStep, parse_benchmark_steps, select_steps_by_kernel_services
from rtoslab.proofs.observed_steps import are_recorded_steps_incomplete, observed_benchmark_steps_to_judge
from rtoslab.proofs.sequence_match import StepSequenceMatchResult, match_observed_benchmark_steps
from rtoslab.proofs.step_match import BenchmarkStepMatcher, PlaceholderBindings
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import steps as seen

USUAL_ROUNDS_OF_FOUR: Final = 3
"""The number of rounds, of four, in which the limit of own cycles must hold."""

REFUSAL_RISK: Final = 1e-6
"""The accepted probability of refusing honest draws."""


class RandomlyDrawnRepetitionParameters(StrictFileSchemaModel):
    """The table `drawn` of the rule `course`: a random draw decides whether these rounds happen.
    Passes of the loop without a round come before a round's first step.
    """

    percent: str
    """The parameter with the percentage of passes that have a round."""
    cycles: int
    """The most cycles of a pass without a round. More where the code is slower."""

    def max_loop_passes_without_repetition(self, percent: int, rounds: int) -> int:
        """Returns how many passes of the loop without a round are credible before one round. `percent` of the passes
        have a round, and `rounds` is the number of observed rounds."""
        if not 0 < percent < 100:
            return 0
        above = rounds - rounds * USUAL_ROUNDS_OF_FOUR // 4
        return ceil((log(comb(rounds, above)) - log(REFUSAL_RISK)) / (-log1p(-percent / 100) * above))


class StepSequenceProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `course` in benchmark.toml. The proof checks that each core executed the steps of
    the benchmark's round (calls, switches, marks) in the listed order, and limits the benchmark's own cycles between
    them."""

    round: tuple[str, ...] = ()
    rounds: tuple[tuple[str, ...], ...] = ()
    """Alternatives in place of `round`. Each round is one of them."""
    besides: tuple[str, ...] = ()
    """Steps that may come anywhere."""
    cores: tuple[int, ...] | None = None
    """Only these cores. None: all."""
    own_cycles: int = 250
    """More where the code is slower and on more cores, see `Evidence.benchmark_code_cycle_limit`. And where a proof
    bounds the instructions of a round, so much more as each of them took longer in this window."""
    per: str | None = None
    """The name of a parameter. Its value multiplies the own cycles."""
    drawn: RandomlyDrawnRepetitionParameters | None = None
    everywhere: bool = False
    """In a latency benchmark, whether own cycles count outside intervals too."""
    at_least: int = 3
    """The fewest rounds. 0: the first one may last to the window's end."""
    tolerance: int = 0
    """The accepted number of breaks of the order."""

    @model_validator(mode="after")
    def _require_one_of_both(self) -> "StepSequenceProofParameters":
        """Raises ValueError for a table that has both `round` and `rounds`, or neither."""
        if bool(self.round) == bool(self.rounds):
            raise ValueError("say either round or rounds")
        return self


def judge_evidence(params: StepSequenceProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each core executed the steps of the benchmark's round (calls, switches, marks) in the listed order,
    and limits the benchmark's own cycles between them."""
    services = evidence.benchmark.services
    texts = tuple(select_steps_by_kernel_services(item, services) for item in params.rounds or (params.round,))
    demands = "each round is: " + "; or: ".join(", ".join(text) for text in texts)
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    parsed = [parse_benchmark_steps(text, evidence.decoded.params) for text in texts]
    besides = parse_benchmark_steps(params.besides, evidence.decoded.params)
    kinds = {kind for one in parsed for item in one for kind in _kinds_of_benchmark_step(item)}
    problems: list[str] = []
    words: list[str] = []
    for core in params.cores if params.cores is not None else evidence.cores:
        matcher = BenchmarkStepMatcher(evidence, core)
        mine = [
            step
            for step in observed_benchmark_steps_to_judge(evidence)
            if step.core == core and not matcher.is_step_unrelated_to_benchmark(step)
        ]
        ticks = sum(step.kind == seen.TICK for step in mine)
        steps = [step for step in mine if step.kind not in {seen.TICK, seen.PIN} or step.kind in kinds]
        names = PlaceholderBindings()
        tests = [matcher.make_benchmark_step_predicate(beside) for beside in besides]
        steps = [step for step in steps if not any(fits(step, names) for fits in tests)]
        latency = evidence.benchmark.kind == "latency"
        rounds = [matcher.benchmark_steps_visible_to_probes(item) for item in parsed]
        if not all(rounds):
            return make_unjudged_proof_finding(params.rule, demands, "what a round calls is no function of this kernel")
        if evidence.kernel.behaviour.sleep_adds_ticks:
            steps = _remove_extra_sleep_ticks(steps, rounds, matcher)
        match = match_observed_benchmark_steps(matcher, steps, rounds, only_inside=latency and not params.everywhere)
        allowed = params.tolerance + (3 * ticks if evidence.kernel.time_slice_ticks else 0)
        own_cycles = _benchmark_code_cycle_limit(params, evidence, core)
        least = min(params.at_least, max(1, evidence.samples // 2)) if latency else params.at_least
        if are_recorded_steps_incomplete(evidence):
            least = 0  # What is kept may be the beginning of one.
        limits = _benchmark_code_cycle_limits_by_step(
            params, evidence, match, own_cycles, {item[0].text for item in rounds}
        )
        problems += [
            f"core {core}: {problem}" for problem in _describe_step_sequence_problems(match, least, allowed, limits)
        ]
        words.append(f"core {core}: {match.rounds} rounds")
    return make_judged_proof_finding(params.rule, demands, problems, words)


def _benchmark_code_cycle_limit(
    params: StepSequenceProofParameters, evidence: BenchmarkProofEvidence, core: int
) -> int:
    """Returns the most cycles of the benchmark's own code between two steps of its round on a core."""
    known = evidence.known_benchmark_code_cycles()
    if known is not None:
        return evidence.benchmark_code_cycle_limit(known)
    times = int(evidence.decoded.params[params.per]) if params.per is not None else 1
    usual = evidence.benchmark_code_cycle_limit(params.own_cycles * times)
    if not evidence.is_benchmark_code_length_limited:
        return usual
    return max(usual, int(params.own_cycles * times * evidence.benchmark_code_slowdown(core)))


def _remove_extra_sleep_ticks(
    steps: Sequence[seen.ObservedBenchmarkStep],
    rounds: Sequence[Sequence[ExpectedBenchmarkStep]],
    matcher: BenchmarkStepMatcher,
) -> list[seen.ObservedBenchmarkStep]:
    """Returns the observed steps without the extra tick during each sleep, for a kernel whose sleeps last a tick
    longer.

    No two of them in a row are left out: a sleep that lasts still longer breaks the order. If a round itself says how
    many ticks in a row pass, those after the same step stay.
    """
    behind = [
        matcher.make_benchmark_step_predicate(step)
        for sequence in rounds
        for at, tick in enumerate(sequence, start=1)
        if tick.kind == seen.TICK
        for step in _possible_first_benchmark_steps(sequence[at:])
        if step.kind != seen.TICK
    ]
    outcome = [
        matcher.make_benchmark_step_predicate(before)
        for sequence in rounds
        for before, tick, more in zip(sequence, sequence[1:], sequence[2:], strict=False)
        if tick.kind == more.kind == seen.TICK
    ]
    steps_left: list[seen.ObservedBenchmarkStep] = []
    is_extra = is_counted = False
    for step, next_one in zip(steps, [*steps[1:], None], strict=True):
        if step.kind != seen.TICK:
            is_counted = any(fits(step, PlaceholderBindings()) for fits in outcome)
        elif not is_counted:
            ends = next_one is None or any(fits(next_one, PlaceholderBindings()) for fits in behind)
            is_extra = not (is_extra or ends)
            if is_extra:
                continue
        steps_left.append(step)
    return steps_left


def _possible_first_benchmark_steps(steps: Sequence[ExpectedBenchmarkStep]) -> Iterator[ExpectedBenchmarkStep]:
    """Yields the steps with which a sequence may begin, because those before them may be missing."""
    for step in steps:
        if step.kind == "group":
            yield from _possible_first_benchmark_steps(step.parts)
        else:
            yield step
        if step.least:
            return


def _kinds_of_benchmark_step(step: ExpectedBenchmarkStep) -> set[str]:
    """Returns the kinds of an expected step and of its parts, such as `call` and `switch`."""
    return {step.kind}.union(*map(_kinds_of_benchmark_step, step.parts))


def _benchmark_code_cycle_limits_by_step(
    params: StepSequenceProofParameters,
    evidence: BenchmarkProofEvidence,
    match: StepSequenceMatchResult,
    own_cycles: int,
    first: set[str],
) -> Mapping[str, int]:
    """Returns the most cycles of the benchmark's own code before each expected step, by the step's text. `own_cycles`
    is the usual limit, and `first` are the texts of the steps that begin a round."""
    limits = dict.fromkeys(match.own_cycles, own_cycles)
    if params.drawn is not None:
        percent = int(evidence.decoded.params[params.drawn.percent])
        for text in first & limits.keys():
            passes = params.drawn.max_loop_passes_without_repetition(percent, len(match.own_cycles[text]))
            limits[text] += int(passes * params.drawn.cycles * evidence.board_slowdown_over_pico())
    return limits


def _describe_step_sequence_problems(
    match: StepSequenceMatchResult, least: int, allowed: int, limits: Mapping[str, int]
) -> list[str]:
    """Returns sentences about breaks of the order, too few rounds and exceeded cycle limits. `least` rounds are
    required and `allowed` breaks accepted."""
    problems = []
    if len(match.breaks) > allowed or (match.breaks and not match.rounds):
        problems.append(f"after {match.rounds} rounds: {'; '.join(match.breaks[:2])}")
    elif match.rounds < least:
        problems.append(f"{match.rounds} rounds, {least} or more expected")
    for text, cycles in match.own_cycles.items():
        usual = sorted(cycles)[len(cycles) * USUAL_ROUNDS_OF_FOUR // 4]
        if usual > limits[text]:
            problems.append(f"{usual} cycles of the benchmark's own code before `{text}`, {limits[text]} at most")
    return problems
