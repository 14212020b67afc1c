"""The arguments of each compiler call of a build, in a compact form for the build's record.

The flags that a build intends and those of a call may differ: a property of one file, a flag that a package adds. So
the record is made from the calls themselves. Files of one folder and language mostly have the same arguments. These
are recorded once, for the group. A file with other arguments is recorded by its name. No path of a machine is
recorded: folders have the names that the record's `sources` give them."""

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rtoslab.images.compilation import CompilerCall

LIKE_GROUP: Final = "..."
"""First argument of a file's exception that begins with all arguments of its group."""
OPTIONS: Final = "options"
DEFINITIONS: Final = "definitions"
FOLDERS: Final = "folders"
_OUTPUT: Final = frozenset({"-MT", "-MF", "-o", "-c"})
"""Options with a value that say what is compiled and where the result goes."""
_DEFINES: Final = ("-D", "-U")
_LOOKS_IN: Final = ("-I", "-isystem", "-iquote", "-idirafter", "-iprefix", "-include", "-imacros")
_CONFIG_FORMS: Final = "-Ibuild/generated/"
"""Begins the folders of shorter forms of bench_config.h, which differ only in how many of its macros they have."""
_MAPS_PREFIX: Final = re.compile(r"-f\w+-prefix-map=")
_FOREIGN: Final = re.compile(r"^(-[ILT]|-[\w-]+ |[^/]*[=,])?(/[^,]*)$")
_FOLDER: Final = re.compile(r"set\((FIRMWARE_DIR|KERNEL_DIR|KERNEL_SOURCE_DIR|CMAKE_BINARY_DIR) \[==\[(.*)\]==\]\)")
_NAMES: Final = {
    "FIRMWARE_DIR": "firmware", "KERNEL_DIR": "port", "KERNEL_SOURCE_DIR": "kernel", "CMAKE_BINARY_DIR": "build",
}  # fmt: skip

CallArguments = dict[str, list[str]]
"""The arguments of a call by kind: OPTIONS, DEFINITIONS, FOLDERS."""


def folder_names_by_path(build_info_input: str) -> dict[str, str]:
    """Returns the name that each folder has in a build's record, by its path. `build_info_input`: the text of
    `build_info_input.cmake`."""
    paths = dict(_FOLDER.findall(build_info_input))
    named = {paths[key]: name for key, name in _NAMES.items() if paths.get(key)}
    if "KERNEL_DIR" in paths and paths["KERNEL_DIR"].startswith(f"{paths.get('FIRMWARE_DIR')}/"):
        named.pop(paths["KERNEL_DIR"])  # a port of the checkout's is in `firmware`
    return named


def compact_compiler_calls(
    calls: Iterable[CompilerCall], links: Iterable[str], folders: Mapping[str, str]
) -> dict[str, Any]:
    """Returns the compiler calls of a build in the compact form of its record.

    It has the arguments of each group of files, those of files that differ from their group, and those of the link.
    `links` are the build's steps that link an image. `folders` comes from `folder_names_by_path`.
    """
    by_file: dict[str, CallArguments] = {}
    for call in calls:
        name = file = _without_machine_paths(str(call.path_of_compiled_source_file), folders)
        times = 1
        while file in by_file:
            times += 1
            file = f"{name} ({times})"
        by_file[file] = _compiler_arguments_by_kind(call.arguments[1:], folders)
    groups: dict[str, dict[str, CallArguments]] = {}
    for file, words in sorted(by_file.items()):
        groups.setdefault(_source_file_group_name(file), {})[file] = words
    common = {name: _most_common_arguments(list(files.values())) for name, files in groups.items()}
    others = {
        file: other
        for name, files in groups.items()
        for file, words in files.items()
        if (other := _compiler_arguments_beyond_group(common[name], words))
    }
    linked = [word for line in links for word in _linker_command_arguments(line, folders)]
    sizes = {name: {"files": len(files), **common[name]} for name, files in groups.items()}
    return {"groups": sizes, "files": others, "linked": linked}


def optimisation_levels(record: Mapping[str, Any]) -> set[str]:
    """Returns the optimisation levels (such as `-O2`) of all C files in a build's record. An empty text is the
    compiler's default."""
    return {level for _, level in _optimisation_levels_of_file_groups(record)}


def files_at_other_optimisation_levels(record: Mapping[str, Any], level: str) -> list[str]:
    """Returns a text for each C file, or group of C files, that was compiled at another optimisation level than this
    one."""
    return [
        f"{name} at {own or 'no level'}" for name, own in _optimisation_levels_of_file_groups(record) if own != level
    ]


def contradicting_definitions(record: Mapping[str, Any], kernel_config: Mapping[str, str]) -> list[str]:
    """Returns a text for each definition of a build's compiler calls that gives a kernel setting another value than
    the recorded one. `kernel_config`: the recorded value of each setting."""
    calls = {**record["groups"], **record["files"]}
    return [
        f"{name} with {word}, where {setting} is {kernel_config[setting]}"
        for name, arguments in sorted(calls.items())
        for word in arguments.get(DEFINITIONS, ())
        for setting, value in [_macro_and_value_of_argument(word)]
        if setting in kernel_config and value != _plain_number(kernel_config[setting])
    ]


