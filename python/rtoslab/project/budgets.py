"""Compares measured functions and intervals with the budgets in the project file."""

from rtoslab.instruments import MeasuredCalls, MeasuredFunction, MeasuredInterval
from rtoslab.project.project_file import MeasuredProjectFunction, ProjectIntervalBudget


def exceeded_budgets(function: MeasuredProjectFunction, calls: MeasuredCalls, measured: MeasuredFunction) -> list[str]:
    """Returns a line for each budget that a function exceeds, or that could not be checked. `function`: its entry in
    the project file."""
    name, cut_text = f"{function.image}: {function.name}", calls.cut_reason and f" ({calls.cut_reason})"
    if function.max_cycles is None and function.max_stack_bytes is None:
        return []
    if not measured.tally.calls and not (measured.open and function.max_cycles is None):
        return [f"{name}: no call returned{cut_text}, so its budget was not checked"]
    lines = []
    if function.max_cycles is not None:
        begin_text = next(
            (f", begun in cycle {call.start:,}" for call in measured.greatest if function.by in call.measures), ""
        )
        seen = [(measured.cycles[function.by].maximum, begin_text)]
        # One that continues may have taken more already.
        seen += [(call.cycles[function.by], f", begun in cycle {call.start:,}, not over") for call in measured.open]
        most, begin_text = max(seen, key=lambda pair: pair[0])
        if most > function.max_cycles:
            lines.append(f"{name}: {most:,} cycles {function.by}, {function.max_cycles:,} allowed{begin_text}")
    depths = [call.stack_bytes for call in measured.open]
    if function.max_stack_bytes is not None and None in depths:
        return [*lines, f"{name}: its stack use is not known, because it sets the stack pointer itself"]
    stack = max([measured.tally.stack_bytes or 0, *(depth or 0 for depth in depths)])
    if function.max_stack_bytes is not None and stack > function.max_stack_bytes:
        lines.append(f"{name}: {stack:,} bytes of stack, {function.max_stack_bytes:,} allowed")
    return lines


def exceeded_interval_budget(interval: ProjectIntervalBudget, measured: MeasuredInterval, cut: str) -> list[str]:
    """Returns a line if an interval exceeds its budget, or if this could not be checked. `cut`: why the measurement
    ended early, or empty."""
    if interval.max_cycles is None:
        return []
    name = f"{interval.image}: {interval.name}"
    if measured.cycles is None or measured.longest is None:
        return [f"{name}: no interval ended{cut and f' ({cut})'}, so its budget was not checked"]
    if measured.cycles.maximum <= interval.max_cycles:
        return []
    began = f"begun in cycle {measured.longest.begin.cycle:,}"
    return [f"{name}: {measured.cycles.maximum:,} cycles, {interval.max_cycles:,} allowed, {began}"]
