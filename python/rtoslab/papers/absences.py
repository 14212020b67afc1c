"""The reason why there is no value for a selection of axes. It is shown in cells that would otherwise be blank."""

from collections.abc import Collection, Mapping, Sequence

from rtoslab.analyses import axis_value_of_measured_point
from rtoslab.catalogue import PaperFolder
from rtoslab.plan import DEFAULTS
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement
from rtoslab.store import AnyResult

_OF_VALUES = frozenset({"metric", "stat", "unit", "family", "clock_mhz"})
"""Axes that no point has, only its values."""


class MissingValueReasonFinder:
    """Finds the reason why the results have no value for some figure of a paper."""

    def __init__(self, paper: PaperFolder, results: Sequence[AnyResult], kernels: Collection[str]) -> None:
        self._names = paper.facts.kernels
        self._results = results
        self._kernels = kernels

    def find_missing_value_reason(self, axes: Mapping[str, object]) -> str:
        """Returns why the results have no value at these coordinates (kernel, board, benchmark and others), as a
        clause."""
        kernel = str(axes.get("kernel", ""))
        if kernel and kernel not in self._kernels:
            name = self._names.get(kernel, kernel)
            return f"the sources of {name} were not added (`rtoslab kernel tree add`), and it has no reference result"
        present = [result for result in self._results if does_result_match_experiment_axes(result, axes)]
        for any_result in present:
            if isinstance(any_result, FailedMeasurement):
                return f"{any_result.stage} failed: {any_result.message}".rstrip(".")
            if isinstance(any_result, NotApplicableMeasurement):
                return any_result.reason.rstrip(".")
        metric = str(axes.get("metric", ""))
        measured = (any_result for any_result in present if isinstance(any_result, MeasuredPoint))
        lacking = (one for item in measured for one in item.absent_series if one.id == metric)
        for one in lacking:
            return one.reason.rstrip(".")
        what = " ".join(str(axes[axis]) for axis in ("benchmark", "metric", "kernel", "board") if axis in axes)
        return f"not measured in this run: {what}" if what else "not measured in this run"

    def find_failure_reason(self, axes: Mapping[str, object]) -> str | None:
        """Returns why a measurement at these coordinates failed, as a clause. None if none failed."""
        for result in self._results:
            if isinstance(result, FailedMeasurement) and does_result_match_experiment_axes(result, axes):
                return f"{result.stage} failed: {result.message}".rstrip(".")
        return None


def does_result_match_experiment_axes(result: AnyResult, axes: Mapping[str, object]) -> bool:
    """Whether a result's measured point has these coordinates. Axes that only values have, such as `metric`, are
    ignored."""
    params = result.params if isinstance(result, MeasuredPoint) else {}
    for axis, required in axes.items():
        if axis in _OF_VALUES:
            continue
        places = {str(value) for value in required} if isinstance(required, list | tuple) else {str(required)}
        if (axis_value_of_measured_point(result.point, params, axis) or DEFAULTS.get(axis, "")) not in places:
            return False
    return True
