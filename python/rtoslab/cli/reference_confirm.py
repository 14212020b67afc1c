"""`rtoslab kernel reference confirm`: shows that a change of the firmware's files changes no image.

A figure depends on the image, but the record of every image names shared files such as `cmake/Generate.cmake`. So a
change of such a file for one benchmark makes all results look old, although their images stay the same bytes."""

import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from rtoslab.base import (
    EXIT_OK,
    EXIT_POINT_FAILED,
    BuildError,
    PlanError,
    build_folder,
    count_with_noun,
    find_checkout_root,
    tools,
)
from rtoslab.catalogue import Catalogue, read_papers
from rtoslab.choose import boards_to_compare, kernels_to_compare, measurements_to_compare, read_kernel_matrices
from rtoslab.cli.names import CatalogueNamesParam, split_names
from rtoslab.images import compile_image_into, do_images_differ
from rtoslab.papers import add_required_code_placements, plan_paper_experiments
from rtoslab.plan import PlannedPoint, PlanOptions
from rtoslab.records import ExpectedImageIdentity
from rtoslab.reference import changed_firmware_files, read_reference_files, store_equivalent_code_digests

_SAME_IDENTITY: Final = ExpectedImageIdentity("0" * 16, 0)
"""The identity in both images of a point, which is otherwise a digest of the source files."""
_PLACEMENTS: Final = 2
"""The linker's own order, and one other: any other is made by the same rules."""
_SHOWN: Final = 5
"""The number of differing images that are listed."""
_GIT_LIMIT_S: Final = 60.0
"""The time that git may take."""
_READ_ME: Final = "README.in"
"""The name of a text for users of a kernel's own build, which is in no image."""
_PROGRESS_STEP: Final = 100
"""Images between two lines of progress."""


@click.command("confirm", short_help="Check that a change of the firmware changes no image.")
@click.argument("revision")
@click.option("--every", type=click.IntRange(1), default=1, show_default=True, help="Build only every N-th image.")
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    type=CatalogueNamesParam("kernels"),
    help="Build only images of these kernels: one or a,b. --store then accepts only changes in their folders.  "
    "[default: all]",
)
@click.option(
    "--store",
    is_flag=True,
    help="If no image differs, keep the reference results valid: store in reference/ that the changes have no effect.",
)
def confirm_command(revision: str, every: int, kernels: tuple[str, ...], *, store: bool) -> int:
    """Build the images of all reference results from the firmware of REVISION and from today's, and compare their
    code and data.

    REVISION is a commit of this checkout, for example HEAD~3. If no image differs, --store keeps the reference results
    valid although files changed, also for kernels whose sources are not available here. It accepts only changed files
    that were compiled into a compared image. Exit code 3 if an image differs.
    """
    if store and every > 1:
        raise PlanError("--store needs every image, so it cannot be used together with --every.")
    catalogue = Catalogue(find_checkout_root())
    with _checkout_of_revision(catalogue.root, revision) as old_root:
        changed = changed_firmware_files(old_root, catalogue.root)
        if not changed:
            click.echo(f"No code of the firmware has changed since {revision}.")
            return EXIT_OK
        click.echo(f"changed since {revision}: {', '.join(changed)}")
        chosen = split_names(kernels, catalogue.kernels) or ()
        points = [
            point for point in _measurement_points_for_image_builds(catalogue) if not chosen or point.kernel in chosen
        ][::every]
        if not points:
            named = f" of {', '.join(chosen)}" if chosen else ""
            raise PlanError(
                f"There is no image{named} to compare: `rtoslab kernel reference list` shows which kernels have "
                "results, and `rtoslab kernel tree add` adds a kernel's sources."
            )
        missing = sorted(_kernels_with_reference_results(catalogue.root) - catalogue.buildable_kernels.keys())
        if missing:
            click.echo(f"not compared, because their sources were not added: {', '.join(missing)}")
        differing, compiled = _differing_images(Catalogue(old_root), catalogue, points)
        for label in differing[:_SHOWN]:
            click.echo(f"differs: {label}")
        click.echo(f"{count_with_noun(len(points), 'image')} compared, {len(differing)} differ.")
        if differing:
            return EXIT_POINT_FAILED
        if uncompared := sorted(set(changed) - compiled):
            click.echo(f"changed, but part of no compared image: {', '.join(uncompared)}")
        if store:
            folders = tuple(f"{catalogue.find_kernel(name).folder.relative_to(catalogue.root)}/" for name in chosen)
            equal = {name for name in changed if name in compiled or Path(name).name == _READ_ME}
            store_equivalent_code_digests(
                catalogue.root, old_root, sorted(name for name in equal if not chosen or name.startswith(folders))
            )
    return EXIT_OK


