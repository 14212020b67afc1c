"""`rtoslab kernel conformance --image`: the suite as its user built it is judged as if it had been built here."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab import api
from rtoslab.base.errors import EXIT_POINT_FAILED, BuildError, PlanError, SettingError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.contract_services import offered_optional_services
from rtoslab.cli import app, kernel_conformance
from rtoslab.conformance.examination import ConformanceVerdict, check_image_conformance, check_whole_port_conformance
from rtoslab.conformance.judge import CheckOutcome
from rtoslab.conformance.play import conformance_test_name_hash
from rtoslab.images.builder import build_measurement_point_image
from rtoslab.images.image_inputs import optional_services_param
from rtoslab.measure.own_image import measure_user_elf_image
from rtoslab.plan.plan import PlannedPoint, PlanOptions, points_of_conformance_suite
from rtoslab.targets.external_image import read_external_image
from tests.checkouts import replace_text
from tests.cli.test_cli import command_error, rtoslab

ROOT = find_checkout_root()
PORT = "kernels/freertos/port.h"


def suite(path: Path, root: Path = ROOT, kernel: str = "freertos", cores: int = 1, left_out: str = "") -> Path:
    """The suite's image with all optional services, built and put elsewhere."""
    catalogue = Catalogue(root)
    (point,) = points_of_conformance_suite(catalogue, PlanOptions([kernel], ["pico"], [cores]))
    params = optional_services_param(offered_optional_services(catalogue.find_kernel(kernel).facts))
    params |= {"leave_out_0": str(conformance_test_name_hash(left_out))} if left_out else {}
    path.write_bytes(build_measurement_point_image(catalogue, replace(point, params=params)).elf_path.read_bytes())
    return path


def examine(path: Path) -> ConformanceVerdict:
    catalogue = Catalogue(ROOT)
    return check_image_conformance(catalogue, read_external_image(catalogue, path, "pico", {}), {})


def outcomes(verdict: ConformanceVerdict, outcome: CheckOutcome) -> set[str]:
    return {finding.check for finding in verdict.findings if finding.outcome is outcome}


@pytest.mark.parametrize("cores", [1, 2])
def test_external_image_gets_the_same_verdict(cores: int, tmp_path: Path) -> None:
    verdict = examine(suite(tmp_path / "own.elf", cores=cores))
    catalogue = Catalogue(ROOT)
    (point,) = points_of_conformance_suite(catalogue, PlanOptions(["freertos"], ["pico"], [cores]))
    whole = check_whole_port_conformance(catalogue, point)

    def found(verdict: ConformanceVerdict) -> list[tuple[str, int | None, CheckOutcome]]:
        return [(finding.check, finding.core, finding.outcome) for finding in verdict.findings]

    assert found(verdict) == found(whole)
    assert verdict.is_kernel_port_conformant
    assert verdict.digest != whole.digest


def test_unknown_kernel_is_checked_completely(tmp_path: Path) -> None:
    """What its image does not play, bare's for want of tasks, is unseen and no failure."""
    path = suite(tmp_path / "own.elf", kernel="bare")
    content = path.read_bytes()
    assert content.count(b"\0bare\0") == 1
    path.write_bytes(content.replace(b"\0bare\0", b"\0mine\0"))
    verdict = examine(path)
    assert verdict.kernel == "mine"
    assert verdict.is_kernel_port_conformant, verdict.failure
    assert {"tick_rate", "semaphore_counts", "critical_masks"} <= outcomes(verdict, CheckOutcome.HOLDS)
    assert {"yield_order", "priority_order"} <= outcomes(verdict, CheckOutcome.UNSEEN)


def test_missing_scene_is_not_observed(tmp_path: Path) -> None:
    verdict = examine(suite(tmp_path / "own.elf", left_out="yield_order"))
    assert outcomes(verdict, CheckOutcome.UNSEEN) == {"yield_order"}
    (finding,) = (check_finding for check_finding in verdict.findings if check_finding.outcome is CheckOutcome.UNSEEN)
    assert "does not play" in finding.saw


def test_broken_port_in_an_external_image_fails(checkout: Path, tmp_path: Path) -> None:
    replace_text(checkout, PORT, "    portYIELD_FROM_ISR(woken);\n", "    (void)woken;\n")
    path = suite(tmp_path / "own.elf", checkout)
    assert {"isr_preempts"} <= outcomes(examine(path), CheckOutcome.FAILS)
    done = rtoslab("kernel", "conformance", "--image", path, "--json")
    assert done.returncode == 3, done.stderr
    assert not json.loads(done.stdout)[0]["holds"]


def test_stuck_scene_hides_only_later_scenes(checkout: Path, tmp_path: Path) -> None:
    replace_text(
        checkout,
        PORT,
        "    (void)xTaskDelayUntil(tick, ticks);\n",
        "    for (;;) {\n        (void)tick, (void)ticks;\n    }\n",
    )
    verdict = examine(suite(tmp_path / "own.elf", checkout))
    assert outcomes(verdict, CheckOutcome.FAILS) == {"sleep_until"}
    assert verdict.failure is not None
    assert not verdict.is_kernel_port_conformant
    assert outcomes(verdict, CheckOutcome.HOLDS)
    unseen = [finding.saw for finding in verdict.findings if finding.outcome is CheckOutcome.UNSEEN]
    assert set(unseen) == {"the suite ended before"}


def test_image_without_the_suite_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t7.elf"
    path.write_bytes(api.build_image("t7", kernel="freertos", board="pico").read_bytes())
    with pytest.raises(SettingError, match="contains the benchmark t7_synchronisation, not the conformance suite"):
        examine(path)
    with pytest.raises(PlanError, match="is the conformance suite; run it with `rtoslab kernel conformance --image`"):
        measure_user_elf_image(ROOT, suite(tmp_path / "suite.elf"), "pico", tmp_path / "run", {})
    assert "The image contains" in command_error(rtoslab("kernel", "conformance", "--image", path, "--cores", "2"), 1)
    assert "only timing.KEY can be set" in command_error(
        rtoslab("kernel", "conformance", "--image", path, "--config", "opt=-O3"), 1
    )


def test_suite_that_cannot_be_built_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A port that is being written fits one board before another."""

    def on_one(catalogue: Catalogue, point: PlannedPoint) -> ConformanceVerdict:
        if point.board == "nucleo-f103rb":
            raise BuildError("Building it failed.")
        return check_whole_port_conformance(catalogue, point)

    monkeypatch.setattr(kernel_conformance, "check_whole_port_conformance", on_one)
    request = ["kernel", "conformance", "--kernel", "bare", "--board", "nucleo-f103rb,pico"]
    assert app.main(request, standalone_mode=False) == EXIT_POINT_FAILED
    output = capsys.readouterr().out
    assert "Building it failed." in output
    assert "bare on pico, 1 core: " in output
    with pytest.raises(BuildError):
        app.main([*request[:-1], "nucleo-f103rb"], standalone_mode=False)
