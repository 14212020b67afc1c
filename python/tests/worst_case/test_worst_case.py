"""The phase sweep: each arrival is what it would be alone, the longest wait is found and named, errors are clear."""

import json
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from rtoslab.base.errors import PlanError, RunError, UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.cli.cmd_worst_case import worst_case_command
from rtoslab.plan.plan import PlanOptions
from rtoslab.records import add_file_listing_digests
from rtoslab.reports.formats.html import render_report
from rtoslab.results import encode_sample_file
from rtoslab.targets.events import EVENT
from rtoslab.targets.exceptions import parse_exception_number
from rtoslab.worst_case.arrivals import (
    InterruptSweepCycleRange,
    draw_distinct_random_offsets,
    inject_interrupt_at_every_cycle,
    parse_sweep_cycle_range,
)
from rtoslab.worst_case.document import worst_case_latency_report
from rtoslab.worst_case.folder import (
    ARRIVALS,
    MANIFEST,
    RESULT,
    find_inconsistent_sweep_values,
    sweep_manifest,
    write_sweep_folder,
)
from rtoslab.worst_case.scenario import (
    InterruptSweepScenario,
    InterruptSweepTarget,
    prepare_benchmark_sweep_scenario,
    prepare_elf_image_sweep_scenario,
)
from rtoslab.worst_case.worst_case import find_worst_case_interrupt_latency
from tests.checkouts import replace_text
from tests.cli.test_cli import rtoslab
from tests.conformance_fakes import examine_nothing
from tests.doc_worst_case import BOARDS, PAGE, table_row

WINDOW_MS = 1000


def sweep_scenario(
    kernel: str, board: str, service: int = 0, cores: int = 1, core: int = 0, earlier: int = 0, **config: str
) -> InterruptSweepScenario:
    options = PlanOptions([kernel], [board], [cores], WINDOW_MS, {"param.service": str(service), **config})
    catalogue = Catalogue(find_checkout_root())
    return prepare_benchmark_sweep_scenario(catalogue, "phase_sweep", options, core=core, earlier_arrivals=earlier)


def single_arrival(of: InterruptSweepScenario, cycle: int) -> tuple[int, int | None]:
    """One arrival by itself: a fresh board from the snapshot, run in one go, watched by exception events."""
    machine: Any = of.snapshot.open()
    machine.trace_exceptions(True)
    machine.inject_exception(cycle, of.exception, of.core)
    if of.task is not None:
        machine.watch_exec(of.task, 9)
    machine.run(cycle - machine.cycle() + 20_000)
    events = np.frombuffer(machine.take_events(), EVENT)
    late = events[(events["cycle"] >= cycle) & (events["core"] == of.core)]
    handler = late[(late["kind"] == 3) & (late["id"] == of.exception)]["cycle"][0]
    tasks = late[(late["kind"] == 1) & (late["id"] == 9)]["cycle"]
    return int(handler) - cycle, int(tasks[0]) - cycle if len(tasks) else None


@pytest.mark.parametrize(
    ("kernel", "board", "cores", "core"),
    [
        ("freertos", "nucleo-f446re", 1, 0),
        ("bare", "nucleo-l073rz", 1, 0),
        pytest.param("rt", "nucleo-l073rz", 1, 0, marks=pytest.mark.long),
        pytest.param("freertos", "nucleo-f767zi", 1, 0, marks=pytest.mark.long),
        ("freertos", "pico", 2, 1),
    ],
)
def test_each_arrival_equals_a_single_run(kernel: str, board: str, cores: int, core: int) -> None:
    of = sweep_scenario(kernel, board, cores=cores, core=core)
    arrivals = inject_interrupt_at_every_cycle(of, InterruptSweepCycleRange(1500, "1500 cycles"), threads=2)
    assert arrivals["cycle"].tolist() == list(range(of.snapshot.cycle(), of.snapshot.cycle() + 1500))
    for index in random.Random(7).sample(range(1500), 12):  # noqa: S311
        item = arrivals[index]
        task = int(item["task"]) if of.task is not None else None
        assert (int(item["handler"]), task) == single_arrival(of, int(item["cycle"])), index
    assert len(set(arrivals["handler"].tolist())) > 2