@contextmanager
def _checkout_of_revision(root: Path, revision: str) -> Iterator[Path]:
    """Yields a temporary folder with all files of a revision of this checkout. Raises PlanError."""
    with tempfile.TemporaryDirectory(prefix="rtoslab-revision-") as name:
        packed = Path(name, "revision.tar")
        command: list[str | Path] = ["git", "-C", root, "archive", "--format=tar", "-o", packed, revision]
        reply = tools.program_output(command, limit_s=_GIT_LIMIT_S)
        try:
            with tarfile.open(packed) as archive:
                archive.extractall(Path(name, "checkout"), filter="data")
        except (OSError, tarfile.TarError):
            reason = reply.strip() or "git is not installed, or did not answer"
            raise PlanError(f"git has no files of the revision `{revision}` ({reason}); name a commit.") from None
        yield Path(name, "checkout")


def _kernels_with_reference_results(root: Path) -> set[str]:
    """Returns the names of all kernels that have reference results."""
    return {item.kernel for item in read_reference_files(root)} | {item.kernel for item in read_kernel_matrices(root)}


def _measurement_points_for_image_builds(catalogue: Catalogue) -> list[PlannedPoint]:
    """Returns a point for each image that the reference results need and that can be built here: in the linker's own
    order, and in one other placement if the placement may matter."""
    boards = boards_to_compare(catalogue.root)
    points = [
        point
        for kernel in kernels_to_compare(catalogue)
        for row in measurements_to_compare(catalogue, kernel, boards, _PLACEMENTS)
        for point in row.points
    ]
    for paper in read_papers(catalogue).values():
        plan = plan_paper_experiments(catalogue, paper, PlanOptions())
        points += add_required_code_placements(catalogue, paper, plan, _PLACEMENTS).points
    images: dict[str, PlannedPoint] = {}
    for point in points:
        if point.not_applicable is None and point.kernel in catalogue.buildable_kernels:
            same_image = replace(point, timing={})
            images.setdefault(repr(same_image), same_image)
    return list(images.values())


def _differing_images(old: Catalogue, new: Catalogue, points: Sequence[PlannedPoint]) -> tuple[list[str], set[str]]:
    """Returns the labels of the points whose images differ between two checkouts, or cannot be built in one of them.
    Also returns the names of the source files of all compared images."""
    parent = build_folder(new.root)
    parent.mkdir(parents=True, exist_ok=True)
    differing: list[str] = []
    compiled: set[str] = set()
    for number, point in enumerate(points):
        if number % _PROGRESS_STEP == 0:
            click.echo(f"{number} of {count_with_noun(len(points), 'image')}", err=True)
        with (
            tempfile.TemporaryDirectory(prefix=".confirm-", dir=parent) as before,
            tempfile.TemporaryDirectory(prefix=".confirm-", dir=parent) as after,
        ):
            try:
                old_image, old_sources = compile_image_into(old, point, _SAME_IDENTITY, Path(before))
                new_image, new_sources = compile_image_into(new, point, _SAME_IDENTITY, Path(after))
                compiled |= old_sources | new_sources
                if do_images_differ(old_image, new_image):
                    differing.append(point.label)
            except BuildError as cause:
                differing.append(f"{point.label}: {cause}")
    return differing, compiled
