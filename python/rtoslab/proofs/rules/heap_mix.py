"""Sizes and lifetimes are mixed: every size was asked for and no other, and once nearly all places were taken."""

from rtoslab.proofs.evidence import ProofEvidence, ProofParameters, make_proof_finding, unseen_proof_finding
from rtoslab.results import ProofFinding
from rtoslab.targets import CALL


class HeapMixParameters(ProofParameters):
    """The parameters of the proof `heap_mix` in benchmark.toml. The proof checks that the benchmark allocated blocks
    of all its sizes and of no other, and at times held nearly the most allowed."""

    sizes: tuple[int, ...]
    """The sizes in bytes, as the kernel's allocator is asked for them."""
    held: str
    """The parameter with the most blocks that are held at once."""


def judge_evidence(params: HeapMixParameters, evidence: ProofEvidence) -> ProofFinding:
    """Checks that the benchmark allocated blocks of all its sizes and of no other, and at times held nearly the most
    allowed."""
    places = int(evidence.decoded.params[params.held])
    demands = (
        f"blocks of {', '.join(map(str, params.sizes))} bytes are taken, {places} at once at most and nearly so many"
    )
    if evidence.observed is None:
        return unseen_proof_finding(params.rule, demands)
    kernel = evidence.kernel.facts_for_architecture(evidence.board.cpu)
    size = kernel.observed_argument_index("malloc", "bytes")
    code = kernel.results.get("malloc")
    sizes: set[int] = set()
    held: set[int] = set()
    unknown = most = 0
    for step in evidence.observed.steps:
        if step.kind == CALL and step.name in kernel.symbols["malloc"]:
            sizes.add((step.first, step.second)[size])
            if code is not None:  # where the block lies is told elsewhere
                unknown += step.result == code
            elif step.result:
                held.add(step.result)
            most = max(most, len(held) + unknown)
        elif step.kind == CALL and step.name in kernel.symbols["free"]:
            held.discard(step.first)
            unknown = max(0, unknown - (code is not None))
    few = evidence.samples < 2 * len(params.sizes)
    good = sizes <= set(params.sizes) if few else sizes == set(params.sizes)
    text = f"{len(sizes)} sizes from {min(sizes, default=0)} to {max(sizes, default=0)} bytes, {most} blocks at once"
    enough = places * 0.6 <= most <= places
    return make_proof_finding(params.rule, demands, [] if good and enough else [text], [text])
