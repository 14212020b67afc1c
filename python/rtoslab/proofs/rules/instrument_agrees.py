"""Checks that the instrument and the marks around the measured code agree on its time, within the instrument's own
cost.

The instrument's cost is measured in the same image, with an empty interval: at most `usual_cycles`, more where code is
slower. From place to place it differs a little. A series may usually take `usual_cycles` more or less (18 were seen),
and still more where another optimisation level makes the code slower. A sample may take `slack_cycles` more or less.
The report says how much it was. If flash has a cache, the few instructions between mark and reading may have to be
fetched first: one sample in `rare` of a series may be longer than that. None is shorter than the time between its
marks, for the readings are outside of them. By the pin a sample may be some cycles shorter. A store goes through a
buffer, and the store that raises the pin may take longer through it than the one that lowers it (4 cycles were seen). A
sample with an interrupt between mark and reading is left out: the reading contains the interrupt, the marks do not."""

from statistics import median

from rtoslab.catalogue import EMPTY_SERIES
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import code_intervals_that_became_samples
from rtoslab.results import (
    BenchmarkProofFinding,
    interval_readings_of_instrument,
    measuring_instrument_of_image,
    series_facts,
)


class InstrumentAccuracyProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `instrument_agrees` in benchmark.toml. The proof checks each sample of the
    instrument (cycle counter or pin) against the time that the virtual board saw between the marks of the same
    interval. The rule holds for every latency benchmark."""

    slack_cycles: int = 64
    usual_cycles: int = 32
    rare: int = 10
    nothing_cycles: int = 4
    """The longest time between the marks of an empty interval. More where code is slower."""
    buffered_cycles: int = 8
    """By how much longer than another a store to the pin may take."""


def judge_evidence(
    params: InstrumentAccuracyProofParameters, evidence: BenchmarkProofEvidence
) -> BenchmarkProofFinding:
    """Checks each sample of the instrument (cycle counter or pin) against the time that the virtual board saw between
    the marks of the same interval."""
    instrument = measuring_instrument_of_image(evidence.decoded)
    demands = f"each sample by {instrument} is the time between its marks and the instrument's own cost"
    observed = evidence.observed
    if observed is None or observed.intervals is None:
        return make_unjudged_proof_finding(params.rule, demands)
    costs: dict[str, list[int]] = {}
    for number, facts in enumerate(series_facts(evidence.benchmark)):
        if instrument in facts.instruments and facts.stamped is None:
            values = interval_readings_of_instrument(evidence.decoded, observed, number, facts.id, evidence.samples)
            pairs = zip(values, observed.intervals.intervals_of_series(number), strict=False)
            costs[facts.id] = [value - interval.cycles for value, interval in pairs if not interval.touched]
    shortest = -params.buffered_cycles if instrument == "pin" else 0
    own = median(costs.get(EMPTY_SERIES) or [0])
    slowdown = evidence.board_slowdown_over_pico()
    problems = _find_code_in_empty_intervals(params, evidence)
    seen: list[str] = []
    for name, mine in costs.items():
        if mine:
            text = f"{name}: {min(mine)} to {max(mine)} cycles longer than between the marks"
            far = sum(abs(sample - own) > params.slack_cycles for sample in mine)
            usual = abs(median(mine) - own) <= params.usual_cycles * (slowdown if "opt" in evidence.settings else 1)
            good = far * params.rare <= len(mine) and usual and min(mine) >= shortest
            good = good and (name != EMPTY_SERIES or own <= params.usual_cycles * slowdown)
            (seen if good else problems).append(text)
    return make_judged_proof_finding(
        params.rule, demands, problems, [_cost_range_text(costs)] if seen else ["nothing to compare"]
    )


def _find_code_in_empty_intervals(
    params: InstrumentAccuracyProofParameters, evidence: BenchmarkProofEvidence
) -> list[str]:
    """Returns a problem if code was executed between the marks of the empty intervals.
    Their length is subtracted from that of each other interval, which would seem shorter.
    """
    if EMPTY_SERIES not in evidence.benchmark.latency_series_ids:
        return []
    empty = [
        interval.cycles
        for interval in code_intervals_that_became_samples(evidence, EMPTY_SERIES)
        if not interval.touched
    ]
    usual = median(empty) if empty else 0
    if usual > params.nothing_cycles * evidence.board_slowdown_over_pico():
        return [f"{EMPTY_SERIES}: {usual:g} cycles between the marks of an empty interval"]
    return []


def _cost_range_text(costs: dict[str, list[int]]) -> str:
    """Returns the range of the instrument's cost in cycles over all series, as text. `costs` has the samples of each
    series."""
    every = [sample for mine in costs.values() for sample in mine]
    return f"{min(every)} to {max(every)} cycles longer than between the marks, over all series"
