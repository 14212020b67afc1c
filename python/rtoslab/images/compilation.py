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
    """A source after the compiler's first half."""

    files: tuple[str, ...]
    """Absolute paths of what it read."""
    requested: list[str] | None
    """Names of all macros that the code expands or tests, the generated headers' among them. None if the compiler does
    not say: then all that is generated counts."""
    digest: str
    """The digest of the code, which tells the lines that it comes from, but not the macros that are gone in it."""
    contains_checkout: bool
    """Whether the code itself, and not only where it comes from, holds the firmware's folder."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """One compiler call, to be made in the build's folder."""

    work: Path
    arguments: tuple[str, ...]
    firmware: Path
    """The folder of sources that are named from there on, wherever it lies."""

    @property
    def object(self) -> Path:
        """Returns what it makes."""
        return self.work / self._after("-o")

    @property
    def source(self) -> Path:
        """Returns what it compiles."""
        return self.work / self.arguments[-1]

    @property
    def callgraph(self) -> Path:
        """Returns what it writes beside the object if it is told to say what calls what."""
        return self.object.with_suffix(".ci")

    @property
    def is_gcc(self) -> bool:
        """Whether the compiler can be asked for the macros that a file asks for."""
        return self.arguments[0].endswith("gcc")

    def contains_its_place(self, content: bytes) -> bool:
        """Whether an object names a folder: what is translated at the link keeps the paths as they were."""
        translated_later = any(argument.startswith("-flto") for argument in self.arguments)
        return translated_later or any(os.fsencode(path) in content for path in (self.work, self.firmware))

    @property
    def placeless(self) -> list[str]:
        """The call without the names of its build's and the firmware's folder."""
        place = _word_of_place(str(self.firmware))
        return [place.sub(r"\1$", argument.replace(str(self.work), "@")) for argument in self.arguments]

    @property
    def of_code(self) -> list[str]:
        """Returns what of that call still counts once the source is preprocessed: not where headers are looked for,
        nor what is defined, nor where the object goes."""
        compilations = []
        words = iter(self.placeless)
        for word in words:
            if word in _PREPROCESSORS or word in _PATHS:
                next(words, None)
            elif not word.startswith(_PREPROCESSORS) and word != "-MD":
                compilations.append(word)
        return compilations

    @property
    def folders(self) -> list[str]:
        """Returns the folders that are searched for headers, and the source's own folder. Not those of the build."""
        folders_ = [str(self.source.parent)]
        for at, item in enumerate(self.arguments):
            if item.startswith(_FOLDERS):
                option = next(option for option in _FOLDERS if item.startswith(option))
                folders_.append(item[len(option) :] or self.arguments[at + 1])
        absolute = {_absolute(str(self.work), item) for item in folders_}
        return sorted(absolute - {f"{self.work}/generated"})

    def preprocess(self) -> PreprocessedSource | None:
        """Returns what the compiler's first half makes of the source. None if it refuses: then the whole says why."""
        arguments = list(self.arguments)
        at = arguments.index("-o")
        del arguments[at : at + 2]
        arguments[arguments.index("-c")] = "-E"
        done = subprocess.run(
            [*arguments, *(["-dU"] if self.is_gcc else [])],
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=tools.build_environment(),
            check=False,
        )
        if done.returncode != 0 or not self._listing_file.is_file():
            return None
        code = done.stdout.replace(str(self.work).encode(), b"@")
        names = sorted({name.decode() for name in _DEFINITION.findall(code)}) if self.is_gcc else None
        code = _line_of_place(str(self.firmware)).sub(rb"\1$", _DEFINITION.sub(b"", code))
        contains_checkout = os.fsencode(self.firmware) in code
        return PreprocessedSource(self.files(), names, hashlib.sha256(code).hexdigest(), contains_checkout)

    def files(self) -> tuple[str, ...]:
        """Returns absolute paths of the files that the compiler reported. It says nothing about files that it does not
        preprocess."""
        if not self._listing_file.is_file():
            return (_absolute(str(self.work), str(self.source)),)
        text = self._listing_file.read_text(encoding="utf-8", errors="surrogateescape")
        text = text.partition(":")[2].replace("\\\n", " ").strip()
        names = text.split() if "\\" not in text else [_ESCAPED.sub(r"\1", part) for part in _BETWEEN_FILES.split(text)]
        work = str(self.work)
        return tuple(sorted({_absolute(work, name.replace("$$", "$")) for name in names if name}))

    def put(self, content: bytes, callgraph: bytes | None) -> None:
        """Puts the outputs of another compilation in the place of this one's. Raises OSError."""
        self.object.parent.mkdir(parents=True, exist_ok=True)
        self.object.write_bytes(content)
        if callgraph is not None:
            self.callgraph.write_bytes(callgraph)

    @property
    def _listing_file(self) -> Path:
        return self.work / self._after("-MF")

    def _after(self, option: str) -> str:
        return self.arguments[self.arguments.index(option) + 1]


