"""The papers of this checkout: every folder whole, every point measurable; the command that reproduces one."""

import json
from pathlib import Path

import pytest

from rtoslab.analyses import core_claims
from rtoslab.base.errors import UnknownNameError
from rtoslab.base.paths import find_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import find_paper, papers
from rtoslab.cli import app, cmd_paper
from rtoslab.papers.experiment import missing_benchmarks, paper_plan
from rtoslab.papers.whole import demand_whole
from rtoslab.plan.plan import Options, Plan
from rtoslab.reference import WORD
from rtoslab.reports.document import make_document
from rtoslab.store.store import RunDirectory
from rtoslab.store.stored_point import StoredPoint
from tests.fakes import measured

CATALOGUE = Catalogue(find_root())


def test_a_papers_key_may_be_short_and_is_suggested() -> None:
    assert find_paper(CATALOGUE, "vieira").key == "vieira2026"
    with pytest.raises(UnknownNameError, match="There is no paper named 'vieria2026'; did you mean 'vieira2026'"):
        find_paper(CATALOGUE, "vieria2026")


def test_the_command_without_a_finished_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing(_root: Path, _plan: Plan, out: Path, **_: object) -> list[object]:
        RunDirectory.create(out, "lentka2022", [])
        return []

    monkeypatch.setattr(cmd_paper, "run_plan", nothing)
    for out in ("a", "b"):
        assert app.main(["paper", "lentka", "--json", "--out", str(tmp_path / out)], standalone_mode=False) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[0])
    assert {each["state"] for each in said["figures"]} == {"not yet measured"}
    told = [each for each in said["claims"] if each["outcome"] not in {"not computed", "bring your own"}]
    assert all(WORD in each["seen"] for each in told), "by reference results alone"
    assert len(told) < len(said["claims"])
    files = {path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*") if path.is_file()}
    assert {Path("report.html"), Path("export/table1-figure1.svg")} <= files
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes(), path


@pytest.mark.parametrize("key", list(papers(CATALOGUE)))
def test_every_point_of_a_paper_can_be_measured(key: str) -> None:
    """Its benchmarks, boards and clocks exist, by default and with --full; a kernel may lack a service."""
    paper = papers(CATALOGUE)[key]
    assert missing_benchmarks(CATALOGUE, paper) == []
    plans = [paper_plan(CATALOGUE, paper, Options(full=full)).points for full in (False, True)]
    assert plans[0]
    assert len(plans[0]) == len(plans[1])
    for points in plans:
        lacking = [point.not_applicable for point in points if point.not_applicable is not None]
        assert all(" service: " in why for why in lacking), lacking
        assert len(lacking) < len(points) / 10


def test_a_plain_report_of_a_papers_suite_tells_the_statements_it_can() -> None:
    counts = ((1, 1000), (2, 300))
    points = [measured(*each, benchmark_id="t8_allocation", kernel="freertos") for each in counts]
    stored = [StoredPoint(Path("p"), each, {}) for each in points]
    document = make_document(CATALOGUE, stored, "vieira2026")
    (section,) = [each for each in document.sections if each.id == "paper"]
    assert [row[2:] for row in section.tables[0].rows] == [["", "same", "T2 x 0.60 in total"]]
    assert not [each for each in make_document(CATALOGUE, stored, None).sections if each.id == "paper"]


@pytest.mark.long
@pytest.mark.parametrize("key", list(papers(CATALOGUE)))
def test_a_paper_is_reproduced_whole(key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every point has its proofs; every figure that does not wait for --full or a kernel has its value."""
    assert app.main(["paper", key, "--json", "--out", str(tmp_path)], standalone_mode=False) == 0
    said = json.loads(capsys.readouterr().out)
    absent = [each for each in said["figures"] if each["state"] not in {"measured", "reference", "bring your own"}]
    assert all("param.loops=100000" in each["why"] or "window_ms=250000" in each["why"] for each in absent), absent
    assert {each["outcome"] for each in said["claims"]} <= {"same", "different", "tie", "bring your own"}


@pytest.mark.parametrize("key", list(papers(CATALOGUE)))
def test_the_folder_of_a_paper_is_whole(key: str) -> None:
    """Every id that a file names is a published row, every slip can be computed, every board and axis exists."""
    paper = papers(CATALOGUE)[key]
    shown = [ident for part in paper.facts.part for table in part.table for ident in table.rows]
    demand_whole(CATALOGUE, paper)
    mapped = [row for row in paper.published.values() if row.lab_benchmark]
    assert {row.id for row in mapped if row.number is not None} <= set(shown), "a mapped figure stands in no table"
    assert len({each.id for each in paper.claims}) == len(paper.claims)


@pytest.mark.parametrize("key", list(papers(CATALOGUE)))
def test_every_statement_of_a_paper_is_judged_or_says_why_not(key: str) -> None:
    paper = papers(CATALOGUE)[key]
    stated = {row.id for row in paper.published.values() if row.kind in {"finding", "ordering"}}
    judged = {row for claim in paper.claims for row in claim.rows}
    unjudged = [row for each in paper.unjudged for row in each.rows]
    assert stated <= judged | set(unjudged)
    assert not judged & set(unjudged)
    assert set(unjudged) <= stated


@pytest.mark.parametrize("key", list(papers(CATALOGUE)))
def test_what_leads_all_kernels_is_held_against_all_of_them(key: str) -> None:
    paper = papers(CATALOGUE)[key]
    for claim in paper.claims:
        if claim.kind in {"least", "most"}:
            assert {each["kernel"] for each in claim.of} == set(paper.facts.kernels), claim.id
            assert set(claim.needs) == set(paper.facts.kernels) - {"freertos"}, claim.id


@pytest.mark.parametrize("key", list(papers(CATALOGUE)))
def test_a_claim_by_cores_names_its_kernel(key: str) -> None:
    """Or every kernel in the run would be asked what the paper says of one."""
    by_cores = [each for each in papers(CATALOGUE)[key].claims if each.kind in core_claims.RULES]
    assert [each.id for each in by_cores if "kernel" not in each.where] == []
