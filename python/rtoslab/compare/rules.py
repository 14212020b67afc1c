"""How much worse a figure may become: `+0 cycles|+2 %`, for all figures or for those whose name fits a pattern.

Limits are separated by `|`. One in `cycles` or `bytes` binds figures in that unit, one in `%` binds every figure; a
figure fails if it passes any limit that binds it. `never` binds nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from rtoslab.analyses import BYTES, CYCLES
from rtoslab.base import PlanError
from rtoslab.compare.comparison import Change

ALL: Final = "*"
DEFAULT: Final = {ALL: "+0 cycles|+0 bytes"}
NEVER: Final = "never"
_LIMIT: Final = re.compile(r"\+\s*(\d+(?:\.\d+)?)\s*(cycles?|bytes?|%)")
_UNITS: Final = {"cycle": CYCLES, "cycles": CYCLES, "byte": BYTES, "bytes": BYTES, "%": "%"}


@dataclass(frozen=True, slots=True)
class Limit:
    """How much more is still allowed."""

    value: float
    unit: str
    """CYCLES, BYTES or `%`."""

    def passed_by(self, change: Change) -> bool:
        """Whether the figure became worse by more than this."""
        if self.unit == "%":
            return change.delta > 0 and change.percent > self.value
        return change.before.unit == self.unit and change.delta > self.value

    def __str__(self) -> str:
        return f"+{self.value:g} {self.unit}"


def parse_limits(text: str) -> tuple[Limit, ...]:
    """Raises PlanError for what is no rule."""
    if text.strip() == NEVER:
        return ()
    limits = []
    for part in text.split("|"):
        found = _LIMIT.fullmatch(part.strip())
        if found is None:
            raise PlanError(f"{part.strip()!r} is not a limit; write `+0 cycles`, `+64 bytes`, `+2 %`, joined by |.")
        limits.append(Limit(float(found[1]), _UNITS[found[2]]))
    return tuple(limits)


class Rules:
    """Limits by pattern of a figure's name; the longest pattern that fits counts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._limits = {pattern: parse_limits(text) for pattern, text in texts.items()}

    @classmethod
    def of(cls, stored: Mapping[str, str], asked: Sequence[str]) -> "Rules":
        """A baseline's own rules with those of the command line over them: `LIMITS` for all, or `PATTERN=LIMITS`."""
        texts = {**DEFAULT, **stored}
        for each in asked:
            pattern, sign, limits = each.partition("=")
            if sign and not pattern.strip().startswith("+"):
                texts[pattern.strip()] = limits
            else:
                texts = {ALL: each}
        return cls(texts)

    def limits(self, metric_id: str) -> tuple[Limit, ...]:
        """Of one figure."""
        fitting = [pattern for pattern in self._limits if fnmatchcase(metric_id, pattern)]
        return self._limits[max(fitting, key=len)] if fitting else ()

    def broken_by(self, change: Change) -> Limit | None:
        """The first limit that the change passes."""
        return next((each for each in self.limits(change.before.id) if each.passed_by(change)), None)
