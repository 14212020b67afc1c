"""`rtoslab worst-case`: an interrupt at every cycle of a run, and the longest that anything let it wait."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from rtoslab.base import EXIT_OK, PlanError, UnknownNameError, count_with_noun, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option, config_option, kernel_option
from rtoslab.cli.console import PlainConsole, path_from_working_directory
from rtoslab.cli.early_end import InterruptedWithResultsError, print_json_answer
from rtoslab.cli.names import CatalogueNameParam
from rtoslab.plan import PlanOptions
from rtoslab.reports import MARK, deviation_footnote, report_formats
from rtoslab.worst_case import (
    WINDOW_MS,
    InterruptSweepCycleRange,
    InterruptSweepScenario,
    InterruptSweepTarget,
    SweepInterruptedError,
    WorstCaseLatencyResult,
    default_interrupt_sweep_benchmark,
    default_sweep_folder,
    find_worst_case_interrupt_latency,
    inject_interrupt_at_every_cycle,
    kernel_services_of_background_task,
    parse_sweep_cycle_range,
    prepare_benchmark_sweep_scenario,
    prepare_elf_image_sweep_scenario,
    settings_for_background_service_calls,
    sweep_manifest,
    worst_case_latency_report,
    write_sweep_folder,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@click.command("worst-case")
@click.argument("program", metavar="BENCHMARK|IMAGE", type=CatalogueNameParam("benchmarks"), required=False)
@kernel_option
@board_option
@click.option(
    "--cores", type=click.IntRange(1, 8), default=1, show_default=True, help="Number of cores that the image uses."
)
@click.option("--core", type=click.IntRange(0, 7), default=0, show_default=True, help="Core that is interrupted.")
@click.option("--service", help="Kernel service that the background calls in a loop, e.g. semaphore, queue, event.")
@click.option(
    "--span",
    metavar="CYCLES|period|tick",
    help="Cycles to sweep: a number, whole periods of the background (3period) or whole ticks.  [default: period; for "
    "an IMAGE a period of its interrupts]",
)
@click.option(
    "--samples",
    type=click.IntRange(1, 10**6),
    help=("Raise the interrupt only at this number of cycles, chosen at random."),
)
@click.option(
    "--earlier",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    help="Raise the interrupt this number of times before the sweep begins, so that its code can be in a cache.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random numbers.")
@click.option("--threads", type=click.IntRange(1, 256), help="Number of threads.  [default: the machine's cores]")
@config_option
@click.option(
    "--interrupt",
    metavar="irqN|HANDLER|pendsv|systick|nmi",
    help="For an IMAGE: the interrupt to raise, by number or by its handler in the vector table.",
)
@click.option(
    "--task", metavar="SYMBOL|0xADDR", help="For an IMAGE: first instruction of the task that the handler wakes."
)
@click.option(
    "--from", "start", metavar="SYMBOL|0xADDR|CYCLES", default="0", help="For an IMAGE: where the sweep begins."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Folder of the results.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, no progress.")
def worst_case_command(
    program: str | None,
    kernel: str,
    board: str,
    cores: int,
    core: int,
    service: str | None,
    span: str | None,
    samples: int | None,
    earlier: int,
    seed: int,
    threads: int | None,
    config: tuple[tuple[str, str], ...],
    interrupt: str | None,
    task: str | None,
    start: str,
    out: Path | None,
    as_json: bool,
) -> int:
    """Raise an interrupt at every cycle offset of a run and measure its latency.

    Every run continues from the same snapshot. Shows the latency to the handler's first instruction and to that of the
    task that it wakes: the distribution, the worst case, and the instruction that was interrupted there. Without a
    BENCHMARK, `phase_sweep` is used. An IMAGE (ELF) needs --interrupt. The result does not depend on the number of
    threads. If a signal ends the command, it stores the finished part.
    """
    catalogue = Catalogue(find_checkout_root())
    quiet = as_json or not PlainConsole(stderr=True).is_terminal

    def print_progress(phase: str, _: float = 0.0) -> None:
        """Prints what the search does now on a terminal, in place of the previous text."""
        if not quiet:
            click.echo(f"\r{phase:<60}\r", err=True, nl=False)

    def print_interrupt_sweep_progress(done: int, all_of_them: int) -> None:
        """Prints how many cycles of how many were tried."""
        print_progress(f"{done:,} of {all_of_them:,}")

    if program is not None and Path(program).is_file():
        if interrupt is None:
            raise PlanError(f"{program} does not state which interrupt to raise; add --interrupt irqN or its handler.")
        kernel, target = "", InterruptSweepTarget(interrupt, task, start, core, earlier)
        facts = catalogue.find_board(board).facts
        scenario = prepare_elf_image_sweep_scenario(Path(program), facts, target, cores=cores)
    else:
        program = program or default_interrupt_sweep_benchmark(catalogue)
        chosen = {**dict(config), **_options_for_single_kernel_service(catalogue, program, service)}
        options = PlanOptions([kernel], [board], [cores], WINDOW_MS, chosen)
        scenario = prepare_benchmark_sweep_scenario(
            catalogue, program, options, core=core, earlier_arrivals=earlier, progress=print_progress
        )
    chosen_span = parse_sweep_cycle_range(scenario, span, samples, seed)
    began = time.monotonic()
    ended: SweepInterruptedError | None = None
    try:
        arrivals = inject_interrupt_at_every_cycle(
            scenario, chosen_span, threads=threads, progress=print_interrupt_sweep_progress
        )
    except SweepInterruptedError as cause:
        ended, chosen_span, arrivals = cause, cause.span, cause.arrivals
    seconds = time.monotonic() - began
    finding = find_worst_case_interrupt_latency(scenario, chosen_span, arrivals)
    folder = _store_interrupt_sweep_result(
        (Path(program).stem, service, kernel, board), out, scenario, chosen_span, finding, arrivals
    )
    report = {"folder": str(folder), **finding.as_json()}
    if as_json and ended is None:
        print_json_answer(report)
    elif not as_json:
        print_progress("")
        _print_finding(scenario, finding, seconds, folder)
    if ended is not None:
        raise InterruptedWithResultsError(ended, report)
    return EXIT_OK


def _store_interrupt_sweep_result(
    subject: tuple[str | None, ...],
    out: Path | None,
    scenario: InterruptSweepScenario,
    span: InterruptSweepCycleRange,
    finding: WorstCaseLatencyResult,
    arrivals: "NDArray[np.void]",
) -> Path:
    """Writes the folder of a sweep's result, and returns its path. `subject`: parts of its name. Raises StoreError."""
    name = "-".join(filter(None, subject))
    manifest = sweep_manifest(scenario, span)
    folder = out or default_sweep_folder(name, manifest)
    page = report_formats()["html"](worst_case_latency_report(finding, arrivals))
    write_sweep_folder(folder, finding, arrivals, manifest, page)
    return folder


