"""The kernel's own handlers: read from events, split by what they did, modelled; the golden facts of miranda2021."""

from collections import Counter
from dataclasses import replace
from math import lcm
from typing import Any

import numpy as np
import pytest

from rtoslab.analyses.tick_cost import fit_tick_cost_model, scheduler_search_duration_samples
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.benchmark import Benchmark
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.proofs.rules import benchmark_proof_rule_modules, parameters_class_of_proof_rule
from rtoslab.proofs.rules.releases_as_periods import task_periods_ms, tasks_released_at_ticks
from rtoslab.results import handler_series as handlers
from rtoslab.results.finding import ProofVerdict
from rtoslab.results.results import SeriesSamples
from rtoslab.targets.event_kinds import IDENT_CURRENT, IDENT_SELECT, IDENT_SELECTED, IDENT_TOP
from rtoslab.targets.events import EVENT
from rtoslab.targets.exceptions import PENDSV, SYSTICK
from rtoslab.targets.handlings import THREAD_MODE, UNKNOWN, HandlerRunColumns, HandlerRunReader, call_return_addresses
from rtoslab.targets.observe import MeasurementWindowObservations
from tests.fakes import CONTROL, WINDOW, Fields, board, decoded_run, handle, kernel, task

EXEC, WRITE, ENTER, EXIT = 1, 2, 3, 4
IDLE = 0x2000_F000
Row = tuple[int, int, int, int]
"""cycle, kind, ident, value"""


def events(*rows: Row) -> bytes:
    built = np.zeros(len(rows), dtype=EVENT)
    for index, (cycle, kind, ident, value) in enumerate(rows):
        built[index] = (cycle, value, 0, ident, kind, 0, 0)
    return built.tobytes()


def read(*rows: Row, current: int = IDLE, top: int = UNKNOWN) -> HandlerRunColumns:
    reader = HandlerRunReader(current, top)
    reader.add_events(events(*rows))
    return reader.runs


