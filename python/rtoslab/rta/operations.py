"""The costs of the kernel's own operations, from the latency benchmarks: semaphore, queue and mutex calls, by
probes."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final

from rtoslab.catalogue import Catalogue
from rtoslab.measure import measure_points_of_plan
from rtoslab.plan import PlanOptions, make_measurement_plan
from rtoslab.results import MeasuredPoint
from rtoslab.rta.firmware import TaskSetFirmware
from rtoslab.rta.fitted_lines import fit_least_squares_line
from rtoslab.rta.masked_calls import longest_masked_call
from rtoslab.rta.overheads import KernelOverheads, LinearOverheadFit

_OPERATION: Final = re.compile(r"\w+\.\w+\.(free|available|no_waiter|contended|hand_over)")
"""The ids of series that are one call of the kernel: object, operation, outcome."""


def overheads_with_operation_costs(
    catalogue: Catalogue, firmware: TaskSetFirmware, overheads: KernelOverheads
) -> KernelOverheads:
    """Returns the overheads with the longest call of every kernel operation (semaphore, queue, mutex).

    Points that cannot be measured (a kernel without the service) are left out: the analysis then names the missing
    costs.
    """
    point = firmware.point
    config = {**point.kernel_config, "opt": point.opt, "code": point.code, "instrument": "probe"}
    if point.clock_hz is not None:
        config["clock_hz"] = str(point.clock_hz)
    names = [
        benchmark.id
        for benchmark in catalogue.benchmarks.values()
        if any(_OPERATION.fullmatch(series.id) for series in benchmark.facts.series)
    ]
    with tempfile.TemporaryDirectory() as folder:
        options = PlanOptions([point.kernel], [point.board], [1], None, config)
        outcomes = measure_points_of_plan(
            catalogue.root, make_measurement_plan(catalogue, names, options), Path(folder) / "run"
        )
    operations: dict[str, int] = {}
    fits: list[LinearOverheadFit] = []
    for result in (outcome.result for outcome in outcomes):
        for series in result.series if isinstance(result, MeasuredPoint) else ():
            cycles = [mark for mark, ticks in zip(series.mark_cycles, series.ticks, strict=True) if ticks == 0]
            if _OPERATION.fullmatch(series.id) and cycles:
                name = series.id.replace(".", "_")
                operations[name] = max(operations.get(name, 0), *cycles)
                fits.append(fit_least_squares_line(series.title, "constant", {0: cycles}))
    masked = max(overheads.masks.masked_cycles, longest_masked_call(catalogue, point, names))
    update = {
        "operations": operations,
        "fit": (*overheads.fit, *fits),
        "masks": overheads.masks.model_copy(update={"masked_cycles": masked}),
    }
    return overheads.model_copy(update=update)
