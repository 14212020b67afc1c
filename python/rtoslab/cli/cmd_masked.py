"""`rtoslab masked`: how long kernels mask interrupts, by call."""

from collections.abc import Sequence
from pathlib import Path

import click

from rtoslab.base import PlanError, find_checkout_root, load_architecture_facts
from rtoslab.catalogue import DEFAULT_KERNEL, Catalogue
from rtoslab.cli.choices import board_option, config_option, kernels_option
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer, report_if_interrupted
from rtoslab.cli.names import CatalogueNameParam, DurationParam, parse_option_integer, split_names
from rtoslab.cli.observation import exit_code_of_run
from rtoslab.instruments import (
    ImageObservationOptions,
    Profile,
    find_observed_image,
    masked_interrupts_survey_table,
    profile_image,
    table_for_terminal,
)
from rtoslab.intake import is_file_or_pipe

IMAGE_MS = 100


@click.command("masked")
@click.argument("names", nargs=-1, required=True, type=CatalogueNameParam("benchmarks", "suites"))
@kernels_option()
@board_option
@click.option("--cores", type=click.IntRange(1, 8), default=1, show_default=True, help="Cores in use.")
@config_option
@click.option(
    "--priority",
    metavar="N",
    help="Priority of the interrupts, as in a priority register.  [default: the least urgent]",
)
@click.option(
    "--for",
    "--window",
    "window_ms",
    type=DurationParam(),
    help=(
        "Observed time: the window of a benchmark, or the time from reset of an image.  [default: 20ms; 250ms "
        "for latencies; 100ms for an image]"
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON on stdout.")
def masked_command(
    names: tuple[str, ...],
    kernels: tuple[str, ...],
    board: str,
    cores: int,
    config: tuple[tuple[str, str], ...],
    priority: str | None,
    window_ms: int | None,
    as_json: bool,
) -> int:
    """Run the benchmarks or images NAMES and show how long interrupts are masked, with the longest interval of each
    kernel call.

    Records every interval in which PRIMASK, BASEPRI, FAULTMASK or an active handler masks interrupts, with the code
    that began and ended it. Benchmarks of services that a kernel lacks are left out, with the reason. Kernels that mask
    interrupts by disabling their lines cannot be observed and are left out, too.
    """
    catalogue = Catalogue(find_checkout_root())
    facts = catalogue.find_board(board).facts
    priorities = load_architecture_facts().interrupt_priorities(facts.irq.priority_bits)
    level = parse_option_integer(priority, "--priority") if priority is not None else priorities[-1]
    if level not in priorities:
        known = ", ".join(f"{item:#04x}" for item in priorities)
        raise PlanError(f"An interrupt of the {facts.id} cannot have the priority {level:#04x}; it can have {known}.")
    images = [name for name in names if is_file_or_pipe(Path(name))]
    benchmarks = tuple(name for name in names if name not in images)
    profiles: list[Profile] = []
    with report_if_interrupted(
        lambda: {"masked": masked_interrupts_survey_table(profiles, level).as_json()} if profiles else {}
    ):
        for image in images:
            one = ImageObservationOptions(
                board=board, cores=cores, config=dict(config), window_ms=window_ms or IMAGE_MS
            )
            profiles.append(profile_image(find_observed_image(catalogue, image, **one)))
        for kernel in (split_names(kernels, catalogue.buildable_kernels) or (DEFAULT_KERNEL,)) if benchmarks else ():
            unseen = catalogue.find_kernel(kernel).facts.why_masking_not_observed
            if unseen is not None:
                click.echo(f"left out: {unseen}.", err=True)
                continue
            for benchmark in _benchmark_names(catalogue, benchmarks):
                try:
                    choice = ImageObservationOptions(
                        kernel=kernel, board=board, cores=cores, config=dict(config), window_ms=window_ms
                    )
                    profiles.append(profile_image(find_observed_image(catalogue, benchmark, **choice)))
                except PlanError as cause:
                    click.echo(f"left out: {cause}", err=True)
    if not profiles:
        raise PlanError(
            "None of these benchmarks can run and be observed with this kernel and board; `rtoslab list kernels` "
            "shows which services each kernel has."
        )
    table = masked_interrupts_survey_table(profiles, level)
    if as_json:
        print_json_answer(table.as_json())
    else:
        PlainConsole().print(table_for_terminal(table))
    _print_images_without_masking(profiles, level)
    return max(exit_code_of_run(profile.unhandled) for profile in profiles)


def _print_images_without_masking(profiles: Sequence[Profile], level: int) -> None:
    """Prints which of the runs never masked interrupts of a priority, because the table has no row for them."""
    for profile in profiles:
        if not any(held.priority == level for held in (*profile.held, *profile.masked_at_end)):
            click.echo(f"{profile.label}: interrupts of priority {level:#04x} were never masked.", err=True)


def _benchmark_names(catalogue: Catalogue, names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the benchmarks that names of suites and benchmarks stand for, each once."""
    benchmarks = [
        benchmark
        for name in names
        for experiment in catalogue.find_experiments_of_suite_or_benchmark(name)[1]
        for benchmark in experiment.benchmarks
    ]
    return tuple(dict.fromkeys(benchmarks))
