"""Caches objects by content. A source that was compiled once is only copied for the next image with the same inputs.

Headers are known only after a compiler has read them. So a call leads to the lists of files that it read before,
with the macros that it used. Their present content names the object. If that name is new, the preprocessor runs, and
its output names an object too: much of a kernel is the same code in another configuration.

The trap it prevents: an edited file must never be answered with an old object. So the files are read again for each
image, and an object is not cached if a file changed meanwhile, or may depend on a file that is in no list. Files of
the checkout are named relative to its firmware folder, so that another checkout finds them. No cached file contains
that folder's name."""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rtoslab.base import cross_compiler_tool_name, sha256_of_file, to_canonical_json, tools
from rtoslab.images.compilation import CompilerCall, LibraryArchiveStep, PreprocessedSource, object_cache_key
from rtoslab.images.object_store import ObjectStore

LISTS_PER_CALL: Final = 16
"""The number of file lists for one call: each combination of conditions may read other files."""
JUST_NOW_NS: Final = 50_000_000
"""More than the resolution of any file system's times."""
UNLISTED_INPUTS: Final = (b"__DATE__", b"__TIME__", b"__TIMESTAMP__", b"incbin", b".include")
"""Texts in a source that make its object depend on something that is in no file list."""
IMAGE_MACROS: Final = frozenset({"BENCH_RUN_ID", "BENCH_MANIFEST"})
"""Macros that no two images share. An object that uses them is not cached."""
_SEARCHED: Final[dict[str, bool]] = {}
"""Whether a file contains one of those, by the file's digest."""
_FORMAT: Final = 3
_UNREAD: Final = "unread"
"""Marks a file that was not read yet."""
_CHECKOUT: Final = "\0"
"""Stands for the firmware's folder in a compiler's output."""
_Lists = Iterator[tuple[tuple[str, ...], list[str] | None]]


@dataclass(frozen=True, slots=True)
class CompilerOutputs:
    """The outputs of a compiler call: object, call graph and messages."""

    object: bytes
    callgraph: bytes | None
    output: str
    """What the compiler printed."""