def test_latency_of_a_task_that_another_task_wakes_counts_from_its_give() -> None:
    """The handler on core 0 wakes a task of core 0, which wakes a task of core 1."""
    config = {"param.events": "0", "param.relay": "1"}
    options = PlanOptions(["freertos"], ["pico"], [2], WINDOW_MS, config)
    of = prepare_benchmark_sweep_scenario(Catalogue(find_checkout_root()), "core_wake", options, earlier_arrivals=1)
    span = InterruptSweepCycleRange(300, "300 cycles")
    arrivals = inject_interrupt_at_every_cycle(of, span, threads=2)
    for item in arrivals[::60]:
        machine: Any = of.snapshot.open()
        machine.inject_exception(int(item["cycle"]), of.exception, 0)
        assert of.giver is not None
        assert of.task is not None
        machine.watch_exec(of.giver, 8)
        machine.watch_exec(of.task, 9)
        machine.run(20_000)
        events = np.frombuffer(machine.take_events(), EVENT)
        (give,), (task,) = (events[(events["kind"] == 1) & (events["id"] == number)] for number in (8, 9))
        assert (give["core"], task["core"]) == (0, 1)
        assert int(item["task"]) == task["cycle"] - give["cycle"]
    found = find_worst_case_interrupt_latency(of, span, arrivals)
    assert found.task is not None
    assert found.task_counts_from_give
    assert found.claim.endswith("after the give of another task.")
    assert "task, from the give" in render_report(worst_case_latency_report(found, arrivals))
    assert sweep_manifest(of, span)["sweep"]["giver"] == of.giver


def test_a_tick_is_as_long_as_its_timer_says_though_locks_delay_it() -> None:
    """Both cores call the kernel all the time, so the handlers of the observed ticks begin late, each differently."""
    config = {"param.events": "0", "param.relay": "1", "param.busy": "1", "code": "sram"}
    options = PlanOptions(["freertos"], ["pico"], [2], WINDOW_MS, config)
    of = prepare_benchmark_sweep_scenario(Catalogue(find_checkout_root()), "core_wake", options, earlier_arrivals=3)
    assert of.tick_cycles == 125_000


def test_repeated_arrival_finds_its_code_in_the_cache() -> None:
    """The Pico reads code from a flash chip through a cache, and the NUCLEO-L073RZ has no cache."""
    median = {}
    for board in ("pico", "nucleo-l073rz"):
        for earlier in (0, 1, 3):
            of = sweep_scenario("freertos", board, earlier=earlier)
            span = parse_sweep_cycle_range(of, "period")
            arrivals = inject_interrupt_at_every_cycle(of, span)
            first = arrivals[0]
            assert (int(first["handler"]), int(first["task"])) == single_arrival(of, int(first["cycle"]))
            found = find_worst_case_interrupt_latency(of, span, arrivals)
            assert found.earlier_arrivals == earlier == sweep_manifest(of, span)["sweep"]["earlier_arrivals"]
            assert ("first one of its run" in found.earlier_arrivals_sentence) == (earlier == 0)
            assert found.task is not None
            median[board, earlier] = found.task.median_cycles
    assert median["pico", 0] > 4 * median["pico", 1]
    assert median["pico", 1] == median["pico", 3]
    assert len({median["nucleo-l073rz", earlier] for earlier in (0, 1, 3)}) == 1


@pytest.mark.parametrize(
    "board", [pytest.param(name, marks=[] if name == "nucleo-l073rz" else pytest.mark.long) for name in BOARDS]
)
def test_page_has_the_measured_latencies(board: str) -> None:
    assert table_row(board) in PAGE.read_text().splitlines(), "cd python && python -m tests.doc_worst_case"


def test_threads_do_not_matter_and_samples_are_a_subset() -> None:
    of = sweep_scenario("freertos", "nucleo-f446re")
    span = parse_sweep_cycle_range(of, "2period")
    whole = inject_interrupt_at_every_cycle(of, span, threads=1)
    assert (inject_interrupt_at_every_cycle(of, span, threads=3) == whole).all()
    drawn = parse_sweep_cycle_range(of, "2period", samples=50, seed=3)
    assert drawn.offsets == draw_distinct_random_offsets(span.cycles, 50, 3)
    assert drawn.offsets is not None
    assert (inject_interrupt_at_every_cycle(of, drawn, threads=2) == whole[list(drawn.offsets)]).all()
    result = find_worst_case_interrupt_latency(of, drawn, inject_interrupt_at_every_cycle(of, drawn))
    assert "as observed" in result.claim
    assert "every" not in result.claim


def test_interrupted_code_equals_that_of_single_steps() -> None:
    of = sweep_scenario("freertos", "nucleo-f446re")
    arrivals = inject_interrupt_at_every_cycle(of, InterruptSweepCycleRange(400, "400 cycles"))
    machine: Any = of.snapshot.open()
    executing = machine.position(0)[1]
    for arrival in arrivals:
        machine.run(int(arrival["cycle"]) - machine.cycle())
        begins, pc, _ = machine.position(0)
        if begins == arrival["cycle"]:
            executing = pc
        assert arrival["pc"] == executing


