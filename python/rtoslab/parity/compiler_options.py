"""Compiler options from a build's record of its compiler calls: of all files, and of single files.

Older records have no calls, so they say nothing about single files."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rtoslab.images import DEFINITIONS, LIKE_GROUP, OPTIONS

_SHAPES_NO_CODE: Final = ("-W", "-w", "-g", "-std=", "-pipe", "-flto", "-O", "-fcallgraph-info", "-fshort-enums")
"""Options that change no instruction, concepts of their own, and what the ABI of the target asks for anyway."""
_WITH_LANGUAGE: Final = "-x"

BuildRecord = Mapping[str, Any]


def optimisation_level(build: BuildRecord) -> str | None:
    """Returns the optimisation level of the C files, such as `-O2`. If folders differ, each is named with its level.
    None if unknown."""
    calls = build.get("calls")
    if calls is None:
        return _last_optimisation_option(build.get("flags", []))
    return (
        _text_common_to_folders(
            {name: _last_optimisation_option(words) or "" for name, words in _options_by_folder(calls).items()}
        )
        or None
    )


def code_shaping_options(build: BuildRecord) -> str | None:
    """Returns the compiler options of the C files that shape their code, without the level. None if the build's record
    has no calls."""
    calls = build.get("calls")
    if calls is None:
        return None
    return _text_common_to_folders(
        {name: " ".join(_options_that_change_code(words)) for name, words in _options_by_folder(calls).items()}
    )


def options_of_single_files(build: BuildRecord) -> str | None:
    """Returns, as text, the files whose options or definitions differ from the rest of their folder. None if the
    build's record has no calls."""
    calls = build.get("calls")
    if calls is None:
        return None
    exceptions = []
    for file, other in sorted(calls["files"].items()):
        if OPTIONS in other or DEFINITIONS in other:
            words = [word for kind in (OPTIONS, DEFINITIONS) for word in other.get(kind, []) if word != LIKE_GROUP]
            exceptions.append(f"{' '.join(words) or 'no options'} for {file}")
    return "; ".join(exceptions) or "none"


def _options_by_folder(calls: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Returns the compiler options of C files by folder. `calls`: the record of compiler calls."""
    groups = calls["groups"].items()
    return {name.partition("/")[0]: group[OPTIONS] for name, group in groups if name.endswith("*.c")}


def _text_common_to_folders(by_folder: Mapping[str, str]) -> str:
    """Returns the text that all folders share. If they differ, each folder is named with its text."""
    if len(set(by_folder.values())) == 1:
        return next(iter(by_folder.values()))
    return ", ".join(f"{folder} {text or 'none'}" for folder, text in sorted(by_folder.items()))


def _last_optimisation_option(words: Sequence[str]) -> str | None:
    """Returns the last `-O` option among compiler options, which decides. None if there is none."""
    return next((word for word in reversed(words) if word.startswith("-O")), None)


def _options_that_change_code(words: Iterable[str]) -> list[str]:
    """Returns the compiler options that change instructions, without those in `_SHAPES_NO_CODE`."""
    shaping = []
    rest = iter(words)
    for word in rest:
        if word == _WITH_LANGUAGE:
            next(rest, None)
        elif not word.startswith(_SHAPES_NO_CODE):
            shaping.append(word)
    return shaping
