"""Finds the rules of a benchmark's proofs by name, and judges them in the benchmark's order."""

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any, Final

from pydantic import ValidationError

from rtoslab.base import CatalogueError, UnknownNameError
from rtoslab.catalogue import Benchmark
from rtoslab.proofs.evidence import BenchmarkProofEvidence
from rtoslab.proofs.rules import benchmark_proof_rule_modules, parameters_class_of_proof_rule
from rtoslab.results import BenchmarkProofFinding

_WINDOW_PROOFS: Final[tuple[dict[str, Any], ...]] = (
    {"rule": "own_code"},
    {"rule": "kernel_calls"},
    {"rule": "window_told"},
    {"rule": "interrupts_told"},
    {"rule": "board_state"},
)
IMPLIED_PROOFS: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "counts": _WINDOW_PROOFS,
    "latency": ({"rule": "samples_complete"}, {"rule": "instrument_agrees"}, *_WINDOW_PROOFS),
}
"""The proofs of every benchmark of a kind, unless the benchmark has a proof by the same rule."""
PAIR_PROOFS: Final[tuple[dict[str, Any], ...]] = ({"rule": "windows_overlap"},)
"""The further proofs of a kernel beside another kernel on the other core."""


def services_to_watch(benchmark: Benchmark) -> tuple[str, ...]:
    """Returns the kernel services whose calls the virtual board must record for the benchmark's proofs."""
    names: dict[str, None] = {}
    for module, params in _parse_proofs(benchmark):
        if hasattr(module, "find_watched_services"):
            names.update(dict.fromkeys(module.find_watched_services(params)))
    return tuple(names)


def judge_benchmark_proofs(evidence: BenchmarkProofEvidence) -> tuple[BenchmarkProofFinding, ...]:
    """Returns the finding of every proof of a benchmark run, in the order of benchmark.toml, the implied proofs
    last."""
    parsed = _parse_proofs(evidence.benchmark)
    if not parsed:
        raise CatalogueError(
            f"The benchmark {evidence.benchmark.id} has no [[proof]]; give it one, or it proves nothing."
        )
    if evidence.beside is not None:
        parsed = [*parsed, *_parse_benchmark_proof_tables(evidence.benchmark, PAIR_PROOFS)]
    return tuple(
        module.judge_evidence(params, evidence)
        for module, params in parsed
        if all(evidence.meets_condition(condition) for condition in params.when)
    )


def _parse_proofs(benchmark: Benchmark) -> Sequence[tuple[ModuleType, Any]]:
    """Returns the rule's module and the checked parameters for each proof of a benchmark, the implied ones included."""
    rules = {rule.get("rule") for rule in benchmark.proof}
    implied = [rule for rule in IMPLIED_PROOFS[benchmark.kind] if rules and rule["rule"] not in rules]
    return _parse_benchmark_proof_tables(benchmark, (*benchmark.proof, *implied))


def _parse_benchmark_proof_tables(
    benchmark: Benchmark, tables: Iterable[dict[str, Any]]
) -> list[tuple[ModuleType, Any]]:
    """Returns the rule's module and the checked parameters for each `[[proof]]` table. Raises CatalogueError,
    UnknownNameError."""
    parsed = []
    for table in tables:
        name = str(table.get("rule", ""))
        if name not in benchmark_proof_rule_modules():
            raise UnknownNameError(f"proof rule (asked for by {benchmark.id})", name, benchmark_proof_rule_modules())
        module = benchmark_proof_rule_modules()[name]
        try:
            parsed.append((module, parameters_class_of_proof_rule(module).model_validate(table)))
        except ValidationError as cause:
            first = cause.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise CatalogueError(
                f"The proof {name} of {benchmark.id}, {where}: {first['msg']}; correct benchmark.toml."
            ) from None
    return parsed
