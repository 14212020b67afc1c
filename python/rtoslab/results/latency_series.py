"""The samples of a latency point, from the instrument of its image: counter readings, pin pulses, marks.

Only the first samples of each series count, as many as were requested: the end of an image's tasks is not measured. A
real board sends counter readings. A logic analyser at its pin is not decoded here."""

from collections.abc import Sequence

from rtoslab.catalogue import EMPTY_SERIES, Benchmark, LatencySeriesDescription
from rtoslab.records import DecodedRun
from rtoslab.results.results import SeriesSamples
from rtoslab.targets import LatencyBenchmarkIntervals, MeasuredCodeInterval, MeasurementWindowObservations

_EMPTY = LatencySeriesDescription(
    id=EMPTY_SERIES,
    title="empty interval",
    starts="the instrument's first end",
    ends="its second",
)


def series_facts(benchmark: Benchmark) -> tuple[LatencySeriesDescription, ...]:
    """Returns the description of each series (kind of interval) of a benchmark, in the image's numbering, the empty
    interval first."""
    return (_EMPTY, *benchmark.series)


def measuring_instrument_of_image(decoded: DecodedRun) -> str:
    """Returns the instrument with which the image measured its samples. Empty if it counts."""
    return decoded.params.get("instrument", "")


def interval_readings_of_instrument(
    decoded: DecodedRun, observed: MeasurementWindowObservations | None, number: int, ident: str, count: int
) -> Sequence[int]:
    """Returns the first `count` samples of the series with this number and id, in cycles, as the image's instrument
    measured them. Fewer if there are fewer."""
    instrument = measuring_instrument_of_image(decoded)
    if instrument == "counter":
        values = [value for sample in decoded.samples if sample.metric == ident for value in sample.values]
        return values[:count]
    intervals = observed.intervals if observed else None
    if intervals is None:
        return ()
    if instrument == "pin":
        return intervals.pulse_lengths_of_series(number)[:count]
    return [interval.cycles for interval in intervals.intervals_of_series(number)[:count]]


def latency_series(
    benchmark: Benchmark, decoded: DecodedRun, observed: MeasurementWindowObservations | None
) -> tuple[SeriesSamples, ...]:
    """Returns all series (kinds of intervals) of a latency benchmark with their samples."""
    count = int(decoded.params["samples"])
    intervals = observed.intervals if observed else None
    return tuple(
        _make_series(
            facts,
            decoded,
            interval_readings_of_instrument(decoded, observed, number, facts.id, count),
            intervals,
            number,
        )
        for number, facts in enumerate(series_facts(benchmark))
    )


def observed_series_by_probe(
    benchmark: Benchmark, observed: MeasurementWindowObservations | None
) -> tuple[SeriesSamples, ...]:
    """Returns the intervals that the virtual board observed beside a benchmark's counts, as series. Empty on a real
    board."""
    intervals = observed.intervals if observed else None
    if intervals is None:
        return ()
    return tuple(
        SeriesSamples(
            id=facts.id,
            title=facts.title,
            instrument="probe",
            comparable=True,
            cycles=tuple(interval.cycles for interval in mine),
            **_virtual_board_interval_columns(mine),
        )
        for number, facts in enumerate(benchmark.series, 1)
        for mine in [intervals.intervals_of_series(number)]
    )


def _make_series(
    facts: LatencySeriesDescription,
    decoded: DecodedRun,
    values: Sequence[int],
    intervals: LatencyBenchmarkIntervals | None,
    number: int,
) -> SeriesSamples:
    """Returns one series with its samples, and with what the virtual board observed of each."""
    instrument = measuring_instrument_of_image(decoded)
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
    mine = intervals.intervals_of_series(number)[: len(values)]
    return plain.model_copy(update=_virtual_board_interval_columns(mine))


def _virtual_board_interval_columns(intervals: Sequence[MeasuredCodeInterval]) -> dict[str, tuple[int, ...]]:
    """Returns those columns of a series that the virtual board observed: cycles between marks, switches, ticks,
    interrupts."""
    return {
        "mark_cycles": tuple(interval.cycles for interval in intervals),
        "start_cycle": tuple(interval.start_cycle for interval in intervals),
        "switches": tuple(interval.switches for interval in intervals),
        "ticks": tuple(interval.ticks for interval in intervals),
        "interrupts": tuple(interval.interrupts for interval in intervals),
    }
