"""Prints results on the terminal: a table with a row per test and a column per number of cores."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rtoslab.analyses import (
    CodePlacementLookup,
    CodePlacementValueRange,
    MeasuredLatencySeries,
    MeasuredPointInCodePlacements,
    absent_series,
    counts_per_second_of_point,
    cycle_use_of_cores,
    distinct_point_names,
    group_measurement_points_without_values,
    group_points_over_code_placements,
    kernel_pairs,
    latencies_by_instrument,
    lock_wait_share,
    measurement_id_without_code_placement,
    multicore_throughput_gains,
    point_id_without_instrument,
    short_test_name,
    task_pinning_sentence,
)
from rtoslab.base import count_with_noun
from rtoslab.catalogue import INSTRUMENTS
from rtoslab.reports.deviations import (
    MARK,
    append_deviation_mark_to_kernel_names,
    contract_deviations_by_kernel,
    deviation_footnote,
)
from rtoslab.reports.proof_words import successful_proof_count_clause
from rtoslab.reports.table import cycle_count_text, measured_value_with_range_text
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement, PointId
from rtoslab.store import AnyResult

BANDS: Final = "A figure is the median over placements, with its range in brackets."


def print_point_results(results: Sequence[AnyResult], console: Console) -> None:
    """Prints the results of points on the terminal. Those on one and on several cores of the same test are side by
    side."""
    every = [result for result in results if isinstance(result, MeasuredPoint)]
    placed = group_points_over_code_placements(every)
    places = CodePlacementLookup(placed)
    measured = [point.middle for point in placed]
    in_window = [item for item in measured if not item.has_latency_samples]
    kernels = contract_deviations_by_kernel(measured)
    tables: list[Table] = []
    if in_window:
        timed = {item.point.benchmark for item in measured if item.has_latency_samples}
        rows = [
            any_result
            for any_result in _merge_results_over_code_placements(results, placed)
            if any_result.point.benchmark not in timed
        ]
        tables.append(_throughput_table(rows, places))
        tables += _kernel_pair_table(in_window)
    if len(in_window) < len(measured):
        tables.append(make_latency_table(measured, places, console.width))
    for table in tables:
        if kernels and all(item.deviations for item in measured):  # no row need name them then
            table.title = f"{table.title} {MARK}"
        console.print(table)
    if kernels:
        console.print(Text(deviation_footnote(kernels)), soft_wrap=True)
    if every:
        console.print(f"{count_with_noun(len(every), 'point')} measured; {successful_proof_count_clause(every)}.")
    note = task_pinning_sentence([item.point for item in in_window])
    if note:
        console.print(note, soft_wrap=True)
    if places.has_several_placements:
        console.print(BANDS, soft_wrap=True)
        single = [measured_point_label(point.middle) for point in placed if len(point.placements) == 1]
        if single:
            console.print(Text(f"Measured in one placement, without a band: {', '.join(single)}."), soft_wrap=True)
    _print_points_without_measurements(results, console)


def _merge_results_over_code_placements(
    results: Sequence[AnyResult], placed: Sequence[MeasuredPointInCodePlacements]
) -> list[AnyResult]:
    """Returns the results in their order, with one result instead of all placements of a point."""
    firsts: dict[int, AnyResult] = {id(placed_point.placements[0]): placed_point.middle for placed_point in placed}
    for group, point in _group_unmeasured_results_by_placement(results):
        firsts[id(group[0])] = group[0].model_copy(update={"point": point})
    return [firsts[id(result)] for result in results if id(result) in firsts]


def _print_points_without_measurements(results: Sequence[AnyResult], console: Console) -> None:
    """Prints the points that failed, and those that do not apply with the reason."""
    for group, point in _group_unmeasured_results_by_placement(results):
        result = group[0]
        if isinstance(result, FailedMeasurement):
            where = measured_point_label(result.model_copy(update={"point": point}))
            where += f", {count_with_noun(len(group), 'placement')}" if len(group) > 1 else ""
            console.print(
                Text("failed", style="red") + Text(f" {where} ({result.stage}): {result.message}"), soft_wrap=True
            )
    for (where, reason, tests), boards in _boards_by_reason_for_missing_tests(
        _tests_by_impossibility_reason(results)
    ).items():
        line = f" {', '.join(tests)} {where.format(board=', '.join(boards))}: {reason}"
        console.print(Text("n/a", style="yellow") + Text(line), soft_wrap=True)


def _group_unmeasured_results_by_placement(
    results: Sequence[AnyResult],
) -> list[tuple[Sequence[FailedMeasurement | NotApplicableMeasurement], PointId]]:
    """Groups results without a number that differ only in the placement. Returns each group with the point that stands
    for it."""
    absent = [result for result in results if not isinstance(result, MeasuredPoint)]
    return group_measurement_points_without_values(
        absent, [result for result in results if isinstance(result, MeasuredPoint)]
    )


def _boards_by_reason_for_missing_tests(
    missing: Mapping[tuple[str, str, str], Sequence[str]],
) -> dict[tuple[str, str, tuple[str, ...]], list[str]]:
    """Returns the boards on which the same tests are impossible for the same reason, by (where, reason, tests)."""
    by_reason: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (where, board, reason), tests in missing.items():
        by_reason.setdefault((where, reason, tuple(tests)), []).append(board)
    return by_reason


def _tests_by_impossibility_reason(results: Sequence[AnyResult]) -> dict[tuple[str, str, str], list[str]]:
    """Returns the tests (or series of a test) that are impossible, by (where, board, reason).

    In `where` (the test's conditions) `{board}` stands for the board.
    """
    missing: dict[tuple[str, str, str], list[str]] = {}
    for result in results:
        reasons: list[tuple[str, str]] = []
        if isinstance(result, NotApplicableMeasurement):
            reasons = [(short_test_name(result.point), result.reason)]
        elif isinstance(result, MeasuredPoint):
            reasons = [
                (f"{short_test_name(result.point)} ({series.title})", series.reason) for series in result.absent_series
            ]
        point = measurement_id_without_code_placement(point_id_without_instrument(result.point)).model_copy(
            update={"board": "{board}"}
        )
        where = measured_point_label(result.model_copy(update={"point": point})).partition(" ")[2]
        for test, reason in reasons:
            tests = missing.setdefault((where, result.point.board, reason), [])
            if test not in tests:
                tests.append(test)
    return missing


def print_proofs_of_points(results: Sequence[AnyResult], console: Console) -> None:
    """Prints every proof of every point on the terminal."""
    table = Table("test", "cores", "rule", "seen", "verdict", title="Proofs", title_justify="left")
    for result in results:
        for finding in () if isinstance(result, NotApplicableMeasurement) else result.proofs:
            table.add_row(
                short_test_name(result.point), str(result.point.cores), finding.rule, finding.saw, finding.verdict.value
            )
    console.print(table)


def measured_point_label(result: AnyResult) -> str:
    """Returns a point's benchmark, kernel, board, cores and configuration in one line."""
    point = result.point
    config = "".join(f" {key}={value}" for key, value in point.config.items())
    return f"{point.benchmark} {point.kernel} {point.board} {count_with_noun(point.cores, 'core')}{config}"


def _throughput_table(results: Sequence[AnyResult], places: CodePlacementLookup) -> Table:
    """Returns a table for the terminal with a row for each test: rates by number of cores, gain of more cores and waits
    for locks."""
    cores = sorted({result.point.cores for result in results})
    groups: dict[tuple[str, str], dict[int, AnyResult]] = {}
    measured = [result for result in results if isinstance(result, MeasuredPoint)]
    kernels = contract_deviations_by_kernel(measured)
    alike = distinct_point_names([result.point.model_copy(update={"cores": 1}) for result in results])
    for name, item in zip(alike, results, strict=True):
        series = ", ".join(part for part in name.split(", ") if part != count_with_noun(1, "core"))
        groups.setdefault((item.point.title, append_deviation_mark_to_kernel_names(series, kernels)), {})[
            item.point.cores
        ] = item
    pairs = {gain.many_cores.point.run_id: gain for gain in multicore_throughput_gains(measured)}
    named = any(series for _, series in groups)
    table = Table(title="Throughput, counts per second in the window", title_justify="left")
    table.add_column("test")
    if named:
        table.add_column("run with")
    for count in cores:
        table.add_column(count_with_noun(count, "core"), justify="right", no_wrap=not places.has_several_placements)
    if pairs:
        table.add_column("gain", justify="right", no_wrap=not places.has_several_placements)
        table.add_column("cycles awaiting locks", justify="right")
    for (title, series), row in groups.items():
        rates = [_loop_passes_per_second_text(row.get(count), places) for count in cores]
        cells = {count: item for count, item in row.items() if isinstance(item, MeasuredPoint)}
        table.add_row(
            title, *([series] if named else []), *rates, *(_multicore_speedup_cells(cells, places) if pairs else [])
        )
    return table


def _kernel_pair_table(measured: Sequence[MeasuredPoint]) -> list[Table]:
    """Returns a table for the terminal of two kernels that run at the same time, one on each core. Empty if no point
    has two."""
    pairs = kernel_pairs(measured)
    if not pairs:
        return []
    table = Table(title="Two kernels, one on each core, at the same time", title_justify="left")
    table.add_column("test")
    table.add_column("kernels")
    several = any(pair.configuration_text for pair in pairs)
    if several:
        table.add_column("configuration")
    for name in ("counts/s in all", "of one core alone", "of one kernel on both cores"):
        table.add_column(name, justify="right")
    for pair in pairs:
        gain = "-" if pair.work_in_single_core_units is None else f"{pair.work_in_single_core_units:.0%}"
        against = "-" if pair.gain_over_shared_kernel is None else f"{pair.gain_over_shared_kernel:.0%}"
        name = short_test_name(pair.cores[0].point)
        conditions = [pair.configuration_text] if several else []
        table.add_row(name, pair.kernel_names, *conditions, f"{sum(pair.kernel_rates_hz):,.0f}", gain, against)
    return [table]


def _loop_passes_per_second_text(result: AnyResult | None, places: CodePlacementLookup) -> str:
    """Returns a point's counts per second, with their range over placements of the code, as text.

    Its status (such as failed) if the point has no figure. A dash if there is no result.
    """
    if isinstance(result, MeasuredPoint):
        return measured_value_with_range_text(
            places.range_of_measured_values(result, lambda row: counts_per_second_of_point(row).total_hz),
            "{:,.0f}".format,
        )
    return "-" if result is None else result.status


def _multicore_speedup_cells(cells: dict[int, MeasuredPoint], places: CodePlacementLookup) -> list[str]:
    """Returns the table's cells for the gain of more cores and the waits for locks. `cells`: the points of one test by
    number of cores."""
    if not cells:
        return ["-", "-"]
    widest = cells[max(cells)]
    pair = next(
        (gain for gain in multicore_throughput_gains(cells.values()) if gain.many_cores.point.run_id == widest.run_id),
        None,
    )
    spins = pair is not None and bool(cycle_use_of_cores(widest))
    return [
        measured_value_with_range_text(places.multicore_gain_ratio(pair), "x {:.2f}".format) if pair else "-",
        measured_value_with_range_text(
            places.range_of_measured_values(widest, lambda row: lock_wait_share(cycle_use_of_cores(row))),
            "{:.1%}".format,
        )
        if spins
        else "-",
    ]


WIDE: Final = 110
"""Characters that a line needs for every column. A narrower table has the most important ones."""

_FormatCell = Callable[[MeasuredLatencySeries, Callable[[str], CodePlacementValueRange]], str]
"""Formats a cell from the series of the best instrument and a function that returns its figures by name."""
_SPREAD: Final[tuple[tuple[str, bool, _FormatCell], ...]] = (
    ("n", False, lambda best, _: str(best.spread.n)),
    ("min", True, lambda _, of: measured_value_with_range_text(of("minimum"), cycle_count_text)),
    ("p99", False, lambda _, of: measured_value_with_range_text(of("p99"), cycle_count_text)),
    ("max", True, lambda _, of: measured_value_with_range_text(of("maximum"), cycle_count_text)),
    ("at", False, lambda _, of: measured_value_with_range_text(of("maximum_at"), "{:.0f}".format)),
    ("jitter", False, lambda _, of: measured_value_with_range_text(of("jitter"), cycle_count_text)),
    (
        "us",
        True,
        lambda best, of: measured_value_with_range_text(
            of("median"), lambda cycles: f"{best.to_microseconds(cycles):,.3f}"
        ),
    ),
)
"""Head, whether a narrow table has the column too, and its cells."""


def make_latency_table(measured: Sequence[MeasuredPoint], places: CodePlacementLookup, width: int) -> Table:
    """Returns a table of latencies for a terminal. `width`: its characters in a line. A narrow one gets fewer
    columns."""
    compared = latencies_by_instrument(measured)
    absent = absent_series(measured)
    together = distinct_point_names(
        [*(comparison.point for comparison in compared), *(absence.point for absence in absent)], with_cores=False
    )
    names = together[: len(compared)]
    used = [name for name in INSTRUMENTS if any(name in comparison.by_instrument for comparison in compared)]
    spread = [(head, cell) for head, narrow, cell in _SPREAD if narrow or width >= WIDE]
    table = Table(title="Latencies, cycles of the core's clock, the instrument's own cost subtracted")
    table.title_justify = "left"
    table.add_column("series")
    if any(together):
        table.add_column("run with")
    for head in (*used, *(head for head, _ in spread)):
        table.add_column(head, justify="right", no_wrap=not places.has_several_placements)
    kernels = contract_deviations_by_kernel(measured)
    for pair, name in zip(compared, names, strict=True):
        of = partial(_latency_statistic_over_placements, pair.latency_by_least_intrusive_instrument, places)
        medians = [_median_with_range_text(pair.by_instrument.get(one), places) for one in used]
        where = [append_deviation_mark_to_kernel_names(name, kernels)] if any(together) else []
        table.add_row(
            pair.title, *where, *medians, *(cell(pair.latency_by_least_intrusive_instrument, of) for _, cell in spread)
        )
    for gone, name in zip(absent, together[len(compared) :], strict=True):
        where = [append_deviation_mark_to_kernel_names(name, kernels)] if any(together) else []
        table.add_row(gone.title, *where, *("n/a" for _ in used), *("-" for _ in spread))
    table.caption = (
        f"{', '.join(used)}: the median by this instrument. All other columns: the samples of the probe, or of the "
        "counter if there is no probe. us: their median."
    )
    table.caption_justify = "left"
    return table


def _median_with_range_text(latency: MeasuredLatencySeries | None, places: CodePlacementLookup) -> str:
    """Returns the median of a series in cycles, with its range over placements of the code, as text. A dash for
    None."""
    return (
        "-"
        if latency is None
        else measured_value_with_range_text(
            _latency_statistic_over_placements(latency, places, "median"), cycle_count_text
        )
    )


def _latency_statistic_over_placements(
    latency: MeasuredLatencySeries, places: CodePlacementLookup, name: str
) -> CodePlacementValueRange:
    """Returns the statistic `name` of a series of latencies, with its range over placements of the code."""
    return places.latency_series_value_range(latency, attrgetter(f"spread.{name}"))
