"""Values made by hand for rules on papers' statements, read from `tests/planted/<paper>.toml`. These files were written
from the statements' sentences and not from their rules."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rtoslab.analyses import CodePlacementValueRange, MeasuredValue
from rtoslab.results import PointId

FOLDER = Path(__file__).parent / "planted"
CLOCK_HZ = {"pico": 125_000_000, "nucleo-f446re": 84_000_000, "nucleo-f767zi": 216_000_000, "stm32f407ig": 168_000_000,
            "nucleo-l053r8": 32_000_000}  # fmt: skip
"""Of the boards that a paper runs at another clock than 8 MHz."""
_OF_THE_VALUE = {"metric", "stat", "unit", "value", "placements", "clock_hz"}
_OF_THE_POINT = {"benchmark", "kernel", "board", "cores"}
_NO_KEY = {"pinning"}


@dataclass(frozen=True)
class Planting:
    """Figures for one statement, and the verdict that its sentence asks for."""

    statement: str
    expect: str
    why: str
    values: Sequence[MeasuredValue]


def plantings(paper: str) -> Iterator[Planting]:
    """Every planting of a paper's file."""
    for statement, verdicts in tomllib.loads((FOLDER / f"{paper}.toml").read_text()).items():
        for expect, sets in verdicts.items():
            for why, rows in sets.items():
                yield Planting(statement, expect, why, [value for row in rows for value in _values(row)])


def _values(row: Mapping[str, Any]) -> Iterator[MeasuredValue]:
    """The values of a row, whose axes may be lists of places: one number for all of them, or a list with one for each
    combination, the last axis changing fastest."""
    (key,) = row.keys() & {"value", "placements"}
    axes = {axis: places if isinstance(places, list) else [places] for axis, places in row.items() if axis != key}
    combinations = list(product(*axes.values()))
    is_list = isinstance(row[key], list) and (key == "value" or isinstance(row[key][0], list))
    numbers = row[key] if is_list else [row[key]] * len(combinations)
    for places, number in zip(combinations, numbers, strict=True):
        yield planted_value({**dict(zip(axes, places, strict=True)), key: number})


def planted_value(row: Mapping[str, Any]) -> MeasuredValue:
    """One value at the row's place: `value`, or its `placements`; `unit` as the metric has it unless it is said."""
    axes = {axis: str(place) for axis, place in row.items() if axis not in _OF_THE_VALUE | _OF_THE_POINT | _NO_KEY}
    board = str(row.get("board", "pico"))
    point = PointId(
        benchmark=str(row.get("benchmark", "b")),
        title="planted",
        kernel=str(row.get("kernel", "freertos")),
        board=board,
        cores=int(row.get("cores", 1)),
        window_ms=250,
        config=dict(sorted(axes.items())),
    )
    numbers = [float(placement) for placement in row.get("placements", [row.get("value", 0)])]
    band = CodePlacementValueRange(numbers) if len(numbers) > 1 else None
    metric = str(row["metric"])
    usual = {"throughput": "1/s", "heap": "bytes", "footprint": "bytes", "lock": "1"}.get(metric, "cycles")
    return MeasuredValue(
        point=point,
        run_id="planted",
        clock_hz=int(row.get("clock_hz", CLOCK_HZ.get(board, 8_000_000))),
        params={},
        benchmark_metric=str(row.get("benchmark", "b")),
        metric=metric,
        stat=str(row["stat"]),
        value=band.median if band else numbers[0],
        unit=str(row.get("unit", usual)),
        n=100,
        band=band,
    )
