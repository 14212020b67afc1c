"""The conformance results of each kernel's port."""

from collections.abc import Sequence

from rtoslab.base import count_with_noun
from rtoslab.reports.table import ReportSection, TableData
from rtoslab.store import StoredMeasurementPoint

_NOT_APPLICABLE = "n/a: "
_DEVIATES = "deviates: "
_PROSE = (
    "Before figures are measured, the conformance suite checks on this board and in this configuration that the "
    "kernel's port orders, wakes and preempts tasks and keeps time as the port contract requires. The file "
    "conformance.json of each point lists every check."
)


def conformance_section(points: Sequence[StoredMeasurementPoint]) -> ReportSection | None:
    """Returns the report section on the checks of the port contract that each kernel's port passed. None if no manifest
    has a verdict."""
    verdicts: dict[str, tuple[str, dict[str, str]]] = {}
    for stored_point in points:
        stored = stored_point.manifest.get("conformance")
        if isinstance(stored, dict):
            point = stored_point.result.point
            name = f"{point.kernel} on {point.board}, {count_with_noun(point.cores, 'core')}"
            verdicts[stored["digest"]] = (name, stored["checks"])
    if not verdicts:
        return None
    rows, absent, deviating = [], [], []
    for digest, (name, checks) in verdicts.items():
        counts = {word: sum(item == word for item in checks.values()) for word in ("holds", "fails", "unseen")}
        reasons: dict[str, list[str]] = {}
        for check, words in checks.items():
            if words.startswith(_NOT_APPLICABLE):
                reasons.setdefault(words.removeprefix(_NOT_APPLICABLE), []).append(check)
        none = str(sum(map(len, reasons.values())))
        apart = {check: words.removeprefix(_DEVIATES) for check, words in checks.items() if words.startswith(_DEVIATES)}
        deviating += [[name, check, seen] for check, seen in apart.items()]
        verdict = "fails" if counts["fails"] or not counts["holds"] else "deviates" if apart else "holds"
        rows.append([name, *(str(count) for count in counts.values()), str(len(apart)), none, verdict, digest])
        absent += [[name, ", ".join(checks), reason] for reason, checks in reasons.items()]
    columns = ("port", ">checks that hold", ">that fail", ">unseen", ">that deviate", ">n/a", "verdict", "digest")
    tables = [TableData("Conformance by port and configuration", columns, rows)]
    if deviating:
        tables.append(TableData("Declared deviations", ("port", "check", "observed, and the reason"), deviating))
    if absent:
        tables.append(TableData("Checks that do not apply", ("port", "checks", "why"), absent))
    return ReportSection("conformance", "Conformance of the ports", (_PROSE,), (), tables, folded=True)
