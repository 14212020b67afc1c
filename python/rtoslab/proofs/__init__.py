"""The proofs that a number needs: the rules, the evidence that they examine, and the judgement."""

from rtoslab.proofs.code_lengths import CODE_LENGTHS
from rtoslab.proofs.evidence import BenchmarkProofEvidence
from rtoslab.proofs.judge import judge_benchmark_proofs, services_to_watch
