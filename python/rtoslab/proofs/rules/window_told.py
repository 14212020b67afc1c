"""The window that the image tells lasted as long as the board saw it.

A count is beside the time that the image says it took. The board's own cycles between the two changes of the
window's state say whether that is so: a stamp taken before the tasks leave the gate makes it wrong.
"""

from rtoslab.proofs.evidence import ProofEvidence, ProofParameters, make_proof_finding, unseen_proof_finding
from rtoslab.results import ProofFinding

_EDGE_CYCLES = 1000
"""The most cycles between a stamp and the change of the window's state, by code that is as fast as
`board_slowdown_over_pico` expects. More where it is slower."""


class WindowToldParameters(ProofParameters):
    """The proof `window_told`, which has no parameters in benchmark.toml. It checks that the image's time stamps of
    the window are as far apart as the cycles for which the board saw it open. It holds for every benchmark."""


def judge_evidence(params: WindowToldParameters, evidence: ProofEvidence) -> ProofFinding:
    """Checks that the image's time stamps of the window are as far apart as the cycles for which the board saw it
    open."""
    demands = "the stamps of the window are as far apart as the board saw the window open"
    if evidence.observed is None or not evidence.observed.loads:
        return unseen_proof_finding(params.rule, demands)
    begin, (window, *_) = evidence.decoded.begin, evidence.decoded.windows
    a_tick = begin.clock_hz / begin.timer_hz
    ticks_cycles = (window.close_ticks - window.open_ticks) * a_tick
    seen = evidence.observed.loads[0].cycles
    text = f"{ticks_cycles:.0f} cycles by its stamps, {seen} seen"
    apart = abs(ticks_cycles - seen) > 2 * a_tick + _EDGE_CYCLES * evidence.board_slowdown_over_pico()
    return make_proof_finding(params.rule, demands, [text] if apart else [], [text])
