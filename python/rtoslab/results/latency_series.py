"""The samples of a latency point, from whichever instrument its image has: counter readings, pin pulses, marks.

Only the first samples of each series count, as many as were asked for: what an image does while its tasks come to their
end is not measured. A real board sends counter readings. A logic analyser at its pin is not decoded here.
"""

from collections.abc import Sequence

from rtoslab.catalogue import EMPTY_SERIES, Benchmark, SeriesFacts
from rtoslab.records import DecodedRun
from rtoslab.results.results import SeriesSamples
from rtoslab.targets import Intervals, WindowObservations

_EMPTY = SeriesFacts(
    id=EMPTY_SERIES,
    title="empty interval",
    starts="the instrument's first end",
    ends="its second",
)


def series_facts(benchmark: Benchmark) -> tuple[SeriesFacts, ...]:
    """Returns the facts of the series in the image's numbering, the runner's own series first."""
    return (_EMPTY, *benchmark.series)


def instrument_of(decoded: DecodedRun) -> str:
    """Returns what the image says it measures with."""
    return decoded.params.get("instrument", "")


def readings(
    decoded: DecodedRun, observed: WindowObservations | None, number: int, ident: str, count: int
) -> Sequence[int]:
    """The first `count` samples of series `number` by the image's instrument, in cycles. Fewer if there are fewer."""
    instrument = instrument_of(decoded)
    if instrument == "counter":
        values = [value for sample in decoded.samples if sample.metric == ident for value in sample.values]
        return values[:count]
    intervals = observed.intervals if observed else None
    if intervals is None:
        return ()
    if instrument == "pin":
        return intervals.pulses_of(number)[:count]
    return [interval.cycles for interval in intervals.of_series(number)[:count]]


def series_of(
    benchmark: Benchmark, decoded: DecodedRun, observed: WindowObservations | None
) -> tuple[SeriesSamples, ...]:
    """Every series of a point whose proofs hold."""
    count = int(decoded.params["samples"])
    intervals = observed.intervals if observed else None
    return tuple(
        _series(facts, decoded, readings(decoded, observed, number, facts.id, count), intervals, number)
        for number, facts in enumerate(series_facts(benchmark))
    )


def _series(
    facts: SeriesFacts, decoded: DecodedRun, values: Sequence[int], intervals: Intervals | None, number: int
) -> SeriesSamples:
    instrument = instrument_of(decoded)
    plain = SeriesSamples(
        id=facts.id,
        title=facts.title,
        instrument=instrument,
        comparable=instrument in facts.instruments,
        overhead=facts.overhead,
        rounds=int(decoded.params.get(str(facts.rounds), facts.rounds)),
        stamped=facts.stamped is not None,
        cycles=tuple(values),
    )
    if intervals is None:
        return plain
    mine = intervals.of_series(number)[: len(values)]
    return plain.model_copy(
        update={
            "mark_cycles": tuple(interval.cycles for interval in mine),
            "start_cycle": tuple(interval.start_cycle for interval in mine),
            "switches": tuple(interval.switches for interval in mine),
            "ticks": tuple(interval.ticks for interval in mine),
            "interrupts": tuple(interval.interrupts for interval in mine),
        }
    )
