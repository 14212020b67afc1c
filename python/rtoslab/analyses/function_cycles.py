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
    if result.virtual is None:
        return {}
    cycles = Counter[str]()
    for each in result.virtual.functions:
        cycles[each.name] += each.cycles
    for core in result.virtual.cores:
        cycles[EXCEPTIONS] += core.exception_cycles
        cycles[ASLEEP] += core.sleep_cycles
    return _per_event(result, cycles)


def calls_by_function(result: Measured) -> dict[str, float]:
    """How often each was entered."""
    if result.virtual is None:
        return {}
    calls = Counter[str]()
    for each in result.virtual.functions:
        calls[each.name] += each.entries
    return _per_event(result, calls)


def _per_event(result: Measured, found: Counter[str]) -> dict[str, float]:
    """Per count or per sample; empty if there is none."""
    if result.is_latency:
        events = sum(len(each.cycles) for each in result.series)
    else:
        tasks, cores = set(result.metric_tasks), set(result.metric_cores)
        events = sum(each.count for each in result.counters if each.index in tasks and each.core in cores)
    return {name: value / events for name, value in found.items()} if events else {}
