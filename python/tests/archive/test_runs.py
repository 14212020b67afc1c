"""Stored points found again and exported; points measured once under one manifest."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rtoslab import api
from rtoslab.archive.exports import (
    EXPORTERS,
    FIGURE_COLUMNS,
    SAMPLE_COLUMNS,
    export_rows_of_measured_values,
    table_rows_of_latency_samples,
)
from rtoslab.archive.index import StoredPointFilters, find_stored_points
from rtoslab.archive.run_list import summarize_runs
from rtoslab.base.errors import ReportError
from rtoslab.compare.history import history_document_of_measured_values
from rtoslab.reports import report_formats
from rtoslab.results.results import FunctionCodeLocation, MeasuredPoint
from rtoslab.store.journal import (
    JOURNAL_FILE,
    RunJournalSession,
    newest_measurement_session,
    run_session_as_journal_line,
)
from rtoslab.store.store import RunDirectory
from rtoslab.store.stored_point import point_folder_name
from tests.cli.test_cli import HANG_S, ROOT, command_error, rtoslab
from tests.fakes import STEADY, measured_point, point

MANIFEST = {
    "elf_sha256": "feed5eed",
    "build": {"kernel_config": {"configX": "7"}, "kernel_package": {"sha256": "c0ffee"}},
}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, date in (("old", "2026-01-05"), ("new", "2026-03-01")):
        run = RunDirectory.create_run_directory(tmp_path / name, None, [point(1), point(2)])
        run.add_measurement_point_to_store("t2-1", measured_point(1), MANIFEST, {})
        run.add_measurement_point_to_store("t2-2", measured_point(2), {}, {})
        (tmp_path / name / JOURNAL_FILE).write_text(
            run_session_as_journal_line(RunJournalSession(f"{date}T00:00:00Z", "abc")) + '{"cut'
        )
    return tmp_path


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (StoredPointFilters(), ["old/t2-1", "old/t2-2", "new/t2-1", "new/t2-2"]),
        (StoredPointFilters(cores=(2,)), ["old/t2-2", "new/t2-2"]),
        (StoredPointFilters(kernels=("k",), benchmarks=("t",)), ["old/t2-1", "old/t2-2", "new/t2-1", "new/t2-2"]),
        (StoredPointFilters(boards=("other",)), []),
        (StoredPointFilters(config={"configX": "7"}), ["old/t2-1", "new/t2-1"]),
        (StoredPointFilters(config={"configX": "8"}), []),
        (StoredPointFilters(config={"opt": "-O2", "lto": "0"}, cores=(1,)), ["old/t2-1", "new/t2-1"]),
        (StoredPointFilters(config={"opt": "-O3"}), []),
        (StoredPointFilters(config={"opt": "-O2"}, hash="feed"), ["old/t2-1", "new/t2-1"]),
        (StoredPointFilters(hash="feed", since="2026-02"), ["new/t2-1"]),
        (StoredPointFilters(hash="c0ff", until="2026-01-05"), ["old/t2-1"]),
        (StoredPointFilters(until="2026-01-04"), []),
    ],
)
def test_stored_points_are_found(runs: Path, wanted: StoredPointFilters, names: list[str]) -> None:
    assert [f"{item.run.name}/{item.stored.folder.name}" for item in find_stored_points([runs], wanted)] == names


def test_directory_without_a_journal_has_the_date_of_its_plan(tmp_path: Path) -> None:
    RunDirectory.create_run_directory(tmp_path / "run", None, [point(1)])
    assert newest_measurement_session(tmp_path / "run").date.startswith("20")


def test_all_export_formats_contain_the_same_rows(runs: Path) -> None:
    rows = list(export_rows_of_measured_values(find_stored_points([runs], StoredPointFilters(cores=(1,)))))
    assert {row["metric"] for row in rows} >= {"cycles_per_count", "heap.peak"}
    lines = [json.loads(line) for line in EXPORTERS["jsonl"](rows, FIGURE_COLUMNS).splitlines()]
    assert lines == rows
    table = pq.read_table(io.BytesIO(EXPORTERS["parquet"](rows, FIGURE_COLUMNS))).to_pylist()
    assert table == rows
    texts = list(csv.DictReader(io.StringIO(EXPORTERS["csv"](rows, FIGURE_COLUMNS).decode())))
    assert [float(text["value"]) for text in texts] == [row["value"] for row in rows]


def test_raw_samples_are_exported(tmp_path: Path) -> None:
    out = tmp_path / "call"
    api.run(
        "call_times", kernels=["freertos"], boards=["pico"], out=out, config={"samples": "5", "instrument": "probe"}
    )
    (stored,) = RunDirectory.open_run_directory(out).read_measured_points()
    assert isinstance(stored.result, MeasuredPoint)
    rows = list(table_rows_of_latency_samples(find_stored_points([out], StoredPointFilters())))
    assert [row["cycles"] for row in rows] == [value for series in stored.result.series for value in series.cycles]
    assert pq.read_table(io.BytesIO(EXPORTERS["parquet"](rows, SAMPLE_COLUMNS))).num_rows == len(rows)


def test_list_of_runs_has_what_their_points_have(tmp_path: Path) -> None:
    """From the plan and the folders' names; from the points where the plan was changed, or does not have one."""
    run = RunDirectory.create_run_directory(tmp_path / "one", None, [point(1), point(2)])
    RunDirectory.create_run_directory(tmp_path / "empty", None, [point(1)])
    for cores in (1, 2):
        result = measured_point(cores)
        run.add_measurement_point_to_store(point_folder_name(result.point, result.run_id), result, {}, {})

    def listed() -> list[tuple[str, tuple[str, ...], int]]:
        return [(item.run.name, item.benchmarks, item.points) for item in summarize_runs([tmp_path])]

    expected = [("one", ("t2",), 2)]
    assert listed() == expected
    text = (run.path / "plan.json").read_text()
    for changed in (text.replace('"t2"', '"t3"'), text[:100]):
        (run.path / "plan.json").write_text(changed)
        assert listed() == expected
    (run.path / "plan.json").write_text(text)
    other = measured_point(benchmark_id="t9")
    run.add_measurement_point_to_store(point_folder_name(other.point, other.run_id), other, {}, {})
    assert listed() == [("one", ("t2", "t9"), 3)]


