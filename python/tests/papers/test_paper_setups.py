"""Set-ups of a paper: what is planned for them, which point of a run is of which, and what the report says of them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rtoslab.base.errors import UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import PaperFolder, read_papers
from rtoslab.catalogue.paper_schemas import KernelVersion, PaperFirmwareConfiguration
from rtoslab.catalogue.suites import Experiment, MeasurementSuite
from rtoslab.measure.identity import identity_of_point
from rtoslab.papers.experiment import plan_paper_experiments
from rtoslab.papers.reproduction import reproduce_paper
from rtoslab.papers.setup_report import (
    count_values_with_ratio_to_paper,
    mean_deviation_factor_from_paper,
    paper_configurations_report_section,
    verdict_changes_caused_by_setup,
)
from rtoslab.papers.setups import original_point_of_paper_setup_point
from rtoslab.plan import PlanOptions
from rtoslab.reference import StoredProgramSize
from rtoslab.results.results import BuildOnlyProgramSize, ImageBytes, NotApplicableMeasurement, PointId
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.fakes import measured_point
from tests.papers.test_papers import LOSES, folder, published_row

CATALOGUE = Catalogue(find_checkout_root())
PAPERS = read_papers(CATALOGUE)


def _setup(**facts: Any) -> PaperFirmwareConfiguration:
    return PaperFirmwareConfiguration.model_validate({"id": "s", "title": "S", "evidence": "a guess", **facts})


def _paper(base: PaperFolder, setup: PaperFirmwareConfiguration, config: Mapping[str, str]) -> PaperFolder:
    """The paper with one set-up and one experiment: t2 with two kernels on board b."""
    experiment = Experiment(benchmarks=("t2",), kernels=("k", "freertos"), boards=("b",), config=dict(config))
    suite = MeasurementSuite(id="x", title="X", paper="X", experiment=(experiment,))
    facts = base.facts.model_copy(update={"setup": (setup,)})
    return PaperFolder(base.key, base.folder, facts, (suite,))


def _point(kernel: str = "k", **config: str) -> PointId:
    return PointId(benchmark="t2", title="T2", kernel=kernel, board="b", cores=1, window_ms=250, config=config)


@pytest.mark.parametrize(
    ("facts", "base", "given", "stands"),
    [
        ({"config": {"opt": "-Os"}}, {}, _point(opt="-Os"), _point()),
        ({"config": {"opt": "-Os"}}, {}, _point(), None),
        ({"config": {"opt": "-Os"}}, {}, _point(opt="-O0"), None),
        ({"config": {"opt": "-Os"}}, {"opt": "-O3"}, _point(opt="-Os", samples="9"), _point(opt="-O3", samples="9")),
        ({"config": {"opt": "-Os"}}, {"opt": "-Os"}, _point(opt="-Os"), None),
        ({"config": {"opt": "-O2"}}, {"opt": "-O3"}, _point(), _point(opt="-O3")),
        ({"config": {"opt": "-O2"}}, {"opt": "-O3"}, _point(opt="-O3"), None),
        ({"config": {"opt": "-O2"}}, {}, _point(), None),
        ({"config": {"opt": "-Os"}}, {"opt": "-O2"}, _point(opt="-Os"), _point()),
        ({"config": {"lto": "0"}}, {"lto": "1"}, _point(), _point(lto="1")),
        ({"kernel": {"k": {"opt": "-Os"}}}, {}, _point(opt="-Os"), _point()),
        ({"kernel": {"other": {"opt": "-Os"}}}, {}, _point(opt="-Os"), None),
        ({"config": {"opt": "-Os"}, "boards": ["b"], "benchmarks": ["t2"]}, {}, _point(opt="-Os"), _point()),
        ({"config": {"opt": "-Os"}, "boards": ["c"]}, {}, _point(opt="-Os"), None),
        ({"config": {"opt": "-Os"}, "benchmarks": ["t3"]}, {}, _point(opt="-Os"), None),
    ],
)
def test_point_of_a_setup_replaces_the_matching_point(
    facts: dict[str, Any], base: dict[str, str], given: PointId, stands: PointId | None
) -> None:
    setup = _setup(**facts)
    assert original_point_of_paper_setup_point(_paper(PAPERS["vieira2026"], setup, base), setup, given) == stands


@pytest.mark.parametrize("key", list(PAPERS))
def test_every_planned_point_is_of_the_suites_or_of_one_setup(key: str) -> None:
    """None is of two; each set-up of a kernel that is here plans what stands for a point of the suites."""
    paper = PAPERS[key]
    plain = plan_paper_experiments(CATALOGUE, paper, PlanOptions(), ()).points
    whole = plan_paper_experiments(CATALOGUE, paper, PlanOptions()).points
    assert whole[: len(plain)] == plain
    suites = [identity_of_point(CATALOGUE, item) for item in plain]
    assert not [
        point
        for point in suites
        for setup in paper.facts.setup
        if original_point_of_paper_setup_point(paper, setup, point)
    ]
    here = set(CATALOGUE.buildable_kernels)
    for setup in paper.facts.setup:
        if not setup.config and not here.intersection(setup.kernel):
            continue
        own = plan_paper_experiments(CATALOGUE, paper, PlanOptions(), [setup.id]).points[len(plain) :]
        position = [
            original_point_of_paper_setup_point(paper, setup, identity_of_point(CATALOGUE, item)) for item in own
        ]
        assert position, "the set-up changes nothing"
        assert all(stand in suites for stand in position), (
            setup.id,
            [stand for stand in position if stand not in suites],
        )


def test_unknown_setup_is_reported() -> None:
    with pytest.raises(UnknownNameError, match="There is no set-up named 'small'; known: not_pinned, own_defaults"):
        plan_paper_experiments(CATALOGUE, PAPERS["vieira2026"], PlanOptions(), ["small"])


def test_report_shows_what_a_setup_changes(tmp_path: Path) -> None:
    """1,000 a window on one core is 4,000 a second: the paper's 2,000 in the set-up, and T2 no longer loses."""
    claims = f'[[claim]]\nid = "c"\nsection = "2"\nsays = "K loses"\n{LOSES}'
    row = published_row(1, lab_kernel="freertos")
    paper = _paper(folder(tmp_path, [row], claims), _setup(config={"opt": "-Os"}), {})
    results = [
        measured_point(cores, count, kernel="freertos", config=config).model_copy(update={"run_id": f"{count}"})
        for cores, count, config in ((1, 1000, {}), (2, 300, {}), (1, 500, {"opt": "-Os"}), (2, 400, {"opt": "-Os"}))
    ]
    done = reproduce_paper(CATALOGUE, paper, [StoredMeasurementPoint(tmp_path, result, {}) for result in results])
    (setup,) = done.setups
    assert (done.compared[1].ratio_to_paper, setup.compared[1].ratio_to_paper) == (2, 1)
    assert (
        mean_deviation_factor_from_paper(done.compared),
        mean_deviation_factor_from_paper(setup.paper_values_changed_by_configuration()),
    ) == (2, 1)
    assert [
        (above.outcome_of_all_statement_cases, present.outcome_of_all_statement_cases)
        for above, present in verdict_changes_caused_by_setup(done, setup)
    ] == [("same", "different")]
    (section,) = paper_configurations_report_section(done)
    overview, figures, rates, statements = section.tables
    assert [row[1:] for row in rates.rows] == [
        ["freertos", "1", "4,000", "2,000; x 0.50"],
        ["freertos", "2", "2,400", "3,200; x 1.33"],
    ]
    assert overview.rows == [["s: S", "a guess", "1 of 1 with another result", "1", "2.00 \N{RIGHTWARDS ARROW} 1.00"]]
    assert [row[2:] for row in figures.rows] == [["2000", "4,000", "2.00", "2,000", "1.00"]]
    assert statements.rows[0][2:5] == ["same", "s", "different"]
    assert json.dumps(statements.rows)


