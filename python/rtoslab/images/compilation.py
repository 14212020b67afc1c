"""A compilation as CMake's build files have it: what it reads, what it makes, and which macros its code asked for.

The trap it prevents: the headers that a build generates hold what differs from image to image, and nearly every file
includes them, so that by content alone every object would be new. The compiler itself says which macros it expanded or
tested. Only their values count. A macro that was asked for and not found counts too.

Two folders stand under a sign of their own, so that another build and another checkout find what was made: `@` is the
build's folder, `$` the firmware's. The firmware's is taken out only where it tells a file's place (a word of the call,
a line that says where code comes from). Code that holds it anywhere else is of that checkout alone.
"""

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from rtoslab.base import tools

_DEFINED: Final = re.compile(r"#define ([A-Za-z_]\w*)")
_DEFINITION: Final = re.compile(rb"^#(?:define|undef) ([A-Za-z_]\w*).*\n", re.MULTILINE)
_PATHS: Final = frozenset({"-MT", "-MF", "-o"})
_FOLDERS: Final = ("-I", "-isystem", "-iquote")
_PREPROCESSORS: Final = (*_FOLDERS, "-D", "-U")
"""Options that say nothing to what follows the preprocessor."""
_OPEN_COMMENT: Final = re.compile(r"/\*(?!.*\*/)")
_QUOTED: Final = re.compile(r"['\"\\]")
_ARCHIVE: Final = re.compile(r": && \S+ -E rm -f (\S+) && \S+ qc \1 +(.+) && \S+ \1 && :")
"""As CMake writes it: away with the one before, the members, the index."""
_BETWEEN_FILES: Final = re.compile(r"(?<!\\)\s+")
_ESCAPED: Final = re.compile(r"\\(.)")
_BEFORE_PLACE: Final = r"(?:-I|-isystem|-iquote|-f(?:file|debug|macro)-prefix-map=)?"


@dataclass(frozen=True, slots=True)
class PreprocessedSource:
    """A source file after preprocessing: the files read, the macros used, a digest of the code."""

    files: tuple[str, ...]
    """Absolute paths of the files that were read."""
    used_macros: list[str] | None
    """All macros that the code expands or tests, those of generated headers included. None if the compiler does not
    report them: then all of a generated file counts."""
    digest: str
    """The digest of the code with its line markers, but without macro definitions."""
    contains_checkout: bool
    """Whether the code itself, and not only its line markers, contains the firmware's folder."""


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
    def callgraph_path(self) -> Path:
        """Returns the path of the call graph file, which the compiler writes only if an option asks for it."""
        return self.object_file_path.with_suffix(".ci")

    @property
    def is_gcc(self) -> bool:
        """Whether the compiler is GCC, which can report the macros that a file uses."""
        return self.arguments[0].endswith("gcc")

    def does_object_file_contain_build_paths(self, content: bytes) -> bool:
        """Whether an object file contains a path of the build or the firmware folder.
        With -flto it does, for it is compiled at the link.
        """
        translated_later = any(argument.startswith("-flto") for argument in self.arguments)
        return translated_later or any(os.fsencode(path) in content for path in (self.work, self.firmware))

    @property
    def portable_compiler_arguments(self) -> list[str]:
        """Returns the compiler call's arguments, in which `@` stands for the build's folder and `$` for the
        firmware's."""
        place = _firmware_path_pattern(str(self.firmware))
        return [place.sub(r"\1$", argument.replace(str(self.work), "@")) for argument in self.arguments]

    @property
    def code_generation_options(self) -> list[str]:
        """Returns the arguments that still matter after preprocessing: no header folders, no definitions, no output
        paths."""
        options = []
        words = iter(self.portable_compiler_arguments)
        for word in words:
            if word in _PREPROCESSORS or word in _PATHS:
                next(words, None)
            elif not word.startswith(_PREPROCESSORS) and word != "-MD":
                options.append(word)
        return options

    @property
    def include_folders(self) -> list[str]:
        """Returns the folders that are searched for headers, and the source's own folder. The folder of generated
        headers is left out."""
        folders_ = [str(self.path_of_compiled_source_file.parent)]
        for at, item in enumerate(self.arguments):
            if item.startswith(_FOLDERS):
                option = next(option for option in _FOLDERS if item.startswith(option))
                folders_.append(item[len(option) :] or self.arguments[at + 1])
        absolute = {_absolute_path(str(self.work), item) for item in folders_}
        return sorted(absolute - {f"{self.work}/generated"})

    def preprocess_source(self) -> PreprocessedSource | None:
        """Runs the preprocessor, and returns its result. None if it fails, because the whole compilation then shows the
        error."""
        arguments = list(self.arguments)
        at = arguments.index("-o")
        del arguments[at : at + 2]
        arguments[arguments.index("-c")] = "-E"
        done = subprocess.run(
            [*arguments, *(["-dU"] if self.is_gcc else [])],
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=tools.build_environment_variables(),
            check=False,
        )
        if done.returncode != 0 or not self._compiler_dependency_file_path.is_file():
            return None
        code = done.stdout.replace(str(self.work).encode(), b"@")
        names = sorted({name.decode() for name in _DEFINITION.findall(code)}) if self.is_gcc else None
        code = _line_marker_pattern(str(self.firmware)).sub(rb"\1$", _DEFINITION.sub(b"", code))
        contains_checkout = os.fsencode(self.firmware) in code
        return PreprocessedSource(
            self.files_read_by_compiler(), names, hashlib.sha256(code).hexdigest(), contains_checkout
        )

    def files_read_by_compiler(self) -> tuple[str, ...]:
        """Returns the absolute paths of all files that the compiler read. For a file that is not preprocessed this is
        only its own path."""
        if not self._compiler_dependency_file_path.is_file():
            return (_absolute_path(str(self.work), str(self.path_of_compiled_source_file)),)
        text = self._compiler_dependency_file_path.read_text(encoding="utf-8", errors="surrogateescape")
        text = text.partition(":")[2].replace("\\\n", " ").strip()
        names = text.split() if "\\" not in text else [_ESCAPED.sub(r"\1", part) for part in _BETWEEN_FILES.split(text)]
        work = str(self.work)
        return tuple(sorted({_absolute_path(work, name.replace("$$", "$")) for name in names if name}))

    def write_cached_outputs(self, content: bytes, callgraph: bytes | None) -> None:
        """Writes an object and call graph from the cache to the places where this compiler call would write them.
        Raises OSError.
        """
        self.object_file_path.parent.mkdir(parents=True, exist_ok=True)
        self.object_file_path.write_bytes(content)
        if callgraph is not None:
            self.callgraph_path.write_bytes(callgraph)

    @property
    def _compiler_dependency_file_path(self) -> Path:
        """Returns the path of the file in which the compiler lists what it read."""
        return self.work / self._argument_after_option("-MF")

    def _argument_after_option(self, option: str) -> str:
        """Returns the argument that follows an option, such as `-o`, in the compiler call."""
        return self.arguments[self.arguments.index(option) + 1]


