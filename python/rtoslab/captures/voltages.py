"""Turns voltages into logic levels: a threshold with hysteresis, and edges between two samples."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.captures.capture import UNKNOWN, LogicChannel, build_channel_from_levels

STEPS: Final = 256
"""Ticks from one sample to the next: as finely as an edge between them is interpolated."""
LEAST_SWING_V: Final = 0.4
"""A channel whose voltage changes by less has no level without a threshold: it is noise, or a wire at rest."""
HYSTERESIS_PART: Final = Fraction(1, 5)
"""The default hysteresis, as a part of the difference between high and low."""

STEEP_PART: Final = 0.8
"""An edge with this part of the swing between two samples is not interpolated."""
_BINS: Final = 64


@dataclass(frozen=True, slots=True)
class VoltageThreshold:
    """The border between low and high voltages. A value that is None is chosen for each channel, by its voltages."""

    volts: float | None = None
    """The level's border. By default midway between low and high."""
    hysteresis_v: float | None = None
    """The voltage must pass the border by half of this before the level changes. By default a fifth of the swing."""


@dataclass(frozen=True, slots=True)
class LogicLevelVoltageThreshold:
    """The voltages at which a channel's level changes."""

    volts: float
    hysteresis_v: float
    swing_v: float
    """The difference between high and low."""


def channel_level_threshold(
    volts: NDArray[np.float64], threshold: VoltageThreshold
) -> LogicLevelVoltageThreshold | None:
    """Returns the voltages at which a channel's level changes. None if no threshold is given and the voltage hardly
    changes.

    Low and high are the most frequent voltages below and above the middle of the range, so a short overshoot, slow
    edges and the share of time at either level do not move them.
    """
    lowest, highest = float(volts.min()), float(volts.max())
    middle = (lowest + highest) / 2
    if highest - lowest < LEAST_SWING_V and threshold.volts is None:
        return None
    low, high = _most_frequent_voltage(volts[volts <= middle]), -_most_frequent_voltage(-volts[volts > middle])
    hysteresis_v = threshold.hysteresis_v
    if hysteresis_v is None:
        hysteresis_v = (high - low) * float(HYSTERESIS_PART)
    return LogicLevelVoltageThreshold(
        (low + high) / 2 if threshold.volts is None else threshold.volts, hysteresis_v, high - low
    )


def _most_frequent_voltage(volts: NDArray[np.float64]) -> float:
    """Returns the mean of the voltages in the fullest of 64 parts of their range, the lowest such part if there are
    several. 0 without a voltage."""
    if not len(volts):
        return 0.0
    lowest, highest = float(volts.min()), float(volts.max())
    places = np.minimum((volts - lowest) * (_BINS / max(highest - lowest, 1e-12)), _BINS - 1).astype(np.int64)
    return float(volts[places == np.argmax(np.bincount(places))].mean())


def channel_from_voltages(
    name: str, volts: NDArray[np.float64], border: LogicLevelVoltageThreshold | None
) -> LogicChannel:
    """Returns a channel with the logic levels of voltage samples, in 256 ticks a sample. Without a border its level is
    unknown.

    A level changes when the voltage passes the border by half the hysteresis. The edge is where it last crossed the
    border before that. Between two samples the voltage is taken as a straight line. If most of the swing is between
    two samples, the edge is in the middle between them, because its true time is unknown. So a width is wrong by
    less than a sample. The level is unknown until it is beyond the hysteresis once.
    """
    if border is None:
        return build_channel_from_levels(name, [0], [UNKNOWN])
    half = border.hysteresis_v / 2
    is_high = volts > border.volts + half if half else volts >= border.volts
    is_low = volts < border.volts - half if half else volts < border.volts
    sure = np.flatnonzero(is_high | is_low)
    levels = is_high[sure]
    changes = np.flatnonzero(levels[1:] != levels[:-1]) + 1
    rows = [(0, UNKNOWN if not len(sure) or sure[0] else int(levels[0]))]
    if len(sure) and sure[0]:
        rows.append((int(sure[0]) * STEPS, int(levels[0])))
    rows.extend(
        (_threshold_crossing_tick(volts, int(sure[change]), border), int(levels[change])) for change in changes.tolist()
    )
    return build_channel_from_levels(name, [tick for tick, _ in rows], [level for _, level in rows])


def _threshold_crossing_tick(volts: NDArray[np.float64], sample: int, border: LogicLevelVoltageThreshold) -> int:
    """Returns the tick at which the voltage last crossed the border before the sample with this index."""
    is_above = volts[sample] >= border.volts
    while (volts[sample - 1] >= border.volts) == is_above:
        sample -= 1
    before, after = float(volts[sample - 1]), float(volts[sample])
    is_steep = abs(after - before) >= STEEP_PART * border.swing_v
    return round((sample - (0.5 if is_steep else (after - border.volts) / (after - before))) * STEPS)