def _options_for_single_kernel_service(catalogue: Catalogue, program: str, service: str | None) -> dict[str, str]:
    """Returns the options by which the background calls this kernel service only. Empty for None. Raises
    UnknownNameError."""
    if service is None:
        return {}
    facts = catalogue.find_benchmark(program).facts
    picked = settings_for_background_service_calls(facts, service)
    if not picked:
        raise UnknownNameError(f"service that {facts.id} calls", service, kernel_services_of_background_task(facts))
    return picked


def _print_finding(
    scenario: InterruptSweepScenario, finding: WorstCaseLatencyResult, seconds: float, folder: Path
) -> None:
    """Prints the interrupt's latencies, what was executing in the worst cases, and where the result is stored."""
    console = PlainConsole()
    console.print(finding.claim, markup=False)
    title = f"{scenario.title} {MARK}" if finding.deviations else scenario.title
    table = Table("first instruction of", "min", "median", "p99", "max", "max, us", "at offset", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    both = {"handler": finding.handler, "task": finding.task}
    for name, item in both.items():
        if item is not None:
            table.add_row(
                finding.latency_labels[name],
                f"{item.minimum_cycles:,}",
                f"{item.median_cycles:,.0f}",
                f"{item.p99_cycles:,.0f}",
                f"{item.maximum_cycles:,}",
                f"{finding.to_microseconds(item.maximum_cycles):.3f}",
                f"{item.worst_offset:,}",
            )
    console.print(table)
    sentences = (finding.span_reason, finding.earlier_arrivals_sentence, finding.firmware_requests_latency_sentence)
    for sentence in filter(None, sentences):
        console.print(sentence, markup=False, soft_wrap=True)
    for name, item in both.items():
        if item is not None:
            how = "asleep, then" if item.asleep else "executing"
            console.print(f"worst for the {name}, {how}: {item.executing}", markup=False, soft_wrap=True)
    if finding.deviations:
        console.print(deviation_footnote(finding.deviations), markup=False, soft_wrap=True)
    swept = count_with_noun(finding.arrivals, "arrival")
    click.echo(f"{swept} in {seconds:.1f} s. Stored in {path_from_working_directory(folder)}, with report.html.")
