"""Rules that compute a benchmark's draws again: each is shown what the seed draws, then something else."""

from itertools import islice
from typing import Any

import pytest

from rtoslab.base import find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.proofs.draws import is_access_count_plausible, random_numbers_from_state, random_percentages_from_state
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.observe import BenchmarkFunction, MeasurementWindowObservations
from rtoslab.targets.steps import CALL, INTERRUPT, STOP, ObservedBenchmarkStep
from tests.fakes import BODY, Fields, benchmark, board, decoded_run, handle, judge_one, kernel

SEED = 2463534242
TASK = handle(0)
FACTS: dict[str, Any] = {
    "symbols": {
        "malloc": ["malloc"], "free": ["free"], "timer_start": ["command"], "timer_stop": ["command"],
        "semaphore_give": ["send"], "queue_send": ["send"], "sleep_ticks": ["sleep"],
    },
    "arguments": {
        "malloc": ["bytes"], "free": ["block"], "timer_start": ["object", 1], "timer_stop": ["object", 3],
        "semaphore_give": ["object", 0], "queue_send": ["object", "item"], "sleep_ticks": ["ticks"],
    },
}  # fmt: skip
PARAMS: list[tuple[str, Fields]] = [
    ("param", {"name": name, "value": str(value)})
    for name, value in (("seed", SEED), ("places", 4), ("armed", 2), ("others", 2))
]


def judged(
    rule: dict[str, Any], steps: list[ObservedBenchmarkStep] | None = None, samples: int = 1000, **seen: Any
) -> ProofVerdict:
    """The verdict of a rule on these steps, one a cycle unless they say otherwise."""
    observed = MeasurementWindowObservations(steps=tuple(steps or ()), **seen)
    decoded = decoded_run([*BODY[:2], *PARAMS, *BODY[2:]])
    return judge_one(
        BenchmarkProofEvidence(decoded, observed, benchmark([rule]), board(), kernel(**FACTS), samples=samples)
    ).verdict


def call(name: str, first: int = 0, second: int = 0, own: int = 5, result: int | None = 1) -> ObservedBenchmarkStep:
    return ObservedBenchmarkStep(0, 0, CALL, TASK, name, first, second, result, own_cycles=own)


def numbers(count: int, skip: int = 0, seed: int = SEED) -> list[int]:
    return list(islice(random_numbers_from_state(seed), skip, skip + count))


def test_generator_is_that_of_the_firmware() -> None:
    """Marsaglia's first numbers from his own seed (Xorshift RNGs, 2003)."""
    assert numbers(2) == [723471715, 2497366906]


def heap_steps(seed: int, count: int, sizes: list[int], places: int = 4) -> list[ObservedBenchmarkStep]:
    """What the loop of heap_mixed.c does, with a block's address by its place, and all is given back at the end."""
    draws, taken, steps = random_numbers_from_state(seed), dict[int, int](), list[ObservedBenchmarkStep]()
    for index in range(count):
        place = next(draws) % places
        if place in taken:
            steps.append(call("free", taken.pop(place)))
        else:
            size = sizes[next(draws) % len(sizes)]
            taken[place] = 0x9000 + index
            steps.append(call("malloc", size, result=taken[place]))
    return [*steps, *[call("free", block) for block in taken.values()]]


MIX = {"rule": "heap_mix", "sizes": [8, 16], "held": "places", "seed": "seed"}


def test_blocks_are_taken_and_given_in_the_drawn_order() -> None:
    assert judged(MIX, heap_steps(SEED, 60, [8, 16])) is ProofVerdict.HOLDS
    assert judged(MIX, heap_steps(SEED + 1, 60, [8, 16])) is ProofVerdict.FAILS
    assert judged(MIX, heap_steps(SEED, 60, [16, 8])) is ProofVerdict.FAILS
    swapped = heap_steps(SEED, 60, [8, 16])
    index = next(at for at, step in enumerate(swapped) if step.name == "malloc" and step.first == 8)
    swapped[index] = call("malloc", 16, result=swapped[index].result)
    assert judged(MIX, swapped) is ProofVerdict.FAILS