def test_cached_point_is_not_measured_again_and_is_identical(tmp_path: Path) -> None:
    cache = {"RTOSLAB_CACHE": str(tmp_path / "cache")}
    ask = ("run", "t2", "--kernel", "freertos", "--board", "pico", "--window", "10ms", "--json", "--out")
    assert rtoslab(*ask, tmp_path / "one", **cache).returncode == 0
    (entry,) = (tmp_path / "cache").rglob("*.point")
    stamp = entry.stat().st_mtime_ns
    assert rtoslab(*ask, tmp_path / "two", **cache).returncode == 0
    assert rtoslab(*ask, tmp_path / "two", "--fresh", **cache).returncode == 0
    assert entry.stat().st_mtime_ns == stamp
    (one,), (two,) = ((tmp_path / name / "points").iterdir() for name in ("one", "two"))
    assert one.name == two.name
    for file in one.iterdir():
        assert file.read_bytes() == (two / file.name).read_bytes(), file.name
    output = rtoslab(*ask[:-2], "--out", tmp_path / "three", **cache).stderr
    assert "1 of 1 point was measured before under the same manifest" in output


def test_two_processes_share_a_run_directory(tmp_path: Path) -> None:
    ask = ("run", "t1", "t2", "--kernel", "freertos", "--board", "pico", "--cores", "1", "--window", "10ms")
    command = [sys.executable, "-m", "rtoslab", *ask, "--out", str(tmp_path / "run")]
    environment = {**os.environ, "RTOSLAB_CACHE": str(tmp_path / "cache")}
    pair = [
        subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    ended = [(popen.communicate(timeout=HANG_S)[1], popen.returncode) for popen in pair]
    assert [code for _, code in ended] == [0, 0], ended
    assert len(RunDirectory.open_run_directory(tmp_path / "run").read_measured_points()) == 2
    assert len(list((tmp_path / "cache").rglob("*.point"))) == 2


def test_empty_result_is_reported(tmp_path: Path) -> None:
    assert "No stored point matches" in rtoslab("runs", "--in", tmp_path).stdout
    assert "There is no folder" in command_error(rtoslab("runs", "--in", tmp_path / "nowhere"), 1)
    assert "not a date such as" in command_error(rtoslab("runs", "--since", "yesterday"), 2)
    assert "nothing was exported" in command_error(rtoslab("runs", "export", "--in", tmp_path), 1)


def run_of(
    folder: Path, index: int, points: Sequence[MeasuredPoint], board: str = "one", where: dict[str, Any] | None = None
) -> None:
    """A run of these points on the day of its index, each with a run id of its own."""
    run = RunDirectory.create_run_directory(folder / str(index), None, [point(1)] * len(points))
    for number, item in enumerate(points):
        manifest = {**(STEADY if where is None else where), "target": {"sources_sha256": board}}
        run.add_measurement_point_to_store(
            f"t2-{number}", item.model_copy(update={"run_id": f"{index}-{number}"}), manifest, {}
        )
    session = RunJournalSession(f"2026-01-0{index + 1}T00:00:00Z", f"rev{index}")
    (folder / str(index) / JOURNAL_FILE).write_text(run_session_as_journal_line(session))


def _points_in_placements(counts: Sequence[int]) -> list[MeasuredPoint]:
    return [
        measured_point(1, item, config={"placement": str(place)} if place else {}) for place, item in enumerate(counts)
    ]


def _with_code(counts: int, address: int, digest: str = "d") -> MeasuredPoint:
    built = measured_point(1, counts)
    assert built.virtual is not None
    names = {function.name for function in built.virtual.functions}
    return built.model_copy(
        update={"code": {name: FunctionCodeLocation(digest=digest, address=address) for name in names}}
    )


@pytest.mark.parametrize(
    ("before", "after", "board", "is_claimed"),
    [
        (_points_in_placements([5000, 5050, 5100]), _points_in_placements([5080, 5150, 5200]), "one", False),
        (_points_in_placements([5000, 5050, 5100]), _points_in_placements([5110, 5150, 5200]), "one", True),
        (_points_in_placements([5000, 5050, 5100]), [measured_point(1, 5150)], "one", False),
        (_points_in_placements([5000, 5050, 5100]), [measured_point(1, 5300)], "one", True),
        ([_with_code(5000, 0x100)], [_with_code(4000, 0x104)], "one", False),
        ([_with_code(5000, 0x100)], [_with_code(4000, 0x104, "e")], "one", True),
        ([_with_code(5000, 0x100)], [_with_code(4000, 0x100)], "one", True),
        ([_with_code(5000, 0x100)], [_with_code(4000, 0x104)], "two", True),
    ],
)
def test_history_reports_no_change_within_placement(
    before: list[MeasuredPoint], after: list[MeasuredPoint], board: str, is_claimed: bool, tmp_path: Path
) -> None:
    """Bands that meet, and the same code elsewhere on the same board; a changed nop or a changed board is a move."""
    run_of(tmp_path, 0, before)
    run_of(tmp_path, 1, after, board)
    document = history_document_of_measured_values(
        list(find_stored_points([tmp_path], StoredPointFilters())), ["cycles_per_count"]
    )
    (table,) = document.sections[0].tables
    assert len(table.rows) == 1, "the placement is no axis"
    assert (table.title == "Within placement") == (not is_claimed)
    assert ("(placement)" in table.rows[0][-1]) == (not is_claimed)
    assert ("Nothing changed over 2 runs beyond placement" in document.summary) == (not is_claimed)


def test_history_reports_no_clear_change_of_different_code_in_one_placement(tmp_path: Path) -> None:
    """Where its place matters; what is no time is exact."""
    for index, counts in enumerate((5000, 5000, 4000)):
        run_of(tmp_path, index, [_with_code(counts, 0x100, str(index))], where={"build": {"code": "flash", "cores": 1}})
    document = history_document_of_measured_values(
        list(find_stored_points([tmp_path], StoredPointFilters())), ["cycles_per_count", "heap.peak"]
    )
    (table,) = document.sections[0].tables
    assert table.title == "In one placement each"
    assert table.rows[0][-1].endswith("at rev2 (one placement)")
    assert "No certain change over 3 runs; 1 figure differed in one placement, most of all" in (document.summary)
    assert "The cause may be the code or its placement" in report_formats()["md"](document)


def test_history_shows_when_a_figure_changed(tmp_path: Path) -> None:
    for index, counts in enumerate((5000, 5000, 4000)):
        run_of(tmp_path, index, [measured_point(1, counts)])
    document = history_document_of_measured_values(list(find_stored_points([tmp_path], StoredPointFilters())))
    text = report_formats()["md"](document)
    assert "at rev2 |" in text
    assert "rev1 |" not in text.split("## Run by run")[0]
    assert "<svg" in report_formats()["html"](document)
    assert "What moved" in rtoslab("runs", "history", "--in", tmp_path).stdout
    with pytest.raises(ReportError, match="have no figure in common"):
        history_document_of_measured_values(list(find_stored_points([tmp_path / "0"], StoredPointFilters())))


def test_every_output_file_is_written(tmp_path: Path) -> None:
    """Of `-o` given twice the last one alone was."""
    for index in (0, 1):
        run_of(tmp_path, index, [measured_point(1, 5000 - 1000 * index)])
    request: list[list[str | Path]] = [["report", tmp_path / "0"], ["runs", "history", "--in", tmp_path]]
    for words in request:
        files = [tmp_path / f"{words[0]}.{form}" for form in ("html", "md")]
        done = rtoslab(*words, *(word for file in files for word in ("-o", file)))
        assert done.returncode == 0, done.stderr
        assert files[0].read_text().startswith("<!doctype html>")
        assert files[1].read_text().startswith("# ")
