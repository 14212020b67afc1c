"""A kernel without a service loses the series that need it, not the benchmark; every table says so, with the reason."""

from pathlib import Path
from typing import Any

import pytest

from rtoslab.analyses.placed_figures import CodePlacementLookup
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.benchmark import Benchmark
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.images import build_measurement_point_image
from rtoslab.measure import decode_and_judge_output, identity_of_point, make_virtual_benchmark_job
from rtoslab.plan import PlanOptions, make_measurement_plan
from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.proofs.expected_steps import select_steps_by_kernel_services
from rtoslab.reports import report_formats
from rtoslab.reports.document import make_report_document
from rtoslab.reports.terminal import make_latency_table
from rtoslab.results.results import AbsentSeries, MeasuredPoint
from rtoslab.store.stored_point import StoredMeasurementPoint
from rtoslab.targets import run_virtual_benchmark
from tests.checkouts import replace_text
from tests.fakes import board, decoded_run, kernel
from tests.latency_fakes import latency_point

REASON = "K has no queue service: it has none"
LACKS = kernel(services={"semaphore": True, "queue": False}, reasons={"queue": "it has none"})
HAS = kernel(services={"semaphore": True, "queue": True})
"""A test's own kernels; what a real one lacks may change."""
PROOFS: list[dict[str, Any]] = [
    {"rule": "switches_inside", "series": ["give", "send"], "switches": 0},
    {"rule": "calls_inside", "series": "send", "service": "queue_send"},
    {"rule": "checks_zero", "checks": ["failures"]},
]


def benchmark() -> Benchmark:
    series = {"title": "a call", "starts": "-", "ends": "-"}
    return Benchmark.model_validate({
        "id": "b", "title": "B", "question": "?", "kind": "latency", "tasks_per_core": 2, "stack_bytes": 1024,
        "inside": "-", "outside": "-", "services": ["semaphore"], "samples": 2, "proof": PROOFS,
        "series": [{"id": "send", "services": ["queue"], **series}, {"id": "give", **series}],
    })  # fmt: skip


def test_kernel_with_a_service_has_all_its_series() -> None:
    whole = benchmark().restrict_to_kernel_services(HAS)
    assert whole.latency_series_ids == ("instrument.empty", "send", "give")
    assert whole.services == ("semaphore", "queue")
    assert list(whole.proof) == PROOFS
    assert not benchmark().absent_series(HAS)


def test_series_and_their_proofs_depend_on_the_service() -> None:
    left = benchmark().restrict_to_kernel_services(LACKS)
    assert left.latency_series_ids == ("instrument.empty", "give")
    assert left.services == ("semaphore",)
    assert list(left.proof) == [{**PROOFS[0], "series": ["give"]}, PROOFS[2]]
    assert {item.id: why for item, why in benchmark().absent_series(LACKS).items()} == {"send": REASON}


@pytest.mark.parametrize(("facts", "so"), [(HAS, True), (LACKS, False)])
def test_proof_may_depend_on_a_measured_service(facts: Any, so: bool) -> None:
    evidence = BenchmarkProofEvidence(
        decoded_run(), None, benchmark().restrict_to_kernel_services(facts), board(), facts
    )
    assert evidence.meets_condition("queue = 1") is so
    assert evidence.meets_condition("queue = 0") is not so


@pytest.mark.parametrize(("symbols", "so"), [({"tick_now": ("now",)}, True), ({}, False)])
def test_proof_may_depend_on_a_call_that_reads_the_tick(symbols: Any, so: bool) -> None:
    evidence = BenchmarkProofEvidence(decoded_run(), None, benchmark(), board(), kernel(symbols=symbols))
    assert evidence.meets_condition("tick_call = 1") is so


def test_steps_depend_on_their_service() -> None:
    steps = ("0 semaphore_give S", "queue: 0 queue_send Q", "queue: switch 0 1", "tick")
    assert select_steps_by_kernel_services(steps, ("queue",)) == (
        "0 semaphore_give S",
        "0 queue_send Q",
        "switch 0 1",
        "tick",
    )
    assert select_steps_by_kernel_services(steps, ()) == ("0 semaphore_give S", "tick")


def test_benchmark_without_any_of_its_series_is_not_applicable(checkout: Path) -> None:
    path = checkout / "firmware" / "benchmarks" / "memory_allocation" / "benchmark.toml"
    text = path.read_text().replace("[[series]]\n", '[[series]]\nservices = ["condition"]\n')
    path.write_text(text)
    points = make_measurement_plan(
        Catalogue(find_checkout_root()), ["memory_allocation"], PlanOptions(["freertos"], ["pico"])
    ).points
    assert {point.not_applicable for point in points} == {
        "FreeRTOS has no condition service: FreeRTOS has no condition variable; its event groups are the service event"
    }


def latency_with_missing_series() -> MeasuredPoint:
    gone = AbsentSeries(id="queue.send", title="queue send", reason=REASON)
    return latency_point("probe", (5, 6)).model_copy(update={"absent_series": (gone,)})


@pytest.mark.parametrize("name", ["csv", "json", "md", "html"])
def test_every_format_says_what_is_missing_and_why(name: str) -> None:
    manifest: dict[str, object] = {"build": {"kernel": "k"}, "elf_sha256": "ab", "window_ms": 250}
    document = make_report_document(
        Catalogue(find_checkout_root()),
        [StoredMeasurementPoint(Path("p"), latency_with_missing_series(), manifest)],
        None,
    )
    text = report_formats()[name](document)
    assert REASON in text
    assert "n/a" in text or '"absent_series"' in text
    assert "queue send" in text or "queue.send" in text


def test_terminal_has_a_row_for_a_missing_series() -> None:
    table = make_latency_table([latency_with_missing_series()], CodePlacementLookup(), 120)
    assert list(table.columns[0].cells)[-1] == "queue send"
    assert list(table.columns[1].cells)[-1] == "n/a"


def test_preemption_without_queues_keeps_its_other_series(checkout: Path) -> None:
    """Without the port's conformance, which has tests of its own."""
    for name in ("queue", "queue_from_isr", "mailbox", "mailbox_timeout"):
        replace_text(checkout, "kernels/freertos/kernel.toml", f"\n{name} = true", f"\n{name} = false")
    catalogue = Catalogue(checkout)
    chosen = {"samples": "5", "instrument": "probe"}
    (point,) = make_measurement_plan(
        catalogue, ["preemption"], PlanOptions(["freertos"], ["pico"], [1], config=chosen)
    ).points
    built = build_measurement_point_image(catalogue, point)
    output = run_virtual_benchmark(
        make_virtual_benchmark_job(catalogue, point, built.elf_path.read_bytes(), "image.elf")
    )
    result = decode_and_judge_output(catalogue, identity_of_point(catalogue, point), "0" * 16, output, built.expected)
    assert isinstance(result, MeasuredPoint), result
    assert [samples.id for samples in result.series] == [
        "instrument.empty", "semaphore.give.preempt", "semaphore.take.return",
    ]  # fmt: skip
    assert [series.id for series in result.absent_series] == ["queue.send.preempt", "queue.receive.return"]
    assert "course" in {proof.rule for proof in result.proofs}