def interrupts(draws: list[int]) -> list[ObservedBenchmarkStep]:
    """An interrupt, and one after each drawn time, some cycles late."""
    cycle, steps = 0, [ObservedBenchmarkStep(0, 0, INTERRUPT, TASK, first=16 + 4)]
    for number in draws:
        cycle += 1000 + number % 8000 + number % 13
        steps.append(ObservedBenchmarkStep(cycle, 0, INTERRUPT, TASK, first=16 + 4))
    return steps


DRAWN = {"rule": "drawn_anew", "from_cycles": 1000, "to_cycles": 9000, "seed": "seed"}


@pytest.mark.parametrize("skip", [0, 1, 5000])
def test_interrupts_follow_the_draws_wherever_the_window_opens(skip: int) -> None:
    assert judged(DRAWN, interrupts(numbers(40, skip))) is ProofVerdict.HOLDS
    assert judged(DRAWN, interrupts(numbers(40, skip, seed=99))) is ProofVerdict.FAILS
    assert judged(DRAWN, interrupts(sorted(numbers(40, skip)))) is ProofVerdict.FAILS


def waits(draws: list[int]) -> list[ObservedBenchmarkStep]:
    """A loop of five cycles a pass before each start of a timer, with a call of another service on the way."""
    steps: list[ObservedBenchmarkStep] = []
    for number in draws:
        steps += [ObservedBenchmarkStep(0, 0, STOP, 1, first=1), call("sleep", own=number % 512 * 5 + 60)]
        steps += [call("command", 0x500, 1, own=number % 7), call("command", 0x500, 3)]
    return steps


WAITS = {"rule": "drawn_waits", "seed": "seed", "service": "timer_start", "below": 512}


def test_task_computes_for_as_long_as_is_drawn() -> None:
    assert judged(WAITS, waits(numbers(30, 70))) is ProofVerdict.HOLDS
    assert judged(WAITS, waits([number & 3 for number in numbers(30, 70)])) is ProofVerdict.FAILS
    assert judged(WAITS, waits(numbers(30, 70, seed=99))) is ProofVerdict.FAILS
    assert judged(WAITS, waits([8] * 30)) is ProofVerdict.FAILS
    assert judged(WAITS, waits(numbers(4))) is ProofVerdict.UNSEEN


ORDER = {"rule": "drawn_order", "seed": "seed", "task": 0, "services": ["queue_send", "semaphore_give"]}


def test_services_are_called_in_the_drawn_order() -> None:
    bits = [number & 1 for number in numbers(60, 123)]
    orders = (bits, [*bits[:30], 1 - bits[30], *bits[31:]], [0, 1] * 30, [1] * 60)
    verdicts = [judged(ORDER, [call("send", 0x500, 0 if bit else 0x700) for bit in order]) for order in orders]
    assert verdicts == [ProofVerdict.HOLDS, *[ProofVerdict.FAILS] * 3]


@pytest.mark.parametrize("earlier", [0, 3, 30])
def test_number_of_accesses_is_that_of_the_draws(earlier: int) -> None:
    drawn = sum(number < 50 for number in islice(random_percentages_from_state(SEED), 1000 + earlier))
    assert is_access_count_plausible(SEED, 50, 1000, drawn, 2)
    assert not is_access_count_plausible(SEED, 50, 1000, drawn - 25, 2)
    assert not is_access_count_plausible(SEED, 50, 1000, drawn + 25, 2)


OCCURS = {"rule": "occurs", "calls": ["0 semaphore_give", "0 queue_send"]}


def test_each_permitted_call_occurs() -> None:
    gives, sends = [call("send", 0x500, 0)] * 2, [call("send", 0x500, 0x700)] * 2
    assert judged(OCCURS, gives + sends) is ProofVerdict.HOLDS
    assert judged(OCCURS, gives + sends[:1]) is ProofVerdict.FAILS
    assert judged({**OCCURS, "calls": ["1 queue_send"]}, sends) is ProofVerdict.FAILS


