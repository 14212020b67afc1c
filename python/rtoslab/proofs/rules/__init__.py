"""The rules of proofs, one per file. A file in this folder is the registration of its rule.

A rule module such as `no_switches` has the class `NoSwitchesParameters` (its keys in benchmark.toml, unknown ones
refused) and `judge_evidence(params, evidence) -> BenchmarkProofFinding`. It may have `find_watched_services(params)`,
the services whose calls the virtual board must watch for it. Every rule may have conditions in `when`. A rule compares
what the kernel did, as probes observed it, with the firmware's counts. It returns prose for a person, never a number
to use."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any


@cache
def benchmark_proof_rule_modules() -> dict[str, ModuleType]:
    """Returns the Python module of every proof rule, by the rule's name."""
    modules = {info.name: importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in modules.items() if hasattr(module, "judge_evidence")}


def parameters_class_of_proof_rule(module: ModuleType) -> Any:
    """Returns the class of a proof rule's parameters: `NoSwitchesParameters` for the module `no_switches`."""
    name = module.__name__.rpartition(".")[2]
    return getattr(module, "".join(word.title() for word in name.split("_")) + "Parameters")
