"""A build that fails costs its point, or its figure, and not the paper's report; a tree that is missing is named."""

import json
from html import escape
from pathlib import Path

import pytest

from rtoslab.base.errors import BuildError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import read_papers
from rtoslab.cli import app
from rtoslab.papers import weights
from rtoslab.papers.reproduction import reproduce_paper
from rtoslab.papers.setup_report import paper_configurations_report_section

CATALOGUE = Catalogue(find_checkout_root())
PAPERS = read_papers(CATALOGUE)


def test_footprint_that_cannot_be_built_is_a_failed_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise BuildError("Building minimal failed: the disk is full.")

    monkeypatch.setattr(weights, "build_footprint_program", fails)
    figure = reproduce_paper(CATALOGUE, PAPERS["eren2024"], []).compared[165]
    assert (figure.state, figure.our_value) == ("failed", None)
    assert figure.reason == "build: Building minimal failed: the disk is full."


def test_point_that_cannot_be_built_is_in_the_report(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of the paper's two benchmarks is asked for with a tick rate that no compiler takes."""
    assert app.main(["new", "paper", "doe2026"], standalone_mode=False) == 0
    suite = checkout / "papers" / "doe2026" / "suite.toml"
    output = suite.read_text(encoding="utf-8").replace('"t6_message", "t7_synchronisation"', '"t7_synchronisation"')
    output += '[[experiment]]\nbenchmarks = ["t6_message"]\nkernels = ["freertos"]\nboards = ["pico"]\n'
    output += 'window_ms = 20\nconfig = { configTICK_RATE_HZ = "never" }\n'
    head, _, rest = output.partition('benchmarks = ["t7')
    top = 'benchmarks = ["t7' + rest.partition("notes")[0]
    whole = head + "notes" + rest.partition("notes")[2].partition("[[experiment]]")[0] + "[[experiment]]\n" + top
    suite.write_text(whole + "[[experiment]]" + output.partition("[[experiment]]")[2], encoding="utf-8")
    capsys.readouterr()
    assert app.main(["paper", "doe2026", "--out", str(tmp_path / "run"), "--json"], standalone_mode=False) == 3
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert sorted(figure["state"] for figure in figures) == ["failed", "measured"]
    (lost,) = (figure for figure in figures if figure["state"] == "failed")
    assert lost["why"].startswith("build: Building t6_message freertos pico")
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert escape(lost["why"].partition(".")[0], quote=False) in report


def test_missing_tree_of_a_setup_is_reported_with_remedy() -> None:
    (section,) = paper_configurations_report_section(reproduce_paper(CATALOGUE, PAPERS["eren2024"], []))
    text = " ".join(section.prose)
    assert "The paper measured FreeRTOS 10.2.1; its sources were not added" in text
    assert "rtoslab kernel tree add freertos-10.2.1 PATH --port freertos" in text
