"""A compiler call of CMake's build files: which files it reads and where its outputs are.

Two builds, and two checkouts, have different folders. Their compiler calls would have different arguments, so they
could not share cached objects. So a call is executed with paths relative to the build's folder, in which a link leads
to the firmware's folder. Options of the compiler replace these paths in the object, whose bytes are those of CMake's
own call."""

import os
import re
import shlex
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

_REQUIRED: Final = frozenset({"-c", "-MD", "-MT", "-MF", "-o"})
"""Arguments of each compiler call in CMake's build files."""
FIRMWARE_LINK: Final = ".firmware"
"""In the build's folder: the link to the firmware's folder."""
_FOLDERS: Final = ("-I", "-isystem", "-iquote")
_QUOTED: Final = re.compile(r"['\"\\]")
_BETWEEN_FILES: Final = re.compile(r"(?<!\\)\s+")
_ESCAPED: Final = re.compile(r"\\(.)")
_PREFIX_MAP: Final = re.compile(r"-f(?:file|debug)-prefix-map=(.*)=([^=]*)")


@dataclass(frozen=True, slots=True)
class CompilerCall:
    """One compiler call, to be executed in the build's folder."""

    work: Path
    arguments: tuple[str, ...]
    firmware: Path
    """The firmware's folder. Sources are named relative to it."""

    @property
    def object_file_path(self) -> Path:
        """Returns the path of the object file."""
        return self.work / self._argument_after_option("-o")

    @property
    def path_of_compiled_source_file(self) -> Path:
        """Returns the path of the source file."""
        return self.work / self.arguments[-1]

    @property
    def relative_arguments(self) -> list[str]:
        """Returns the compiler call's arguments with paths relative to the build's folder, and options by which the
        object contains the same names as with CMake's arguments."""
        pairs = ((str(self.work), "."), (str(self.firmware), FIRMWARE_LINK))
        arguments: list[str] = []
        new: list[str] = []
        for argument in self.arguments:
            mapped = _PREFIX_MAP.fullmatch(argument)
            arguments.append(argument if mapped else _with_relative_path(argument, pairs))
            relative = mapped and _with_relative_path(mapped[1], pairs)
            if mapped and relative != mapped[1]:
                kind = argument.partition("=")[0]
                new.append(f"{kind}=./={mapped[2]}/" if relative == "." else f"{kind}={relative}={mapped[2]}")
        at = arguments.index("-MD")
        return [*arguments[:at], *new, *arguments[at:]]

    @property
    def folder_names_in_object(self) -> list[str]:
        """Returns the names that replace the paths of folders in the object."""
        return [mapped[2] for argument in self.arguments if (mapped := _PREFIX_MAP.fullmatch(argument))]

    @property
    def is_compiled_by_script(self) -> bool:
        """Whether the compiler is a script in the build's folder, which starts Clang."""
        return self.arguments[0].startswith(f"{self.work}/")

    @property
    def is_compiled_at_link(self) -> bool:
        """Whether the code is generated at the link (`-flto`). Such an object contains the paths of its build."""
        return any(argument.startswith("-flto") for argument in self.arguments)

    @property
    def include_folders(self) -> list[str]:
        """Returns the folders that are searched for headers, and the source's own folder. Those in the build's folder
        are left out."""
        folders_ = [str(self.path_of_compiled_source_file.parent)]
        for at, item in enumerate(self.arguments):
            if item.startswith(_FOLDERS):
                option = next(option for option in _FOLDERS if item.startswith(option))
                folders_.append(item[len(option) :] or self.arguments[at + 1])
        absolute = {_absolute_path(str(self.work), item) for item in folders_}
        return sorted(folder for folder in absolute if not f"{folder}/".startswith(f"{self.work}/"))

    @property
    def events_path(self) -> str:
        """Returns the path, in the build's folder, of the file in which ccache writes what it did."""
        return f"{self._argument_after_option('-o')}.ccache"

    def is_copied_from_cache(self) -> bool:
        """Whether ccache copied the object from its cache. Raises OSError."""
        return "_cache_hit\n" in (self.work / self.events_path).read_text(encoding="utf-8")

    def files_read_by_compiler(self) -> tuple[str, ...]:
        """Returns the absolute paths of all files that the compiler read. For a file that is not preprocessed this is
        only its own path."""
        list_path = self.work / self._argument_after_option("-MF")
        if not list_path.is_file():
            return (_absolute_path(str(self.work), str(self.path_of_compiled_source_file)),)
        text = list_path.read_text(encoding="utf-8", errors="surrogateescape")
        text = text.partition(":")[2].replace("\\\n", " ").strip()
        names = text.split() if "\\" not in text else [_ESCAPED.sub(r"\1", part) for part in _BETWEEN_FILES.split(text)]
        return tuple(sorted({self._absolute_source_path(name.replace("$$", "$")) for name in names if name}))

    def _absolute_source_path(self, name: str) -> str:
        """Returns the absolute path of a file that the compiler read. `name`: its path as the compiler writes it."""
        return _absolute_path(str(self.work), with_firmware_path(name, str(self.firmware)))

    def _argument_after_option(self, option: str) -> str:
        """Returns the argument that follows an option, such as `-o`, in the compiler call."""
        return self.arguments[self.arguments.index(option) + 1]


def parse_compiler_call(work: Path, line: str, firmware: Path) -> CompilerCall | None:
    """Returns a command line of the build as a compiler call. None if it is another step. `work`: the build's
    folder."""
    if "&&" in line:
        return None
    words = tuple(shlex.split(line) if _QUOTED.search(line) else line.split())  # shlex takes its time
    is_one = set(words) >= _REQUIRED and words[-2] == "-c"
    return CompilerCall(work, words, firmware) if is_one else None


def _with_relative_path(argument: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """Returns an argument that is a path, or an include folder, with the relative path of the folder that contains it.
    `pairs`: the absolute and the relative path of each folder."""
    for option in ("", *_FOLDERS):
        for folder, relative in pairs:
            start = option + folder
            if argument.startswith(start) and argument[len(start) :][:1] in ("", "/"):
                return option + relative + argument[len(start) :]
    return argument


def with_firmware_path(text: str, firmware: str) -> str:
    """Returns a text of the compiler in which the firmware's folder replaces the link to it."""
    return text.replace(f"{FIRMWARE_LINK}/", f"{firmware}/")


@lru_cache(maxsize=8192)
def _absolute_path(work: str, path: str) -> str:
    """Returns a path of the build's folder as a normalised absolute path."""
    return os.path.normpath(path if path[0] == "/" else f"{work}/{path}")
