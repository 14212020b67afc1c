"""What the manifests of many points share, kept once: the whole is the shared part and a point's own, put together."""

from collections.abc import Mapping, Sequence
from typing import Any


def shared(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is the same in all of them, however deep."""
    first, *others = objects
    found: dict[str, Any] = {}
    for key, value in first.items():
        if not all(key in other for other in others):
            continue
        theirs = [other[key] for other in others]
        if all(value == its for its in theirs):
            found[key] = value
        elif isinstance(value, dict) and all(isinstance(its, dict) for its in theirs):
            found[key] = shared([value, *theirs])
    return found


def own(whole: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """What is left of an object without the shared part."""
    found: dict[str, Any] = {}
    for key, value in whole.items():
        if key not in common:
            found[key] = value
        elif value != common[key]:
            found[key] = own(value, common[key])
    return found


def together(common: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """The whole again."""
    found = dict(common)
    for key, value in part.items():
        mine = found.get(key)
        found[key] = together(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return found
