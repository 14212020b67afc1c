"""The report of stored points before its format: which sections it has, from which analyses."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rtoslab.analyses import Places, gains, placed_points
from rtoslab.base import ReportError
from rtoslab.catalogue import Catalogue, PaperFolder, papers
from rtoslab.parity import comparable, lint_points
from rtoslab.reference import WORD
from rtoslab.reports import heading
from rtoslab.reports.flagged import flagged
from rtoslab.reports.sections import (
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
)
from rtoslab.reports.sections.naming import one_placement
from rtoslab.reports.table import Document, Record, Section
from rtoslab.results import Failed, Measured, NotApplicable
from rtoslab.store import StoredPoint


def make_document(
    catalogue: Catalogue, points: Sequence[StoredPoint], suite_id: str | None, beside: Sequence[StoredPoint] = ()
) -> Document:
    """Analyses stored points. Raises ReportError if there are none.

    `beside` are reference results, shown with the figures of these points and counted nowhere among them.
    """
    if not points:
        raise ReportError("These runs hold no finished point; run `rtoslab run` first.")
    suite = catalogue.suites[suite_id].facts if suite_id is not None and suite_id in catalogue.suites else None
    verified = [each.result for each in points if isinstance(each.result, Measured)]
    placed = placed_points(verified)
    shown = [
        *(each.middle for each in placed),
        *(each.result for each in beside if isinstance(each.result, Measured)),
    ]
    measured = [each for each in shown if not each.is_latency]
    timed = [each for each in shown if each.is_latency]
    own_counts = [each for each in placed if not each.middle.is_latency]
    failed = [each.result for each in points if isinstance(each.result, Failed)]
    absent = [each.result for each in points if isinstance(each.result, NotApplicable)]
    places = Places(placed)

    def of_one(section: Section | None) -> Section | None:
        return one_placement(section) if section is not None and places.are_several else section

    parts: list[Section | None] = [
        reference.reference_section(catalogue.root, beside),
        parity.parity_section(lint_points(catalogue, [*points, *beside]), several=comparable([*points, *beside])),
        missing.not_measured(verified, failed, absent),
        tests.tests_section(catalogue, verified),
        of_one(tick_cost.tick_section(timed)),
        of_one(tick_cost.search_section(timed)),
        latency.latency_section(timed, places),
        latency.instruments_section(timed, places),
        probe_effect.probe_effect_section([each.middle for each in placed], places, _made_of(catalogue)),
        placements.placements_section(placed),
        speed.throughput_section(measured, places),
        speed.gain_section(measured, places),
        scaling.scaling_section(measured, places),
        of_one(stress.stress_section(measured)),
        of_one(losses.losses_section(measured, {each.middle.run_id for each in placed})),
        of_one(costs.cycles_section(measured)),
        of_one(costs.locks_section(measured)),
        of_one(costs.functions_section(measured)),
        memory.memory_section(shown, places),
        paper.paper_section(own_counts, suite, _paper(catalogue, suite_id)),
        evidence.proofs_section(verified, failed),
        conformance.conformance_section(points),
        evidence.rulers_section(verified),
        manifest.manifest_section(points),
    ]
    versions = _kernel_versions([*points, *beside])
    pairs = gains(each.middle for each in own_counts)
    document = Document(
        title=heading.title(catalogue, points, suite),
        subtitle=heading.subtitle(points, suite),
        summary=summary.summary(verified, places, pairs, failed, absent),
        sections=tuple(_with_versions(part, versions) for part in parts if part is not None),
        points=tuple(points),
    )
    return flagged(document, shown)


def _kernel_versions(points: Sequence[StoredPoint]) -> dict[str, str]:
    """Returns the version of each kernel that was measured in one version only, by the manifests."""
    found: dict[str, set[str]] = {}
    for each in points:
        build = each.manifest.get("build")
        if isinstance(build, dict) and isinstance(build.get("kernel_version"), str):
            found.setdefault(each.result.point.kernel, set()).add(build["kernel_version"])
    return {kernel: versions.pop() for kernel, versions in found.items() if len(versions) == 1}


def _with_versions(section: Section, versions: Mapping[str, str]) -> Section:
    """Returns the section, with the kernel's version in each record that has none."""

    def of(records: Sequence[Record]) -> list[Record]:
        return [{"version": versions.get(_label(record)), **record} for record in records]

    return replace(
        section,
        charts=[replace(each, records=of(each.records)) for each in section.charts],
        tables=[replace(each, records=of(each.records)) for each in section.tables],
    )


def _label(record: Record) -> str:
    """Returns the kernel's name as points have it."""
    return f"{record.get('kernel')} {WORD}" if record.get("flags") == "reference" else str(record.get("kernel"))


def _made_of(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """Benchmarks of counts with the series that one count is made of."""
    found = {name: each.facts.metric.intervals for name, each in catalogue.benchmarks.items()}
    return {name: intervals for name, intervals in found.items() if intervals}


def _paper(catalogue: Catalogue, suite_id: str | None) -> PaperFolder | None:
    """The paper of a suite; None if the suite is of none."""
    folder = catalogue.suites[suite_id].folder if suite_id is not None and suite_id in catalogue.suites else None
    return next((each for each in papers(catalogue).values() if each.folder == folder), None)