def test_non_numeric_figure_has_no_distance(tmp_path: Path) -> None:
    """It is shown and not counted: the distance beside the count is not of it."""
    rows = [published_row(1, lab_kernel="freertos"), published_row(2, lab_kernel="freertos", value="1500 + 500")]
    paper = _paper(folder(tmp_path, rows), _setup(config={"opt": "-Os"}), {})
    results = [
        measured_point(1, count, kernel="freertos", config=config).model_copy(update={"run_id": f"{count}"})
        for count, config in ((1000, {}), (500, {"opt": "-Os"}))
    ]
    done = reproduce_paper(CATALOGUE, paper, [StoredMeasurementPoint(tmp_path, result, {}) for result in results])
    (setup,) = done.setups
    assert (
        len(setup.paper_values_changed_by_configuration()),
        count_values_with_ratio_to_paper(setup.paper_values_changed_by_configuration()),
    ) == (2, 1)
    overview = paper_configurations_report_section(done)[0].tables[0]
    assert overview.rows[0][3:] == ["1", "2.00 \N{RIGHTWARDS ARROW} 1.00"]


def _with_version(paper: PaperFolder, **facts: Any) -> PaperFolder:
    version = KernelVersion.model_validate({"kernel": "freertos", "printed": "9", "trees": ("freertos-9",), **facts})
    return replace(paper, facts=paper.facts.model_copy(update={"version": (version,)}))


