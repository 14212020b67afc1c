"""Reads a sweep's TOML: which benchmarks, kernels and boards, under which configurations. Unknown keys are refused.

title = "..."
benchmarks = ["t2", "t7"]
kernels = ["freertos"]
boards = ["nucleo-f446re"]
window_ms = 20
placements = 4                      # each point in so many places of its code. Absent: in one
config = { samples = "100" }        # in every point, as in --config

[grid]                              # every combination of the values
opt = ["-O2", "-Os"]
"feature.icache" = [1, 0]

[[point]]                           # and these, one by one
opt = "-O3"
code = "sram"

[[skip]]                            # combinations that make no sense, with the reason
when = { opt = "-O0", lto = 1 }
reason = "..."
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

from pydantic import Field

from rtoslab.base import PlanError, StrictFileSchemaModel
from rtoslab.catalogue import Catalogue, Experiment, read_validated_toml
from rtoslab.plan import (
    MeasurementPlan,
    PlannedPoint,
    PlanOptions,
    experiment_points,
    repeat_plan_in_code_placements,
    require_measurement_count_within_limit,
)

Value = str | int
_AXES = ("board", "kernel", "benchmark", "cores")


class SkippedCombinationsRule(StrictFileSchemaModel):
    """A rule of a sweep for combinations that are left out."""

    when: dict[str, Value | tuple[Value, ...]]
    """Keys of the configuration, or board, kernel, benchmark, cores. All must have that value, or one of those."""
    reason: str

    def is_planned_point_left_out(self, point: PlannedPoint, config: Mapping[str, str]) -> bool:
        """Whether the rule leaves out this point, which has these settings."""
        axes = {name: str(getattr(point, name)) for name in _AXES}
        return all(
            {**axes, **config}.get(key) in {str(item) for item in (value if isinstance(value, tuple) else (value,))}
            for key, value in self.when.items()
        )


class ConfigurationSweepPlan(StrictFileSchemaModel):
    """The content of a sweep's TOML."""

    title: str
    benchmarks: tuple[str, ...]
    kernels: tuple[str, ...]
    boards: tuple[str, ...]
    cores: tuple[int, ...] = (1,)
    window_ms: int = 20
    placements: int = 1
    """The number of placements of code and data in which each point is measured, from 0 on."""
    config: dict[str, str] = Field(default_factory=dict)
    grid: dict[str, tuple[Value, ...]] = Field(default_factory=dict)
    point: tuple[dict[str, Value], ...] = ()
    skip: tuple[SkippedCombinationsRule, ...] = ()

    @property
    def configurations(self) -> list[dict[str, str]]:
        """Returns all settings to measure, in the order of the file. The grid's last key changes fastest."""
        grid = [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]
        usual = grid[0]
        listed = [*(grid if self.grid or not self.point else []), *({**usual, **item} for item in self.point)]
        return [{**self.config, **{key: str(value) for key, value in item.items()}} for item in listed]


def read_sweep_plan(path: Path) -> ConfigurationSweepPlan:
    """Returns the content of a sweep's TOML file. Raises CatalogueError naming file and key, PlanError for a key
    without values."""
    plan = read_validated_toml(path, ConfigurationSweepPlan)
    for key, values in plan.grid.items():
        if not values:
            raise PlanError(f"{path}, grid.{key} has no value; give at least one or remove it.")
    for configurations in (plan.grid.values(), (plan.point,)):
        require_measurement_count_within_limit(
            plan.benchmarks, plan.kernels, plan.boards, plan.cores, range(plan.placements), *configurations
        )
    return plan


def plan_sweep_points(catalogue: Catalogue, sweep: ConfigurationSweepPlan) -> MeasurementPlan:
    """Returns the plan with all points of a sweep, each once. A point that cannot be measured or is left out has the
    reason. Raises UnknownNameError, PlanError."""
    points: list[PlannedPoint] = []
    seen: set[str] = set()
    for config in sweep.configurations:
        experiment = Experiment(
            benchmarks=sweep.benchmarks,
            kernels=sweep.kernels,
            boards=sweep.boards,
            cores=sweep.cores,
            window_ms=sweep.window_ms,
            config=config,
        )
        for point in experiment_points(catalogue, experiment, PlanOptions()):
            marked = _mark_planned_point_if_skipped(point, config, sweep)
            if repr(marked) not in seen:
                seen.add(repr(marked))
                points.append(marked)
    if not points:
        raise PlanError("The sweep has no point; give at least one benchmark, kernel and board.")
    return repeat_plan_in_code_placements(catalogue, MeasurementPlan(tuple(points), None), sweep.placements)


def _mark_planned_point_if_skipped(
    point: PlannedPoint, config: Mapping[str, str], sweep: ConfigurationSweepPlan
) -> PlannedPoint:
    """Returns the point, marked as not applicable with the reason if a rule of the sweep leaves it out."""
    why = next((skip.reason for skip in sweep.skip if skip.is_planned_point_left_out(point, config)), None)
    return replace(point, not_applicable=point.not_applicable or why)
