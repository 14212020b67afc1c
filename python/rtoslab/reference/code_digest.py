"""Digests of source files without their comments: a comment that is written better makes no figure out of date.

Manifests name each source file by the SHA-256 of its bytes. `reference/code_digests.ndjson` has, for each of these, the
digest of the same file's code. `rtoslab kernel reference refresh` adds those of today's files. The same list has, for
the code of a changed file that makes the same images, the digest of the older code: `rtoslab kernel reference confirm`
adds these.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from rtoslab.base import AlteredFileError, memoize_by_contents, sha256_of_file, write_file_atomically
from rtoslab.catalogue import OPTIONAL_SERVICES
from rtoslab.intake import read_text
from rtoslab.reference.sealed_lines import json_lines_with_digest, verify_and_strip_digest_line

FILE: Final = "code_digests.ndjson"
_C: Final = frozenset({".c", ".h", ".S", ".ld", ".in"})
_CMAKE: Final = frozenset({".cmake", ".txt"})
_COMMENTS_AND_TEXTS: Final = re.compile(r"""//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""", re.DOTALL)
"""Texts are matched as well, because `//` inside one begins no comment."""
_IN_NO_IMAGE: Final = {
    "benchmark.toml": frozenset({"title", "question", "paper", "inside", "outside", "proof"}),
    "board.toml": frozenset({"rest"}),
    "kernel.toml": frozenset({"objects", "further_arguments"}),
    "service.toml": frozenset({"further_arguments"}),
}
"""Keys of files that no image depends on: a proof that is stricter changes no figure, nor does a button at rest, nor
what proofs know of a kernel's objects and arguments."""
_ANSWERS: Final = ("services", "reasons")
"""Tables of kernel.toml with an entry for each service. The entries of optional services are in no image: everything
else about them is in files of their own. The same applies to optional services that an earlier version lacks."""
_COUNTS_LINES: Final = re.compile(r"\b__LINE__\b|\bassert\s*\(")


def source_code_digest(name: str, content: bytes) -> str:
    """Returns the SHA-256 of a source file without comments and superfluous space, and without keys that no image
    depends on.

    A file whose kind is unknown, or that uses the numbers of its own lines, is taken as it is.
    """
    return hashlib.sha256(_without_comments_and_space(name, content)).hexdigest()


def _without_comments_and_space(name: str, content: bytes) -> bytes:
    """Returns the content of a source file without comments, superfluous space, and keys that no image depends on."""
    kind = Path(name).suffix
    try:
        text = content.decode()
        if kind == ".toml":
            facts = tomllib.loads(text)
            unused = _IN_NO_IMAGE.get(Path(name).name, frozenset())
            facts = {key: value for key, value in facts.items() if key not in unused}
            if Path(name).name == "kernel.toml":
                facts |= {table: _remove_optional_services(facts[table]) for table in _ANSWERS if table in facts}
                if "earlier" in facts:
                    facts["earlier"] = [_without_unused_keys(earlier) for earlier in facts["earlier"]]
            return json.dumps(facts, sort_keys=True, default=str).encode()
    except ValueError:
        return content
    if kind in _C and not _COUNTS_LINES.search(text):
        return _without_blank_lines_and_end_spaces(
            _COMMENTS_AND_TEXTS.sub(lambda match: match[1] or " ", text)
        ).encode()
    if kind in _CMAKE:
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        over_lines = "#[" in text or any(line.count('"') % 2 for line in lines)
        return content if over_lines else "\n".join(lines).encode()
    return content


