"""The services of the port contract: spec/services.toml names them all."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from rtoslab.base import CatalogueError, StrictFileSchemaModel
from rtoslab.catalogue.benchmark import Benchmark
from rtoslab.catalogue.conformance_table import ConformanceSuite
from rtoslab.catalogue.kernel_facts import Kernel
from rtoslab.catalogue.schemas import FootprintProgram
from rtoslab.catalogue.strict_files import read_validated_toml

OPTIONAL_SERVICES: Final = (
    "affinity",
    "binary_semaphore",
    "condition_broadcast",
    "rwlock",
    "signal",
    "task_events",
    "task_join",
    "timer",
    "work",
)
"""Services whose code and kernel configuration are in a folder of their own, `services/<service>/` of a port.
Only images that need such a service contain anything of it, so no other image depends on these files."""
OPTIONAL_FOLDER: Final = "services"
SERVICE_FILE: Final = "service.toml"


class KernelServicesFile(StrictFileSchemaModel):
    """The content of `spec/services.toml`."""

    services: dict[str, str]
    """Keyed by name: a phrase that explains the service."""


def offered_optional_services(kernel: Kernel) -> list[str]:
    """Returns the optional services that a kernel offers, in alphabetical order."""
    return [service for service in OPTIONAL_SERVICES if kernel.services.get(service, False)]


def read_kernel_services(root: Path) -> Mapping[str, str]:
    """Returns the kernel services of the port contract by name, in the contract's order, each with a phrase. Raises
    CatalogueError."""
    return read_validated_toml(root / "spec" / "services.toml", KernelServicesFile).services


def require_known_services(facts: BaseModel, path: Path, known: Mapping[str, str]) -> None:
    """Raises CatalogueError if a file of the catalogue names a service that does not exist in the port contract.

    `facts`: the file's content. `known`: the services of the contract, by name.

    A kernel must also name the services that it does not offer."""
    unknown = next((service for service in _kernel_services_listed_in_facts(facts) if service not in known), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}."
        raise CatalogueError(f"{path} contains the service {unknown!r}, which is not in the port contract; {hint}")
    if isinstance(facts, Kernel):
        undeclared = [service for service in known if service not in facts.services]
        if undeclared:
            raise CatalogueError(
                f"{path} does not say under [services] whether the kernel offers {', '.join(undeclared)}; add it."
            )


def _kernel_services_listed_in_facts(facts: BaseModel) -> Iterable[str]:
    """Yields the kernel services that the content of a TOML file names."""
    if isinstance(facts, Benchmark):
        yield from facts.services
        for parts in (*(series_facts.services for series_facts in facts.series), *facts.picks.values()):
            yield from parts
    elif isinstance(facts, Kernel):
        yield from facts.services
        for parts in (
            *(earlier.lacks for earlier in facts.earlier),
            *(facts.export.lacks.values() if facts.export else ()),
        ):
            yield from parts
    elif isinstance(facts, ConformanceSuite):
        yield from facts.services
        for check in facts.check:
            yield from check.services
    elif isinstance(facts, FootprintProgram):
        yield from facts.services
