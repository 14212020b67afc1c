"""Which kernel: made-up figures and the sentences that they must become, the kept file, the command."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.analyses import CodePlacementValueRange, MeasuredValue
from rtoslab.base import AlteredFileError, PlanError, StoreError, UnknownNameError, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.choose import (
    KernelBoardMatrix,
    KernelComparison,
    add_measured_values_of_user_runs,
    boards_to_compare,
    compare_kernels_on_board,
    kernel_choice_explorer_page,
    kernel_choice_report,
    kernel_comparison_section,
    kernel_ranking_sentences,
    make_kernel_choice_criteria,
    measurement_coverage_by_board,
    measurements_to_compare,
    read_compared_operations,
    read_kernel_board_matrix,
    read_kernel_matrices,
    replace_boards_in_kernel_board_matrix,
    with_kernel_comparison_section,
    write_kernel_board_matrix,
)
from rtoslab.choose.answer import operations_with_clearly_better_rival
from rtoslab.choose.compared_operations import KernelChoiceCriteria
from rtoslab.choose.coverage import kernel_title, reasons_for_missing_measured_values
from rtoslab.cli.cmd_choose import settings_changed_by_kernels
from rtoslab.parity import ComparedMeasuredPoint, unfair_differences_in_groups
from rtoslab.reference import StoredPointValues, json_lines_with_digest
from rtoslab.reports import make_report_document
from rtoslab.results import PointId
from rtoslab.store import StoredMeasurementPoint
from tests.archive.test_runs import run_of
from tests.cli.test_cli import command_error, rtoslab
from tests.doc_matrix import PAGE, page
from tests.fakes import STEADY, measured_point
from tests.latency_fakes import latency_point

ROOT = find_checkout_root()
CATALOGUE = Catalogue(ROOT)
KNOWN = read_compared_operations()
BY_ID = {operation.id: operation for operation in KNOWN.operation}
NAMES = {"a": "Alpha", "b": "Beta", "c": "Gamma", "board": "BOARD"}
EVEN = KernelChoiceCriteria("general", {"switch": 1, "semaphore_take": 1, "queue_send": 1})


def row(kernel: str, operation: str, *numbers: float, single: bool = False) -> StoredPointValues:
    of = BY_ID[operation]
    point = PointId(
        benchmark=of.benchmark, title="T", kernel=kernel, board="board", cores=of.cores, window_ms=5, config={}
    )  # fmt: skip
    band = CodePlacementValueRange(numbers)
    value = MeasuredValue(point, "r", 1_000_000, {}, of.benchmark, of.metric, of.stat, band.median, of.unit, 9)
    return StoredPointValues(
        point, kernel, "1.0", (replace(value, band=band if len(numbers) > 1 else None),), single_placement=single
    )


def comparison_of(
    figures: Mapping[str, Mapping[str, tuple[float, ...]]],
    question: KernelChoiceCriteria = EVEN,
    lacks: Mapping[str, Mapping[str, str]] | None = None,
    *,
    single: bool = False,
) -> KernelComparison:
    """Of figures by kernel and operation, each in its placements."""
    rows = {
        kernel: [row(kernel, name, *numbers, single=single) for name, numbers in own.items()]
        for kernel, own in figures.items()
    }
    return compare_kernels_on_board("board", question, KNOWN.operation, rows, lacks or {})


WAYS = ("pin", "counter", "probe")
CLEAR = {
    "a": {"switch": (100.0,), "semaphore_take": (50.0,), "queue_send": (200.0,)},
    "b": {"switch": (200.0,), "semaphore_take": (100.0,), "queue_send": (100.0,)},
    "c": {"switch": (400.0,), "semaphore_take": (200.0,), "queue_send": (800.0,)},
}


def test_answer_states_leader_lead_and_disadvantages() -> None:
    lead, against = kernel_ranking_sentences(comparison_of(CLEAR), NAMES)
    assert lead == (
        "In general on the BOARD, Alpha is the best kernel. Beta, the next one, needs 1.26 times as much in the "
        "weighted mean of 3 operations. Gamma, the last one, needs 4.00 times as much in the mean of 3 "
        "operations. "
        "Alpha is the best, or as good as the best, in 2 of 3 operations."
    )
    assert against == 'Disadvantages of Alpha: "queue, send" is 2.00 times that of Beta.'


def test_weights_decide_the_ranking() -> None:
    question = replace(EVEN, use="queues", weights={"queue_send": 5, "switch": 1, "semaphore_take": 1})
    lead, _ = kernel_ranking_sentences(comparison_of(CLEAR, question), NAMES)
    assert lead.startswith("For queues on the BOARD, Beta is the best kernel. Alpha, the next one, needs 1.35 times")


@pytest.mark.parametrize(
    ("mine", "theirs", "best"),
    [
        ((100.0, 104.0), (103.0, 107.0), ("a", "b")),
        ((100.0, 102.0), (103.0, 107.0), ("a",)),
        ((100.0,), (100.0,), ("a", "b")),
        ((100.0,), (101.0,), ("a",)),
        ((0.0,), (0.0,), ("a", "b")),
        ((0.0,), (3.0,), ("a",)),
        ((7.0,), (3.0,), ("b",)),
    ],
)
def test_difference_within_the_bands_does_not_count(
    mine: tuple[float, ...], theirs: tuple[float, ...], best: tuple[str, ...]
) -> None:
    result = comparison_of({"a": {"switch": mine}, "b": {"switch": theirs}})
    assert result.best_kernels_for_operation(BY_ID["switch"]) == best


def test_higher_is_better_for_rates() -> None:
    result = comparison_of(
        {"a": {"smp_switch": (500.0,)}, "b": {"smp_switch": (1000.0,)}}, KernelChoiceCriteria("smp", {"smp_switch": 1})
    )
    assert result.best_kernels_for_operation(BY_ID["smp_switch"]) == ("b",)
    assert result.times_worse_than("a", "b", BY_ID["smp_switch"]).value == 2.0
    assert kernel_ranking_sentences(result, NAMES)[0].startswith("For smp on the BOARD, Beta is the best kernel")


def test_kernels_within_their_bands_cannot_be_told_apart() -> None:
    figures = {"a": {"switch": (100.0, 110.0)}, "b": {"switch": (102.0, 108.0)}, "c": {"switch": (300.0, 310.0)}}
    lead, against = kernel_ranking_sentences(
        comparison_of(figures, KernelChoiceCriteria("general", {"switch": 1})), NAMES
    )
    assert lead == (
        "In general on the BOARD, Alpha and Beta are equally good: another placement of the code could reverse their "
        "order."
    )
    assert against == "Alpha is not clearly worse than another kernel in any operation."


def test_figure_of_one_placement_decides_nothing() -> None:
    result = comparison_of({"a": {"switch": (100.0,)}, "b": {"switch": (200.0,)}}, single=True)
    assert result.best_kernels_for_operation(BY_ID["switch"]) == ("a", "b")
    assert result.operations_used_in_ranking == ()
    assert kernel_ranking_sentences(result, NAMES) == [
        ("These kernels have no figures of the same operations, so they are not ranked.")
    ]


def test_kernel_without_a_required_service_is_shown_but_not_ranked() -> None:
    question = replace(EVEN, needs=("queue",))
    lacks = {"a": {"queue": "its queues hold pointers"}}
    figures = {**CLEAR, "a": {"switch": (1.0,), "semaphore_take": (1.0,)}}
    result = comparison_of(figures, question, lacks)
    lead, against, left_out = kernel_ranking_sentences(result, NAMES)
    assert "Beta is the best kernel" in lead
    assert left_out == "Alpha is not ranked, because it lacks queue (its queues hold pointers)."
    assert against == "Beta is not clearly worse than another kernel in any operation.", (
        "who cannot be chosen is no argument"
    )
    assert result.kernel_operation_value("a", BY_ID["queue_send"]).reason == "its queues hold pointers"


def test_kernels_that_lack_the_same_service_share_one_sentence() -> None:
    question = replace(EVEN, needs=("smp",))
    figures = {**CLEAR, **{kernel: {"switch": (1.0,)} for kernel in ("c", "d", "e")}}
    lacks = {kernel: {"smp": f"{kernel} runs on one core"} for kernel in ("c", "d", "e")}
    names = {**NAMES, "c": "Gamma", "d": "Delta", "e": "Epsilon"}
    left_out = kernel_ranking_sentences(comparison_of(figures, question, lacks), names)[-1]
    assert left_out == "Gamma, Delta and Epsilon are not ranked, because they lack smp."


def test_missing_operation_still_compares_the_other_kernels() -> None:
    figures = {**CLEAR, "c": {"switch": (400.0,), "semaphore_take": (200.0,)}}
    result = comparison_of(figures, lacks={"c": {"queue": "none"}})
    assert [operation.id for operation in result.operations_used_in_ranking] == [
        "switch",
        "semaphore_take",
        "queue_send",
    ]
    assert [(score.kernel, round(score.ratio.value, 2), score.operations) for score in result.kernel_scores] == [
        ("a", 1.0, 3), ("b", 1.26, 3), ("c", 4.0, 2),
    ]  # fmt: skip
    lead = kernel_ranking_sentences(result, NAMES)[0]
    assert "Gamma, the last one, needs 4.00 times as much in the mean of 2 operations." in lead


def test_kernel_with_few_figures_is_not_ranked() -> None:
    """It would lead by the one operation in which it is quick."""
    result = comparison_of({**CLEAR, "c": {"switch": (1.0,)}})
    assert [score.kernel for score in result.kernel_scores] == ["a", "b"]
    assert (
        kernel_ranking_sentences(result, NAMES)[-1]
        == "Gamma is not ranked, because it has figures of only 1 of 3 operations."
    )


def test_single_kernel_gets_an_answer() -> None:
    assert kernel_ranking_sentences(comparison_of({"a": CLEAR["a"]}), NAMES) == [
        "Alpha is the only kernel that is compared, so there is no ranking."
    ]


def test_only_kernel_that_qualifies_is_told_from_the_only_one_compared() -> None:
    question = replace(EVEN, needs=("mutex",))
    result = comparison_of({"a": CLEAR["a"], "b": CLEAR["b"]}, question, {"b": {"mutex": "it has none"}})
    answer = kernel_ranking_sentences(result, NAMES)
    assert answer[0] == "Alpha is the only compared kernel with the required services, so there is no ranking."
    assert len(answer) > 1, "the other one is named with the reason"


def test_small_disadvantages_are_not_mentioned() -> None:
    result = comparison_of(
        {"a": {"switch": (105.0,), "queue_send": (1.0,)}, "b": {"switch": (100.0,), "queue_send": (9.0,)}}
    )
    assert operations_with_clearly_better_rival(result, "a") == []


def test_every_operation_has_an_existing_series() -> None:
    made_otherwise = {"footprint", "masked", "worst_case"}
    for operation in KNOWN.operation:
        if operation.benchmark in made_otherwise:
            continue
        facts = CATALOGUE.find_benchmark(operation.benchmark).facts
        assert operation.metric == "throughput" or operation.metric in facts.latency_series_ids, operation.id
        assert set(operation.services) <= {*CATALOGUE.port_contract_services, "smp"}, operation.id
        assert set(operation.weights) <= set(KNOWN.needs), operation.id
    assert set().union(*(operation.weights for operation in KNOWN.operation)) == set(KNOWN.needs)


def test_every_operation_of_a_benchmark_is_measured_for_the_matrix() -> None:
    points = measurements_to_compare(CATALOGUE, "freertos", boards_to_compare(ROOT), 1)
    present = {(point.stands_for.benchmark, point.stands_for.cores) for point in points if point.points}
    expected = {(operation.benchmark, operation.cores) for operation in KNOWN.operation}
    assert expected - present == {("footprint", 1), ("masked", 1), ("worst_case", 1)}


def test_invalid_request_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="no use named 'contrl'; did you mean 'control'"):
        make_kernel_choice_criteria(KNOWN, CATALOGUE.port_contract_services, "contrl")
    with pytest.raises(UnknownNameError, match="no service named 'que'; did you mean 'queue'"):
        make_kernel_choice_criteria(KNOWN, CATALOGUE.port_contract_services, needs=("que",))
    path = tmp_path / "w.toml"
    path.write_text("[weights]\nswich = 1\n")
    with pytest.raises(UnknownNameError, match="no operation named 'swich'; did you mean 'switch'"):
        make_kernel_choice_criteria(KNOWN, CATALOGUE.port_contract_services, weights=path)
    for text, sentence in (("switch = -1", "is -1; write a number of 0 or more"), ("switch = 0", "at least one")):
        path.write_text(f"[weights]\n{text}\n")
        with pytest.raises(PlanError, match=sentence):
            make_kernel_choice_criteria(KNOWN, CATALOGUE.port_contract_services, weights=path)
    path.write_text("[weights]\nswitch = 2\nflash = 0\n")
    assert make_kernel_choice_criteria(KNOWN, CATALOGUE.port_contract_services, weights=path).weights == {"switch": 2}


def test_documented_figures_equal_the_stored_ones() -> None:
    text = PAGE.read_text()
    assert page(text) == text, "cd python && python -m tests.doc_matrix"


def test_missing_figures_have_reasons() -> None:
    rows = (*example().rows, replace(example().rows[-1], stands_for=row("a", "queue_send", 1).stands_for))
    one = replace(example(), rows=rows)
    (result,) = measurement_coverage_by_board(one).values()
    assert (result.measured, result.requested) == (3, 5)
    assert reasons_for_missing_measured_values([one]) == [
        ("a", "it does not fit", ["footprint", "call_times"], ["board"])
    ]


def example() -> KernelBoardMatrix:
    bare = StoredPointValues(row("a", "flash", 1).stands_for, "a", "", (), "it does not fit")
    rows = (row("a", "switch", 100, 104), row("a", "queue_send", 50), row("a", "masked", 9, single=True), bare)
    return KernelBoardMatrix("a", "2026-11-28", {"board": {"build": {"kernel_version": "1.0"}}}, rows)


def test_matrix_file_survives_writing_and_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    write_kernel_board_matrix(path, example())
    result = read_kernel_board_matrix(path)
    assert (result.board_names, result.kernel_versions, result.date) == (["board"], ["1.0"], "2026-11-28")
    assert [stored_row.single_placement for stored_row in result.rows] == [False, False, True, False]
    assert [[tuple(value.placement_band.values) for value in stored_row.values] for stored_row in result.rows] == [
        [(100, 104)], [(50,)], [(9,)], [],
    ]  # fmt: skip
    before = path.read_bytes()
    write_kernel_board_matrix(path, result)
    assert path.read_bytes() == before


@pytest.mark.parametrize("change", [{"format": 2}, {"kernel": "b"}, {"manifests": []}])
def test_matrix_file_of_another_format_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "a.ndjson"
    write_kernel_board_matrix(path, example())
    head, *rows, _ = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(json_lines_with_digest([{**head, **change}, *rows]))
    with pytest.raises(
        AlteredFileError, match=r"a\.ndjson cannot be read as figures of a kernel .* reference matrix --kernel a"
    ):
        read_kernel_board_matrix(path)


def test_edited_matrix_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    write_kernel_board_matrix(path, example())
    path.write_text(path.read_text().replace("[100,104]", "[99,104]"))
    with pytest.raises(AlteredFileError, match="its checksum does not match"):
        read_kernel_board_matrix(path)


def test_new_rows_replace_only_rows_of_their_boards() -> None:
    def on(board: str, number: float) -> StoredPointValues:
        built = row("a", "switch", number)
        return replace(built, stands_for=built.stands_for.model_copy(update={"board": board}))

    old = replace(example(), rows=(on("x", 1), on("y", 2)), manifests={"x": {"n": 1}, "y": {"n": 2}})
    new = replace(example(), rows=(on("y", 3),), manifests={"y": {"n": 3}})
    result = replace_boards_in_kernel_board_matrix(old, new, ["y"])
    assert [(stored_row.stands_for.board, stored_row.values[0].value) for stored_row in result.rows] == [
        ("x", 1),
        ("y", 3),
    ]
    assert result.manifests == {"x": {"n": 1}, "y": {"n": 3}}
    assert replace_boards_in_kernel_board_matrix(None, new, ["y"]) == new


def test_version_is_that_of_the_board() -> None:
    """Boards may be measured again one after the other, with a newer version of the kernel."""
    first, second = row("a", "switch", 100), row("a", "switch", 90)
    second = replace(second, version="1.1", stands_for=second.stands_for.model_copy(update={"board": "other"}))
    matrix = KernelBoardMatrix("a", "2026-01-01", {}, (first, second))
    assert matrix.kernel_versions == ["1.0", "1.1"]
    assert [matrix.kernel_versions_on_board(board) for board in ("board", "other")] == [["1.0"], ["1.1"]]


def test_figures_of_the_users_run_replace_included_ones(tmp_path: Path) -> None:
    point = measured_point(1, 1000, benchmark_id="t7_synchronisation", kernel="a", title="T7")
    run_of(tmp_path, 0, [point.model_copy(update={"point": point.point.model_copy(update={"board": "board"})})])
    (run,) = tmp_path.iterdir()
    known = {"a": [row("a", "synchronisation", 1.0), row("a", "switch", 10.0)], "b": [row("b", "synchronisation", 5.0)]}
    result = compare_kernels_on_board(
        "board", EVEN, KNOWN.operation, add_measured_values_of_user_runs([run], "board", known), {}
    )
    band = result.kernel_operation_value("a", BY_ID["synchronisation"]).band
    assert band is not None
    assert band.median > 1.0
    stored = result.kernel_operation_value("a", BY_ID["switch"]).band
    assert stored is not None
    assert stored.median == 10.0
    with pytest.raises(StoreError, match="contains no measured point on other, so it changes no figure"):
        add_measured_values_of_user_runs([run], "other", known)


def test_report_has_kernel_columns_and_reasons_for_gaps() -> None:
    figures: dict[str, Mapping[str, tuple[float, ...]]] = {**CLEAR, "c": {"switch": (400.0, 420.0)}}
    document = kernel_choice_report(comparison_of(figures, lacks={"c": {"queue": "none"}}), NAMES, [], {})
    tables = {table.title: table for section in document.sections for table in section.tables}
    assert tables["Kernels compared"].columns == ("cycles, else the unit", ">Alpha", ">Beta", ">Gamma")
    assert [[*sequence] for sequence in tables["Kernels compared"].rows] == [
        ["context switch", "100*", "200", "410 (400 to 420)"],
        ["semaphore, take", "50*", "100", "-"],
        ["queue, send", "200", "100*", "-"],
    ]
    assert [[*sequence] for sequence in tables["Cells without a figure"].rows] == [
        ["Gamma", "semaphore, take", "it was not measured"],
        ["Gamma", "queue, send", "none"],
    ]


def test_command_answers_from_included_figures() -> None:
    here = read_kernel_matrices(ROOT)
    assert here
    board = here[0].board_names[0]
    done = rtoslab("choose", "--board", board, "--json")
    result = json.loads(done.stdout)
    assert result["board"] == board
    assert {item["id"] for item in result["operations"]} <= set(BY_ID)
    assert result["answer"]
    plain = rtoslab("choose", "--board", board, "--for", "control", "--need", "semaphore").stdout
    assert all(len(line) <= 80 for line in plain.splitlines())
    # An operation is one line, however long the kernels' names are.
    (line,) = re.findall(r"^first event to handler, worst.*$", plain, re.MULTILINE)[:1]
    assert re.fullmatch(r"first event to handler, worst( +[\d,.]+\*?\??| +-)+ *", line)


def test_page_of_all_boards_is_complete_and_self_contained(tmp_path: Path) -> None:
    rows = (row("a", "switch", 100, 104), row("a", "masked", 9, single=True))
    here = [replace(example(), rows=rows)]
    page = kernel_choice_explorer_page(KNOWN, here, {"a": "A<b>", "board": "BOARD"}, ["a"], {})
    assert not re.search(r"(src|href)=|https?://", page)
    match = json.loads(re.search(r'id="figures">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    assert match["figures"] == {
        "board": {
            "a": {
                "switch": {"median": 102, "least": 100, "most": 104, "known": True},
                "masked": {"median": 9, "least": 9, "most": 9, "known": False},
            }
        }
    }
    assert match["kernels"] == [{"id": "a", "title": "A<b>", "current": True}]
    assert "A<b>" not in page
    policy = re.search(r"script-src '(sha256-[^']+)'", html.unescape(page))
    script = page.rsplit("<script>", 1)[1].partition("</script>")[0]
    assert policy is not None
    assert policy[1] == "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def test_wrong_use_is_reported_in_one_sentence(tmp_path: Path) -> None:
    assert "add --board BOARD, or -o FILE.html" in command_error(rtoslab("choose"), 1)
    assert "add --board BOARD, or -o FILE.html" in command_error(rtoslab("choose", "-o", tmp_path / "x.md"), 1)
    assert "There is no board named 'picoo'; did you mean 'pico'?" in command_error(
        rtoslab("choose", "--board", "picoo"), 1
    )
    assert "no kernel with figures named 'rt'" in command_error(
        rtoslab("choose", "--board", "pico", "--kernel", "rt"), 1
    )
    assert "did you mean 'queues'?" in command_error(rtoslab("choose", "--board", "pico", "--for", "queue"), 1)
    assert "is not a run directory" in command_error(rtoslab("choose", "--board", "pico", "--from", tmp_path), 1)


def point_of_run(
    kernel: str, cycles: int, *, instrument: str = "probe", board: str = "pico", **config: str
) -> StoredMeasurementPoint:
    built = latency_point(instrument, [cycles] * 3)
    series = tuple(
        samples.model_copy(update={"id": samples.id.replace("give", "task.yield.switch")}) for samples in built.series
    )
    axes = {"benchmark": "context_switch", "kernel": kernel, "board": board, "config": {**built.point.config, **config}}
    run_id = f"{kernel}{board}{instrument}{config}"
    changed = {"point": built.point.model_copy(update=axes), "series": series, "run_id": run_id}
    return StoredMeasurementPoint(Path(), built.model_copy(update=changed), STEADY)


def test_kernels_are_compared_by_the_least_intrusive_instrument() -> None:
    points = [
        point_of_run(kernel, 100 + cost, instrument=by) for kernel, cost in (("freertos", 0), ("rt", 50)) for by in WAYS
    ]
    points[0] = point_of_run("freertos", 900, instrument="pin")
    section = kernel_comparison_section(CATALOGUE, points)
    assert section is not None
    (table,) = section.tables
    assert table.columns == ("cycles, else the unit", ">FreeRTOS", ">rt")
    assert [[*sequence] for sequence in table.rows] == [["context switch", "100*", "150"]]
    assert section.prose[0].startswith("In general on the Raspberry Pi Pico, FreeRTOS is the best kernel")


@pytest.mark.parametrize(
    "points",
    [
        [point_of_run("freertos", 100)],
        [point_of_run("freertos", 100), point_of_run("rt", 150, board="nucleo-f446re")],
        [point_of_run("freertos", 100), point_of_run("rt", 150, opt="-O3")],
        [point_of_run("freertos", 100), point_of_run("rt", 150), point_of_run("rt", 160, clock_hz="48000000")],
    ],
    ids=["one kernel", "two boards", "two levels", "two clocks"],
)
def test_different_conditions_are_not_compared(points: list[StoredMeasurementPoint]) -> None:
    assert kernel_comparison_section(CATALOGUE, points) is None


def test_report_has_the_table_behind_its_answer() -> None:
    points = [point_of_run("freertos", 100), point_of_run("rt", 150)]
    document = with_kernel_comparison_section(CATALOGUE, make_report_document(CATALOGUE, points, None), points)
    leading = [section.id for section in document.sections if section.leads]
    assert [section.id for section in document.sections][: len(leading) + 1] == [*leading, "kernels"]
    single = make_report_document(CATALOGUE, points[:1], None)
    assert with_kernel_comparison_section(CATALOGUE, single, points[:1]) == single


def test_settings_of_a_kernels_start_up_are_reported_as_unequal() -> None:
    plain = CATALOGUE.find_kernel("freertos").facts
    other = plain.model_copy(update={"sets": {"rp2040": {"xip.divider": 4}}})
    message = settings_changed_by_kernels({"a": plain, "b": other}, "rp2040")
    assert message == {"a": {"xip.divider": "the board's own"}, "b": {"xip.divider": 4}}
    assert settings_changed_by_kernels({"a": plain, "b": other}, "stm32f446") == {"a": {}, "b": {}}
    points = [PointId(benchmark="t1", title="", kernel=k, board="pico", cores=1, window_ms=0, config={}) for k in "ab"]
    subjects = [ComparedMeasuredPoint(point.kernel, point, {}, state=message[point.kernel]) for point in points]
    (result,) = unfair_differences_in_groups(CATALOGUE, [subjects])
    assert result.values == {"the board's own": ("a",), "4": ("b",)}


def test_earlier_version_without_a_tree_has_the_title_of_its_port() -> None:
    catalogue = Catalogue(ROOT)
    assert kernel_title(catalogue, "freertos-0.0.1") == catalogue.find_kernel("freertos").facts.title
    assert kernel_title(catalogue, "ucos3") == catalogue.find_kernel("ucos3").facts.title
    assert kernel_title(catalogue, "somethingelse-1") == "somethingelse-1"
