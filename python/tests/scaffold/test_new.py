"""`rtoslab new`: what it makes is found, builds and passes its checks at once; what it cannot make it refuses."""

import json
from pathlib import Path

import pytest

from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.defaults import DEFAULT_BOARD, DEFAULT_KERNEL
from rtoslab.catalogue.paper_folders import read_papers
from rtoslab.catalogue.trees import PORTS_VARIABLE
from rtoslab.cli import app
from rtoslab.conformance.examination import ConformanceVerdict, check_port_conformance
from rtoslab.conformance.judge import CheckOutcome
from rtoslab.mutants.measure import measure_mutants
from rtoslab.mutants.mutants import read_mutants
from rtoslab.papers.completeness import require_consistent_paper_folder
from rtoslab.plan.plan import PlanOptions, points_of_conformance_suite
from rtoslab.scaffold.new_folder import make_new_folder


def _run_new(*words: str) -> None:
    assert app.main(["new", *words], standalone_mode=False) == 0


def _measure_new(out: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert app.main([*words, "--out", str(out), "--json"], standalone_mode=False) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert {point["status"] for point in points} == {"measured"}
    return list(points)


def _conformance_of(root: Path, kernel: str, board: str) -> ConformanceVerdict:
    catalogue = Catalogue(root)
    (point,) = points_of_conformance_suite(catalogue, PlanOptions([kernel], [board], [1]))
    return check_port_conformance(catalogue, point)


def test_new_benchmark_is_proved_and_its_mutants_are_refused(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _run_new("benchmark", "my_test", "--title", "My test")
    output = capsys.readouterr().out
    assert "my_test.c" in output
    assert str(checkout / "firmware" / "mutants" / "my_test.toml") in output
    (point,) = _measure_new(tmp_path / "run", capsys, "run", "my_test", "--window", "5ms")
    assert point["proofs"]
    (tmp_path / "mutants").mkdir()
    trials = list(measure_mutants(checkout, tmp_path / "mutants", "my_test", read_mutants(checkout)["my_test"]))
    assert len(trials) == 4, "the unbroken one and three mutants"
    assert [trial.mutant for trial in trials if not trial.is_mutant_trial_as_expected] == []


def test_new_port_conforms_and_is_measured(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _run_new("kernel", "my-kernel")
    verdict = _conformance_of(checkout, "my-kernel", DEFAULT_BOARD)
    assert verdict.is_kernel_port_conformant
    assert sum(finding.outcome is CheckOutcome.HOLDS for finding in verdict.findings) >= 7
    _measure_new(tmp_path / "run", capsys, "run", "t4", "t7", "--window", "5ms", "--kernel", "my-kernel")


def test_new_port_may_be_in_a_folder_of_the_user(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _run_new("kernel", "mine", "--in", str(tmp_path / "ports"))
    assert f"export {PORTS_VARIABLE}={tmp_path / 'ports'}`" in capsys.readouterr().out
    assert not (checkout / "firmware" / "kernels" / "mine").exists()
    monkeypatch.setenv(PORTS_VARIABLE, str(tmp_path / "ports"))
    assert _conformance_of(checkout, "mine", DEFAULT_BOARD).is_kernel_port_conformant


def _new_board(checkout: Path, like: str) -> None:
    _run_new("board", "my-board", "--title", "Mine", "--like", like)
    facts = Catalogue(checkout).boards["my-board"].facts
    old = Catalogue(checkout).boards[like].facts
    assert facts.model_copy(update={"id": old.id, "title": old.title}) == old
    assert facts.title == "Mine"


def test_new_board_may_copy_any_board(checkout: Path) -> None:
    _new_board(checkout, "nucleo-f446re")


@pytest.mark.parametrize("like", [DEFAULT_BOARD, pytest.param("nucleo-f446re", marks=pytest.mark.long)])
def test_new_board_conforms_and_is_measured(
    like: str, checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _new_board(checkout, like)
    assert _conformance_of(checkout, DEFAULT_KERNEL, "my-board").is_kernel_port_conformant
    _measure_new(tmp_path / "run", capsys, "run", "t2", "--window", "5ms", "--board", "my-board")


def test_new_paper_is_reproduced(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _run_new("paper", "doe2026")
    capsys.readouterr()
    assert app.main(["paper", "doe2026", "--out", str(tmp_path / "run"), "--json"], standalone_mode=False) == 0
    output = json.loads(capsys.readouterr().out)
    assert [item["state"] for item in output["figures"]] == ["measured", "measured"]
    assert [item["outcome"] for item in output["claims"]] == ["same"]
    paper = read_papers(Catalogue(checkout))["doe2026"]
    require_consistent_paper_folder(Catalogue(checkout), paper)
    assert {row.id for row in paper.paper_values_by_row_id.values() if row.kind == "ordering"} == set(
        paper.claims[0].rows
    )


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("paper.toml", "rows = [1, 2]", "rows = [1, 7]", "paper.toml, table .* names row 7, which published.csv"),
        ("claims.toml", "rows = [3]", "rows = [8]", "claims.toml, claim .* names row 8"),
        ("slips.toml", "rows = [1, 2]", "rows = [9]", "slips.toml, slip ratio, names row 9"),
        ("slips.toml", "r2 / r1", "r2 / r6", "cannot be computed"),
        ("published.csv", "freertos,pico,\n2", "freertos,nowhere,\n2", "row 1: there is no lab_board 'nowhere'"),
        ("published.csv", "freertos,pico,\n2", "rt,pico,\n2", "row 1: there is no lab_kernel 'rt'"),
        ("published.csv", "t6_message,throughput", "call_times,semaphore.give", "choose one of .*semaphore.give."),
    ],
)  # fmt: skip
def test_inconsistent_paper_files_are_refused_before_measuring(
    checkout: Path, file: str, old: str, new: str, says: str
) -> None:
    _run_new("paper", "doe2026")
    path = checkout / "papers" / "doe2026" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(CatalogueError, match=says):
        app.main(["paper", "doe2026", "--dry-run"], standalone_mode=False)


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("benchmark", "My Test", "cannot be a benchmark's name"),
        ("benchmark", "../up", "cannot be a benchmark's name"),
        ("benchmark", "my-test", "write my_test"),
        ("benchmark", "t7_synchronisation", "There is a benchmark t7_synchronisation already"),
        ("board", "pico", "There is a board pico already"),
        ("kernel", "latency", "has another meaning"),
        ("paper", "vieira2026_contention", "There is a suite vieira2026_contention already"),
        ("paper", "x" * 41, "cannot be a paper's name"),
    ],
)
def test_invalid_name_is_refused(kind: str, name: str, sentence: str) -> None:
    with pytest.raises(CatalogueError, match=sentence) as caught:
        make_new_folder(Catalogue(find_checkout_root()), kind, name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("title", ['a "b"', "two\nlines", "a, b", "*/", "x" * 81])
def test_title_that_would_break_a_file_is_refused(title: str) -> None:
    with pytest.raises(CatalogueError, match="cannot be a title"):
        make_new_folder(Catalogue(find_checkout_root()), "paper", "doe2026", title=title)


def test_existing_folder_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(CatalogueError, match="exists already"):
        make_new_folder(Catalogue(find_checkout_root()), "kernel", "mine", folder=tmp_path)
    assert list(tmp_path.rglob("*")) == [tmp_path / "mine"]
