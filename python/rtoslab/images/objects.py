"""Objects kept by content: what is compiled once is only copied for the next image that asks for the same.

Two steps, as headers are known only after a compilation: a call leads to the lists of files that it read before, with
the macros it asked for; what those files hold now names the object. What is kept bears its digest, is written whole or
not at all, and what was not used for longest goes when a shelf is full.

The trap it prevents: an edited file must never be answered by an old object. So the files are read anew for each image,
and an object is not kept where one of its files changed while it was compiled, or may hold what no list of files tells.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rtoslab.base import alone, canonical, make_folder, sha256_of, tools, write_whole
from rtoslab.images.compilation import Archiving, Compilation, content_key

SHELVES: Final = 64
SHELF_BYTES: Final = 8 << 20
"""512 MB in all: objects of some hundred configurations."""
LISTS: Final = 16
"""Of files, kept for one call: each combination of conditions may read others."""
JUST_NOW_NS: Final = 50_000_000
"""More than a step of any file system's clock."""
UNTOLD: Final = (b"__DATE__", b"__TIME__", b"__TIMESTAMP__", b"incbin")
"""In a file of which an object is made: what it depends on is in no list."""
ONE_IMAGE: Final = frozenset({"BENCH_RUN_ID", "BENCH_MANIFEST"})
"""Macros that no two images share: an object that asks for them is not worth its room."""
_ENVIRONMENT: Final = ("CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH")
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Made:
    """What a compilation gave."""

    files: tuple[str, ...]
    """What it read."""
    object: bytes
    callgraph: bytes | None
    said: str
    """What the compiler printed."""


@dataclass(slots=True)
class Objects:
    """The kept objects, as one build in one folder sees them: each file is read once."""

    folder: Path
    compilers: str
    """What says which compilers these are."""
    _digests: dict[str, str | None] = field(default_factory=dict)
    _names: dict[Path, str] = field(default_factory=dict)
    _texts: dict[Path, str] = field(default_factory=dict)
    _untold: dict[str, bool] = field(default_factory=dict)

    def call(self, asked: Compilation) -> str:
        """Names a compiler call: arguments, compiler, and all that could be read, by name."""
        names = [self._names_below(each) for each in asked.folders]
        environment = {name: os.environ.get(name) for name in _ENVIRONMENT}
        source = self._digest(str(asked.source)) if not _is_below(str(asked.source), asked.work) else None
        everything = [_FORMAT, self.compilers, asked.placeless, source, names, environment]
        return hashlib.sha256(canonical(everything).encode("utf-8", "surrogateescape")).hexdigest()

    def alone(self, call: str) -> AbstractContextManager[None]:
        """One process at a time compiles this; the others find it kept."""
        return alone(self._shelf(call) / f".{call[:32]}.lock")

    def find(self, asked: Compilation, call: str) -> Made | None:
        """What was made of the same call and the same files; None if that is not known or not whole."""
        for files, names in self._lists(call):
            key = self._key(asked, call, files, names)
            made = None if key is None else self._read(key, files)
            if made is not None:
                return made
        return None

    def keep(self, asked: Compilation, call: str, made: Made, began_ns: int) -> None:
        """What a compilation that began then has made, unless nothing tells what it is made of. Raises StoreError."""
        outside = [each for each in made.files if not _is_below(each, asked.work)]
        if any(_changed_since(each, began_ns) for each in outside) or any(map(self._holds_untold, made.files)):
            return
        files = tuple(_placeless(each, asked.work) for each in made.files)
        if any(ONE_IMAGE & set(names or ()) for known, names in self._lists(call) if known == files):
            return
        names = asked.asked()
        self._add_list(call, files, names)
        for each in outside:
            self._digests[each] = None
        key = self._key(asked, call, files, names)
        if key is not None and not ONE_IMAGE & set(names or ()):
            self._put(key, made)

    def archive(self, asked: Archiving) -> str:
        """Names a library: what is called, and what the members hold. Raises OSError."""
        members = [hashlib.sha256(each.read_bytes()).hexdigest() for each in asked.members]
        return hashlib.sha256(canonical([_FORMAT, self.compilers, asked.placeless, members]).encode()).hexdigest()

    def find_archive(self, key: str) -> bytes | None:
        """None if it is not known or not whole."""
        made = self._read(key, ())
        return None if made is None else made.object

    def keep_archive(self, key: str, content: bytes) -> None:
        """Raises StoreError."""
        self._put(key, Made((), content, None, ""))

    def _put(self, key: str, made: Made) -> None:
        shelf = self._shelf(key)
        make_folder(shelf)
        head = {"callgraph": made.callgraph is not None, "object": len(made.object), "said": made.said}
        body = json.dumps(head, sort_keys=True).encode() + b"\n" + made.object + (made.callgraph or b"")
        write_whole(shelf / key, hashlib.sha256(body).hexdigest().encode() + b"\n" + body, "an object")
        _make_room(shelf)

    def _lists(self, call: str) -> Iterator[tuple[tuple[str, ...], list[str] | None]]:
        """Files and macros of earlier compilations of a call, the last one first; `@` stands for the build's folder."""
        for each in _listed(self._shelf(call) / f"{call}.json"):
            yield tuple(each["files"]), each["asked"]

    def _add_list(self, call: str, files: tuple[str, ...], names: list[str] | None) -> None:
        path = self._shelf(call) / f"{call}.json"
        make_folder(path.parent)
        new = {"asked": names, "files": list(files)}
        others = [each for each in _listed(path) if each != new]
        write_whole(path, canonical([new, *others][:LISTS]), "which files an object is made of")

    def _key(self, asked: Compilation, call: str, files: tuple[str, ...], names: list[str] | None) -> str | None:
        """None if a file is gone."""
        digests: dict[str, str] = {}
        generated: dict[str, str] = {}
        for each in files:
            if each.startswith("@"):
                text = self._generated(asked.work / each[2:])
                if text is None:
                    return None
                generated[each] = text
            else:
                digest = self._digest(each)
                if digest is None:
                    return None
                digests[each] = digest
        return content_key(call, digests, generated, names)

    def _generated(self, path: Path) -> str | None:
        if path not in self._texts:
            with suppress(OSError, UnicodeDecodeError):
                self._texts[path] = path.read_text(encoding="utf-8")
        return self._texts.get(path)

    def _digest(self, file: str) -> str | None:
        if self._digests.get(file) is None:
            self._digests[file] = None
            with suppress(OSError):
                self._digests[file] = sha256_of(Path(file))
        return self._digests[file]

    def _holds_untold(self, file: str) -> bool:
        if file not in self._untold:
            content = Path(file).read_bytes()
            self._untold[file] = any(each in content for each in UNTOLD)
        return self._untold[file]

    def _names_below(self, folder: Path) -> str:
        """The names of all files below, without content: one that is new may come before another."""
        if folder not in self._names:
            found = sorted(f"{base}/{name}" for base, _, names in os.walk(folder) for name in names)
            self._names[folder] = hashlib.sha256("\n".join(found).encode("utf-8", "surrogateescape")).hexdigest()
        return self._names[folder]

    def _shelf(self, key: str) -> Path:
        return self.folder / f"{int(key[:8], 16) % SHELVES:02d}"

    def _read(self, key: str, files: tuple[str, ...]) -> Made | None:
        path = self._shelf(key) / key
        try:
            digest, _, body = path.read_bytes().partition(b"\n")
            if hashlib.sha256(body).hexdigest().encode() != digest:
                return None
            first, _, rest = body.partition(b"\n")
            head = json.loads(first)
            os.utime(path)
        except OSError:
            return None
        callgraph = rest[head["object"] :] if head["callgraph"] else None
        return Made(files, rest[: head["object"]], callgraph, head["said"])


