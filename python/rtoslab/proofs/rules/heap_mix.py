"""Checks that the sizes and lifetimes of blocks are mixed. Every size was requested and no other, and nearly all places
were taken at some time. Blocks are taken and given back in the order that is drawn from the seed."""

from collections.abc import Iterator
from itertools import islice, takewhile

from rtoslab.proofs.draws import random_numbers_from_state
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import CALL


class HeapMixParameters(BenchmarkProofParameters):
    """The parameters of the proof `heap_mix` in benchmark.toml. The proof checks that the benchmark allocated blocks
    of all its sizes and of no other, and at times held nearly the most allowed."""

    sizes: tuple[int, ...]
    """The sizes in bytes, as the kernel's allocator is asked for them."""
    held: str
    """The parameter with the most blocks that are held at once."""
    seed: str | None = None
    """The parameter from which places and sizes are drawn. None: the draws are not computed again."""


def judge_evidence(params: HeapMixParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the benchmark allocated blocks of all its sizes and of no other, and at times held nearly the most
    allowed."""
    places = int(evidence.decoded.params[params.held])
    demands = (
        f"blocks of {', '.join(map(str, params.sizes))} bytes are taken, {places} at once at most and nearly so many"
    )
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    kernel = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu)
    size = kernel.index_of_service_call_argument("malloc", "bytes")
    code = kernel.results.get("malloc")
    order: list[int] = []
    sizes: set[int] = set()
    held: set[int] = set()
    unknown = most = 0
    for step in evidence.observed.steps:
        if step.kind == CALL and step.name in kernel.symbols["malloc"]:
            order.append((step.first, step.second)[size])
            sizes.add(order[-1])
            if code is not None:  # where the block lies is told elsewhere
                unknown += step.result == code
            elif step.result:
                held.add(step.result)
            most = max(most, len(held) + unknown)
        elif step.kind == CALL and step.name in kernel.symbols["free"]:
            order.append(0)
            held.discard(step.first)
            unknown = max(0, unknown - (code is not None))
    few = evidence.samples < 2 * len(params.sizes)
    good = sizes <= set(params.sizes) if few else sizes == set(params.sizes)
    text = f"{len(sizes)} sizes from {min(sizes, default=0)} to {max(sizes, default=0)} bytes, {most} blocks at once"
    good = good and places * 0.6 <= most <= places
    if params.seed is not None:
        drawn = islice(
            _random_heap_operation_sequence(int(evidence.decoded.params[params.seed]), params.sizes, places), len(order)
        )
        follows = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(order, drawn, strict=True)))
        # At its end the benchmark gives back what it holds.
        if any(order[follows:]) or len(order) - follows > places:
            text += f", and call {follows + 1} is not what the seed draws"
            good = False
    return make_judged_proof_finding(params.rule, demands, [] if good else [text], [text])


def _random_heap_operation_sequence(seed: int, sizes: tuple[int, ...], places: int) -> Iterator[int]:
    """Yields the size of each block that is taken, and 0 for each that is given back, as they are drawn."""
    draws = random_numbers_from_state(seed)
    taken: set[int] = set()
    while True:
        place = next(draws) % places
        if place in taken:
            taken.remove(place)
            yield 0
        else:
            taken.add(place)
            yield sizes[next(draws) % len(sizes)]