def _remove_optional_services(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a table of kernel.toml (service -> answer) without the optional services."""
    return {service: answer for service, answer in answers.items() if service not in OPTIONAL_SERVICES}


def _without_unused_keys(earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a table `[[earlier]]` of kernel.toml without the optional services that the earlier version lacks, and
    without what proofs know of arguments."""
    lacks = [service for service in earlier.get("lacks", ()) if service not in OPTIONAL_SERVICES]
    kept = {key: value for key, value in earlier.items() if key != "further_arguments"}
    if len(lacks) == len(earlier.get("lacks", ())):
        return kept
    return {key: value for key, value in kept.items() if key != "lacks"} | ({"lacks": lacks} if lacks else {})


def _without_blank_lines_and_end_spaces(text: str) -> str:
    """Returns a text without blank lines and without space at the ends of lines."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def read_code_digests(root: Path) -> Mapping[str, str]:
    """Returns the digest of each known source file's code, by the SHA-256 of the whole file, and that of equal older
    code, by the digest of code.

    Raises AlteredFileError if the list was edited by hand.
    """
    path = root / "reference" / FILE
    return _read_code_digests_file(path, sha256_of_file(path)) if path.is_file() else {}


@cache
def _read_code_digests_file(path: Path, _sha256: str) -> Mapping[str, str]:
    """Returns the digests in the file at `path`, by the SHA-256 of the source file. Raises AlteredFileError."""
    try:
        return dict(
            pair
            for line in verify_and_strip_digest_line(read_text(path, "the digests of code", AlteredFileError))
            for pair in json.loads(line).items()
        )
    except ValueError as cause:
        raise AlteredFileError(f"{path} was edited by hand ({cause}); restore it from the repository.") from None


def add_code_digests(root: Path, names: Iterable[str]) -> None:
    """Adds the digests of these source files, as they are now, to the stored list. Raises StoreError."""
    today = {
        sha256_of_file(root / name): code_digest_of_file_now(root, name)
        for name in set(names)
        if (root / name).is_file()
    }
    known = read_code_digests(root)
    if not today.keys() <= known.keys():
        _write_code_digests(root, {**today, **known})


def _write_code_digests(root: Path, code_digests: Mapping[str, str]) -> None:
    """Writes the list of digests, sorted, with its seal. Raises StoreError."""
    pairs = [dict([pair]) for pair in sorted(code_digests.items())]
    write_file_atomically(root / "reference" / FILE, json_lines_with_digest(pairs), "the digests of code")


def changed_firmware_files(old_root: Path, root: Path) -> list[str]:
    """Returns the names of the firmware's files whose code differs between two checkouts, or that one of them lacks."""
    folders = (old_root, root)
    names = {
        path.relative_to(folder).as_posix()
        for folder in folders
        for path in (folder / "firmware").rglob("*")
        if path.is_file()
    }
    return sorted(
        name for name in names if code_digest_of_file_now(old_root, name) != code_digest_of_file_now(root, name)
    )


def store_equivalent_code_digests(root: Path, old_root: Path, names: Iterable[str]) -> None:
    """Stores that these files of an older checkout make the same images as today's. Raises StoreError.

    The caller must have compared the images of all reference results that contain these files.
    """
    code_digests = dict(read_code_digests(root))
    for name in names:
        old = oldest_equal_code_digest(code_digests, code_digest_of_file_now(old_root, name))
        new = oldest_equal_code_digest(code_digests, code_digest_of_file_now(root, name))
        if not new:  # the file is gone
            code_digests[old] = ""
        elif new != old:
            code_digests[new] = old
    _write_code_digests(root, code_digests)


def oldest_equal_code_digest(code_digests: Mapping[str, str], digest: str) -> str:
    """Returns the digest of the oldest code that is known to make the same images as the code with this digest.

    `digest` may also be the SHA-256 of a whole file. The result is empty for a file that no image needed before it
    existed.
    """
    while (older := code_digests.get(digest, digest)) != digest:
        digest = older
    return digest


def compiled_firmware_files(manifests: Iterable[Mapping[str, Any]]) -> set[str]:
    """Returns the names of the firmware's files that the images of these manifests were built from."""
    sources = (manifest.get("build", {}).get("sources", {}) for manifest in manifests)
    return {name for names in sources for name in names if name.startswith("firmware/")}


@memoize_by_contents
def code_digest_of_file_now(folder: Path, name: str) -> str:
    """Returns the digest of a file's code as it is now. Empty if the folder does not have the file."""
    path = folder / name
    return source_code_digest(name, path.read_bytes()) if path.is_file() else ""


def oldest_code_digest_equivalent_to_file(root: Path, name: str) -> str:
    """Returns the digest of the oldest code that is known to make the same images as a file as it is now.
    Raises AlteredError."""
    return oldest_equal_code_digest(read_code_digests(root), code_digest_of_file_now(root, name))
