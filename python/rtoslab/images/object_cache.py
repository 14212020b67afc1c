"""Objects kept by content: what is compiled once is only copied for the next image that asks for the same.

Headers are known only after a compiler has read them, so a call leads to the lists of files that it read before, with
the macros it asked for. Their present content names the object. If that name is new, the preprocessor is run, and its
output names an object too: much of a kernel is the same code in another configuration.

The trap it prevents: an edited file must never be answered by an old object. So the files are read anew for each image,
and nothing is kept where one of them changed meanwhile, or may hold what no list of files tells. Files of the checkout
are named from its firmware folder on, so that a further checkout finds them. Nothing is kept that bears its name.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rtoslab.base import canonical, cross_tool_name, sha256_of, tools
from rtoslab.images.compilation import Archiving, Compilation, PreprocessedSource, content_key
from rtoslab.images.object_store import ObjectStore

LISTS: Final = 16
"""The number of file lists for one call: each combination of conditions may read other files."""
JUST_NOW_NS: Final = 50_000_000
"""More than a step of any file system's clock."""
UNTOLD: Final = (b"__DATE__", b"__TIME__", b"__TIMESTAMP__", b"incbin", b".include")
"""In a file of which an object is made: what it depends on is in no list, or only the assembler reads it."""
ONE_IMAGE: Final = frozenset({"BENCH_RUN_ID", "BENCH_MANIFEST"})
"""Macros that no two images share: an object that asks for them is not worth its room."""
_SEARCHED: Final[dict[str, bool]] = {}
"""Whether a content was found to hold one of those, by its digest."""
_FORMAT: Final = 3
_UNREAD: Final = "unread"
"""In place of what a file holds: nobody has asked yet."""
_CHECKOUT: Final = "\0"
"""In what a compiler printed, for the firmware's folder."""
_Lists = Iterator[tuple[tuple[str, ...], list[str] | None]]


@dataclass(frozen=True, slots=True)
class Compiled:
    """The outputs of a compilation."""

    object: bytes
    callgraph: bytes | None
    output: str
    """What the compiler printed."""


