"""A point's cycles by function, per count or per sample, so that windows of different speed can be set side by side."""

from collections import Counter

from rtoslab.results import MeasuredPoint

EXCEPTIONS = "(exception entry and exit)"
ASLEEP = "(asleep)"


def noun_of_measured_event(result: MeasuredPoint) -> str:
    """Returns the noun for the events of a benchmark by which cycles are divided: `sample` or `count`."""
    return "sample" if result.has_latency_samples else "count"


def cycles_by_function(result: MeasuredPoint) -> dict[str, float]:
    """Returns the cycles per count (or sample) of each function, of exceptions and of sleep, over all cores. Empty if
    the measured point has no profile or no count."""
    if result.virtual is None:
        return {}
    cycles = Counter[str]()
    for function in result.virtual.functions:
        cycles[function.name] += function.cycles
    for core in result.virtual.cores:
        cycles[EXCEPTIONS] += core.exception_cycles
        cycles[ASLEEP] += core.sleep_cycles
    return divide_by_measured_events(result, cycles)


def calls_by_function(result: MeasuredPoint) -> dict[str, float]:
    """Returns how often each function was entered per count (or sample) of a measured point."""
    if result.virtual is None:
        return {}
    calls = Counter[str]()
    for function in result.virtual.functions:
        calls[function.name] += function.entries
    return divide_by_measured_events(result, calls)


def number_of_counts_or_latency_samples(result: MeasuredPoint) -> int:
    """Returns the number of counts of a measured point, or of samples for a latency benchmark."""
    if result.has_latency_samples:
        return sum(len(samples.cycles) for samples in result.series)
    tasks, cores = set(result.metric_tasks), set(result.metric_cores)
    return sum(counter.count for counter in result.counters if counter.index in tasks and counter.core in cores)


def divide_by_measured_events(result: MeasuredPoint, counts: Counter[str]) -> dict[str, float]:
    """Returns the numbers divided by the counts (or samples) of a measured point. Empty if there are none."""
    events = number_of_counts_or_latency_samples(result)
    return {name: value / events for name, value in counts.items()} if events else {}
