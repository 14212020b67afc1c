"""Makes the document of a report: its sections, from the analyses of stored points."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from rtoslab.analyses import (
    CodePlacementLookup,
    group_points_over_code_placements,
    results_depending_on_addresses,
    short_test_name,
    task_pinning_sentence,
)
from rtoslab.base import ReportError, count_with_noun
from rtoslab.catalogue import Catalogue, MeasurementSuite, PaperFolder, read_papers
from rtoslab.parity import UnfairDifference, find_unfair_differences, has_comparable_points
from rtoslab.reference import REFERENCE_MARK
from rtoslab.reports.deviations import MARK, add_kernel_deviation_footnotes, contract_deviations_by_kernel
from rtoslab.reports.reader_names import kernel_and_board_titles, replace_ids_by_titles
from rtoslab.reports.sections import (
    answer,
    conformance,
    costs,
    evidence,
    latency,
    losses,
    manifest,
    memory,
    missing,
    paper,
    parity,
    placements,
    probe_effect,
    reference,
    scaling,
    speed,
    stress,
    summary,
    tests,
    tick_cost,
    two_kernels,
)
from rtoslab.reports.sections.naming import add_median_placement_note
from rtoslab.reports.sections.speed_figures import speed_figures
from rtoslab.reports.table import Record, ReportDocument, ReportSection
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement, PointId
from rtoslab.store import StoredMeasurementPoint


def make_report_document(
    catalogue: Catalogue,
    points: Sequence[StoredMeasurementPoint],
    suite_id: str | None,
    beside: Sequence[StoredMeasurementPoint] = (),
) -> ReportDocument:
    """Returns the report on stored points, with all its sections. Raises ReportError if there are no points.

    `beside`: reference results, which are shown with these points' figures, but not counted.
    """
    if not points:
        raise ReportError("These runs contain no finished point; run `rtoslab run` first.")
    suite = catalogue.suites[suite_id].facts if suite_id is not None and suite_id in catalogue.suites else None
    verified = [point.result for point in points if isinstance(point.result, MeasuredPoint)]
    placed = group_points_over_code_placements(verified)
    middles = [placed_point.middle for placed_point in placed]
    shown = [*middles, *(item.result for item in beside if isinstance(item.result, MeasuredPoint))]
    measured = [item for item in shown if not item.has_latency_samples]
    timed = [item for item in shown if item.has_latency_samples]
    own_counts = [placed_point for placed_point in placed if not placed_point.middle.has_latency_samples]
    failed = [point.result for point in points if isinstance(point.result, FailedMeasurement)]
    absent = [point.result for point in points if isinstance(point.result, NotApplicableMeasurement)]
    places = CodePlacementLookup(placed)

    def add_note_on_median_code_placement(section: ReportSection | None) -> ReportSection | None:
        """Returns the section, with a note if it shows only one of a point's placements of the code."""
        return add_median_placement_note(section) if section is not None and places.has_several_placements else section

    names = kernel_and_board_titles(
        catalogue, [*(point.result.point for point in points), *(item.point for item in shown)]
    )
    deviates = {f"{name}": f"{names[name]}{MARK}" for name in contract_deviations_by_kernel(shown)}
    figures = speed_figures(shown, places, results_depending_on_addresses([*points, *beside]), {**names, **deviates})
    unfair = find_unfair_differences(catalogue, [*points, *beside])
    cost_sections = (
        costs.core_cycles_report_section,
        costs.spinlocks_report_section,
        costs.kernel_functions_report_section,
    )
    parts: list[ReportSection | None] = [
        answer.fastest_kernels_section(figures, places),
        missing.report_section_of_unmeasured_points(verified, failed, absent),
        speed.throughput_section(measured, places),
        latency.latency_section(timed, places),
        speed.multicore_gain_section(measured, places),
        scaling.core_scaling_report_section(measured, places),
        add_note_on_median_code_placement(two_kernels.concurrent_kernels_report_section(measured)),
        add_note_on_median_code_placement(stress.stress_section(measured)),
        add_note_on_median_code_placement(losses.multicore_losses_report_section(measured, figures)),
        *(add_note_on_median_code_placement(make(measured)) for make in cost_sections),
        add_note_on_median_code_placement(tick_cost.tick_cost_section(timed)),
        add_note_on_median_code_placement(tick_cost.next_task_search_report_section(timed)),
        memory.memory_use_report_section(shown, places),
        latency.instrument_comparison_report_section(timed, places),
        probe_effect.probe_effect_section(middles, places, _intervals_by_benchmark(catalogue)),
        placements.code_placement_report_section(placed),
        paper.paper_comparison_report_section(own_counts, suite, _paper_of_suite(catalogue, suite_id)),
        tests.tests_section(catalogue, verified),
        reference.reference_results_report_section(catalogue.root, beside),
        parity.measurement_fairness_report_section(unfair, several=has_comparable_points([*points, *beside])),
        evidence.measurement_proofs_report_section(verified, failed),
        conformance.conformance_section(points),
        evidence.measuring_costs_section(verified),
        manifest.manifest_report_section(points),
    ]
    versions = _kernel_versions([*points, *beside])
    document = ReportDocument(
        title=document_title(catalogue, points, suite),
        subtitle=document_subtitle(catalogue, points, suite),
        summary=" ".join(
            filter(
                None,
                (
                    summary.measurement_report_summary_text(verified, failed, absent),
                    _measurement_conditions_text(shown, beside, unfair),
                ),
            )
        ),
        sections=tuple(_add_kernel_versions(part, versions) for part in parts if part is not None),
        points=tuple(points),
    )
    return replace_ids_by_titles(add_kernel_deviation_footnotes(document, shown), names)


