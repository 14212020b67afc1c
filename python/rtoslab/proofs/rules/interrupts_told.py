"""Checks that the interrupts of the window are those that the benchmark requests, those of the kernel, and one tick a
period.

Any other interrupt, or a more frequent tick, takes time from the measured code and shows in no figure. While the runner
measures the cost of its instrument, interrupts are masked: of the ticks that are due then, one comes. On the line by
which a kernel's cores interrupt each other, as many entries are the kernel's own as it has sent."""

from rtoslab.catalogue import EMPTY_SERIES
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import code_intervals_that_became_samples
from rtoslab.proofs.expected_steps import LINES
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import APPLICATION, CORE_INTERRUPT, FIRST_EXTERNAL, SYSTICK, function_category

_HANDLER = "isr_irq"
_EDGE = 1
"""Interrupts from other cores that were sent before the window opened."""


class InterruptsToldParameters(BenchmarkProofParameters):
    """The parameters of the proof `interrupts_told` in benchmark.toml. The proof checks that the cores took only
    interrupts that belong to the benchmark or the kernel, and one tick per period."""

    lines: tuple[str, ...] = ()
    """Further interrupt lines of the board (soft, asynchronous, edge, and fifo of two kernels) that no other proof of
    the benchmark names."""


def judge_evidence(params: InterruptsToldParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the cores took only interrupts that belong to the benchmark or the kernel, and one tick per
    period."""
    lines = [*params.lines, *(line for line in LINES if _is_interrupt_named_in_proofs(evidence, line))]
    demands = (
        f"no interrupt but {', '.join(dict.fromkeys(lines)) or 'none of the board'}, the kernel's own and its ticks"
    )
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    numbers = {FIRST_EXTERNAL + _interrupt_line_number(evidence, item) for item in lines}
    between, problems = _inter_core_interrupts(evidence)
    for core, entered in sorted(evidence.observed.exceptions.items()):
        known = numbers | {between.get(core)}
        problems += [
            f"core {core} entered interrupt {number - FIRST_EXTERNAL} {count} times"
            for number, count in sorted(entered.items())
            if number >= FIRST_EXTERNAL and number not in known and not _is_kernel_handler(number, evidence)
        ]
    ticks, expected, edges = _count_ticks(evidence), evidence.window_ticks, len(evidence.cores)
    lost = _count_masked_ticks(evidence) + edges
    if evidence.meets_condition("tasks = 1"):
        problems += [
            f"{count} ticks{where}, {expected} expected"
            for where, count in ticks.items()
            if not expected - lost <= count <= expected + edges
        ]
    return make_judged_proof_finding(
        params.rule, demands, problems, [f"{count} ticks{where}" for where, count in ticks.items()]
    )


def _count_ticks(evidence: BenchmarkProofEvidence) -> dict[str, int]:
    """Returns how many ticks all cores took together, or each core if the kernel has a tick on each. The keys are the
    words that say so."""
    assert evidence.observed is not None
    by_core = {core: entered.get(SYSTICK, 0) for core, entered in evidence.observed.exceptions.items()}
    if len(evidence.cores) == 1 or evidence.kernel.several_cores.ticks == "one":
        return {"": sum(by_core.values())}
    return {f" on core {core}": by_core.get(core, 0) for core in evidence.cores}


def _count_masked_ticks(evidence: BenchmarkProofEvidence) -> int:
    """Returns how many ticks may be lost while the runner measures its instrument's cost with interrupts masked."""
    observed = evidence.observed
    if observed is None or observed.intervals is None or EMPTY_SERIES not in evidence.benchmark.latency_series_ids:
        return 0
    empty = code_intervals_that_became_samples(evidence, EMPTY_SERIES)
    if not empty:
        return 0
    masked = empty[-1].start_cycle + empty[-1].cycles - empty[0].start_cycle
    return masked * int(evidence.decoded.params["tick_hz"]) // evidence.decoded.begin.clock_hz


def _inter_core_interrupts(evidence: BenchmarkProofEvidence) -> tuple[dict[int, int], list[str]]:
    """Returns the exception number by which the other cores interrupt each core, and sentences about problems."""
    observed, lines = evidence.observed, evidence.kernel.several_cores.lines.get(evidence.board.chip, ())
    assert observed is not None
    if len(evidence.cores) == 1:
        return {}, []
    between = {core: FIRST_EXTERNAL + line for core, line in zip(evidence.cores, lines, strict=False)}
    problems: list[str] = []
    for core, number in between.items():
        entered = observed.exceptions.get(core, {}).get(number, 0)
        sent = sum(observed.calls[other, CORE_INTERRUPT] for other in evidence.cores if other != core)
        if entered > sent + _EDGE:
            problems.append(f"core {core} entered {entered} interrupts of other cores, which sent {sent}")
    return between, problems


def _is_interrupt_named_in_proofs(evidence: BenchmarkProofEvidence, line: str) -> bool:
    """Whether a proof of the benchmark names the interrupt line, or the line's event starts one of its series."""
    facts = evidence.benchmark
    words = {word for table in facts.proof for value in table.values() for word in _words_of_all_strings(value)}
    stamped, phase = line == "asynchronous" and facts.does_interval_begin_at_timer_interrupt, facts.phase
    return line in words or stamped or (phase is not None and phase.interrupt == line)


def _words_of_all_strings(value: object) -> list[str]:
    """Returns the words of all strings in a value of benchmark.toml, lists included."""
    if isinstance(value, str):
        return value.split()
    return [word for item in value for word in _words_of_all_strings(item)] if isinstance(value, list | tuple) else []


def _interrupt_line_number(evidence: BenchmarkProofEvidence, name: str) -> int:
    """Returns the number of an interrupt line from its name in board.toml, or of `fifo` between two kernels."""
    board = evidence.board
    if name == "fifo" and evidence.fifo_line is not None:
        return evidence.fifo_line
    return {"soft": board.irq.soft, "asynchronous": board.irq.asynchronous, "edge": board.pins.in_irq}[name]


def _is_kernel_handler(number: int, evidence: BenchmarkProofEvidence) -> bool:
    """Whether the handler of an exception number belongs to the kernel."""
    return function_category(f"{_HANDLER}{number - FIRST_EXTERNAL}", evidence.kernel) != APPLICATION
