"""The rules of proofs, one per file. A file in this folder is the registration of its rule.

A rule module has `judge_evidence(params, evidence) -> BenchmarkProofFinding`, and the class of this function's first
argument: the rule's keys in benchmark.toml, unknown ones refused. It may have `find_watched_services(params)`, the
services whose calls the virtual board must watch for it. Every rule may have conditions in `when`. A rule compares what
the kernel did, as probes observed it, with the firmware's counts. It returns prose for a person, never a number to
use."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any, get_type_hints


@cache
def benchmark_proof_rule_modules() -> dict[str, ModuleType]:
    """Returns the Python module of every proof rule, by the rule's name."""
    modules = {info.name: importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in modules.items() if hasattr(module, "judge_evidence")}


@cache
def parameters_class_of_proof_rule(module: ModuleType) -> Any:
    """Returns the class of a proof rule's parameters: the type of the first argument of its `judge_evidence`."""
    return get_type_hints(module.judge_evidence)["params"]