def _measurement_conditions_text(
    shown: Sequence[MeasuredPoint], beside: Sequence[StoredMeasurementPoint], unfair: Sequence[UnfairDifference]
) -> str:
    """Returns the sentences on the conditions of the measurements: pinned tasks, reference results, unequal
    settings."""
    sentences = [task_pinning_sentence([point.point for point in shown])]
    if beside:
        sentences.append("Kernels marked as reference were not measured in this run: their results come with rtoslab.")
    if unfair:
        differing = ", ".join(dict.fromkeys(unfairness.concept.title for unfairness in unfair))
        sentences.append(f"The kernels were not measured under equal conditions. Differences: {differing}.")
    return " ".join(filter(None, sentences))


def _kernel_versions(points: Sequence[StoredMeasurementPoint]) -> dict[str, str]:
    """Returns the version of each kernel from the points' manifests. Kernels that were measured in several versions are
    left out."""
    result: dict[str, set[str]] = {}
    for point in points:
        build = point.manifest.get("build")
        if isinstance(build, dict) and isinstance(build.get("kernel_version"), str):
            result.setdefault(point.result.point.kernel, set()).add(build["kernel_version"])
    return {kernel: versions.pop() for kernel, versions in result.items() if len(versions) == 1}


def _add_kernel_versions(section: ReportSection, versions: Mapping[str, str]) -> ReportSection:
    """Returns the section, with the kernel's version added to each record that has none."""

    def add_kernel_version_to_records(records: Sequence[Record]) -> list[Record]:
        """Returns the records, each with the version of its kernel."""
        return [{"version": versions.get(_kernel_name_with_reference_mark(record)), **record} for record in records]

    return replace(
        section,
        charts=[replace(chart, records=add_kernel_version_to_records(chart.records)) for chart in section.charts],
        tables=[replace(table, records=add_kernel_version_to_records(table.records)) for table in section.tables],
    )


def _kernel_name_with_reference_mark(record: Record) -> str:
    """Returns the name of a record's kernel as points have it: the reference mark follows it if the record is a
    reference result."""
    return (
        f"{record.get('kernel')} {REFERENCE_MARK}" if record.get("flags") == "reference" else str(record.get("kernel"))
    )


