"""Measured functions and intervals against the budgets that their project states."""

from rtoslab.instruments import MeasuredCalls, MeasuredFunction, MeasuredInterval
from rtoslab.project.project_file import ProjectFunction, ProjectInterval


def over_budget(wanted: ProjectFunction, found: MeasuredCalls, measured: MeasuredFunction) -> list[str]:
    """A line for each budget that the function exceeds, or that it cannot be held against."""
    name, where = f"{wanted.image}: {wanted.name}", found.cut and f" ({found.cut})"
    if wanted.max_cycles is None and wanted.max_stack_bytes is None:
        return []
    if not measured.tally.calls and not (measured.open and wanted.max_cycles is None):
        return [f"{name}: no call returned{where}, so that its budget is not held"]
    lines = []
    if wanted.max_cycles is not None:
        begun = next((f", begun in cycle {call.start:,}" for call in measured.greatest if wanted.by in call.by), "")
        seen = [(measured.cycles[wanted.by].maximum, begun)]
        # One that goes on may have taken more already.
        seen += [(call.cycles[wanted.by], f", begun in cycle {call.start:,}, not over") for call in measured.open]
        most, begun = max(seen, key=lambda each: each[0])
        if most > wanted.max_cycles:
            lines.append(f"{name}: {most:,} cycles {wanted.by}, {wanted.max_cycles:,} allowed{begun}")
    depths = [call.stack_bytes for call in measured.open]
    if wanted.max_stack_bytes is not None and None in depths:
        return [*lines, f"{name}: its stack cannot be told, for it sets the stack pointer itself"]
    stack = max([measured.tally.stack_bytes or 0, *(depth or 0 for depth in depths)])
    if wanted.max_stack_bytes is not None and stack > wanted.max_stack_bytes:
        lines.append(f"{name}: {stack:,} bytes of stack, {wanted.max_stack_bytes:,} allowed")
    return lines


def interval_over_budget(wanted: ProjectInterval, found: MeasuredInterval, cut: str) -> list[str]:
    """A line if the interval exceeds its budget, or cannot be held against it."""
    if wanted.max_cycles is None:
        return []
    name = f"{wanted.image}: {wanted.name}"
    if found.cycles is None or found.longest is None:
        return [f"{name}: no interval ended{cut and f' ({cut})'}, so that its budget is not held"]
    if found.cycles.maximum <= wanted.max_cycles:
        return []
    began = f"begun in cycle {found.longest.begin.cycle:,}"
    return [f"{name}: {found.cycles.maximum:,} cycles, {wanted.max_cycles:,} allowed, {began}"]
