"""Compiler options as a build's record of its calls has them: of all files, and of single files.

A record that was written before there were calls in it says nothing of single files.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rtoslab.images import DEFINITIONS, LIKE_GROUP, OPTIONS

_SHAPES_NO_CODE: Final = ("-W", "-w", "-g", "-std=", "-pipe", "-flto", "-O", "-fcallgraph-info", "-fshort-enums")
"""Options that change no instruction, concepts of their own, and what the ABI of the target asks for anyway."""
_WITH_LANGUAGE: Final = "-x"

Build = Mapping[str, Any]


def optimisation(build: Build) -> str | None:
    """Returns the level of the C files, or each folder's with its name where they differ."""
    calls = build.get("calls")
    if calls is None:
        return _level(build.get("flags", []))
    return _together({name: _level(words) or "" for name, words in _of_groups(calls).items()}) or None


def code_options(build: Build) -> str | None:
    """Returns the options of the C files that shape code, without the level. None: the record does not tell."""
    calls = build.get("calls")
    if calls is None:
        return None
    return _together({name: " ".join(_shaping(words)) for name, words in _of_groups(calls).items()})


def options_of_single_files(build: Build) -> str | None:
    """Returns the files whose options or definitions are other than those of their folder. None: as above."""
    calls = build.get("calls")
    if calls is None:
        return None
    exceptions = []
    for file, other in sorted(calls["files"].items()):
        if OPTIONS in other or DEFINITIONS in other:
            words = [word for kind in (OPTIONS, DEFINITIONS) for word in other.get(kind, []) if word != LIKE_GROUP]
            exceptions.append(f"{' '.join(words) or 'no options'} for {file}")
    return "; ".join(exceptions) or "none"


def _of_groups(calls: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Options by folder, of C files."""
    groups = calls["groups"].items()
    return {name.partition("/")[0]: group[OPTIONS] for name, group in groups if name.endswith("*.c")}


def _together(by_folder: Mapping[str, str]) -> str:
    """One text if all folders have the same."""
    if len(set(by_folder.values())) == 1:
        return next(iter(by_folder.values()))
    return ", ".join(f"{folder} {text or 'none'}" for folder, text in sorted(by_folder.items()))


def _level(words: Sequence[str]) -> str | None:
    return next((word for word in reversed(words) if word.startswith("-O")), None)


def _shaping(words: Iterable[str]) -> list[str]:
    shaping = []
    rest = iter(words)
    for word in rest:
        if word == _WITH_LANGUAGE:
            next(rest, None)
        elif not word.startswith(_SHAPES_NO_CODE):
            shaping.append(word)
    return shaping
