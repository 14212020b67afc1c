"""The papers of this checkout: every folder whole, every point measurable; the command that reproduces one."""

import json
import re
from pathlib import Path

import pytest

from rtoslab.base.errors import UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import find_paper, read_papers
from rtoslab.cli import app, cmd_paper
from rtoslab.papers.completeness import require_consistent_paper_folder
from rtoslab.papers.experiment import benchmarks_missing_for_paper, plan_paper_experiments
from rtoslab.plan.plan import MeasurementPlan, PlanOptions
from rtoslab.reports.document import make_report_document
from rtoslab.store.store import RunDirectory
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.fakes import measured_point

CATALOGUE = Catalogue(find_checkout_root())


def test_papers_key_may_be_short_and_is_suggested() -> None:
    assert find_paper(CATALOGUE, "vieira").key == "vieira2026"
    with pytest.raises(UnknownNameError, match="There is no paper named 'vieria2026'; did you mean 'vieira2026'"):
        find_paper(CATALOGUE, "vieria2026")


def test_command_without_a_finished_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing(_root: Path, _plan: MeasurementPlan, out: Path, **_: object) -> list[object]:
        RunDirectory.create_run_directory(out, "lentka2022", [])
        return []

    monkeypatch.setattr(cmd_paper, "measure_points_of_plan", nothing)
    for out in ("a", "b"):
        assert app.main(["paper", "lentka", "--json", "--out", str(tmp_path / out)], standalone_mode=False) == 3
    output = json.loads(capsys.readouterr().out.splitlines()[0])
    assert {item["state"] for item in output["figures"]} == {"reference"}, "the authors' version was measured before"
    message = [item for item in output["claims"] if item["outcome"] != "not computed"]
    assert len(message) < len(output["claims"])
    files = {path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*") if path.is_file()}
    assert {Path("report.html"), Path("export/table1-figure1.svg")} <= files
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes(), path


@pytest.mark.parametrize("key", list(read_papers(CATALOGUE)))
def test_every_point_of_a_paper_can_be_measured(key: str) -> None:
    """Its benchmarks, boards and clocks exist, by default and with --full; a kernel may lack a service."""
    paper = read_papers(CATALOGUE)[key]
    assert benchmarks_missing_for_paper(CATALOGUE, paper) == []
    plans = [plan_paper_experiments(CATALOGUE, paper, PlanOptions(full=full)).points for full in (False, True)]
    assert plans[0]
    assert len(plans[0]) == len(plans[1])
    for points in plans:
        lacking = [point.not_applicable for point in points if point.not_applicable is not None]
        assert all(" service: " in why for why in lacking), lacking
        assert len(lacking) < len(points) / 10


def test_report_of_a_papers_suite_shows_its_statements() -> None:
    counts = ((1, 1000), (2, 300))
    points = [measured_point(*count, benchmark_id="t8_allocation", kernel="freertos") for count in counts]
    stored = [StoredMeasurementPoint(Path("p"), point, {}) for point in points]
    document = make_report_document(CATALOGUE, stored, "vieira2026")
    (section,) = [item for item in document.sections if item.id == "paper"]
    report = {row[1]: row[2:4] for row in section.tables[0].rows}
    drops = "allocation (T8) loses throughput in total when the second core is used, in both kernels"
    words, seen = report[drops]
    assert words == "partly (1 of 2)"
    assert seen.startswith("holds in freertos; not computed in nuttx: ")
    assert not [item for item in make_report_document(CATALOGUE, stored, None).sections if item.id == "paper"]


@pytest.mark.long
@pytest.mark.parametrize("key", list(read_papers(CATALOGUE)))
def test_paper_is_reproduced_completely(key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every point has its proofs; every figure that does not wait for --full or a kernel has its value."""
    assert app.main(["paper", key, "--json", "--out", str(tmp_path)], standalone_mode=False) == 0
    output = json.loads(capsys.readouterr().out)
    absent = [item for item in output["figures"] if item["state"] not in {"measured", "reference", "bring your own"}]
    assert all("param.loops=100000" in item["why"] or "window_ms=250000" in item["why"] for item in absent), absent
    why = {item["seen"] for item in output["claims"] if item["outcome"] == "not computed"}
    assert why == {claim.why for claim in read_papers(CATALOGUE)[key].claims if claim.why}


@pytest.mark.parametrize("key", list(read_papers(CATALOGUE)))
def test_paper_folder_is_complete(key: str) -> None:
    """Every id that a file names is a published row, every slip can be computed, every board and axis exists."""
    paper = read_papers(CATALOGUE)[key]
    shown = [ident for part in paper.facts.part for table in part.table for ident in table.rows]
    require_consistent_paper_folder(CATALOGUE, paper)
    mapped = [row for row in paper.paper_values_by_row_id.values() if row.lab_benchmark]
    assert {row.id for row in mapped if row.paper_value_as_number is not None} <= set(shown), (
        "a mapped figure stands in no table"
    )
    assert len({claim.id for claim in paper.claims}) == len(paper.claims)


@pytest.mark.parametrize("key", list(read_papers(CATALOGUE)))
def test_every_statement_of_a_paper_is_registered(key: str) -> None:
    """Each row that states something stands in a claim, which judges it or says why not."""
    paper = read_papers(CATALOGUE)[key]
    stated = {row.id for row in paper.paper_values_by_row_id.values() if row.kind in {"finding", "ordering"}}
    assert stated <= {row for claim in paper.claims for row in claim.rows}
    assert all(claim.kind == "not computed" or claim.cases for claim in paper.claims)


@pytest.mark.parametrize("key", list(read_papers(CATALOGUE)))
def test_paper_error_named_by_a_statement_exists(key: str) -> None:
    paper = read_papers(CATALOGUE)[key]
    message = " ".join(f"{claim.why} {claim.rests_on} {claim.bound_from}" for claim in paper.claims)
    named = {
        name for result in re.findall(r"slips? ([a-z0-9_]+(?:, [a-z0-9_]+)*)\)", message) for name in result.split(", ")
    }
    assert named <= {slip.id for slip in paper.known_mistakes_in_paper}
    setups = set(re.findall(r"set-up ([a-z0-9_]+)", message))
    assert setups <= {setup.id for setup in paper.facts.setup}


@pytest.mark.parametrize("key", list(read_papers(CATALOGUE)))
def test_statement_about_all_kernels_is_judged_with_all_kernels(key: str) -> None:
    paper = read_papers(CATALOGUE)[key]
    for claim in paper.claims:
        compared = [place["kernel"] for place in claim.of if "kernel" in place]
        if claim.kind in {"least", "most", "rank", "beaten", "near_others"} and compared:
            assert set(compared) == set(paper.facts.kernels) - {"bare"}, claim.id


@pytest.mark.parametrize("key", list(read_papers(CATALOGUE)))
def test_claim_names_its_kernel(key: str) -> None:
    """Or every kernel in the run would be asked what the paper says of one."""
    single = {"freertos"} if key == "miranda2021" else set()
    for claim in read_papers(CATALOGUE)[key].claims:
        named = {"kernel"} if claim.along == "kernel" else claim.kernels
        assert named or single or claim.kind == "not computed", claim.id