ARMED = {"rule": "timers_armed", "timers": "armed"}


@pytest.mark.parametrize(
    ("started", "verdict"),
    [
        ({0x500, 0x600, 0x700}, ProofVerdict.HOLDS),  # the window starts the first of them again
        ({0x600, 0x700}, ProofVerdict.HOLDS),
        ({0x500, 0x600}, ProofVerdict.FAILS),
        ({0x500, 0x600, 0x700, 0x800}, ProofVerdict.FAILS),
        (set(), ProofVerdict.FAILS),
    ],
)
def test_further_timers_are_armed(started: set[int], verdict: ProofVerdict) -> None:
    steps = [call("command", 0x500, 1)] * 3
    assert judged(ARMED, steps, timers_started=frozenset(started)) is verdict
    stopped = [*steps, call("command", 0x700, 3)]
    assert judged(ARMED, stopped, timers_started=frozenset(started)) is not ProofVerdict.HOLDS or verdict is (
        ProofVerdict.FAILS
    )


TICKS = {"rule": "entered_as_ticks", "function": "expired", "periods": [5, 10, 3], "of": "others"}


@pytest.mark.parametrize(
    ("entries", "verdict"),
    [(75, ProofVerdict.HOLDS), (73, ProofVerdict.HOLDS), (50, ProofVerdict.FAILS), (0, ProofVerdict.FAILS)],
)
def test_periodic_functions_are_called_as_often_as_their_periods_say(entries: int, verdict: ProofVerdict) -> None:
    """The window has 250 ticks; the third timer is not started."""
    own = (BenchmarkFunction(0, "expired", entries, (), ()),)
    assert judged(TICKS, own=own) is verdict


BITS = [number & 1 for number in numbers(60, 123)]
STARTED = [call("command", 0x500, 1)]
CASES: list[tuple[dict[str, Any], dict[str, Any], ProofVerdict]] = [
    (WAITS, {"steps": waits(numbers(30, 70))}, ProofVerdict.HOLDS),
    (WAITS, {"steps": waits([8] * 30)}, ProofVerdict.FAILS),
    (ORDER, {"steps": [call("send", 0x500, 0 if bit else 0x700) for bit in BITS]}, ProofVerdict.HOLDS),
    (ORDER, {"steps": [call("send", 0x500, 0)] * 60}, ProofVerdict.FAILS),
    (OCCURS, {"steps": [call("send", 0x500, 0), call("send", 0x500, 7)] * 2}, ProofVerdict.HOLDS),
    (OCCURS, {"steps": [call("send", 0x500, 0)] * 2}, ProofVerdict.FAILS),
    (ARMED, {"steps": STARTED, "timers_started": frozenset({0x600, 0x700})}, ProofVerdict.HOLDS),
    (ARMED, {"steps": STARTED, "timers_started": frozenset({0x600})}, ProofVerdict.FAILS),
    (TICKS, {"own": (BenchmarkFunction(0, "expired", 75, (), ()),)}, ProofVerdict.HOLDS),
    (TICKS, {"own": (BenchmarkFunction(0, "expired", 50, (), ()),)}, ProofVerdict.FAILS),
]


@pytest.mark.parametrize(("rule", "seen", "verdict"), CASES)
def test_rule_of_draws_and_timers_holds_and_fails(
    rule: dict[str, Any], seen: dict[str, Any], verdict: ProofVerdict
) -> None:
    assert judged(rule, **seen) is verdict


def test_every_benchmark_that_draws_has_a_proof_of_its_draws() -> None:
    benchmarks = Catalogue(find_checkout_root()).benchmarks.values()
    drawing = {item.facts.id: item.facts for item in benchmarks if "seed" in item.facts.params}
    assert len(drawing) > 5
    unproved = [name for name, facts in drawing.items() if not any(table.get("seed") for table in facts.proof)]
    assert not unproved
