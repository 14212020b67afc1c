"""The proofs of a benchmark found by name, and judged in its order."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

from pydantic import ValidationError

from rtoslab.base import CatalogueError, UnknownNameError
from rtoslab.catalogue import Benchmark
from rtoslab.proofs.evidence import Evidence
from rtoslab.proofs.rules import all_rules
from rtoslab.results import Finding

_OF_A_WINDOW: Final[tuple[dict[str, Any], ...]] = (
    {"rule": "own_code"},
    {"rule": "kernel_calls"},
    {"rule": "window_told"},
    {"rule": "interrupts_told"},
    {"rule": "board_state"},
)
IMPLIED: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "counts": _OF_A_WINDOW,
    "latency": ({"rule": "samples_complete"}, {"rule": "instrument_agrees"}, *_OF_A_WINDOW),
}
"""Keyed by a benchmark's kind: what holds for all of that kind, unless they have a proof by that rule of their own."""


def services_to_watch(benchmark: Benchmark) -> tuple[str, ...]:
    """Services whose calls the benchmark's proofs need to see."""
    names: dict[str, None] = {}
    for module, params in _parse(benchmark):
        if hasattr(module, "watched"):
            names.update(dict.fromkeys(module.watched(params)))
    return tuple(names)


def judge_all(evidence: Evidence) -> tuple[Finding, ...]:
    """Every proof of the benchmark, in its order. A benchmark without proofs is an error: it would prove nothing."""
    parsed = _parse(evidence.benchmark)
    if not parsed:
        raise CatalogueError(
            f"The benchmark {evidence.benchmark.id} has no [[proof]]; give it one, or it proves nothing."
        )
    return tuple(
        module.judge(params, evidence)
        for module, params in parsed
        if all(evidence.is_so(condition) for condition in params.when)
    )


def _parse(benchmark: Benchmark) -> Sequence[tuple[ModuleType, Any]]:
    parsed = []
    rules = {rule.get("rule") for rule in benchmark.proof}
    implied = [rule for rule in IMPLIED[benchmark.kind] if rules and rule["rule"] not in rules]
    for table in (*benchmark.proof, *implied):
        name = str(table.get("rule", ""))
        if name not in all_rules():
            raise UnknownNameError(f"proof rule (asked for by {benchmark.id})", name, all_rules())
        module = all_rules()[name]
        try:
            parsed.append((module, module.Params.model_validate(table)))
        except ValidationError as cause:
            first = cause.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise CatalogueError(
                f"The proof {name} of {benchmark.id}, {where}: {first['msg']}; correct benchmark.toml."
            ) from None
    return parsed
