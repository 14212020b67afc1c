"""`rtoslab diagnose`: what goes wrong in any image, worst first."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from rtoslab.base import (
    EXIT_OK,
    EXIT_POINT_FAILED,
    PROJECT_FILE,
    ImageFileError,
    PlanError,
    find_checkout_root,
    write_file_atomically,
)
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.image_options import attach_option, parse_devices
from rtoslab.cli.names import CatalogueNameParam, DurationParam, options_given_on_command_line
from rtoslab.cli.own_project import nearest_project_folder
from rtoslab.diagnose import (
    FirmwareDiagnosis,
    Limits,
    cpu_load_and_stack_peak_table,
    diagnose_problems_of_image,
    diagnosis_as_json,
    diagnosis_closing_lines,
    diagnosis_finding_text_lines,
    diagnosis_heading_lines,
    diagnosis_page,
)
from rtoslab.instruments import ObservedImage, find_observed_image, table_for_terminal
from rtoslab.intake import is_file_or_pipe, printable_path
from rtoslab.project import Project, build_project_image, project_image_run_to_observe, read_project

_STRETCH: Final = ("board", "attached", "cores", "kernel", "length_ms")
"""Options that a project says itself."""


@click.command("diagnose")
@click.argument("image", required=False, type=click.Path(path_type=Path))
@board_option
@attach_option
@click.option("--cores", type=click.IntRange(1, 8), help="Number of cores released from reset.  [default: all]")
@click.option(
    "--kernel",
    type=CatalogueNameParam("kernels"),
    help="The kernel that the image was built with.  [default: found by its functions]",
)
@click.option(
    "--for",
    "length_ms",
    type=DurationParam(),
    default="500ms",
    show_default=True,
    help="Observed time after start-up, at the board's default clock.",
)
@click.option(
    "-o",
    "--output",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.html",
    help="Write a page with a timeline of each finding.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.pass_context
def diagnose_command(
    context: click.Context,
    image: Path | None,
    board: str,
    attached: tuple[str, ...],
    cores: int | None,
    kernel: str | None,
    length_ms: int,
    page: Path | None,
    as_json: bool,
) -> int:
    """Run an IMAGE on a virtual board and report what goes wrong in it, worst first.

    Finds faults, deadlocks, priority inversions, starvation, missed periods, interrupts that are lost, late or masked
    for long, full queues, handlers that run twice, and stacks that are nearly full. Each finding has its time, its
    place (function and line) and its cause. Also shows the load of each task and handler. The image is not changed.

    Limits are in [diagnose] of rtoslab.toml, in this folder or above it. Without IMAGE, runs all images of that file.
    Exit code 3 if a finding exceeds the limits. Notes do not count.
    """
    catalogue = Catalogue(find_checkout_root())
    folder = nearest_project_folder()
    project = read_project(folder, to_measure=False) if folder is not None else None
    if image is None:
        if project is None or folder is None:
            raise PlanError(
                "There is no image to diagnose; name one, or run the command in the folder of "
                f"{PROJECT_FILE} or below it."
            )
        if options_given_on_command_line(context, *_STRETCH):
            raise PlanError(
                f"The images of {PROJECT_FILE} are run as that file says; change the file, or name an "
                "image with your options."
            )
        subjects = _build_project_images(catalogue, project, folder)
    else:
        if not is_file_or_pipe(image):
            raise ImageFileError(f"There is no image {printable_path(image)}; check the path, or build it.")
        devices = parse_devices(attached)
        subject = find_observed_image(
            catalogue, str(image), kernel=kernel, board=board, cores=cores, window_ms=length_ms, devices=devices
        )
        subjects = iter([(image.name, subject)])
    results: dict[str, FirmwareDiagnosis] = {
        name: diagnose_problems_of_image(subject, _project_limits_for_diagnosis(project)) for name, subject in subjects
    }
    if page is not None:
        write_file_atomically(page, diagnosis_page(results), "the page")
    if not as_json:
        for result in results.values():
            _print_diagnosis(result)
    else:
        answers = {name: diagnosis_as_json(result) for name, result in results.items()}
        print_json_answer(answers[image.name] if image is not None else {"images": answers})
    return EXIT_POINT_FAILED if any(result.failing_findings for result in results.values()) else EXIT_OK


def _project_limits_for_diagnosis(project: Project | None) -> Limits:
    """Returns the limits that the project sets for `rtoslab diagnose`, or the defaults. None: there is no project."""
    return (project.diagnose if project is not None else None) or Limits()


def _build_project_images(catalogue: Catalogue, project: Project, folder: Path) -> Iterator[tuple[str, ObservedImage]]:
    """Builds every image of a project. Yields the name of each, and the run of it that is to be observed."""
    for name, image in project.image.items():
        build_project_image(name, image, folder)
        yield name, project_image_run_to_observe(catalogue, image, folder)


def _print_diagnosis(result: FirmwareDiagnosis) -> None:
    """Prints a diagnosis: its heading, every finding, and the notes at its end."""
    for line in diagnosis_heading_lines(result):
        click.echo(line)
    for number, finding in enumerate(result.findings, 1):
        click.echo()
        for line in diagnosis_finding_text_lines(number, finding, result.clock_hz):
            click.echo(line)
    click.echo()
    PlainConsole().print(table_for_terminal(cpu_load_and_stack_peak_table(result)))
    for line in diagnosis_closing_lines(result):
        click.echo(line)
    click.echo()
