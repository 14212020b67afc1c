"""Faults that cores took, interrupts without a handler, and ends of a run that nobody chose."""

import re
from collections.abc import Iterable, Iterator

from rtoslab.diagnose.board_runs import FirmwareRunReplay, QuickImageRunObservations
from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding, Level
from rtoslab.instruments import ObservedImage, add_source_lines_to_warnings, fault_sentences
from rtoslab.targets import first_symbol_per_address

_SHOWN = 5
_LATE_CLEAR = "the handler then runs a second time"
"""In the board's warning about a handler that clears its request as it returns."""
_FAULT = re.compile(r" faulted at | took a (Hard)?[Ff]ault at ")
"""In the board's warning about a fault."""
_RESET = re.compile(r"^(the .*watchdog.*|software) reset the board in cycle (\d+)(.* more, last in)?")
"""The board's warning about resets, by a watchdog or by software, once or more often."""
_IGNORED_STORE = re.compile("^a store to read-only memory at (0x[0-9a-f]{8}) changed nothing")
"""The board's warning about the first store that a flash or ROM ignored."""
_NULL_BYTES = 4096
"""Addresses below this are those of members behind a null pointer."""


def find_faults(
    subject: ObservedImage, overview: QuickImageRunObservations, replay: FirmwareRunReplay
) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each fault, for each core that hangs in a default handler, and for a board that stopped by
    itself."""
    symbols = first_symbol_per_address(replay.machine.symbols())
    faults, lost = 0, False
    for core, exception, cycle in overview.faults[:_SHOWN]:
        fault = replay.read_fault_at_handler_entry(core, exception, cycle)
        if fault.is_breakpoint_instruction:
            continue
        faults += 1
        first, *callers = fault_sentences(fault, subject.elf, symbols)
        has_returned = overview.returned.get((core, exception), -1) > cycle
        ended = [overview.unhandled] if overview.unhandled and not has_returned and not lost else []
        if overview.stop == "lockup" and not has_returned and not lost:
            ended.append(f"then {overview.detail}")
        lost |= not has_returned
        yield DiagnosisFinding(
            kind="fault",
            level="warning" if has_returned else "error",
            title=first[:1].upper() + first[1:] + (" Its handler returned." if has_returned else ""),
            cycle=cycle,
            cycles=0 if has_returned else overview.end - cycle,
            count=len(overview.faults),
            where=(*(line.strip() for line in callers), *ended),
            facts={"exception": fault.exception_name, "pc": fault.registers["pc"]},
        )
    if overview.unhandled and not lost:
        yield DiagnosisFinding(kind="unhandled", level="error", title=overview.unhandled, cycle=overview.end)
    if not faults and not overview.unhandled and overview.stop not in {"cycles", "watch", ""}:
        level: Level = "error" if overview.stop in {"lockup", "strict"} else "note"
        yield DiagnosisFinding(
            kind="fault",
            level=level,
            title=f"The board stopped ({overview.stop}): {overview.detail}",
            cycle=overview.end,
        )
    yield from _findings_of_board_warnings(
        add_source_lines_to_warnings(overview.warnings, subject.elf), overview.end, bool(faults)
    )


def _findings_of_board_warnings(warnings: Iterable[str], end: int, has_faults: bool) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each warning of the board. `end`: the last cycle of the run."""
    weight: Level
    for warning in warnings:
        if has_faults and _FAULT.search(warning):
            continue  # that is the fault
        if (reset := _RESET.search(warning)) is not None:
            title = f"{warning[:1].upper()}{warning[1:]}."
            weight = "error" if reset[1] != "software" else "warning" if reset[3] else "note"
            yield DiagnosisFinding(kind="reset", level=weight, title=title, cycle=int(reset[2]))
            continue
        if (store := _IGNORED_STORE.search(warning)) is not None:
            null = ", as through a null pointer" if int(store[1], 16) < _NULL_BYTES else ""
            title = f"{warning[:1].upper()}{warning[1:]}{null}."
            yield DiagnosisFinding(kind="ignored store", level="warning", title=title, cycle=end, is_time_known=False)
            continue
        is_late = _LATE_CLEAR in warning
        kind: str = "repeated handler" if is_late else "warning"
        weight = "warning" if is_late else "note"
        title = f"{warning[:1].upper()}{warning[1:]}."
        yield DiagnosisFinding(kind=kind, level=weight, title=title, cycle=end, is_time_known=False)
