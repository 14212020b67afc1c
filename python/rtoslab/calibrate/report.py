"""A calibration as tables."""

from collections.abc import Mapping

import numpy as np

from rtoslab.base import Table, Value
from rtoslab.calibrate.calibration_table import CalibrationTable
from rtoslab.calibrate.readings import Readings
from rtoslab.calibrate.settings_fit import Finding, Fit


def findings_table(fit: Fit, grades: Mapping[str, str]) -> Table:
    """Each rule: what it was, what silicon says."""
    rows = [
        (
            finding.key,
            grades.get(finding.key, ""),
            finding.default,
            finding.best if finding.seen else None,
            f"{finding.low} to {finding.high}" if finding.seen else None,
            f"{finding.error_cycles:g}" if finding.seen else None,
            _verdict(fit, finding),
            ", ".join(_short(key) for key in finding.together),
        )
        for finding in fit.findings
    ]
    columns = (
        "rule",
        "grade so far",
        "default",
        "fits best",
        "fits as well",
        "left, cycles",
        "silicon says",
        "together with",
    )
    return Table("rules", "Timing rules", columns, rows)


def _verdict(fit: Fit, finding: Finding) -> str:
    if not finding.seen:
        return "shows in no row"
    if finding.unexplained_cycles:
        return f"not explained; {finding.best} is nearest"
    if finding.differs:
        return f"it is {finding.best}" if finding.low == finding.high else f"it is {finding.low} to {finding.high}"
    if finding.together:
        refuted = any(group.differs for group in fit.groups if finding.key in group.keys)
        return "refuted together" if refuted else "not refuted"
    return "confirmed" if finding.low == finding.high else "not refuted"


def _short(key: str) -> str:
    return key.removeprefix("timing.")


def rows_table(table: CalibrationTable, silicon: Readings, before: Readings, after: Readings) -> Table:
    """Each row: silicon, the virtual board's difference before and after, the spread of silicon's rounds."""
    true, first, last = silicon.centres(), before.centres(), after.centres()
    rows: list[tuple[Value, ...]] = []
    for row in table.row:
        if row.id not in true:
            continue
        spread = int(np.max(np.ptp(silicon.rows[row.id], axis=1)))
        worst = [_largest(model[row.id] - true[row.id]) for model in (first, last)]
        rows.append((row.group, row.title, f"{np.mean(true[row.id]):.2f}", spread, *worst))
    columns = ("group", "row", "silicon, mean cycles", "spread", "default differs by", "best fit differs by")
    return Table("rows", "Rows", columns, rows)


def _largest(difference: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    return f"{difference[np.argmax(np.abs(difference))]:+g}"