def test_planted_critical_section_is_found_and_named_by_its_line(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one give of 16 the port masks interrupts for some hundred cycles: few arrivals meet it."""
    give = "    rt_sem_post(semaphore); /* a full one stays full; nobody is told */\n"
    planted = (
        "    static unsigned gives;\n\n"
        "    if (++gives % 16u == 0) {\n"
        "        uint32_t masked = cpu_mask_interrupts(); /* planted */\n\n"
        "        for (volatile unsigned i = 0; i < 100; i++) {\n        }\n"
        "        cpu_restore_interrupts(masked);\n    }\n"
    )
    replace_text(checkout, "kernels/rt/port.h", give, planted + give)
    examine_nothing(monkeypatch)
    of = sweep_scenario("rt", "nucleo-f446re")
    result = find_worst_case_interrupt_latency(
        of, span := parse_sweep_cycle_range(of, "18period"), inject_interrupt_at_every_cycle(of, span)
    )
    assert result.handler.maximum_cycles > 500
    assert result.handler.median_cycles < 60
    lines = (checkout / "firmware" / "kernels" / "rt" / "port.h").read_text().splitlines()
    first = 1 + next(number for number, text in enumerate(lines) if "/* planted */" in text)
    assert {f"port.h:{line}" for line in range(first, first + 4)} & set(result.handler.executing.source)
    assert result.handler.executing.function.startswith(("phase_service", "calling", "body"))


def test_sweep_is_stored_and_shown(tmp_path: Path) -> None:
    done = rtoslab("worst-case", "--kernel", "bare", "--board", "nucleo-l073rz", "--service", "queue", "--json",
                   "--out", tmp_path / "one")  # fmt: skip
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["exhaustive"]
    assert output["arrivals"] == output["span_cycles"] == output["period_cycles"]
    assert output["claim"].startswith("Over every arrival phase of this scenario within one period")
    stored = pq.read_table(tmp_path / "one" / "arrivals.parquet").to_pydict()
    assert stored["offset"] == list(range(output["arrivals"]))
    assert max(stored["handler_cycles"]) == output["handler"]["maximum_cycles"]
    assert stored["handler_cycles"][output["handler"]["worst_offset"]] == output["handler"]["maximum_cycles"]
    report = (tmp_path / "one" / "report.html").read_text()
    assert output["claim"] in report
    assert report.count("<svg") == 2
    assert stored["task_cycles"] == [None] * output["arrivals"], "without a kernel there is no task to wake"
    of = sweep_scenario("bare", "nucleo-l073rz", service=1)
    span = parse_sweep_cycle_range(of, "period")
    arrivals = inject_interrupt_at_every_cycle(of, span, threads=1)
    report = render_report(
        worst_case_latency_report(result := find_worst_case_interrupt_latency(of, span, arrivals), arrivals)
    )
    write_sweep_folder(tmp_path / "two", result, arrivals, sweep_manifest(of, span), report)
    for name in ("arrivals.parquet", "result.json", "manifest.json", "report.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


@pytest.mark.parametrize("damaged", [{ARRIVALS: b"PAR1 nothing PAR1"}, {RESULT: b"{"}])
def test_damaged_sweep_with_a_valid_seal_is_reported(tmp_path: Path, damaged: dict[str, bytes]) -> None:
    files = {ARRIVALS: encode_sample_file([]), RESULT: b'{"handler": null, "task": null}', MANIFEST: b"{}"}
    for name, content in add_file_listing_digests(tmp_path.name, files).items():
        (tmp_path / name).write_bytes(content)
    assert not list(find_inconsistent_sweep_values(tmp_path))
    for name, content in add_file_listing_digests(tmp_path.name, {**files, **damaged}).items():
        (tmp_path / name).write_bytes(content)
    (output,) = find_inconsistent_sweep_values(tmp_path)
    assert re.search(r"cannot be read \(.*\); measure it again\.$", output)


def test_external_image_is_swept() -> None:
    """The same scenario told by symbols and a line instead of a benchmark."""
    by_name = sweep_scenario("freertos", "nucleo-f446re")
    target = InterruptSweepTarget(f"irq{by_name.exception - 16}", hex(by_name.task or 0), str(by_name.snapshot.cycle()))
    of = prepare_elf_image_sweep_scenario(by_name.elf, by_name.board, target)
    span = InterruptSweepCycleRange(300, "300 cycles")
    assert (
        inject_interrupt_at_every_cycle(of, span)["handler"]
        == inject_interrupt_at_every_cycle(by_name, span)["handler"]
    ).all()


def test_interrupts_raised_by_the_image_are_reported() -> None:
    """The tick comes of itself; the benchmark's own interrupt does not, and only then the report says so."""
    of = sweep_scenario("freertos", "nucleo-f446re")
    tick_cycles = of.tick_cycles or 0
    span = InterruptSweepCycleRange(3 * tick_cycles, "three ticks", tuple(range(0, 3 * tick_cycles, tick_cycles // 3)))
    tick = prepare_elf_image_sweep_scenario(
        of.elf, of.board, InterruptSweepTarget("systick", start=str(of.snapshot.cycle()))
    )
    finding = find_worst_case_interrupt_latency(tick, span, inject_interrupt_at_every_cycle(tick, span))
    assert len(finding.own_entries) in {3, 4}
    assert {right - left for left, right in pairwise(finding.own_entries)} <= set(
        range(tick_cycles - 99, tick_cycles + 99)
    )
    assert f"The image itself raises this interrupt there, {len(finding.own_entries)} times" in finding.claim
    idle = find_worst_case_interrupt_latency(of, span, inject_interrupt_at_every_cycle(of, span))
    assert idle.own_entries == ()
    assert "The image" not in idle.claim
    for item, says in ((finding, False), (idle, True)):
        assert (
            "the image itself does not raise this interrupt"
            in render_report(worst_case_latency_report(item, inject_interrupt_at_every_cycle(of, span)))
        ) is says


def test_disabled_interrupt_is_refused() -> None:
    of = sweep_scenario("bare", "nucleo-l073rz")
    deaf = prepare_elf_image_sweep_scenario(
        of.elf, of.board, InterruptSweepTarget("irq3", start=str(of.snapshot.cycle()))
    )
    with pytest.raises(RunError, match=r"3 of 3 arrivals were not followed by the handler within 1 s"):
        inject_interrupt_at_every_cycle(deaf, InterruptSweepCycleRange(3, "3 cycles"))
    # Each unanswered arrival takes a second of virtual time: of a long span only a few are tried.
    with pytest.raises(RunError, match=r"9 of 9 arrivals .* enabled and that nothing masks it"):
        inject_interrupt_at_every_cycle(deaf, InterruptSweepCycleRange(100_000, "100,000 cycles"))


def test_errors_are_reported_in_sentences(tmp_path: Path) -> None:
    board = Catalogue(find_checkout_root()).find_board("nucleo-f446re").facts
    with pytest.raises(PlanError, match=r"has no interrupt 'irq200'; give irq0 to irq96"):
        parse_exception_number("irq200", board)
    of = sweep_scenario("bare", "nucleo-l073rz")
    for request in ("0", "a while", "0period", "-3"):
        with pytest.raises(PlanError, match="is not a valid span; give up to"):
            parse_sweep_cycle_range(of, request)
    (tmp_path / "x.elf").write_bytes(b"")
    one = ("--kernel", "bare", "--board", "nucleo-l073rz")
    for args, says in (
        (("t2", *one), "has no [phase]"),
        (("--service", "hooks", *one), "no service that phase_sweep calls named 'hooks'; known: "),
        (("--service", "semafore", *one), "did you mean 'semaphore'?"),
        (("--service", "mutex", *one), "has no mutex service"),
        ((str(tmp_path / "x.elf"),), "add --interrupt irqN"),
    ):
        with pytest.raises((PlanError, UnknownNameError), match=re.escape(says)):
            worst_case_command.main(args, standalone_mode=False)


@pytest.mark.long
@pytest.mark.parametrize("board", list(Catalogue(find_checkout_root()).boards))
@pytest.mark.parametrize("kernel", ["freertos", "rt", "bare"])
def test_every_service_on_every_board_over_a_whole_period(kernel: str, board: str) -> None:
    catalogue = Catalogue(find_checkout_root())
    for service, name in enumerate(catalogue.find_benchmark("phase_sweep").facts.picks["service"]):
        if not catalogue.find_kernel(kernel).facts.services[name]:
            continue
        of = sweep_scenario(kernel, board, service)
        span = parse_sweep_cycle_range(of, "period")
        result = find_worst_case_interrupt_latency(of, span, inject_interrupt_at_every_cycle(of, span))
        assert result.arrivals == of.period_cycles
        # Quicker than an entry alone: an arrival while another one is under way takes its place.
        assert result.handler.minimum_cycles > 0
        assert result.task is None or result.task.minimum_cycles > result.handler.minimum_cycles
