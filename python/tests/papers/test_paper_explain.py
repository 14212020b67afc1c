"""What would bring a paper's figures closer: the candidates, their order, and the best of them together."""

import functools
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.base import EXIT_POINT_FAILED
from rtoslab.base.errors import PlanError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue import PaperFirmwareConfiguration
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import PaperFolder, read_papers
from rtoslab.catalogue.suites import Experiment, MeasurementSuite
from rtoslab.cli import explain_changes
from rtoslab.cli.explain_changes import best_setting_change_sentence, explain_distance_from_paper
from rtoslab.measure import MeasurementPointOutcome
from rtoslab.measure.identity import identity_of_point
from rtoslab.papers.experiment import plan_paper_experiments
from rtoslab.papers.explain import (
    ConfigurationChangeTrial,
    alternative_configurations_of_paper,
    combine_best_changes,
    evaluate_configuration_changes,
    paper_deviation_without_setting_change,
    plan_paper_points_with_setup_changes,
    single_change_setups,
)
from rtoslab.papers.setups import original_point_of_paper_setup_point
from rtoslab.plan import PlanOptions
from rtoslab.results.results import FailedMeasurement, MeasuredPoint
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.cli.test_cli import command_error, rtoslab
from tests.fakes import measured_point
from tests.papers.test_papers import folder, published_row

CATALOGUE = Catalogue(find_checkout_root())
OPTIONS = PlanOptions()


def paper_of(tmp_path: Path, value: str) -> PaperFolder:
    """T2 with FreeRTOS on one core of the Pico, for which the paper prints one rate."""
    row = published_row(1, lab_benchmark="t2_cooperative", lab_kernel="freertos", lab_board="pico", value=value)
    base = folder(tmp_path, [row])
    experiment = Experiment(benchmarks=("t2_cooperative",), kernels=("freertos",), boards=("pico",), cores=(1,))
    return PaperFolder(
        base.key, base.folder, base.facts, (MeasurementSuite(id="x", title="X", paper="X", experiment=(experiment,)),)
    )


@functools.cache
def candidates_of() -> tuple[PaperFirmwareConfiguration, ...]:
    """Those of every `paper_of`: what it prints is no part of them. CMake is asked what the kernel has."""
    with tempfile.TemporaryDirectory() as empty:
        return tuple(single_change_setups(CATALOGUE, paper_of(Path(empty), "1")))


def points_of(paper: PaperFolder, rates: dict[str, int]) -> list[StoredMeasurementPoint]:
    """Every planned point, counting 1,000 a second or what `rates` say of one of its options."""
    plan = plan_paper_points_with_setup_changes(CATALOGUE, paper, candidates_of(), OPTIONS)
    results = []
    for number, item in enumerate(plan.points):
        identity = identity_of_point(CATALOGUE, item)
        output = [f"{key}={value}" for key, value in identity.config.items()]
        rate = next((rates[option] for option in output if option in rates), 1000)
        result: MeasuredPoint = measured_point(1, rate // 4).model_copy(
            update={"run_id": f"{number:016x}", "point": identity}
        )
        results.append(StoredMeasurementPoint(Path("x"), result, {}))
    return results


def test_closest_change_is_first(tmp_path: Path) -> None:
    paper = paper_of(tmp_path, "2000")
    points = points_of(paper, {"opt=-O0": 500, "opt=-Os": 1600, "configBENCH_ASSERT=1": 1200})
    assert paper_deviation_without_setting_change(CATALOGUE, paper, points, OPTIONS) == pytest.approx(2)
    single = evaluate_configuration_changes(CATALOGUE, paper, candidates_of(), points, OPTIONS)
    assert [item.setup.title for item in single[:2]] == ["opt=-Os", "configBENCH_ASSERT=1"]
    assert (single[0].distance_before, single[0].distance_after, single[0].overall_distance) == pytest.approx(
        (2, 1.25, 1.25)
    )
    assert single[-1].setup.title == "opt=-O0"
    assert single[-1].overall_distance == pytest.approx(4)
    assert all(item.changed_figures == 1 for item in single)
    (both,) = combine_best_changes(2.0, single)
    assert both.title == "opt=-Os, configBENCH_ASSERT=1"
    assert both.config == {"opt": "-Os", "configBENCH_ASSERT": "1"}


