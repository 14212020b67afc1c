"""Benchmarks of single operations on the virtual board: what they say, and that each is refused once it is broken."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from rtoslab import api
from rtoslab.analyses.heap_fragmentation import most_fragmented_heap
from rtoslab.analyses.latency import latencies_of_point
from rtoslab.results.results import FailedMeasurement, MeasuredPoint
from tests.checkouts import replace_text


def measure(name: str, kernel: str, out: Path, samples: int = 40) -> MeasuredPoint | FailedMeasurement:
    """On the Pico, by the first instrument that can."""
    outcomes = api.run(name, kernels=[kernel], boards=["pico"], cores=[1], out=out, config={"samples": str(samples)})
    result = outcomes[0].result
    assert isinstance(result, MeasuredPoint | FailedMeasurement)
    return result


def test_interrupt_latency_ranges_from_minimum_to_longest_masked_section(tmp_path: Path) -> None:
    point = measure("interrupt_latency", "bare", tmp_path / "run", samples=100)
    assert isinstance(point, MeasuredPoint), point.message
    computing, calling = latencies_of_point(point)
    # 15 cycles to the handler, the way to the timer; one more where the event falls into an instruction of two.
    assert (computing.spread.minimum, computing.spread.maximum) == (22, 23)
    assert calling.spread.minimum == 22
    assert calling.spread.maximum > computing.spread.maximum + 10


@pytest.mark.long
@pytest.mark.parametrize("samples", [100, 200])
def test_heap_of_mixed_blocks_fragments(samples: int, tmp_path: Path) -> None:
    """With 200, as it has by default, more than a round of blocks is released when each series has its samples."""
    point = measure("heap_mixed", "freertos", tmp_path / "run", samples=samples)
    assert isinstance(point, MeasuredPoint), point.message
    malloc, free = latencies_of_point(point)
    assert malloc.spread.jitter > 0 < free.spread.jitter
    left = most_fragmented_heap(point)
    assert left is not None
    assert left.free_pieces > 1
    assert 0 < left.unusable_memory_share < 1
    assert left.live_bytes > 0


@dataclass(frozen=True)
class Break:
    """One text of a benchmark replaced by another, and the rules that must refuse the result."""

    old: str
    new: str
    rules: frozenset[str]


BREAKS = {
    "mutex": Break(".priority = {3, 2, 1}", ".priority = {3, 4, 1}", frozenset({"checks_zero"})),
    "task_creation": Break(
        ".priority = OWN_PRIORITY - 1", ".priority = OWN_PRIORITY + 1", frozenset({"switches_inside", "checks_zero"})
    ),
    "task_control": Break("    port_suspend(other);\n", "    (void)other;\n", frozenset({"calls_inside"})),
    "heap_mixed": Break("(int)place + 1, bytes", "(int)place, bytes", frozenset({"checks_zero"})),
    "deadlock_break": Break(
        "must(self, port_mutex_lock(&first)); /* 1 */", "/* 1 */", frozenset({"switches_inside", "checks_zero"})
    ),
    "release_jitter": Break("load_calls = load_calls + 1u;", "", frozenset({"checks_zero"})),
    "interrupt_latency": Break(
        "        bench_count(self);\n", "        cpu_wait_for_interrupt();\n        bench_count(self);\n",
        frozenset({"interrupted_anywhere"}),
    ),
    "interrupt_activation": Break(
        "elapsed_cycles = async_elapsed_cycles();", "elapsed_cycles = async_elapsed_cycles() + 999u;",
        frozenset({"stamps_agree"}),
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", BREAKS)
def test_broken_benchmark_gives_no_figure(name: str, tmp_path: Path, checkout: Path) -> None:
    replace_text(checkout, f"benchmarks/{name}/{name}.c", BREAKS[name].old, BREAKS[name].new)
    result = measure(name, "freertos", tmp_path / "run")
    assert isinstance(result, FailedMeasurement), "it was measured all the same"
    assert BREAKS[name].rules <= {proof.rule for proof in result.proofs if proof.verdict == "fails"}, result.message


@pytest.mark.long
@pytest.mark.parametrize("name", BREAKS)
@pytest.mark.parametrize("kernel", ["freertos", "rt"])
def test_every_offered_service_is_measured(name: str, kernel: str, tmp_path: Path) -> None:
    outcomes = api.run(name, kernels=[kernel], boards=["pico"], cores=[1], out=tmp_path, config={"samples": "20"})
    for outcome in outcomes:
        assert not isinstance(outcome.result, FailedMeasurement), outcome.result.message