def _macro_and_value_of_argument(word: str) -> tuple[str, str | None]:
    """Returns the macro of a `-D` or `-U` argument and its value. None: the argument removes the macro."""
    name, equals, value = word[2:].strip().partition("=")
    return name, None if word.startswith("-U") else _plain_number(value) if equals else "1"


def _plain_number(value: str) -> str:
    """Returns the value of a macro without parentheses, blanks and the suffixes of a number."""
    plain = value.strip().strip("()").strip()
    return re.sub(r"^(\w*\d\w*?)[uUlL]+$", r"\1", plain)


def _optimisation_levels_of_file_groups(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the name and the optimisation level of each group of C files, and of each C file with options of its
    own."""
    groups = {
        name: _last_optimisation_option(group[OPTIONS])
        for name, group in record["groups"].items()
        if name.endswith("*.c")
    }
    yield from sorted(groups.items())
    for file, other in sorted(record["files"].items()):
        group, words = _source_file_group_name(file), other.get(OPTIONS)
        if group in groups and words is not None:
            yield file, _last_optimisation_option(words) or (groups[group] if words[:1] == [LIKE_GROUP] else "")


def _last_optimisation_option(words: Sequence[str]) -> str:
    """Returns the last `-O` option among compiler arguments, which decides. Empty if there is none."""
    return next((word for word in reversed(words) if word.startswith("-O")), "")


def _source_file_group_name(file: str) -> str:
    """Returns the group of a file, such as `kernel/*.c`: its topmost folder and its language."""
    plain = re.sub(r" \(\d+\)$", "", file)
    return f"{plain.partition('/')[0]}/*{PurePosixPath(plain).suffix}"


def _most_common_arguments(words: Sequence[CallArguments]) -> CallArguments:
    """Returns the compiler arguments that most files of a group have, by kind. `words`: those of each file.

    Equally frequent ones are ordered by their text.
    """
    common: CallArguments = {}
    for kind in (OPTIONS, DEFINITIONS, FOLDERS):
        counts = Counter(tuple(call[kind]) for call in words)
        most = max(counts.values())
        common[kind] = list(min(usual for usual, count in counts.items() if count == most))
    return common


def _compiler_arguments_beyond_group(common: CallArguments, words: CallArguments) -> CallArguments:
    """Returns the compiler arguments of a file that differ from those of its group (`common`), by kind."""
    difference: CallArguments = {}
    for kind, usual in common.items():
        mine = words[kind]
        if mine != usual:
            difference[kind] = [LIKE_GROUP, *mine[len(usual) :]] if mine[: len(usual)] == usual else mine
    return difference


def _compiler_arguments_by_kind(arguments: Sequence[str], folders: Mapping[str, str]) -> CallArguments:
    """Returns a compiler call's arguments by kind, without those that say where the files are."""
    sorted_words: CallArguments = {OPTIONS: [], DEFINITIONS: [], FOLDERS: []}
    words = iter(arguments)
    for word in words:
        if word in _OUTPUT:
            next(words, None)
        elif word == "-MD" or _MAPS_PREFIX.match(word):
            continue  # says where files are, not how they are compiled
        elif word.startswith(_DEFINES):
            sorted_words[DEFINITIONS].append(
                _without_machine_paths(word if len(word) > 2 else word + next(words, ""), folders)
            )
        elif word.startswith(_LOOKS_IN):
            folder = _without_machine_paths(f"{word} {next(words, '')}" if word in _LOOKS_IN else word, folders)
            is_searched = folder.startswith("-I") and folder in sorted_words[FOLDERS]
            if not is_searched and not folder.startswith(_CONFIG_FORMS):
                sorted_words[FOLDERS].append(folder)
        else:
            sorted_words[OPTIONS].append(_without_machine_paths(word, folders))
    return sorted_words


def _linker_command_arguments(line: str, folders: Mapping[str, str]) -> list[str]:
    """Returns the arguments of a link command, without object files and output."""
    calls = [shlex.split(part) for part in line.split(" && ") if " -o " in part]
    if not calls:
        return []
    words = calls[-1][1:]
    at = words.index("-o")
    return [
        _without_machine_paths(word, folders)
        for word in [*words[:at], *words[at + 2 :]]
        if not word.endswith((".obj", ".o"))
    ]


def _without_machine_paths(word: str, folders: Mapping[str, str]) -> str:
    """Returns an argument in which folder names replace the paths on this machine."""
    for folder in sorted(folders, key=len, reverse=True):
        word = re.sub(rf"{re.escape(folder)}(?=[/,:\"]|$)", folders[folder], word)
    foreign = _FOREIGN.match(word)
    if foreign:
        return f"{foreign[1] or ''}elsewhere/{Path(foreign[2]).name}"
    prefix, slash, rest = word.partition("/")
    return f"{prefix}/{os.path.normpath(rest)}" if slash and rest.endswith("/.") else word