@dataclass(slots=True)
class Objects:
    """The kept objects, as one build in one folder sees them: each file is read once."""

    work: Path
    firmware: Path
    cache: ObjectStore
    compilers: str
    """What says which compilers these are."""
    _digests: dict[str, str | None] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _texts: dict[str, str | None] = field(default_factory=dict)

    def call(self, compilation: Compilation) -> str:
        """Names a compiler call: arguments, compiler, the source, and all that could be read, by name."""
        source = self._digest(self._place(str(compilation.source)))
        return _key(
            self._bare(compilation.placeless),
            source,
            sorted(self._names_below(folder) for folder in compilation.folders),
        )

    def exclusive_lock(self, call: str) -> AbstractContextManager[None]:
        """One process at a time compiles this. The others find it kept."""
        return self.cache.exclusive_lock(call)

    def find(self, call: str) -> tuple[Compiled, tuple[str, ...]] | None:
        """Returns what was made of the same call and the same files, and those. None if that is not known."""
        for files, names in self._lists(call):
            key = self._content(call, files, names)
            of = None if key is None else self.cache.get(f"{key}.of")
            result = None if of is None else self._load(of.decode())
            if result is not None:
                return result, tuple(self._path(file) for file in files)
        return None

    def is_of_one_image(self, call: str) -> bool:
        """Whether it is known that the code holds what no other image has."""
        return any(ONE_IMAGE & set(names or ()) for _, names in self._lists(call))

    def find_preprocessed(self, compilation: Compilation, preprocessed: PreprocessedSource) -> Compiled | None:
        """Returns what was made of the same code."""
        return self._load(self._code(compilation, preprocessed))

    def store(
        self, compilation: Compilation, call: str, preprocessed: PreprocessedSource, result: Compiled, began_ns: int
    ) -> None:
        """Stores a compilation, unless a part of its inputs is unknown. Raises StoreError."""
        files = tuple(map(self._place, preprocessed.files))
        outside = [file for file in files if file[0] != "@"]
        if any(_has_changed(self._path(path), began_ns) for path in outside) or any(
            map(_holds_untold, preprocessed.files)
        ):
            return
        new = {"asked": preprocessed.requested, "files": list(files)}
        others = [path for path in self._lists_of(call) if path != new]
        self.cache.put(f"{call}.lists", json.dumps([new, *others][:LISTS]).encode())
        for path in outside:
            self._digests.pop(path, None)
        key = self._content(call, files, preprocessed.requested)
        if key is not None and not ONE_IMAGE & set(preprocessed.requested or ()):
            code = self._code(compilation, preprocessed)
            self._put(code, result)
            self.cache.put(f"{key}.of", code.encode())

    def archive(self, archiving_: Archiving) -> str:
        """Names a library: what is called, and what the members hold. Raises OSError."""
        members = [hashlib.sha256(member.read_bytes()).hexdigest() for member in archiving_.members]
        return _key(self.compilers, archiving_.placeless, members)

    def find_archive(self, key: str) -> bytes | None:
        """Returns a stored archive. None if it is not known."""
        return self.cache.get(key)

    def store_archive(self, key: str, content: bytes) -> None:
        """Raises StoreError."""
        self.cache.put(key, content)

    def _bare(self, words: list[str]) -> list[Any]:
        return [self.compilers, words]

    def _code(self, compilation: Compilation, preprocessed: PreprocessedSource) -> str:
        return _key(self._bare(compilation.of_code), preprocessed.digest)

    def _lists(self, call: str) -> _Lists:
        """Files and macros of earlier compilations of a call, the last one first. `@` is the build's folder, `$` the
        firmware's."""
        for path in self._lists_of(call):
            yield tuple(path["files"]), path["asked"]

    def _lists_of(self, call: str) -> list[dict[str, Any]]:
        stored = self.cache.get(f"{call}.lists")
        return [] if stored is None else json.loads(stored)

    def _content(self, call: str, files: tuple[str, ...], names: list[str] | None) -> str | None:
        """Returns a key of the content. None if a file is gone."""
        digests = {file: self._digest(file) for file in files if file[0] != "@"}
        generated = {file: self._text(file) for file in files if file[0] == "@"}
        present = {item: digest for item, digest in digests.items() if digest is not None}
        texts = {item: text for item, text in generated.items() if text is not None}
        if len(present) + len(texts) < len(files):
            return None
        return content_key(call, present, texts, names)

    def _text(self, place: str) -> str | None:
        text = self._texts.get(place, _UNREAD)
        if text is _UNREAD:
            text = None
            with suppress(OSError, UnicodeDecodeError):
                text = (self.work / place[2:]).read_text(encoding="utf-8")
            self._texts[place] = text
        return text

    def _digest(self, place: str) -> str | None:
        """Entered once it is known, whole: another thread may ask for the same file meanwhile, or drop it. Generated
        files have none."""
        digest = self._digests.get(place, _UNREAD) if place[0] != "@" else None
        if digest is _UNREAD:
            digest = None
            with suppress(OSError):
                digest = sha256_of(self._path(place))
            self._digests[place] = digest
        return digest

    def _place(self, file: str) -> str:
        for sign, folder in (("@", f"{self.work}/"), ("$", f"{self.firmware}/")):
            if file.startswith(folder):
                return f"{sign}/{file[len(folder) :]}"
        return file

    def _path(self, place: str) -> str:
        """Returns the path of a file. One that a build generates stays without its folder."""
        return f"{self.firmware}{place[1:]}" if place[0] == "$" else place

    def _names_below(self, folder: str) -> str:
        """The names of all files below, without content: one that is new may come before another."""
        if folder not in self._names:
            names = sorted(map(self._place, _below(folder)))
            self._names[folder] = hashlib.sha256("\n".join(names).encode("utf-8", "surrogateescape")).hexdigest()
        return self._names[folder]

    def _put(self, key: str, result: Compiled) -> None:
        output = result.output.replace(str(self.firmware), _CHECKOUT)
        head = {"callgraph": result.callgraph is not None, "object": len(result.object), "said": output}
        first = json.dumps(head, sort_keys=True).encode()
        self.cache.put(key, first + b"\n" + result.object + (result.callgraph or b""))

    def _load(self, key: str) -> Compiled | None:
        stored = self.cache.get(key)
        if stored is None:
            return None
        first, _, rest = stored.partition(b"\n")
        head = json.loads(first)
        length = head["object"]
        output = head["said"].replace(_CHECKOUT, str(self.firmware))
        return Compiled(rest[:length], rest[length:] if head["callgraph"] else None, output)


def compilers(clang: bool) -> str:
    """Returns what says which compilers are here: their words, and the size and time of the program."""
    program = tools.find_tool(cross_tool_name("gcc"))
    status = program.stat()
    words = [tools.version_banner(cross_tool_name("gcc")), str(program), status.st_size, status.st_mtime_ns]
    return canonical([*words, *([tools.clang_banner()] if clang else [])])


def now_ns() -> int:
    """The time by which files' times are judged."""
    return time.time_ns()


def _key(*parts: Any) -> str:
    return hashlib.sha256(json.dumps([_FORMAT, *parts], sort_keys=True).encode()).hexdigest()


def _holds_untold(file: str) -> bool:
    """Raises OSError."""
    digest = sha256_of(file)
    if digest not in _SEARCHED:
        content = Path(file).read_bytes()
        digest = hashlib.sha256(content).hexdigest()  # it may be another file by now
        _SEARCHED[digest] = any(macro in content for macro in UNTOLD)
    return _SEARCHED[digest]


def _below(folder: str) -> Iterator[str]:
    """Every name of a file, whatever it is. A folder that cannot be read is empty, for a compiler too."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _below(entry.path)
            elif not entry.is_dir():
                yield entry.path


def _has_changed(file: str, began_ns: int) -> bool:
    try:
        status = Path(file).stat()
    except OSError:
        return True
    return max(status.st_mtime_ns, status.st_ctime_ns) > began_ns - JUST_NOW_NS
