"""The common part of many points' manifests, stored once. A manifest is the common part and the point's own, merged."""

from collections.abc import Mapping, Sequence
from typing import Any


def shared(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns what is the same in all of them, however deep."""
    first, *others = objects
    shared_values: dict[str, Any] = {}
    for key, value in first.items():
        if not all(key in other for other in others):
            continue
        theirs = [other[key] for other in others]
        if all(value == its for its in theirs):
            shared_values[key] = value
        elif isinstance(value, dict) and all(isinstance(its, dict) for its in theirs):
            shared_values[key] = shared([value, *theirs])
    return shared_values


def own(whole: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what is left of an object without the shared part."""
    own_values: dict[str, Any] = {}
    for key, value in whole.items():
        if key not in common:
            own_values[key] = value
        elif value != common[key]:
            own_values[key] = own(value, common[key])
    return own_values


def together(common: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """The whole again."""
    merged = dict(common)
    for key, value in part.items():
        mine = merged.get(key)
        merged[key] = together(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return merged
