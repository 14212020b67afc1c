"""Checks that the stress is as requested: the stated share of the stress tasks' iterations accessed the object.

The draws are computed again from the seed. So the number of accesses is known exactly, and so is how many iterations
are between two of them: the more there are, the longer the task takes from one access to the next."""

from itertools import islice
from math import sqrt
from typing import Final

import numpy as np

from rtoslab.proofs.draws import (
    LEAST_AGREEMENT,
    best_correlation_with_random_draws,
    is_access_count_plausible,
    random_percentages_from_state,
)
from rtoslab.proofs.evidence import BenchmarkProofEvidence, BenchmarkProofParameters, make_judged_proof_finding
from rtoslab.proofs.observed_steps import observed_benchmark_steps_to_judge
from rtoslab.proofs.step_match import KernelService
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import CALL

_MOST_GAPS: Final = 200
"""Gaps between accesses that are compared with the draws."""


class StressShareParameters(BenchmarkProofParameters):
    """The parameters of the proof `stress_share` in benchmark.toml. The proof checks that the stress tasks accessed
    the object in the requested share of their iterations."""

    percent: str
    """The parameter with the requested share."""
    accesses: str
    """The check record with the accesses of a stress task in the window."""
    service: str
    """The service that an access calls once."""
    seed: str | None = None
    """The parameter from which the stress tasks draw. None: the draws are not computed again."""
    seed_factor: int = 1
    """A stress task begins to draw from this number times the sum of seed and core."""
    deviations: float = 4
    """By how many standard deviations of independent draws the share may be missed."""
    tolerance: int = 2
    """Accesses on the edges of the window."""


def judge_evidence(params: StressShareParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the stress tasks accessed the object in the requested share of their iterations, by the firmware's
    counters, and by calls if there are probes."""
    required = int(evidence.decoded.params[params.percent])
    demands = f"{required} % of the stress iterations, and nothing else there, call {params.service}"
    problems: list[str] = []
    seen: list[str] = []
    for core in set(evidence.cores) - set(evidence.metric_cores):
        draws = sum(count.count_in_window for count in evidence.decoded.counts if count.core == core)
        accesses = evidence.firmware_self_check_values(core).get(params.accesses)
        if accesses is None:
            problems.append(f"core {core}: {params.accesses} was not reported")
            continue
        text = f"core {core}: {accesses} accesses in {draws} iterations ({accesses / max(draws, 1):.2%})"
        spread = sqrt(draws * required * (100 - required)) / 100
        good = abs(accesses - draws * required / 100) <= params.deviations * spread + (
            params.tolerance if required else 0
        )
        if evidence.observed is not None:
            calls = evidence.observed.calls[core, params.service]
            text += f", {calls} calls"
            good = good and abs(calls - accesses) <= (params.tolerance if required else 0)
        if params.seed is not None:
            state = (int(evidence.decoded.params[params.seed]) + core) * params.seed_factor & 0xFFFF_FFFF
            good = good and is_access_count_plausible(
                state, required, draws, accesses, params.tolerance if required else 0
            )
            gaps = _code_cycles_between_service_calls(evidence, core, params.service)
            drawn = [number < required for number in islice(random_percentages_from_state(state), draws)]
            agreement = best_correlation_with_random_draws(gaps, np.diff(np.flatnonzero(drawn)).astype(np.float64))
            if agreement is not None:
                text += f", gaps that agree with the draws by {agreement:.2f}"
                good = good and agreement >= LEAST_AGREEMENT
        (seen if good else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)


def _code_cycles_between_service_calls(evidence: BenchmarkProofEvidence, core: int, service: str) -> list[int]:
    """Returns the cycles of the benchmark's own code before each observed access but the first, as far as they are
    known without a break. Empty without probes."""
    if evidence.observed is None:
        return []
    called = KernelService(evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu), service)
    others = evidence.control_blocks_of_runner_tasks()
    cycles = [
        step.own_cycles
        for step in observed_benchmark_steps_to_judge(evidence)
        if step.kind == CALL and step.core == core and step.who not in others and called.is_call_of_kernel_service(step)
    ]
    known: list[int] = []
    for own in cycles[1:_MOST_GAPS]:
        if own is None:
            break
        known.append(own)
    return known