def test_set_ups_of_the_paper_are_tried_unchanged(tmp_path: Path) -> None:
    """An option alone may come no closer, and with the rest of its set-up closest."""
    paper = paper_of(tmp_path, "2000")
    axes = {"evidence": "", "boards": ("pico",)}
    here = PaperFirmwareConfiguration(
        id="a", title="A", kernel={"freertos": {"opt": "-Os", "configBENCH_ASSERT": "1"}}, **axes
    )
    facts = paper.facts.model_copy(update={"setup": (here,)})
    paper = PaperFolder(paper.key, paper.folder, facts, paper.suites)
    own = alternative_configurations_of_paper(paper)
    assert own == [here]
    points = []
    for number, item in enumerate(plan_paper_points_with_setup_changes(CATALOGUE, paper, own, OPTIONS).points):
        identity = identity_of_point(CATALOGUE, item)
        update = {"run_id": f"{number:016x}", "point": identity}
        points.append(
            StoredMeasurementPoint(
                Path("x"), measured_point(1, 475 if identity.config else 250).model_copy(update=update), {}
            )
        )
    assert len(points) == 2
    (result,) = evaluate_configuration_changes(CATALOGUE, paper, own, points, OPTIONS)
    assert result.setup.title == "A"
    assert (result.distance_before, result.distance_after) == pytest.approx((2, 1.0526), abs=1e-3)
    single = replace(result, setup=result.setup.model_copy(update={"title": "opt=-Os"}), overall_distance=1.4)
    assert best_setting_change_sentence(2.0, [single], [result]) == (
        "opt=-Os alone reduces the distance most, from 2.000 to 1.400. With A, it is 1.053."
    )
    no_single = "No single change reduces the distance, which is {}."
    assert best_setting_change_sentence(1.0, [single], [result]) == no_single.format("1.000")
    assert best_setting_change_sentence(1.3, [single], [result]) == no_single.format("1.300") + " With A, it is 1.053."


def test_point_that_failed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its change's row has fewer figures: the reader learns why."""
    paper = paper_of(tmp_path, "2000")
    points = points_of(paper, {"opt=-Os": 1600})
    lost = next(point.result.point for point in points if point.result.point.config.get("opt") == "-O0")
    failed = FailedMeasurement(
        run_id="0" * 16, point=lost, stage="proof", error="ProofError", message="It did not work."
    )
    monkeypatch.setattr(
        explain_changes,
        "measure_points_of_plan",
        lambda *_, **__: [MeasurementPointOutcome(failed, tmp_path, fresh=True)],
    )
    monkeypatch.setattr(explain_changes, "load", lambda _: [point for point in points if point.result.point != lost])
    request = {"full": False, "dry_run": False}
    assert explain_distance_from_paper(CATALOGUE, paper, tmp_path, 1, as_json=False, **request) == EXIT_POINT_FAILED
    (line,) = [item for item in capsys.readouterr().out.splitlines() if item.startswith("failed: ")]
    assert line == "failed: t2_cooperative freertos pico 1 core opt=-O0 (proof): It did not work."
    monkeypatch.setattr(
        explain_changes, "single_change_setups", lambda *_: candidates_of()
    )  # it found them once by itself
    assert explain_distance_from_paper(CATALOGUE, paper, tmp_path, 1, as_json=True, **request) == EXIT_POINT_FAILED
    (output,) = json.loads(capsys.readouterr().out)["failed"]
    assert output == {
        "point": "t2_cooperative freertos pico 1 core opt=-O0",
        "stage": "proof",
        "message": "It did not work.",
    }


def test_only_helpful_changes_are_combined(tmp_path: Path) -> None:
    paper = paper_of(tmp_path, "1000")
    single = evaluate_configuration_changes(
        CATALOGUE, paper, candidates_of(), points_of(paper, {"opt=-O0": 500}), OPTIONS
    )
    assert combine_best_changes(1.0, single) == []
    assert isinstance(single[0], ConfigurationChangeTrial)


@pytest.mark.parametrize("key", ["eren2024", "lentka2022", "miranda2021"])
def test_every_candidate_changes_points_of_the_suites(key: str) -> None:
    paper = read_papers(CATALOGUE)[key]
    result = single_change_setups(CATALOGUE, paper)
    assert len({setup.title for setup in result}) == len(result) > 10
    plan = plan_paper_points_with_setup_changes(CATALOGUE, paper, result, OPTIONS)
    assert len({repr(point) for point in plan.points}) == len(plan.points)
    suites = {
        identity_of_point(CATALOGUE, point).model_dump_json()
        for point in plan_paper_experiments(CATALOGUE, paper, OPTIONS, ()).points
    }
    changing = 0
    for setup in result:
        facts = paper.facts.model_copy(update={"setup": (setup,)})
        single = PaperFolder(paper.key, paper.folder, facts, paper.suites)
        own = [
            identity_of_point(CATALOGUE, point) for point in plan_paper_experiments(CATALOGUE, single, OPTIONS).points
        ]
        added = [result for result in own if result.model_dump_json() not in suites]
        assert all(original_point_of_paper_setup_point(single, setup, result) is not None for result in added), (
            setup.title
        )
        position = [
            meant for result in own if (meant := original_point_of_paper_setup_point(single, setup, result)) is not None
        ]
        assert {stand.model_dump_json() for stand in position} <= suites, setup.title
        changing += bool(position)
    assert changing > 5


def test_paper_without_comparable_figures_is_reported() -> None:
    paper = read_papers(CATALOGUE)["vieira2026"]
    with pytest.raises(PlanError, match="vieira2026 has no figure that can be compared with one of ours"):
        plan_paper_points_with_setup_changes(CATALOGUE, paper, single_change_setups(CATALOGUE, paper), OPTIONS)
    assert "leave --setup and --placements out" in command_error(
        rtoslab("paper", "lentka2022", "--explain", "--setup", "none"), 1
    )
