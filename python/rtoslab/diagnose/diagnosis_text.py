"""A diagnosis in words and tables, and as plain values for programs."""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from rtoslab.base import TitledTable, count_with_noun
from rtoslab.diagnose.diagnosis import FirmwareDiagnosis
from rtoslab.diagnose.diagnosis_findings import KINDS, DiagnosisFinding

_WIDTH: Final = 80
_INDENT: Final = "   "


def format_cycles_as_time(cycles: int, clock_hz: int) -> str:
    """Returns cycles as a time in milliseconds, or in microseconds below one millisecond, as text."""
    seconds = cycles / clock_hz
    if seconds < 0.001:
        return f"{seconds * 1e6:,.1f} us"
    return f"{seconds * 1e3:,.3f} ms"


def diagnosis_summary_sentences(diagnosis: FirmwareDiagnosis) -> list[str]:
    """Returns sentences on which image a diagnosis ran, for how long, and how many findings it has."""
    kernel = f", {diagnosis.kernel}" if diagnosis.kernel else ", unknown kernel"
    length = format_cycles_as_time(diagnosis.end_cycle - diagnosis.start_up_cycles, diagnosis.clock_hz)
    failures, notes = len(diagnosis.failing_findings), len(diagnosis.findings) - len(diagnosis.failing_findings)
    also = f" and {count_with_noun(notes, 'note')}" if notes else ""
    start_up = format_cycles_as_time(diagnosis.start_up_cycles, diagnosis.clock_hz)
    clock = f"{diagnosis.clock_hz / 1e6:g} MHz"
    return [
        f"{diagnosis.label} on {diagnosis.board}{kernel}: {length} at {clock} after {start_up} of start-up.",
        f"{count_with_noun(failures, 'finding')}{also}." if failures else f"Nothing wrong was found{also}.",
    ]


def diagnosis_heading_lines(diagnosis: FirmwareDiagnosis) -> Iterator[str]:
    """Yields the first lines of a diagnosis on the terminal: what was run, and how many findings there are."""
    for sentence in diagnosis_summary_sentences(diagnosis):
        yield from _wrap_text(sentence)


def finding_time_sentence(finding: DiagnosisFinding, clock_hz: int) -> str:
    """Returns a sentence on when a finding began, how long it lasted, and how often it was seen."""
    if not finding.is_time_known:
        return "at an unknown time"
    length = f", for {format_cycles_as_time(finding.cycles, clock_hz)}" if finding.cycles else ""
    often = f", {count_with_noun(finding.count, 'time')}" if finding.count > 1 else ""
    return f"at {format_cycles_as_time(finding.cycle, clock_hz)} (cycle {finding.cycle:,}){length}{often}"


def longest_interrupt_masking_sentence(diagnosis: FirmwareDiagnosis) -> str:
    """Returns a sentence on the longest time for which interrupts were masked after start-up. Empty if they never
    were."""
    masked = diagnosis.masked
    if masked is None:
        return ""
    length = format_cycles_as_time(masked.cycles, diagnosis.clock_hz)
    return (
        f"After start-up interrupts were masked for at most {masked.cycles:,} cycles ({length}), by {masked.function} "
        f"in {masked.place}."
    )


def diagnosis_finding_text_lines(number: int, finding: DiagnosisFinding, clock_hz: int) -> Iterator[str]:
    """Yields the lines of one finding on the terminal: what, when, how long, how often, and where. `number` is its
    place in the list."""
    kind = KINDS[finding.kind]
    level = "" if finding.level == "error" else f" ({finding.level})"
    yield from _wrap_text(
        f"{number}. {kind.upper()}{level} {finding_time_sentence(finding, clock_hz)}", hanging=_INDENT
    )
    yield from _wrap_text(finding.title, _INDENT)
    for line in finding.where:
        yield from _wrap_text(f"- {line}", _INDENT, hanging="  ")


def diagnosis_closing_lines(diagnosis: FirmwareDiagnosis) -> Iterator[str]:
    """Yields the last lines of a diagnosis on the terminal: the longest masked time, and what was not examined."""
    yield from _wrap_text(longest_interrupt_masking_sentence(diagnosis))
    for line in diagnosis.not_looked_for:
        yield from _wrap_text(f"Not checked: {line}")


def cpu_load_and_stack_peak_table(diagnosis: FirmwareDiagnosis) -> TitledTable:
    """Returns a table of tasks and handlers with their load and the peaks of their stacks."""
    stacks = {use.task: use for use in diagnosis.stacks}
    rows = []
    for share in diagnosis.loads:
        use = stacks.pop(share.name, None)
        rows.append(
            (
                share.name,
                f"{share.percent:.2f}",
                share.times,
                *(_stack_use_cells(use.used_bytes, use.size_bytes) if use else _NONE),
            )
        )
    rows += [(use.task, None, None, *_stack_use_cells(use.used_bytes, use.size_bytes)) for use in stacks.values()]
    columns = ("task or handler", "% of a core", "times", "stack peak", "of bytes", "%")
    return TitledTable("load", "Load, and peaks of stacks in this run", columns, rows)


_NONE: Final = (None, None, None)


def _stack_use_cells(used: int, size: int) -> tuple[int, int, str]:
    """Returns the cells of a stack: used bytes, size, percent."""
    return used, size, f"{100 * used / size:.0f}"


def diagnosis_as_json(diagnosis: FirmwareDiagnosis) -> dict[str, Any]:
    """Returns the whole diagnosis as an object for JSON."""
    return {
        "image": diagnosis.label,
        "board": diagnosis.board,
        "kernel": diagnosis.kernel,
        "clock_hz": diagnosis.clock_hz,
        "start_up_cycles": diagnosis.start_up_cycles,
        "end_cycle": diagnosis.end_cycle,
        "findings": [asdict(finding) for finding in diagnosis.findings],
        "load": [asdict(share) for share in diagnosis.loads],
        "stacks": [asdict(use) for use in diagnosis.stacks],
        "masked_longest": asdict(diagnosis.masked) if diagnosis.masked else None,
        "not_looked_for": list(diagnosis.not_looked_for),
    }


def _wrap_text(text: str, indent: str = "", hanging: str = "") -> list[str]:
    """Returns a text as lines of the terminal's width."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent + hanging, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