def _counts(kernel: str, *counts: tuple[int, int], **config: str) -> list[StoredMeasurementPoint]:
    return [
        StoredMeasurementPoint(
            Path(),
            measured_point(cores, count, kernel=kernel, config=config).model_copy(
                update={"run_id": f"{kernel}{count}"}
            ),
            {"build": {"kernel_version": f"V-{kernel}"}},
        )
        for cores, count in counts
    ]


GAINS = (
    '[[claim]]\nid = "c"\nsection = "2"\nsays = "K"\nkind = "ascending"\n'
    'where = { kernel = "freertos", metric = "throughput", stat = "total" }\nof = [{ cores = 1 }, { cores = 2 }]\n'
)


@pytest.mark.parametrize("lent", [False, True])
def test_authors_version_is_judged_and_the_current_one_is_shown(lent: bool, tmp_path: Path) -> None:
    """The run has no tree of the version: its reference result stands for the point, and is told as one."""
    base = _paper(folder(tmp_path, [published_row(1, lab_kernel="freertos")], GAINS), _setup(config={"opt": "-Os"}), {})
    paper = _with_version(base)
    todays, theirs = _counts("freertos", (1, 500), (2, 240)), _counts("freertos-9", (1, 600), (2, 700))
    done = (
        reproduce_paper(CATALOGUE, paper, todays, reference_points=theirs)
        if lent
        else reproduce_paper(CATALOGUE, paper, [*todays, *theirs])
    )
    figure = done.compared[1]
    assert (figure.our_value, figure.state) == (2400, "reference" if lent else "measured")
    assert figure.source is not None
    assert (figure.source.kernel, figure.source.version, figure.source.is_authors_version) == (
        "freertos-9",
        "V-freertos-9",
        True,
    )
    assert done.today is not None
    assert (done.today.compared[1].our_value, done.today.setup.title) == (
        2000, "the kernels' current versions: freertos V-freertos"
    )  # fmt: skip
    assert [
        (above.outcome_of_all_statement_cases, present.outcome_of_all_statement_cases)
        for above, present in verdict_changes_caused_by_setup(done, done.today)
    ] == [("same", "different")]
    assert "today" in [row[0].partition(":")[0] for row in paper_configurations_report_section(done)[0].tables[0].rows]


def test_missing_service_of_the_authors_version_uses_the_current_one(tmp_path: Path) -> None:
    paper = _with_version(_paper(folder(tmp_path, [published_row(1, lab_kernel="freertos")], GAINS), _setup(), {}))
    done = reproduce_paper(
        CATALOGUE, paper, _counts("freertos", (1, 500)), reference_points=_counts("freertos-9", (2, 700))
    )
    figure = done.compared[1]
    assert figure.our_value == 2000
    assert figure.source is not None
    assert not figure.source.is_authors_version
    assert done.today is None