@lru_cache(maxsize=8)
def _firmware_path_pattern(firmware: str) -> re.Pattern[str]:
    """Returns the pattern of a compiler argument that is a path in the firmware's folder, or an option with such a
    path.

    A macro's value does not match.
    """
    return re.compile(rf"^({_BEFORE_PLACE}){re.escape(firmware)}(?=[/=]|$)")


@lru_cache(maxsize=8)
def _line_marker_pattern(firmware: str) -> re.Pattern[bytes]:
    """Returns the pattern of a line in which a preprocessor names a file in the firmware's folder."""
    return re.compile(rb'^(# \d+ ")%s(?=[/"])' % re.escape(os.fsencode(firmware)), re.MULTILINE)


def parse_compiler_call(work: Path, line: str, firmware: Path) -> CompilerCall | None:
    """Returns a command line of the build as a compiler call. None if it is another step. `work`: the build's
    folder."""
    if "&&" in line:
        return None
    words = tuple(shlex.split(line) if _QUOTED.search(line) else line.split())  # shlex takes its time
    is_one = {"-c", "-MD", *_PATHS} <= set(words) and words[-2] == "-c"
    return CompilerCall(work, words, firmware) if is_one else None


@dataclass(frozen=True, slots=True)
class LibraryArchiveStep:
    """A step that puts objects into a library, to be executed in the build's folder."""

    work: Path
    line: str
    archive: Path
    members: tuple[Path, ...]

    @property
    def portable_archive_command(self) -> str:
        """Returns the command, in which `@` stands for the build's folder."""
        return self.line.replace(str(self.work), "@")


def parse_library_archive_step(work: Path, line: str) -> LibraryArchiveStep | None:
    """Returns a command line of the build as the step that makes a library. None if it is another step."""
    match = _ARCHIVE.fullmatch(line)
    if match is None or _QUOTED.search(line):
        return None
    return LibraryArchiveStep(work, line, work / match[1], tuple(work / part for part in match[2].split()))


def object_cache_key(
    call: str, files: Mapping[str, str], generated: Mapping[str, str], used_macros: Sequence[str] | None
) -> str:
    """Returns the key under which an object file is cached: a digest of the compiler call, the files read, and the
    lines of generated headers that matter.

    `files`: digests by path. `generated`: texts by path. `used_macros`: None if unknown, when every line matters.
    """
    names = None if used_macros is None else frozenset(used_macros)
    parts = [call, *(f"{path} {digest}" for path, digest in sorted(files.items()))]
    parts += [f"{path}\n{_header_lines_affecting_object_file(text, names)}" for path, text in sorted(generated.items())]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _header_lines_affecting_object_file(text: str, names: frozenset[str] | None) -> str:
    """Returns the lines of a generated header that can change an object file. `names`: the macros that the code uses,
    or None.

    These are used macros on any line, and every other line with its number, which debug information contains.
    """
    lines = None if names is None else _split_lines_by_macro(text)
    if lines is None or names is None:
        return text
    return "\n".join([line for macro, line in lines if macro is None or macro in names])


@lru_cache(maxsize=64)
def _split_lines_by_macro(text: str) -> tuple[tuple[str | None, str], ...] | None:
    """Returns each line of a header with the macro that it defines, or with its number.
    None if a line may continue on the next one.
    """
    if "\\\n" in text or _OPEN_COMMENT.search(text):
        return None
    definitions = ((_DEFINED.match(line), number, line) for number, line in enumerate(text.splitlines()))
    return tuple((macro[1], line) if macro else (None, f"{number} {line}") for macro, number, line in definitions)


@lru_cache(maxsize=8192)
def _absolute_path(work: str, path: str) -> str:
    """Returns a path of the build's folder as a normalised absolute path."""
    return os.path.normpath(path if path[0] == "/" else f"{work}/{path}")