def _intervals_by_benchmark(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """Returns, for each benchmark that counts, the ids of the latency series that together make up one count. Others
    are left out."""
    result = {name: benchmark.facts.metric.intervals for name, benchmark in catalogue.benchmarks.items()}
    return {name: intervals for name, intervals in result.items() if intervals}


def _paper_of_suite(catalogue: Catalogue, suite_id: str | None) -> PaperFolder | None:
    """Returns the paper that a suite belongs to (they share a folder). None if it has none."""
    folder = catalogue.suites[suite_id].folder if suite_id is not None and suite_id in catalogue.suites else None
    return next(
        (paper_folder for paper_folder in read_papers(catalogue).values() if paper_folder.folder == folder), None
    )


MOST_NAMED = 3
"""Up to this many tests are named in a title. Of more it gives their number."""


def document_title(
    catalogue: Catalogue, points: Sequence[StoredMeasurementPoint], suite: MeasurementSuite | None
) -> str:
    """Returns a report's title: the suite's if the points are those of the suite, else one made of tests, kernels and
    boards."""
    points_ = [point.result.point for point in points]
    if suite is not None and all(
        set(held) == set(axis)
        for held, axis in (
            ([point_id.kernel for point_id in points_], suite.kernels),
            ([point_id.board for point_id in points_], suite.boards),
            ([point_id.cores for point_id in points_], suite.cores),
        )
    ):
        return suite.title
    shown = [point.result.point for point in points if isinstance(point.result, MeasuredPoint)] or points_
    kernels = {name: item.facts.title for name, item in catalogue.kernels.items()}
    boards = {name: item.facts.title for name, item in catalogue.boards.items()}
    with_what = _join_names(
        [kernels.get(name, name) for name in _distinct_names(point_id.kernel for point_id in shown)]
    )
    where = _join_names([boards.get(name, name) for name in _distinct_names(point_id.board for point_id in shown)])
    cores = sorted({point_id.cores for point_id in shown})
    several = f", {_join_names([count_with_noun(core, 'core') for core in cores])}" if cores != [1] else ""
    return f"{_test_names_text(shown)}: {with_what} on the {where}{several}"


def document_subtitle(
    catalogue: Catalogue, points: Sequence[StoredMeasurementPoint], suite: MeasurementSuite | None
) -> str:
    """Returns a report's subtitle: versions, clock frequencies, the kind of board, and the paper that a suite
    follows."""
    kernels, boards, targets = set(), set(), set()
    for point in points:
        build = point.manifest.get("build")
        target = point.manifest.get("target")
        board = point.manifest.get("board")
        if isinstance(build, dict) and isinstance(target, dict) and isinstance(board, dict):
            name = str(build.get("kernel"))
            known = catalogue.kernels.get(name)
            kernels.add(f"{known.facts.title if known else name} {build.get('kernel_version')}")
            boards.add(f"{board.get('title')} at {int(build.get('clock_hz', 0)) / 1e6:g} MHz")
            targets.add("virtual board" if target.get("kind") == "virtual" else "real board")
    parts = [", ".join(sorted(kernels)), ", ".join(sorted(boards)), ", ".join(sorted(targets))]
    if suite:
        parts.append(f"after {suite.paper}")
    return " · ".join(part for part in parts if part)


def _test_names_text(points: Sequence[PointId]) -> str:
    """Returns the tests of a report as text for its title: up to three titles, or short names as in `T1 to T8`, or only
    their number."""
    titles = _distinct_names(point.title for point in points)
    if len(titles) <= MOST_NAMED:
        return _join_names(titles)
    short = _distinct_names(short_test_name(point) for point in points)
    numbers = [re.fullmatch(r"([A-Z]+)([0-9]+)", name) for name in short]
    row = [(number[1], int(number[2])) for number in numbers if number is not None]
    if len(row) == len(short) and all(a == c and b + 1 == d for (a, b), (c, d) in pairwise(row)):
        return f"{short[0]} to {short[-1]}"
    return count_with_noun(len(titles), "benchmark")


def _distinct_names(names: Iterable[str]) -> list[str]:
    """Returns the names, each once."""
    return list(dict.fromkeys(names))


def _join_names(names: Sequence[str]) -> str:
    """Returns names as `a, b and c`, with semicolons where a name has a comma itself."""
    comma = "; " if any("," in name for name in names) else ", "
    return names[0] if len(names) == 1 else f"{comma.join(names[:-1])} and {names[-1]}"
