"""A point's cycles by function, per count or per sample, so that windows of different speed can be set side by side."""

from collections import Counter

from rtoslab.results import Measured

EXCEPTIONS = "(exception entry and exit)"
ASLEEP = "(asleep)"


def per_what(result: Measured) -> str:
    """What cycles of functions are divided by."""
    return "sample" if result.is_latency else "count"


def cycles_by_function(result: Measured) -> dict[str, float]:
    """Of all cores: each function's own cycles, and those of none. Empty where there is no profile, or no count."""
    events = _events(result)
    if result.virtual is None or not events:
        return {}
    cycles: Counter[str] = Counter()
    for each in result.virtual.functions:
        cycles[each.name] += each.cycles
    for core in result.virtual.cores:
        cycles[EXCEPTIONS] += core.exception_cycles
        cycles[ASLEEP] += core.sleep_cycles
    return {name: value / events for name, value in cycles.items()}


def calls_by_function(result: Measured) -> dict[str, float]:
    """How often each was entered."""
    events = _events(result)
    if result.virtual is None or not events:
        return {}
    calls: Counter[str] = Counter()
    for each in result.virtual.functions:
        calls[each.name] += each.entries
    return {name: value / events for name, value in calls.items()}


def _events(result: Measured) -> int:
    if result.is_latency:
        return sum(len(each.cycles) for each in result.series)
    tasks, cores = set(result.metric_tasks), set(result.metric_cores)
    return sum(each.count for each in result.counters if each.index in tasks and each.core in cores)
