"""Stores the common part of many points' manifests once. A manifest is the common part merged with the point's own."""

from collections.abc import Mapping, Sequence
from typing import Any


def common_keys_and_values(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the keys with values that are the same in all objects, also inside nested objects."""
    first, *others = objects
    common: dict[str, Any] = {}
    for key, value in first.items():
        if not all(key in other for other in others):
            continue
        theirs = [other[key] for other in others]
        if all(value == its for its in theirs):
            common[key] = value
        elif isinstance(value, dict) and all(isinstance(its, dict) for its in theirs):
            common[key] = common_keys_and_values([value, *theirs])
    return common


def remove_shared_mapping_entries(whole: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what an object has besides the common part of several."""
    own: dict[str, Any] = {}
    for key, value in whole.items():
        if key not in common:
            own[key] = value
        elif value != common[key]:
            own[key] = remove_shared_mapping_entries(value, common[key])
    return own


def merge_object_with_common_part(common: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the whole object, merged from the common part and its own part."""
    merged = dict(common)
    for key, value in part.items():
        mine = merged.get(key)
        merged[key] = (
            merge_object_with_common_part(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
        )
    return merged