def test_impossible_point_of_the_authors_version_is_not_replaced(tmp_path: Path) -> None:
    paper = _with_version(_paper(folder(tmp_path, [published_row(1, lab_kernel="freertos")], GAINS), _setup(), {}))
    (present,) = _counts("freertos-9", (1, 1))
    lacking = NotApplicableMeasurement(run_id="n", point=present.result.point, reason="V9 has no such call")
    done = reproduce_paper(
        CATALOGUE, paper, [*_counts("freertos", (1, 500)), StoredMeasurementPoint(Path(), lacking, {})]
    )
    assert (done.compared[1].state, done.compared[1].reason) == ("n/a", "V9 has no such call")


def test_setup_uses_the_authors_version_if_available(tmp_path: Path) -> None:
    base = _paper(folder(tmp_path, [published_row(1, lab_kernel="freertos")], GAINS), _setup(config={"opt": "-Os"}), {})
    paper = _with_version(base)
    points = [*_counts("freertos", (1, 500)), *_counts("freertos-9", (1, 600))]
    points += [*_counts("freertos", (1, 450), opt="-Os"), *_counts("freertos-9", (1, 550), opt="-Os")]
    done = reproduce_paper(CATALOGUE, paper, points)
    assert [(setup.setup.id, setup.compared[1].our_value) for setup in done.setups] == [("s", 2200)]


def test_second_tree_is_used_if_the_first_lacks_a_service(tmp_path: Path) -> None:
    base = _paper(folder(tmp_path, [published_row(1, lab_kernel="freertos")], GAINS), _setup(), {})
    paper = _with_version(base, trees=("freertos", "freertos-inherit"))
    (present,) = _counts("freertos", (1, 1))
    lacking = StoredMeasurementPoint(
        Path(), NotApplicableMeasurement(run_id="n", point=present.result.point, reason="no condition"), {}
    )
    done = reproduce_paper(CATALOGUE, paper, [lacking, *_counts("freertos-inherit", (1, 300))])
    assert done.compared[1].our_value == 1200


def _weight(kernel: str, text: int) -> StoredProgramSize:
    identity = measured_point(1, kernel=kernel).point.model_copy(update={"benchmark": "footprint"})
    sizes = ImageBytes(text_bytes=text, data_bytes=8, bss_bytes=900)
    return StoredProgramSize(Path(), BuildOnlyProgramSize(run_id=kernel, point=identity, clock_hz=1, image=sizes), {})


def test_reference_footprint_judges_a_statement_and_is_marked(tmp_path: Path) -> None:
    """The kernel is not here: what its smallest program weighed stands beside that of one that is."""
    claims = (
        '[[claim]]\nid = "c"\nsection = "2"\nsays = "K"\nkind = "ratio"\nat_least = 1.8\nbound_from = "times"\n'
        'where = { metric = "footprint", stat = "text" }\nof = [{ kernel = "other" }, { kernel = "k" }]\n'
    )
    ours = {"lab_benchmark": "footprint", "lab_metric": "footprint", "lab_stat": "text", "lab_config": ""}
    row = published_row(1, lab_kernel="other", unit="bytes", **ours)
    paper = folder(tmp_path, [row], claims)
    lent = [_weight("other", 14_000), _weight("k", 7_000)]
    done = reproduce_paper(CATALOGUE, paper, [], reference_weights=lent)
    assert [
        (verdict.outcome_of_all_statement_cases, "14,000" in verdict.text_of_compared_claim_numbers)
        for verdict in done.verdicts
    ] == [("same", True)]
    assert (done.compared[1].our_value, done.compared[1].state) == (14_000, "reference")
    assert reproduce_paper(CATALOGUE, paper, []).verdicts[0].outcome_of_all_statement_cases == "not computed"


def test_without_a_point_of_a_setup_the_report_has_no_section_for_it(tmp_path: Path) -> None:
    paper = _paper(folder(tmp_path, [published_row(1)]), _setup(config={"opt": "-Os"}), {})
    assert (
        paper_configurations_report_section(
            reproduce_paper(CATALOGUE, paper, [StoredMeasurementPoint(tmp_path, measured_point(1), {})])
        )
        == []
    )
