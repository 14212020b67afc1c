"""Proofs, calibration loops and the probe effect."""

from collections.abc import Sequence

from rtoslab.analyses import cores_and_pinning_text, empty_measurement_overheads, measurement_window_lengths
from rtoslab.reports.sections.naming import label_points_with_benchmark_and_series, short_test_title
from rtoslab.reports.table import ReportSection, TableData
from rtoslab.results import FailedMeasurement, MeasuredPoint

_INSTRUMENTS = (
    "Proofs check what the kernel did, by probes on its symbols that do not disturb the image, and by the "
    "firmware's counters."
)


def measurement_proofs_report_section(
    points: Sequence[MeasuredPoint], failed: Sequence[FailedMeasurement]
) -> ReportSection | None:
    """Returns the report section with every proof: what it demands and what was seen. None without proofs."""
    measured = label_points_with_benchmark_and_series(points)
    rows = [
        [test, series, proof.rule, proof.demands, proof.saw, proof.verdict.value]
        for test, series, point in measured
        for proof in point.proofs
    ]
    rows += [
        [
            short_test_title(point.point),
            cores_and_pinning_text(point.point),
            proof.rule,
            proof.demands,
            proof.saw,
            proof.verdict.value,
        ]
        for point in failed
        for proof in point.proofs
    ]
    if not rows:
        return None
    totals: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        totals.setdefault((row[0], row[1]), []).append(row[-1])
    brief = TableData(
        "Proofs by test",
        ("test", "run with", ">proofs", "verdict"),
        [
            [*key, str(len(verdicts)), "holds" if set(verdicts) == {"holds"} else ", ".join(sorted(set(verdicts)))]
            for key, verdicts in totals.items()
        ],
    )
    table = TableData("Every proof", ("test", "run with", "rule", "demands that", "seen", "verdict"), rows)
    prose = ("A test whose proof fails gives an error and no figure.", _INSTRUMENTS)
    return ReportSection("proofs", "Proof that each test did what its name says", prose, (), (brief, table))


def measuring_costs_section(points: Sequence[MeasuredPoint]) -> ReportSection | None:
    """Returns the report section on the cost of measuring itself: empty loops and the effect of probes. None if it was
    not measured."""
    rulers, effects = [], []
    for test, series, point in label_points_with_benchmark_and_series(points):
        rulers += [
            [
                test,
                series,
                cost.name,
                str(cost.core),
                str(cost.count),
                f"{cost.minimum}",
                f"{cost.median:g}",
                f"{cost.maximum} (repeat {cost.maximum_at})",
                cost.unit,
            ]
            for cost in empty_measurement_overheads(point)
        ]
        effect = measurement_window_lengths(point)
        if effect:
            loop = "-" if effect.loop_cycles_per_count is None else f"{effect.loop_cycles_per_count:.2f}"
            effects.append(
                [
                    test,
                    series,
                    f"{effect.timer_us:,.0f}",
                    f"{effect.observed_us:,.2f}",
                    f"{effect.difference_us:+.2f}",
                    loop,
                ]
            )
    tables = []
    if effects:
        tables.append(
            TableData(
                "The window by two instruments",
                ("test", "run with", ">timer, us", ">observed, us", ">difference, us", ">empty loop, cycles per count"),
                effects,
                "Timer: time stamps of the firmware with a resolution of 1 us. Observed: from the store that "
                "begins the window to the store that ends it. The empty loop (run flag, count, branch) is part of "
                "every count and is not subtracted.",
            )
        )
    if rulers:
        tables.append(
            TableData(
                "Empty measurements",
                ("test", "run with", "calibration loop", "core", ">repeats", ">minimum", ">median", ">maximum", "unit"),
                rulers,
            )
        )
    return ReportSection("rulers", "Calibration and probe effect", (), (), tables, folded=True) if tables else None
