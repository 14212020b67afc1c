"""Why there is no value at a place: the reason that is in every cell which would otherwise be blank."""

from collections.abc import Collection, Mapping, Sequence

from rtoslab.analyses import axis_of_point
from rtoslab.catalogue import PaperFolder
from rtoslab.plan import USUAL
from rtoslab.results import Failed, MeasuredPoint, NotApplicable
from rtoslab.store import AnyResult

_OF_VALUES = frozenset({"metric", "stat", "unit", "family", "clock_mhz"})
"""Axes that no point has, only its values."""


class Absences:
    """Says of a place on the axes of values why the results have none there."""

    def __init__(self, paper: PaperFolder, results: Sequence[AnyResult], kernels: Collection[str]) -> None:
        self._names = paper.facts.kernels
        self._results = results
        self._kernels = kernels

    def why(self, place: Mapping[str, object]) -> str:
        """Returns the reason in words, without a full stop."""
        kernel = str(place.get("kernel", ""))
        if kernel and kernel not in self._kernels:
            name = self._names.get(kernel, kernel)
            return f"no tree or export of {name} is named here, and no reference result stands for it"
        present = [result for result in self._results if _lies(result, place)]
        for any_result in present:
            if isinstance(any_result, Failed):
                return f"{any_result.stage} failed: {any_result.message}".rstrip(".")
            if isinstance(any_result, NotApplicable):
                return any_result.reason.rstrip(".")
        metric = str(place.get("metric", ""))
        measured = (any_result for any_result in present if isinstance(any_result, MeasuredPoint))
        lacking = (one for item in measured for one in item.absent_series if one.id == metric)
        for one in lacking:
            return one.reason.rstrip(".")
        what = " ".join(str(place[axis]) for axis in ("benchmark", "metric", "kernel", "board") if axis in place)
        return f"not measured in this run: {what}" if what else "not measured in this run"


def _lies(result: AnyResult, place: Mapping[str, object]) -> bool:
    """Whether the result's point is at the place, on the axes that points have."""
    params = result.params if isinstance(result, MeasuredPoint) else {}
    for axis, required in place.items():
        if axis in _OF_VALUES:
            continue
        places = {str(value) for value in required} if isinstance(required, list | tuple) else {str(required)}
        if (axis_of_point(result.point, params, axis) or USUAL.get(axis, "")) not in places:
            return False
    return True
