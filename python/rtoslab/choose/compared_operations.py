"""The operations that kernels are compared by (`operations.toml`): place, needs and weights of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from rtoslab.analyses import Selector
from rtoslab.base import PlanError, StrictFileSchemaModel, UnknownNameError
from rtoslab.catalogue import read_validated_toml

GENERAL: Final = "general"


class ComparedOperation(StrictFileSchemaModel):
    """One operation by which kernels are compared, and where its figure is found."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    title: str
    """In a reader's words, short enough for a column."""
    benchmark: str
    metric: str
    stat: str = "median"
    unit: str = "cycles"
    better: Literal["less", "more"] = "less"
    cores: int = 1
    services: tuple[str, ...] = ()
    """Services of the port contract that a kernel needs for it, for `--need`."""
    weights: dict[str, float] = Field(default_factory=dict)
    """Use -> how much it counts there. A use that is not named counts nothing."""

    @property
    def title_with_unit(self) -> str:
        """Returns the title, and the unit if that is not cycles."""
        return self.title if self.unit == "cycles" else f"{self.title}, {self.unit}"

    @property
    def selector_of_measured_value(self) -> Selector:
        """Returns the coordinates (metric, benchmark, cores and others) that select the operation's figure among
        measured values."""
        return {"benchmark": self.benchmark, "metric": self.metric, "stat": self.stat, "cores": self.cores}


class ComparedOperationsFile(StrictFileSchemaModel):
    """The content of operations.toml: the operations by which kernels are compared."""

    operation: tuple[ComparedOperation, ...]
    needs: dict[str, tuple[str, ...]]
    """Use -> services without which a kernel is not ranked for it."""
    masking: tuple[str, ...]
    """Benchmarks in whose calls the longest section of masked interrupts is looked for."""
    swept_service: str
    """The service that the background calls in the phase sweep."""


class OperationWeightsFile(StrictFileSchemaModel):
    """The content of the file that `--weights` reads: how much each operation counts, by its id."""

    weights: dict[str, float]


@dataclass(frozen=True, slots=True)
class KernelChoiceCriteria:
    """The needs of a user of `rtoslab choose`: the weight of each operation, and the required services."""

    use: str
    weights: Mapping[str, float]
    """Keyed by the operation's id. All above zero."""
    needs: tuple[str, ...] = ()


def read_compared_operations() -> ComparedOperationsFile:
    """Returns the operations by which `rtoslab choose` compares kernels, from operations.toml."""
    return read_validated_toml(Path(str(files("rtoslab.choose") / "operations.toml")), ComparedOperationsFile)


def make_kernel_choice_criteria(
    operation_file: ComparedOperationsFile,
    services: Mapping[str, str],
    use: str = GENERAL,
    needs: Sequence[str] = (),
    weights: Path | None = None,
) -> KernelChoiceCriteria:
    """Returns the criteria of `rtoslab choose` for a use, with further required services and the user's own weights.

    `services` are those of the port contract. Raises UnknownNameError for a use, service or operation that does not
    exist, and PlanError for weights below zero or none above it.
    """
    if use not in operation_file.needs:
        raise UnknownNameError("use", use, operation_file.needs)
    for service in needs:
        if service not in services:
            raise UnknownNameError("service", service, services)
    own = {operation.id: operation.weights.get(use, 0.0) for operation in operation_file.operation}
    if weights is not None:
        own = _read_user_operation_weights(operation_file, weights)
    counted = {name: weight for name, weight in own.items() if weight > 0}
    return KernelChoiceCriteria(
        "your weights" if weights else use, counted, tuple(dict.fromkeys([*operation_file.needs[use], *needs]))
    )


def _read_user_operation_weights(operation_file: ComparedOperationsFile, path: Path) -> dict[str, float]:
    """Returns the weights of operations in a user's file, by id. Raises PlanError, UnknownNameError."""
    weights = read_validated_toml(path, OperationWeightsFile).weights
    names = [operation.id for operation in operation_file.operation]
    for name, weight in weights.items():
        if name not in names:
            raise UnknownNameError("operation", name, names)
        if weight < 0:
            raise PlanError(f"{path}: the weight of {name} is {weight:g}; write a number of 0 or more.")
    if not any(weights.values()):
        raise PlanError(f"{path} gives no operation a weight above 0; give at least one.")
    return weights
