"""How much worse a figure may become: `+0 cycles|+2 %`, for all figures or for those whose name fits a pattern.

Limits are separated by `|`. One in `cycles`, `instructions` or `bytes` binds figures in that unit, one in `%` binds all
of these. A figure fails if it passes any limit that binds it. One in `calls` binds how often a project's functions were
called. `never` binds nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Protocol

from rtoslab.analyses import NamedMetricValue
from rtoslab.base import PlanError

ALL: Final = "*"
DEFAULT: Final = {ALL: "+0 cycles|+0 instructions|+0 bytes"}
NEVER: Final = "never"
CALLS: Final = "calls"
"""The unit of calls of a project's own functions. Only a limit in `calls` binds it."""
_LIMIT: Final = re.compile(r"\+\s*(\d+(?:\.\d+)?)\s*(cycles?|instructions?|bytes?|calls?|%)")
_UNITS: Final = {
    **{f"{name}{plural}": name + "s" for name in ("cycle", "instruction", "byte", "call") for plural in ("", "s")},
    "%": "%",
}


class BeforeAfterValueInterface(Protocol):
    """The interface of a figure before and after a change."""

    @property
    def before(self) -> NamedMetricValue:
        """Returns the figure before the change, which has the name and unit."""

    @property
    def change_in_unit(self) -> float:
        """Returns the change in the figure's unit. Positive is worse."""

    @property
    def change_in_percent(self) -> float:
        """Returns the change in percent of the figure before."""


@dataclass(frozen=True, slots=True)
class MetricGrowthLimit:
    """How much a figure may grow, in its unit or in percent."""

    value: float
    unit: str
    """CYCLES, INSTRUCTIONS, BYTES, CALLS or `%`."""

    def is_exceeded_by(self, change: BeforeAfterValueInterface) -> bool:
        """Whether a figure grew by more than the limit. False for a limit in another unit."""
        if self.unit == "%":
            if change.before.unit == CALLS:
                return False
            return change.change_in_unit > 0 and change.change_in_percent > self.value
        return change.before.unit == self.unit and change.change_in_unit > self.value

    def __str__(self) -> str:
        """Returns the limit as it is written in a rule, such as `+2 %`."""
        return f"+{self.value:g} {self.unit}"


def parse_growth_limits(text: str) -> tuple[MetricGrowthLimit, ...]:
    """Returns the limits of a rule such as `+0 cycles|+2 %`, which say how much a figure may grow. Raises PlanError."""
    if text.strip() == NEVER:
        return ()
    limits = []
    for part in text.split("|"):
        match = _LIMIT.fullmatch(part.strip())
        if match is None:
            raise PlanError(
                f"{part.strip()!r} is not a limit; write one such as `+0 cycles`, `+64 bytes` or `+2 "
                "%`, or several joined by |."
            )
        limits.append(MetricGrowthLimit(float(match[1]), _UNITS[match[2]]))
    return tuple(limits)


class MeasuredValueLimits:
    """Limits for figures, by pattern of their names. The longest pattern that fits counts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._limits = {pattern: parse_growth_limits(text) for pattern, text in texts.items()}

    @classmethod
    def merge_baseline_and_requested_limits(
        cls, stored: Mapping[str, str], requested: Sequence[str]
    ) -> "MeasuredValueLimits":
        """Returns the limits of a baseline, overridden by the command line's: `LIMITS` for all figures, or
        `PATTERN=LIMITS`."""
        texts = {**DEFAULT, **stored}
        for text in requested:
            pattern, sign, limits = text.partition("=")
            if sign and not pattern.strip().startswith("+"):
                texts[pattern.strip()] = limits
            else:
                texts = {ALL: text}
        return cls(texts)

    def growth_limits_of_measured_value(self, metric_id: str) -> tuple[MetricGrowthLimit, ...]:
        """Returns the limits on the growth of the figure with this name. Empty if none applies."""
        fitting = [pattern for pattern in self._limits if fnmatchcase(metric_id, pattern)]
        return self._limits[max(fitting, key=len)] if fitting else ()

    def first_exceeded_limit(self, change: BeforeAfterValueInterface) -> MetricGrowthLimit | None:
        """Returns the first limit that the change of a figure exceeds. None if it exceeds none."""
        return next(
            (limit for limit in self.growth_limits_of_measured_value(change.before.id) if limit.is_exceeded_by(change)),
            None,
        )
