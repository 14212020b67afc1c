"""The compiler as a dimension: Clang where it is installed, n/a with the reason where not; LTO of the kernel."""

import tomllib
from pathlib import Path

import pytest

from rtoslab import api
from rtoslab.base.errors import UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.base.tools import clang_version_line, find_zig_with_clang
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.images.image_inputs import cmake_options
from rtoslab.measure.identity import identity_of_point
from rtoslab.plan import obstacles
from rtoslab.plan.plan import PlannedPoint, PlanOptions, make_measurement_plan
from rtoslab.records.decoder import ExpectedImageIdentity
from rtoslab.results.results import MeasuredPoint

CATALOGUE = Catalogue(find_checkout_root())


def planned_point(kernel: str, **config: str) -> PlannedPoint:
    (point,) = make_measurement_plan(
        CATALOGUE, ["t7"], PlanOptions((kernel,), ("nucleo-f446re",), (1,), 20, config)
    ).points
    return point


def test_without_clang_its_points_are_not_applicable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obstacles, "find_zig_with_clang", lambda: None)
    reason = planned_point("freertos", compiler="clang").not_applicable
    assert reason is not None
    project = tomllib.loads((find_checkout_root() / "pyproject.toml").read_text())["project"]
    (package,) = project["optional-dependencies"]["clang"]
    assert f"`pip install {package}`" in reason
    assert planned_point("freertos").not_applicable is None
    assert planned_point("freertos", lto="1").not_applicable is None


def test_point_impossible_with_clang_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obstacles, "find_zig_with_clang", lambda: Path("zig"))
    assert planned_point("freertos", compiler="clang").not_applicable is None
    assert "assembler" in str(planned_point("rt", compiler="clang").not_applicable)
    assert "linker" in str(planned_point("freertos", compiler="clang", lto="1").not_applicable)
    with pytest.raises(UnknownNameError, match="did you mean 'clang'"):
        planned_point("freertos", compiler="clangg")


def test_only_other_compilers_are_named_in_a_point() -> None:
    usual, other = planned_point("freertos"), planned_point("freertos", compiler="gcc", lto="1")
    assert identity_of_point(CATALOGUE, usual).config == {}
    assert identity_of_point(CATALOGUE, other).config == {"lto": "1"}
    options = [set(cmake_options(point, ExpectedImageIdentity("", 0))) for point in (usual, other)]
    assert options[1] - options[0] == {"-DLTO=1"}


@pytest.mark.long
def test_lto_shortens_the_kernel_and_its_services_stay_calls(tmp_path: Path) -> None:
    rates = []
    for lto in ("0", "1"):
        config = {"lto": lto}
        (outcome,) = api.run(
            "t7", kernels=["freertos"], boards=["nucleo-f446re"], window_ms=20, out=tmp_path / lto, config=config
        )
        assert isinstance(outcome.result, MeasuredPoint), "its proof counts the calls"
        rates.append(outcome.result.counters[0].count)
    assert rates[1] > rates[0]


@pytest.mark.long
@pytest.mark.skipif(find_zig_with_clang() is None, reason="Clang is not installed (the extra clang)")
def test_clang_builds_what_conforms_and_proves_itself(tmp_path: Path) -> None:
    (outcome,) = api.run(
        "t7", kernels=["freertos"], boards=["nucleo-f446re"], window_ms=20, out=tmp_path, config={"compiler": "clang"}
    )
    assert isinstance(outcome.result, MeasuredPoint)
    stored = api.load(tmp_path)[0].manifest["build"]
    assert isinstance(stored, dict)
    assert stored["compiler"]["banner"] == clang_version_line()
    assert stored["compiler"]["id"] == "Clang"
