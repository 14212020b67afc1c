"""Compiles through ccache, which copies the object of a known compiler call from its cache.

An edited file must never be answered with an old object. ccache names an object by the compiler, its options and the
content of the files that it read. Four kinds of inputs are not among these, so this module adds them to the name, or
compiles without ccache:

- files that did not exist, and now hide a header or are found by `__has_include`: the names of all files in the include
  folders are part of the name,
- the names of folders in the object (`-ffile-prefix-map`): they are part of the name,
- files that the assembler reads (`.include`, `.incbin`): a source with such a text is compiled without ccache,
- code that is generated at the link (`-flto`): such an object contains paths of its build, and is not cached."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rtoslab.base import cross_compiler_tool_name, sha256_of_file, to_canonical_json, tools
from rtoslab.images.compilation import CompilerCall

CACHE_SIZE: Final = "512M"
"""The size of the cache: objects of some hundred configurations. ccache removes the least recently used ones."""
UNLISTED_INPUTS: Final = (b"incbin", b".include")
"""Texts in a source that make its object depend on a file that is in no file list."""
IMAGE_MACRO: Final = b"BENCH_RUN_ID"
"""A macro whose value no two images share. The object of a source that contains it is not cached."""
_SEARCHED: Final[dict[tuple[str, bytes], bool]] = {}
"""Whether a file contains a text, by the file's digest."""


@dataclass(slots=True)
class ObjectFileCache:
    """The cache of compiled objects, as one build uses it."""

    work: Path
    firmware: Path
    folder: Path
    """The folder of ccache's files."""
    compilers: str
    """The identity of the compilers (`compiler_identity`)."""
    ccache: Path | None = field(default_factory=tools.find_ccache)
    """The program. Without it nothing is cached."""
    _names: dict[str, str] = field(default_factory=dict)
    _checked: dict[str, bool] = field(default_factory=dict)

    def is_cacheable(self, call: CompilerCall) -> bool:
        """Whether the object of a compiler call may be cached."""
        return not (
            self.ccache is None
            or call.is_compiled_at_link
            or _contains(str(call.path_of_compiled_source_file), IMAGE_MACRO)
        )

    def settings(self, call: CompilerCall) -> dict[str, str]:
        """Returns the environment variables by which ccache compiles a source file. It reads no configuration file."""
        names = [self._digest_of_file_names_in_folder(folder) for folder in call.include_folders]
        script = sha256_of_file(call.arguments[0]) if call.is_compiled_by_script else ""
        inputs = to_canonical_json([self.compilers, script, names, call.folder_names_in_object])
        return {
            "CCACHE_DIR": str(self.folder),
            "CCACHE_CONFIGPATH": os.devnull,
            "CCACHE_MAXSIZE": CACHE_SIZE,
            "CCACHE_COMPILERCHECK": "string:" + hashlib.sha256(inputs.encode()).hexdigest(),
            "CCACHE_COMPILERTYPE": "gcc" if call.arguments[0].endswith("gcc") else "clang",
            "CCACHE_NOHASHDIR": "1",  # `relative_arguments` replaces the build's folder in the object
            "CCACHE_STATSLOG": str(self.work / call.events_path),
        }

    def has_unlisted_inputs(self, files: Iterable[str]) -> bool:
        """Whether one of the files that were compiled depends on a file that is in no file list."""
        for file in files:
            if file not in self._checked:
                self._checked[file] = any(_contains(file, text) for text in UNLISTED_INPUTS)
        return any(self._checked[file] for file in files)

    def _digest_of_file_names_in_folder(self, folder: str) -> str:
        """Returns a digest of the names of all files below a folder. It changes with a new header, which may hide
        another one."""
        if folder not in self._names:
            names = sorted(os.path.relpath(file, folder) for file in _all_files_below(folder))
            self._names[folder] = hashlib.sha256("\n".join(names).encode("utf-8", "surrogateescape")).hexdigest()
        return self._names[folder]


def compiler_identity(clang: bool) -> str:
    """Returns a text that identifies the compilers: their versions, and the program's path, size and time. `clang`:
    whether Clang is used."""
    program = tools.find_build_program(cross_compiler_tool_name("gcc"))
    status = program.stat()
    words = [
        tools.first_version_line(cross_compiler_tool_name("gcc")),
        str(program),
        status.st_size,
        status.st_mtime_ns,
    ]
    return to_canonical_json([*words, *([tools.clang_version_line()] if clang else [])])


def _contains(file: str, text: bytes) -> bool:
    """Whether a file contains a text. A file that cannot be read contains none."""
    try:
        digest = sha256_of_file(file)
        if (digest, text) not in _SEARCHED:
            content = Path(file).read_bytes()
            digest = hashlib.sha256(content).hexdigest()  # it may be another file by now
            _SEARCHED[digest, text] = text in content
    except OSError:
        return False
    return _SEARCHED[digest, text]


def _all_files_below(folder: str) -> Iterator[str]:
    """Yields the path of every file in a folder and its subfolders.
    A folder that cannot be read is empty, as for a compiler.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _all_files_below(entry.path)
            elif not entry.is_dir():
                yield entry.path
