"""`rtoslab kernel reference confirm` compares the images of two revisions, and refuses what it cannot compare."""

from pathlib import Path

import pytest

from rtoslab.base import BuildError, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli import reference_confirm
from rtoslab.images import compile_image_into
from rtoslab.plan import PlannedPoint, PlanOptions, make_measurement_plan
from rtoslab.records import ExpectedImageIdentity
from tests.cli.test_cli import command_error, rtoslab

CATALOGUE = Catalogue(find_checkout_root())
IDENTITY = ExpectedImageIdentity("0" * 16, 0)


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