def switch_at(cycle: int, to: int, took: int = 100) -> list[Row]:
    return [
        (cycle, ENTER, PENDSV, 12),
        (cycle + took // 2, WRITE, IDENT_CURRENT, to),
        (cycle + took, EXIT, PENDSV, 0),
    ]


def tick_at(cycle: int, took: int = 50) -> list[Row]:
    return [(cycle, ENTER, SYSTICK, 12), (cycle + took, EXIT, SYSTICK, 0)]


def test_switch_has_task_pair_choice_and_search_steps() -> None:
    result = read(
        (90, WRITE, IDENT_TOP, 5),
        (100, ENTER, PENDSV, 12),
        (110, EXEC, IDENT_SELECT, 0),
        (130, WRITE, IDENT_TOP, 2),
        (140, WRITE, IDENT_CURRENT, 7),
        (150, EXEC, IDENT_SELECTED, 0),
        (200, EXIT, PENDSV, 0),
    )
    assert (result.before[0], result.after[0]) == (IDLE, 7)
    assert (result.start_cycle[0], result.cycles[0], result.entry_cycles[0]) == (100, 100, 12)
    assert (result.select_cycles[0], result.steps[0], result.interrupted[0]) == (40, 3, 0)


def test_tail_chained_handlers_are_separate() -> None:
    """The board tells the second one's entry before the first one's return, with the earlier cycle."""
    result = read(*tick_at(100)[:1], (156, ENTER, PENDSV, 6), (150, EXIT, SYSTICK, 0), *switch_at(156, 7)[1:])
    assert list(result.exception) == [SYSTICK, PENDSV]
    assert list(result.cycles) == [50, 100]
    assert list(result.interrupted) == [0, 0]


def test_nested_interrupt_and_handler_already_running() -> None:
    result = read(
        (5, EXIT, SYSTICK, 0),  # entered before the window
        (100, ENTER, SYSTICK, 12), (110, ENTER, 26, 12), (120, EXIT, 26, 0), (150, EXIT, SYSTICK, 0),
    )  # fmt: skip
    assert list(result.exception) == [SYSTICK]
    assert list(result.interrupted) == [1]
    assert list(result.steps) == list(result.select_cycles) == [UNKNOWN]


class Code:
    """A function at 0x1000 with a BL to 0x1100 at its third halfword, and one elsewhere."""

    code = bytes.fromhex("80b5 00bf 00f07cf8 00f0faf8 80bd".replace(" ", ""))

    def symbol(self, name: str) -> int | None:
        return 0x1001 if name == "handler" else None

    def symbols(self) -> list[tuple[int, int, str]]:
        return [(0x1000, len(self.code), "handler")]

    def read(self, address: int, length: int) -> bytes:
        return self.code[address - 0x1000 :][:length]


def test_switches_in_thread_mode_follow_their_tick() -> None:
    one, two = handle(0), handle(1)
    rows = [
        *tick_at(1000),
        (1100, WRITE, IDENT_CURRENT, one),  # the tick has preempted the idle task
        (1300, WRITE, IDENT_CURRENT, two),
        (1400, WRITE, IDENT_CURRENT, IDLE),
        *tick_at(2000),
        (2100, ENTER, PENDSV, 12),
        (2110, WRITE, IDENT_CURRENT, one),  # not in thread mode
        (2120, EXIT, PENDSV, 0),
    ]
    reader = HandlerRunReader(IDLE, switching=(), in_thread=True)
    reader.add_events(events(*rows))
    runs = reader.runs
    assert runs.exception == [SYSTICK, THREAD_MODE, THREAD_MODE, THREAD_MODE, SYSTICK, PENDSV]
    assert list(zip(runs.before, runs.after, strict=True))[1:4] == [(IDLE, one), (one, two), (two, IDLE)]
    assert runs.start_cycle[1:4] == [1100, 1300, 1400]
    assert runs.cycles == [50, 0, 0, 0, 50, 20]
    in_handlers = HandlerRunReader(IDLE, switching=())
    in_handlers.add_events(events(*rows))
    assert THREAD_MODE not in in_handlers.runs.exception


def test_return_address_of_a_call() -> None:
    machine: Any = Code()
    assert call_return_addresses(machine, "handler", 0x1100) == [0x1008]
    assert call_return_addresses(machine, "handler", 0x1200) == [0x100C]
    assert call_return_addresses(machine, "handler", 0x1300) == []


# Two tasks of 2 and 3 ms from 1 ms into their pattern; a window of 6 ms.
PARAMS: list[tuple[str, Fields]] = [
    ("param", {"name": name, "value": str(value)})
    for name, value in {"period_0_ms": 2, "period_1_ms": 3, "phase_ms": 1}.items()
]
BODY = [*PARAMS, *(task(index) for index in (0, 1, CONTROL)), WINDOW]
MS = 1000


def benchmark(show: str) -> Benchmark:
    return Benchmark.model_validate({
        "id": "b", "title": "B", "question": "?", "tasks_per_core": 2, "stack_bytes": 512, "inside": "-",
        "outside": "-", "services": [], "metric": {"id": "m", "unit": "u", "tasks": [0, 1]}, "handlers": {"show": show},
    })  # fmt: skip


def pattern(skip: int = 0, extra: int | None = None) -> list[Row]:
    """Ticks 1 to 250, each followed by the tasks that are due; at `skip` they do not come, at `extra` task 0 does."""
    rows: list[Row] = []
    for number in range(1, 251):
        at = number * MS
        rows += tick_at(at)
        here = [index for index, period in enumerate((2, 3)) if (1 + number) % period == 0 and number != skip]
        here += [0] if number == extra else []
        for place, index in enumerate([*map(handle, here), IDLE] if here else []):
            rows += switch_at(at + 100 + 150 * place, index)
    return rows


def evidence(show: str, rows: list[Row], *, probes: bool = True, current: int = IDLE) -> BenchmarkProofEvidence:
    observed = MeasurementWindowObservations(handled=read(*rows, current=current))
    return BenchmarkProofEvidence(decoded_run(BODY), observed if probes else None, benchmark(show), board(), kernel())


def pairs(*, without: int | None = None) -> list[Row]:
    """Every ordered pair of tasks 0, 1 and idle, then the control task, which does not count."""
    order = [0, 1, 0, None, 1, None, 0]
    blocks = [IDLE if item is None else handle(item) for item in order]
    rows: list[Row] = []
    for place, block in enumerate([*blocks, handle(CONTROL), IDLE]):
        rows += [] if place == without else switch_at(1000 * (place + 1), block)
    return rows


def search_rows(wrong: int = 0) -> list[Row]:
    """Task 0 to idle and back: both tasks have priority 1, idle is two steps below; `wrong` more are taken."""
    down: list[Row] = [(40, WRITE, IDENT_TOP, 9), *switch_at(50, IDLE), (120, WRITE, IDENT_TOP, 7 - wrong)]
    return [*sorted(down), (300, WRITE, IDENT_TOP, 9), *up()]


def up() -> list[Row]:
    return sorted([*switch_at(400, handle(0)), (420, WRITE, IDENT_TOP, 9)])


RELEASES = {"rule": "releases_as_periods"}
PAIRS = {"rule": "every_pair_switched"}
STEPS = {"rule": "search_steps"}

CASES: list[tuple[dict[str, Any], dict[str, Any], ProofVerdict]] = [
    (RELEASES, {"rows": pattern()}, ProofVerdict.HOLDS),
    (RELEASES, {"rows": pattern(skip=3)}, ProofVerdict.FAILS),  # a task did not come
    (RELEASES, {"rows": pattern(extra=2)}, ProofVerdict.FAILS),  # one came that was not due
    (RELEASES, {"rows": pattern()[2:]}, ProofVerdict.FAILS),  # a tick is lost
    (RELEASES, {"rows": []}, ProofVerdict.FAILS),
    (PAIRS, {"rows": pairs()}, ProofVerdict.HOLDS),
    (PAIRS, {"rows": pairs(without=4)}, ProofVerdict.FAILS),  # idle to 1 never
    ({**PAIRS, "at_least": 2}, {"rows": pairs()}, ProofVerdict.FAILS),
    (PAIRS, {"rows": []}, ProofVerdict.FAILS),
    (STEPS, {"rows": search_rows(), "current": handle(0)}, ProofVerdict.HOLDS),
    (STEPS, {"rows": search_rows(wrong=1), "current": handle(0)}, ProofVerdict.FAILS),
    (STEPS, {"rows": []}, ProofVerdict.FAILS),  # no switch, nothing shown
]


@pytest.mark.parametrize(("rule", "facts", "verdict"), CASES)
def test_handler_rule_holds_and_fails(rule: dict[str, Any], facts: dict[str, Any], verdict: ProofVerdict) -> None:
    show = "tick" if rule is RELEASES else "switch"
    result = benchmark_proof_rule_modules()[rule["rule"]]
    finding = result.judge_evidence(
        parameters_class_of_proof_rule(result).model_validate(rule), evidence(show, **facts)
    )
    assert finding.verdict is verdict, finding.saw
    assert finding.saw


@pytest.mark.parametrize(("first", "verdict"), [(0, ProofVerdict.HOLDS), (1, ProofVerdict.FAILS)])
def test_sleeps_that_last_a_tick_longer_release_a_tick_later(first: int, verdict: ProofVerdict) -> None:
    """All of the pattern comes a tick later, behind one tick that releases nobody (or, wrongly, task 0)."""
    late = [(row[0] + MS, *row[1:]) for row in pattern()]
    ahead = tick_at(MS) + (switch_at(MS + 100, handle(0)) + switch_at(MS + 250, IDLE) if first else [])
    built = evidence("tick", [*ahead, *late])
    behaviour = built.kernel.behaviour.model_copy(update={"sleep_adds_ticks": 1})
    built = replace(built, kernel=built.kernel.model_copy(update={"behaviour": behaviour}))
    result = benchmark_proof_rule_modules()["releases_as_periods"]
    assert (
        result.judge_evidence(parameters_class_of_proof_rule(result).model_validate(RELEASES), built).verdict is verdict
    )


@pytest.mark.parametrize("rule", [RELEASES, PAIRS, STEPS])
def test_handler_series_need_probes(rule: dict[str, Any]) -> None:
    result = benchmark_proof_rule_modules()[rule["rule"]]
    finding = result.judge_evidence(
        parameters_class_of_proof_rule(result).model_validate(rule), evidence("tick", pattern(), probes=False)
    )
    assert finding.verdict is ProofVerdict.UNSEEN


def test_kernel_that_does_not_search_shows_no_steps() -> None:
    result = benchmark_proof_rule_modules()["search_steps"]
    finding = result.judge_evidence(
        parameters_class_of_proof_rule(result).model_validate(STEPS), evidence("switch", pairs())
    )
    assert finding.verdict is ProofVerdict.UNSEEN
    assert "does not search" in finding.saw


def test_tick_series() -> None:
    built = evidence("tick", pattern())
    assert built.observed is not None
    assert built.observed.handled is not None
    result = {
        samples.id: samples
        for samples in handlers.sample_series_of_kernel_handlers(built.observed.handled, built.decoded, built.benchmark)
    }
    assert list(result) == ["tick.released_0", "tick.released_1", "tick.released_2", "tick.entry"]
    expected = Counter(sum((1 + number) % period == 0 for period in (2, 3)) for number in range(1, 250))
    assert {number: len(result[f"tick.released_{number}"].cycles) for number in range(3)} == expected
    assert result["tick.entry"].cycles == (12,) * 249


def test_switch_series_exclude_the_control_task() -> None:
    built = evidence("switch", pairs())
    assert built.observed is not None
    assert built.observed.handled is not None
    result = {
        samples.id: samples
        for samples in handlers.sample_series_of_kernel_handlers(built.observed.handled, built.decoded, built.benchmark)
    }
    assert set(result) == {
        "switch.A_B", "switch.A_IDLE", "switch.B_A", "switch.B_IDLE", "switch.IDLE_A", "switch.IDLE_B", "switch.entry",
    }  # fmt: skip
    assert all(samples.steps is None and set(samples.switches) == {1} for samples in result.values())


def test_tick_model_is_fitted() -> None:
    model = fit_tick_cost_model({0: [100, 100, 104], 1: [150], 3: [250, 252]})
    assert model is not None
    assert model.per_task == pytest.approx(50, abs=1)
    assert model.base == pytest.approx(100, abs=2)
    assert (model.mode, model.worst, model.worst_count) == (100, 252, 3)
    assert model.cycles_per_released_task == pytest.approx((252 - 100) / 3)
    assert model.longest_tick_cycles_above_fitted_model == pytest.approx(152 - 3 * model.per_task)
    assert [residual.n for residual in model.residuals] == [3, 1, 2]
    assert sum(residual.mean * residual.n for residual in model.residuals) == pytest.approx(0, abs=1e-9)
    assert fit_tick_cost_model({0: [100]}) is None
    assert fit_tick_cost_model({1: [100], 2: [150]}) is None


def test_loop_counts_by_the_papers_rule() -> None:
    def select(ident: str, steps: int | None) -> SeriesSamples:
        return SeriesSamples(
            id=f"select.{ident}", title="", instrument="probe", comparable=True, cycles=(1,), steps=steps
        )

    class PlannedPoint:
        series = (select("A_B", 1), select("B_A", 0), select("A_IDLE", 6), select("X", None))

    point: Any = PlannedPoint()
    assert {
        loops: [samples.id for samples in result] for loops, result in scheduler_search_duration_samples(point).items()
    } == {
        1: ["select.A_B", "select.B_A"],
        6: ["select.A_IDLE"],
    }


def miranda_params(name: str) -> dict[str, str]:
    return {key: str(value) for key, value in Catalogue(find_checkout_root()).find_benchmark(name).facts.params.items()}


def test_golden_six_coincidences_in_250_s() -> None:
    params = {**miranda_params("tick_handler"), "phase_ms": "0"}
    assert task_periods_ms(params) == [5, 10, 15, 20, 30, 40, 23, 12, 45, 50]
    assert lcm(*task_periods_ms(params)) == 41_400
    at = tasks_released_at_ticks(params)
    together = [number for number in range(1, 250_001) if len(at(number)) == 10]
    assert together == [41_400 * times for times in range(1, 7)]


def test_golden_one_coincidence_in_the_short_window() -> None:
    params = miranda_params("tick_handler")
    at = tasks_released_at_ticks(params)
    together = [number for number in range(1, 1000) if len(at(number)) == 10]
    assert together == [500]
