"""`rtoslab kernel reference confirm` compares the images of two revisions, and refuses what it cannot compare."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rtoslab.base import BuildError, PlanError, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli import reference_confirm
from rtoslab.images import compile_image_into
from rtoslab.plan import PlannedPoint, PlanOptions, make_measurement_plan
from rtoslab.records import ExpectedImageIdentity
from tests.cli.test_cli import command_error, rtoslab

CATALOGUE = Catalogue(find_checkout_root())
IDENTITY = ExpectedImageIdentity("0" * 16, 0)
CHANGED = ["firmware/core/run.c", "firmware/kernels/bare/config/README.in", "firmware/kernels/bare/port.c"]


def image_points() -> list[PlannedPoint]:
    return list(
        make_measurement_plan(
            CATALOGUE, ["t1_arithmetic", "t4_interrupt"], PlanOptions(kernels=["bare"], boards=["pico"])
        ).points
    )


def test_points_with_another_image_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [point for point in image_points() if point.not_applicable is None]
    assert points
    other = Catalogue(find_checkout_root())
    differing, compiled = reference_confirm._differing_images(other, CATALOGUE, points)
    assert differing == []
    assert "firmware/cmake/Generate.cmake" in compiled
    assert "firmware/kernels/bare/port.c" in compiled
    assert "firmware/kernels/freertos/port.c" not in compiled

    def compile_another(
        catalogue: Catalogue, point: PlannedPoint, expected: ExpectedImageIdentity, folder: Path
    ) -> tuple[Path, frozenset[str]]:
        identity = ExpectedImageIdentity("1" * 16, 1) if catalogue is other else expected
        return compile_image_into(catalogue, point, identity, folder)

    monkeypatch.setattr(reference_confirm, "compile_image_into", compile_another)
    assert reference_confirm._differing_images(other, CATALOGUE, points)[0] == [point.label for point in points]

    def fail_to_build(*_: object) -> Path:
        raise BuildError("no compiler")

    monkeypatch.setattr(reference_confirm, "compile_image_into", fail_to_build)
    failed, _ = reference_confirm._differing_images(other, CATALOGUE, points)
    assert failed == [f"{point.label}: no compiler" for point in points]


def test_unknown_revision_and_part_of_the_images_are_refused() -> None:
    assert "git has no files of the revision `no-such-commit`" in command_error(
        rtoslab("kernel", "reference", "confirm", "no-such-commit"), 1
    )
    assert "--store needs every image" in command_error(
        rtoslab("kernel", "reference", "confirm", "HEAD", "--every", "2", "--store"), 1
    )


@contextmanager
def this_checkout(root: Path, revision: str) -> Iterator[Path]:
    assert revision == "HEAD~1"
    yield root


def confirm_stores(monkeypatch: pytest.MonkeyPatch, points: list[PlannedPoint], kernels: tuple[str, ...]) -> list[str]:
    """The names of the changed files that `confirm --store` stores, if no image differs and every file was compiled."""
    stored: list[str] = []

    def store_names(root: Path, old_root: Path, names: Iterable[str]) -> None:
        assert (root, old_root) == (CATALOGUE.root, CATALOGUE.root)
        stored.extend(names)

    monkeypatch.setattr(reference_confirm, "_checkout_of_revision", this_checkout)
    monkeypatch.setattr(reference_confirm, "changed_firmware_files", lambda *_: CHANGED)
    monkeypatch.setattr(reference_confirm, "_measurement_points_for_image_builds", lambda _: points)
    monkeypatch.setattr(
        reference_confirm, "_differing_images", lambda *_: ([], {name for name in CHANGED if name.endswith(".c")})
    )
    monkeypatch.setattr(reference_confirm, "store_equivalent_code_digests", store_names)
    assert reference_confirm.confirm_command.callback is not None
    reference_confirm.confirm_command.callback("HEAD~1", 1, kernels, store=True)
    return stored


def test_stored_files_of_named_kernels_are_in_their_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    assert confirm_stores(monkeypatch, image_points(), ()) == CHANGED
    assert confirm_stores(monkeypatch, image_points(), ("bare",)) == CHANGED[1:]


def test_without_an_image_to_compare_nothing_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PlanError, match="no image of freertos to compare"):
        confirm_stores(monkeypatch, image_points(), ("freertos",))
    with pytest.raises(PlanError, match="no image to compare"):
        confirm_stores(monkeypatch, [], ())