@dataclass(slots=True)
class ObjectFileCache:
    """The cache of compiled objects, as one build uses it. It reads each file once."""

    work: Path
    firmware: Path
    cache: ObjectStore
    compilers: str
    """The identity of the compilers (`compiler_identity`)."""
    _digests: dict[str, str | None] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _texts: dict[str, str | None] = field(default_factory=dict)

    def compiler_call_key(self, compilation: CompilerCall) -> str:
        """Returns the key of a compiler call: a digest of arguments, compiler, source, and the names of all files in
        its header folders."""
        source = self._file_digest(self._portable_path(str(compilation.path_of_compiled_source_file)))
        return _cache_key_from_parts(
            self._compiler_call_key_parts(compilation.portable_compiler_arguments),
            source,
            sorted(self._digest_of_file_names_in_folder(folder) for folder in compilation.include_folders),
        )

    def exclusive_lock(self, call: str) -> AbstractContextManager[None]:
        """Locks a compiler call, so that one process compiles and the others find the object in the cache. `call`: its
        key."""
        return self.cache.exclusive_lock(call)

    def find_compiler_outputs(self, call: str) -> tuple[CompilerOutputs, tuple[str, ...]] | None:
        """Returns the cached outputs of the same compiler call on the same files, and the paths of these files.

        None if there is none.
        """
        for files, names in self._inputs_of_earlier_compiler_runs(call):
            key = self._object_cache_key_of_current_files(call, files, names)
            of = None if key is None else self.cache.read_cached_bytes_by_key(f"{key}.of")
            result = None if of is None else self._read_compiler_outputs(of.decode())
            if result is not None:
                return result, tuple(self._machine_path_of_portable_path(file) for file in files)
        return None

    def does_call_use_image_specific_macro(self, call: str) -> bool:
        """Whether an earlier run of this compiler call used a macro whose value differs in every image."""
        return any(IMAGE_MACROS & set(names or ()) for _, names in self._inputs_of_earlier_compiler_runs(call))

    def find_outputs_by_preprocessed_code(
        self, compilation: CompilerCall, preprocessed: PreprocessedSource
    ) -> CompilerOutputs | None:
        """Returns the cached outputs for the same preprocessed code. None if there are none."""
        return self._read_compiler_outputs(self._preprocessed_code_key(compilation, preprocessed))

    def store_compiler_outputs(
        self,
        compilation: CompilerCall,
        call: str,
        preprocessed: PreprocessedSource,
        result: CompilerOutputs,
        began_ns: int,
    ) -> None:
        """Caches the outputs of a compiler call, unless they may depend on unknown inputs. `began_ns`: the time before
        it ran. Raises StoreError."""
        files = tuple(map(self._portable_path, preprocessed.files))
        outside = [file for file in files if file[0] != "@"]
        if any(_was_file_changed_since(self._machine_path_of_portable_path(path), began_ns) for path in outside) or any(
            map(_has_unlisted_build_inputs, preprocessed.files)
        ):
            return
        new = {"asked": preprocessed.used_macros, "files": list(files)}
        others = [path for path in self._stored_compiler_input_lists(call) if path != new]
        self.cache.store_bytes_under_key(f"{call}.lists", json.dumps([new, *others][:LISTS_PER_CALL]).encode())
        for path in outside:
            self._digests.pop(path, None)
        key = self._object_cache_key_of_current_files(call, files, preprocessed.used_macros)
        if key is not None and not IMAGE_MACROS & set(preprocessed.used_macros or ()):
            code = self._preprocessed_code_key(compilation, preprocessed)
            self._write_compiler_outputs(code, result)
            self.cache.store_bytes_under_key(f"{key}.of", code.encode())

    def library_cache_key(self, archiving_: LibraryArchiveStep) -> str:
        """Returns the key under which a library is cached: a digest of its command and its objects. Raises OSError."""
        members = [hashlib.sha256(member.read_bytes()).hexdigest() for member in archiving_.members]
        return _cache_key_from_parts(self.compilers, archiving_.portable_archive_command, members)

    def find_library(self, key: str) -> bytes | None:
        """Returns the cached library of this key. None if there is none."""
        return self.cache.read_cached_bytes_by_key(key)

    def put_library_into_cache(self, key: str, content: bytes) -> None:
        """Caches a library. Raises StoreError."""
        self.cache.store_bytes_under_key(key, content)

    def _compiler_call_key_parts(self, words: list[str]) -> list[Any]:
        """Returns the compiler's identity and the arguments of a call, as parts of a cache key."""
        return [self.compilers, words]

    def _preprocessed_code_key(self, compilation: CompilerCall, preprocessed: PreprocessedSource) -> str:
        """Returns the key under which outputs are cached by their preprocessed code."""
        return _cache_key_from_parts(
            self._compiler_call_key_parts(compilation.code_generation_options), preprocessed.digest
        )

    def _inputs_of_earlier_compiler_runs(self, call: str) -> _Lists:
        """Yields the files read and the macros used (None if unknown) by each earlier run of a compiler call, the
        latest first.

        `@` is the build's folder, `$` the firmware's.
        """
        for path in self._stored_compiler_input_lists(call):
            yield tuple(path["files"]), path["asked"]

    def _stored_compiler_input_lists(self, call: str) -> list[dict[str, Any]]:
        """Returns the stored lists of files and macros of a compiler call, the latest first. `call`: its key."""
        stored = self.cache.read_cached_bytes_by_key(f"{call}.lists")
        return [] if stored is None else json.loads(stored)

    def _object_cache_key_of_current_files(
        self, call: str, files: tuple[str, ...], names: list[str] | None
    ) -> str | None:
        """Returns the key of an object by the present content of the files that it was compiled from. None if one of
        them is gone."""
        digests = {file: self._file_digest(file) for file in files if file[0] != "@"}
        generated = {file: self._read_generated_file(file) for file in files if file[0] == "@"}
        present = {item: digest for item, digest in digests.items() if digest is not None}
        texts = {item: text for item, text in generated.items() if text is not None}
        if len(present) + len(texts) < len(files):
            return None
        return object_cache_key(call, present, texts, names)

    def _read_generated_file(self, place: str) -> str | None:
        """Returns the text of a file that the build generated. None if it cannot be read."""
        text = self._texts.get(place, _UNREAD)
        if text is _UNREAD:
            text = None
            with suppress(OSError, UnicodeDecodeError):
                text = (self.work / place[2:]).read_text(encoding="utf-8")
            self._texts[place] = text
        return text

    def _file_digest(self, place: str) -> str | None:
        """Returns a file's digest. None for generated and missing files. `place`: its portable path.

        The digest is entered once it is complete, for another thread may read or drop it meanwhile.
        """
        digest = self._digests.get(place, _UNREAD) if place[0] != "@" else None
        if digest is _UNREAD:
            digest = None
            with suppress(OSError):
                digest = sha256_of_file(self._machine_path_of_portable_path(place))
            self._digests[place] = digest
        return digest

    def _portable_path(self, file: str) -> str:
        """Returns a file's path, in which `@` stands for the build's folder and `$` for the firmware's."""
        for sign, folder in (("@", f"{self.work}/"), ("$", f"{self.firmware}/")):
            if file.startswith(folder):
                return f"{sign}/{file[len(folder) :]}"
        return file

    def _machine_path_of_portable_path(self, place: str) -> str:
        """Returns a portable path as a path on this machine. That of a generated file (`@`) is returned unchanged."""
        return f"{self.firmware}{place[1:]}" if place[0] == "$" else place

    def _digest_of_file_names_in_folder(self, folder: str) -> str:
        """Returns a digest of the names of all files below a folder. It changes with a new header, which may hide
        another one."""
        if folder not in self._names:
            names = sorted(map(self._portable_path, _all_files_below(folder)))
            self._names[folder] = hashlib.sha256("\n".join(names).encode("utf-8", "surrogateescape")).hexdigest()
        return self._names[folder]

    def _write_compiler_outputs(self, key: str, result: CompilerOutputs) -> None:
        """Stores the outputs of a compiler call under a key."""
        output = result.output.replace(str(self.firmware), _CHECKOUT)
        head = {"callgraph": result.callgraph is not None, "object": len(result.object), "said": output}
        first = json.dumps(head, sort_keys=True).encode()
        self.cache.store_bytes_under_key(key, first + b"\n" + result.object + (result.callgraph or b""))

    def _read_compiler_outputs(self, key: str) -> CompilerOutputs | None:
        """Returns the outputs of a compiler call stored under a key. None if there are none."""
        stored = self.cache.read_cached_bytes_by_key(key)
        if stored is None:
            return None
        first, _, rest = stored.partition(b"\n")
        head = json.loads(first)
        length = head["object"]
        output = head["said"].replace(_CHECKOUT, str(self.firmware))
        return CompilerOutputs(rest[:length], rest[length:] if head["callgraph"] else None, output)


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


def present_time_ns() -> int:
    """Returns the present time in nanoseconds, for comparison with the times of files."""
    return time.time_ns()


def _cache_key_from_parts(*parts: Any) -> str:
    """Returns the key made of these parts: their digest."""
    return hashlib.sha256(json.dumps([_FORMAT, *parts], sort_keys=True).encode()).hexdigest()


def _has_unlisted_build_inputs(file: str) -> bool:
    """Whether a source depends on something that is in no list of files, such as `__DATE__` or `.incbin`.

    Raises OSError.
    """
    digest = sha256_of_file(file)
    if digest not in _SEARCHED:
        content = Path(file).read_bytes()
        digest = hashlib.sha256(content).hexdigest()  # it may be another file by now
        _SEARCHED[digest] = any(macro in content for macro in UNLISTED_INPUTS)
    return _SEARCHED[digest]


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


def _was_file_changed_since(file: str, began_ns: int) -> bool:
    """Whether a file is gone, or was changed since `began_ns` (or shortly before)."""
    try:
        status = Path(file).stat()
    except OSError:
        return True
    return max(status.st_mtime_ns, status.st_ctime_ns) > began_ns - JUST_NOW_NS
