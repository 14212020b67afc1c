"""What a search for a broken bound found: in a sentence, as JSON, and as files that a test runs again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rtoslab.errors import TaskSetError
from rtoslab.files import make_folder, write_whole
from rtoslab.intake.tables import read_table
from rtoslab.rta.overheads import to_toml
from rtoslab.rta.search import Bench, Tried
from rtoslab.rta.system import System, Task


@dataclass(frozen=True, slots=True)
class Summary:
    """Of one search."""

    kernel: str
    board: str
    config: Mapping[str, str]
    sets: int
    jobs: int
    findings: int
    median: float
    """Of bound (c) over longest response, all tasks of all sets; not a number if there is none."""
    least: float

    def text(self) -> str:
        """One line."""
        config = "".join(f", {name}={value}" for name, value in self.config.items())
        return (
            f"{self.kernel} on {self.board}{config}: {self.sets:,} sets, {self.jobs:,} jobs, {self.findings} findings; "
            f"bound (c) / longest response: least {self.least:.4f}, median {self.median:.4f}"
        )

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {name: getattr(self, name) for name in self.__slots__}


def summary(bench: Bench, tried: Sequence[Tried]) -> Summary:
    """Of all that was tried."""
    point = bench.firmware.point
    ratios = [ratio for each in tried for ratio in each.ratios]
    return Summary(
        kernel=point.kernel,
        board=point.board,
        config={**point.kernel_config, **({"opt": point.opt} if point.opt else {})},
        sets=len(tried),
        jobs=sum(each.jobs for each in tried),
        findings=sum(bool(each.findings) for each in tried),
        median=median(ratios) if ratios else float("nan"),
        least=min(ratios, default=float("nan")),
    )


def write_finding(bench: Bench, found: Tried, path: Path) -> None:
    """A file of one set; `read_finding` reads it. Raises StoreError."""
    said = summary(bench, [found])
    table = {
        "kernel": said.kernel,
        "board": said.board,
        "found": "; ".join(found.findings),
        "config": dict(said.config),
        "task": [
            {
                "name": each.name,
                "period_ticks": each.period // bench.firmware.tick_cycles,
                "first_tick": offset,
                "wcet_cycles": each.wcet,
                "priority": each.priority,
            }
            for each, offset in zip(found.system.tasks, found.starts, strict=True)
        ],
    }
    make_folder(path.parent)
    write_whole(path, to_toml(table), "the finding")


@dataclass(frozen=True, slots=True)
class Finding:
    """A file of one set, and what it runs on."""

    kernel: str
    board: str
    config: Mapping[str, str]
    rows: tuple[Mapping[str, Any], ...]

    def system(self, bench: Bench) -> tuple[System, tuple[int, ...]]:
        """The set and its tasks' first ticks."""
        tick = bench.firmware.tick_cycles
        tasks = tuple(
            Task(
                name=str(each["name"]),
                period=int(each["period_ticks"]) * tick,
                wcet=int(each["wcet_cycles"]),
                deadline=int(each["period_ticks"]) * tick,
                priority=int(each["priority"]),
            )
            for each in self.rows
        )
        offsets = tuple(int(each["first_tick"]) for each in self.rows)
        return System(tasks, units_per_second=bench.firmware.clock_hz), offsets


def read_finding(path: Path) -> Finding:
    """Raises TaskSetError."""
    table = read_table(path, "the finding", TaskSetError)
    config = {str(key): str(value) for key, value in table["config"].items()}
    return Finding(str(table["kernel"]), str(table["board"]), config, tuple(table["task"]))
