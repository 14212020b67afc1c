"""The finding of a proof on a run: part of every stored result."""

from enum import StrEnum

from rtoslab.base import StrictFileSchemaModel


class ProofVerdict(StrEnum):
    """The outcome of a proof: it holds, fails, or could not be judged."""

    HOLDS = "holds"
    FAILS = "fails"
    UNSEEN = "unseen"
    """The proof could not be judged: a real board has no probes, or there is nothing of the kind without a kernel."""


class BenchmarkProofFinding(StrictFileSchemaModel):
    """The finding of a proof on a run: what it demands, what it saw, and the verdict."""

    rule: str
    demands: str
    saw: str
    verdict: ProofVerdict