@lru_cache(maxsize=8)
def _word_of_place(firmware: str) -> re.Pattern[str]:
    """A word of a call that is a file of the firmware's, or an option with one. Nothing that code is told."""
    return re.compile(rf"^({_BEFORE_PLACE}){re.escape(firmware)}(?=[/=]|$)")


@lru_cache(maxsize=8)
def _line_of_place(firmware: str) -> re.Pattern[bytes]:
    """Returns the pattern of a line marker by which a preprocessor names a file of the firmware."""
    return re.compile(rb'^(# \d+ ")%s(?=[/"])' % re.escape(os.fsencode(firmware)), re.MULTILINE)


def compilation(work: Path, line: str, firmware: Path) -> Compilation | None:
    """A line of the build as a compilation. None if it is something else."""
    if "&&" in line:
        return None
    words = tuple(shlex.split(line) if _QUOTED.search(line) else line.split())  # shlex takes its time
    is_one = {"-c", "-MD", *_PATHS} <= set(words) and words[-2] == "-c"
    return Compilation(work, words, firmware) if is_one else None


@dataclass(frozen=True, slots=True)
class Archiving:
    """Objects put into a library, to be done in the build's folder."""

    work: Path
    line: str
    archive: Path
    members: tuple[Path, ...]

    @property
    def placeless(self) -> str:
        """The step without the name of its build folder."""
        return self.line.replace(str(self.work), "@")


def archiving(work: Path, line: str) -> Archiving | None:
    """A line of the build as the making of a library. None if it is something else."""
    match = _ARCHIVE.fullmatch(line)
    if match is None or _QUOTED.search(line):
        return None
    return Archiving(work, line, work / match[1], tuple(work / part for part in match[2].split()))


def content_key(
    call: str, files: Mapping[str, str], generated: Mapping[str, str], requested: Sequence[str] | None
) -> str:
    """Names an object: what is called, the digest of each file read, and what is asked for of each generated one."""
    names = None if requested is None else frozenset(requested)
    parts = [call, *(f"{path} {digest}" for path, digest in sorted(files.items()))]
    parts += [f"{path}\n{_counts(text, names)}" for path, text in sorted(generated.items())]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _counts(text: str, names: frozenset[str] | None) -> str:
    """Returns what of a generated file can reach an object: macros that are asked for, in whatever line they stand,
    and every other line with its number, which a debugger is told."""
    lines = None if names is None else _lines(text)
    if lines is None or names is None:
        return text
    return "\n".join([line for macro, line in lines if macro is None or macro in names])


@lru_cache(maxsize=64)
def _lines(text: str) -> tuple[tuple[str | None, str], ...] | None:
    """Each line, with the macro that it defines or else with its number. None if lines do not stand for themselves."""
    if "\\\n" in text or _OPEN_COMMENT.search(text):
        return None
    definitions = ((_DEFINED.match(line), number, line) for number, line in enumerate(text.splitlines()))
    return tuple((macro[1], line) if macro else (None, f"{number} {line}") for macro, number, line in definitions)


@lru_cache(maxsize=8192)
def _absolute(work: str, path: str) -> str:
    """A path from the build's folder on, without what it says twice."""
    return os.path.normpath(path if path[0] == "/" else f"{work}/{path}")