def compilers(clang: bool) -> str:
    """What says which compilers are here: their words, and the size and time of the program."""
    program = tools.find("arm-none-eabi-gcc")
    found = program.stat()
    words = [tools.banner("arm-none-eabi-gcc"), str(program), found.st_size, found.st_mtime_ns]
    return canonical([*words, *([tools.clang_banner()] if clang else [])])


def now_ns() -> int:
    """The time by which files' times are judged."""
    return time.time_ns()


def _listed(path: Path) -> list[dict[str, list[str]]]:
    try:
        found = json.loads(path.read_bytes())
        os.utime(path)
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _is_below(file: str, work: Path) -> bool:
    return file.startswith(f"{work}/")


def _placeless(file: str, work: Path) -> str:
    return f"@{file[len(str(work)) :]}" if _is_below(file, work) else file


def _changed_since(file: str, began_ns: int) -> bool:
    try:
        found = Path(file).stat()
    except OSError:
        return True
    return max(found.st_mtime_ns, found.st_ctime_ns) > began_ns - JUST_NOW_NS


def _make_room(shelf: Path) -> None:
    """Takes what was not used for longest from a shelf that is too full; another process may do the same."""
    held: list[tuple[int, int, str]] = []
    with os.scandir(shelf) as entries:
        for each in entries:
            with suppress(OSError):
                if not each.name.startswith("."):
                    found = each.stat()
                    held.append((found.st_mtime_ns, found.st_size, each.path))
    excess = sum(size for _, size, _ in held) - SHELF_BYTES
    for _, size, path in sorted(held):
        if excess <= 0:
            return
        with suppress(OSError):
            Path(path).unlink()
        excess -= size
