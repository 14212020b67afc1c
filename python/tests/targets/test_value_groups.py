"""Nothing drawn, tabled or exported is made of values that differ on an axis which nobody named.

The trap it prevents: a bar of the median of two kernels, with a band from the one to the other.
"""

import ast
from pathlib import Path

import pytest

from rtoslab.analyses import group_values_by_axes
from rtoslab.base.errors import ReportError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import read_papers
from rtoslab.papers import weights
from rtoslab.papers.paper_charts import redraw_paper_figure
from rtoslab.papers.reproduction import PaperReproduction, reproduce_paper
from rtoslab.reference import read_reference_files
from tests.planted_values import planted_value

CATALOGUE = Catalogue(find_checkout_root())
PACKAGE = find_checkout_root() / "python" / "rtoslab"
PAPERS = read_papers(CATALOGUE)
REDUCTIONS = {"median", "mean", "fmean", "geometric_mean", "average", "median_low", "median_high", "nanmedian"}
NAMED = {
    "papers/document.py": "of ratios to published figures, which its sentence calls the median",
    "papers/paper_charts.py": "over the axes that a figure joins, which `grouped` has looked at",
    "papers/setup_report.py": "of distances, as the geometric mean that its heading names",
}
"""Modules of reports and papers that reduce several numbers to one, and of what."""


def _with_references(key: str, monkeypatch: pytest.MonkeyPatch) -> PaperReproduction:
    """The paper by all reference results that there are, without building anything."""
    monkeypatch.setattr(weights, "build_footprint_program", lambda *_, **__: pytest.fail("nothing is to be built"))
    paper = PAPERS[key]
    bare = paper.facts.model_copy(update={"footprint": ()})
    paper = type(paper)(paper.key, paper.folder, bare, paper.suites)
    beside = [point for reference in read_reference_files(find_checkout_root(), key) for point in reference.points]
    return reproduce_paper(CATALOGUE, paper, [], reference_points=beside)


@pytest.mark.parametrize("key", list(PAPERS))
def test_every_paper_figure_draws_one_kind_of_values(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`redraw_paper_figure` refuses anything else; each place has one mark a series."""
    done = _with_references(key, monkeypatch)
    drawn = 0
    for part in done.paper.facts.part:
        for figure in part.figure:
            result = redraw_paper_figure(figure, done, done.values)
            if result is None:
                continue
            chart, table = result
            places = [(row["x"], row["series"]) for row in chart.rows if not row.get("published")]
            assert len(set(places)) == len(places), figure.title
            assert all(cell for row in table.rows for cell in row), f"{figure.title}: a blank cell"
            drawn += 1
    assert drawn, "no figure was looked at"


@pytest.mark.parametrize("key", ["vieira2026", "lentka2022"])
def test_figure_that_does_not_name_the_kernel_is_refused(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = _with_references(key, monkeypatch)
    refused = 0
    for part in done.paper.facts.part:
        for figure in part.figure:
            series = (figure.series,) if isinstance(figure.series, str) else figure.series
            several = {value.point.kernel for value in done.values} & set(done.paper.facts.kernels)
            if "kernel" in series and len(several) > 1:
                without = tuple(axis for axis in series if axis != "kernel") or ("unit",)
                mixed = figure.model_copy(update={"series": without})
                with pytest.raises(ReportError, match=r"has several values .*kernel"):
                    redraw_paper_figure(mixed, done, done.values)
                refused += 1
    assert refused


def test_group_that_mixes_an_axis_is_refused() -> None:
    values = [planted_value({"metric": "m", "stat": "s", "kernel": kernel, "value": 1}) for kernel in ("a", "b")]
    assert len(group_values_by_axes(values, ("kernel",))) == 2
    with pytest.raises(ReportError, match=r"'F' has several values at b \(kernel: 'a', 'b'\)"):
        group_values_by_axes(values, ("benchmark",), subject="'F'")
    with pytest.raises(ReportError, match="has the same value 2 times"):
        group_values_by_axes([values[0], values[0]], ("kernel",))
    seeds = [planted_value({"metric": "m", "stat": "s", "param.seed": seed, "value": seed}) for seed in (1, 2)]
    assert [len(item) for item in group_values_by_axes(seeds, ("kernel",), ("param.seed",)).values()] == [2]


def test_every_reduction_of_figures_is_listed() -> None:
    """A median or mean in a report or a paper stands here with what it is of; elsewhere `grouped` looks at the axes."""
    reducing = {}
    for folder in ("reports", "papers"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            names = {
                node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
            }
            if names & REDUCTIONS:
                reducing[str(path.relative_to(PACKAGE))] = names & REDUCTIONS
    assert set(reducing) == set(NAMED), reducing


def test_searched_folder_exists() -> None:
    assert Path(PACKAGE / "papers" / "paper_charts.py").is_file()
