"""Labels that distinguish the points of one plan: a short text for each, with the varying axes alone."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from rtoslab.base import count_with_noun
from rtoslab.plan.plan import PlannedPoint

_HIDDEN_FIELDS = {"not_applicable"}
_ALWAYS = "benchmark"


def labels_by_differing_settings(points: Sequence[PlannedPoint]) -> list[str]:
    """Returns a short label for each point: its benchmark and every setting that differs among the points."""
    choices = [_point_settings_as_texts(point) for point in points]
    keys = list(dict.fromkeys(key for choice in choices for key in choice))
    varying = [key for key in keys if key == _ALWAYS or len({choice.get(key) for choice in choices}) > 1]
    return [
        " ".join(_point_setting_label_text(key, choice[key]) for key in varying if key in choice) for choice in choices
    ]


def _point_settings_as_texts(point: PlannedPoint) -> dict[str, str]:
    """Returns every setting of a point (kernel, board, options) as text, by its name."""
    choices: dict[str, str] = {}
    for field in fields(point):
        value = getattr(point, field.name)
        if isinstance(value, Mapping):
            choices |= {str(key): str(item) for key, item in value.items()}
        elif value is not None and field.name not in _HIDDEN_FIELDS:
            choices[field.name] = str(value)
    return choices


def _point_setting_label_text(key: str, value: str) -> str:
    """Returns one setting of a point as text for its label, such as `2 cores` or `by pin`."""
    if key in {_ALWAYS, "kernel", "board", "opt", "compiler"}:
        return value
    if key == "cores":
        return count_with_noun(int(value), "core")
    return f"by {value}" if key == "instrument" else f"{key}={value}"
