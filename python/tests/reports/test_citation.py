"""How a report is cited: by its run's version, commit and date, and the project by CITATION.cff."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from rtoslab.base.paths import find_checkout_root
from rtoslab.base.version import __version__
from rtoslab.reports.citation import AUTHORS, SUBTITLE, citation_of
from rtoslab.reports.formats import report_formats
from rtoslab.reports.table import ReportDocument
from rtoslab.store.journal import JOURNAL_FILE, RunJournalSession, run_session_as_journal_line
from rtoslab.store.store import RunDirectory
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.fakes import measured_point

ROOT = find_checkout_root()
MANIFEST: dict[str, object] = {"rtoslab": "9.8.7"}


def stored_point(run: Path, *sessions: RunJournalSession) -> StoredMeasurementPoint:
    """A point of a run directory that was worked on then."""
    RunDirectory.create_run_directory(run, None, [measured_point().point])
    (run / JOURNAL_FILE).write_text("".join(map(run_session_as_journal_line, sessions)))
    return StoredMeasurementPoint(run / "points" / "one", measured_point(), MANIFEST)


def document(*points: StoredMeasurementPoint) -> ReportDocument:
    return ReportDocument("Title", "Subtitle", "Summary.", (), points)


EARLY = RunJournalSession("2024-02-29T23:59:59Z", "0123456789ab")
LATE = RunJournalSession("2025-11-03T00:00:00Z", "cafecafecafe+")


def test_version_commit_and_date_are_those_of_the_run(tmp_path: Path) -> None:
    result = citation_of(document(stored_point(tmp_path / "run", EARLY, LATE)))
    assert result.sentence == (
        f"{AUTHORS}. rtoslab: {SUBTITLE}, version 9.8.7 (commit cafecafecafe with changes, run of 2025-11-03)."
    )
    for line in ("version = {9.8.7},", "year = {2025},", "month = nov,", f"author = {{{{{AUTHORS}}}}},"):
        assert f"\n  {line}\n" in result.bibtex
    assert re.fullmatch(r"@misc\{rtoslab,\n(  [a-z]+ = (\{.*\}|[a-z]{3}),\n)+\}\n", result.bibtex)


def test_several_runs_are_cited_together(tmp_path: Path) -> None:
    points = [
        stored_point(tmp_path / "b", LATE),
        stored_point(tmp_path / "a", EARLY),
        stored_point(tmp_path / "c", EARLY),
    ]
    sentence = citation_of(document(*points)).sentence
    assert "commit cafecafecafe with changes, 0123456789ab, run of 2024-02-29 to 2025-11-03" in sentence


def test_report_of_no_run_names_this_version_and_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtoslab.reports.citation.git_revision", lambda _: "abcdef012345")
    assert f"version {__version__} (commit abcdef012345)." in citation_of(document()).sentence
    monkeypatch.setattr("rtoslab.reports.citation.git_revision", lambda _: "")
    assert citation_of(document()).sentence.endswith(f"version {__version__}.")


def test_point_without_a_run_directory_has_no_date(tmp_path: Path) -> None:
    lost = StoredMeasurementPoint(tmp_path, measured_point(), {})
    assert citation_of(document(lost)).sentence.endswith(f"version {__version__}.")


def test_manifest_text_cannot_inject_markup(tmp_path: Path) -> None:
    evil = "1} @book{<script>"
    point = stored_point(tmp_path / "run", RunJournalSession("<b>", evil))
    result = citation_of(document(StoredMeasurementPoint(point.folder, point.result, {"rtoslab": evil})))
    assert "<" not in result.sentence + result.bibtex
    assert "@book" not in result.bibtex


@pytest.mark.parametrize("form", ["html", "md"])
def test_report_contains_its_citation(form: str, tmp_path: Path) -> None:
    text = report_formats()[form](document(stored_point(tmp_path / "run", EARLY)))
    for part in ("Cite this", "run of 2024-02-29).", "@misc{rtoslab,", "CC BY 4.0"):
        assert part in text


def test_citation_cff_is_valid_and_current() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cff["cff-version"] == "1.2.0"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert cff["version"] == project["version"] == __version__
    assert cff["title"] == f"rtoslab: {SUBTITLE}"
    assert cff["authors"] == [{"name": AUTHORS}]
    assert cff["license"] == ["MIT", "Apache-2.0"]
    assert project["license"] == " OR ".join(cff["license"])
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(cff["date-released"]))
    assert cff["type"] == "software"
    assert {"message", "abstract", "keywords"} <= cff.keys()
    assert "CC BY 4.0" in cff["abstract"] + cff["message"]


def changelog_faults(text: str) -> list[str]:
    """Returns what a changelog has beside headings of versions, three kinds of change, and entries of one line."""
    line = re.compile(
        r"# Changelog|## (Unreleased|\d+\.\d+\.\d+, \d{4}-\d{2}-\d{2})|### (Added|Changed|Fixed)|#### .+|[A-Z].+[:.]|"
    )
    lines = text.split("\n")
    return [
        row
        for row in lines
        if not (line.fullmatch(row) or (row.startswith("- ") and row.endswith("."))) or len(row) > 160
    ]


def test_changelog_has_this_version_and_entries_of_one_line() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert changelog_faults(text) == []
    released = yaml.safe_load((ROOT / "CITATION.cff").read_text())["date-released"]
    assert re.findall(r"^## (\d.*)$", text, re.MULTILINE)[0] == f"{__version__}, {released}"
    assert changelog_faults("- Two\n  lines.\n### Mended\n- " + "x" * 160 + ".") == [
        "- Two",
        "  lines.",
        "### Mended",
        "- " + "x" * 160 + ".",
    ]


@pytest.mark.parametrize("page", ["README.md", "docs/reference-results.md"])
def test_licence_of_figures_is_documented(page: str) -> None:
    assert "CC BY 4.0" in (ROOT / page).read_text()
