"""Seals stored folders: each file's digest is stored beside it and checked at every read, so no change goes unnoticed.

    seal.json    {"files": {name: SHA-256}, "folder": name of the folder, "format": 1, "sha256": of the rest}

Without a seal, a byte that changed on a disk, in transit or in an editor would be read as another number. A seal is no
signature: if someone alters a file and seals it again, only `rtoslab runs verify` finds this, because it computes the
figures again."""

import errno
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rtoslab.base import AlteredFileError, to_canonical_json
from rtoslab.intake import CACHED_BYTES, parse_json_object, read_bytes

SEAL_FILE: Final = "seal.json"
FORMAT: Final = 1
_AGAIN = "restore it from a copy, or delete the folder {folder} and run again."


def add_file_listing_digests(name: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns the files of the folder `name`, and with them a new seal file that has the digest of each."""
    body = {
        "files": {item: hashlib.sha256(content).hexdigest() for item, content in sorted(files.items())},
        "folder": name,
        "format": FORMAT,
    }
    return {**files, SEAL_FILE: to_canonical_json({**body, "sha256": _content_digest(body)}).encode()}


def require_files_match_seal(name: str, files: Mapping[str, bytes], folder: Path) -> None:
    """Raises AlteredFileError naming the first file in `folder` that does not match the seal of the folder `name`."""
    seal = _parse_seal_file(folder, files.get(SEAL_FILE))
    again = _AGAIN.format(folder=folder)
    if seal["folder"] != name:
        raise AlteredFileError(
            f"{folder} was renamed and was stored as {seal['folder']}; give it its old name, or {again}"
        )
    for item, digest in seal["files"].items():
        if item not in files:
            raise AlteredFileError(f"{folder / item} was stored but is missing now; {again}")
        if hashlib.sha256(files[item]).hexdigest() != digest:
            raise AlteredFileError(f"{folder / item} was changed after it was stored; {again}")


def read_and_verify_sealed_folder(folder: Path) -> dict[str, bytes]:
    """Returns the files of a sealed folder, its seal included. Other files in it are ignored.

    Raises AlteredFileError for a file that was altered, is missing or cannot be read."""
    content = _read_file_bytes_if_present(folder, SEAL_FILE)
    names = _parse_seal_file(folder, content)["files"]
    files = {SEAL_FILE: content, **{item: _read_file_bytes_if_present(folder, item) for item in names}}
    present = {name: item for name, item in files.items() if item is not None}
    require_files_match_seal(folder.name, present, folder)
    return present


def find_unexpected_files(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Returns the names of the files in a sealed folder that are not among `files`, the result of
    `read_and_verify_sealed_folder`."""
    return sorted({path.name for path in folder.iterdir()} - set(files))


def _read_file_bytes_if_present(folder: Path, name: str) -> bytes | None:
    """Returns the bytes of a file in a folder. None if the folder has no file of that name."""
    try:
        (folder / name).lstat()
    except OSError as cause:
        if cause.errno in {errno.ENOENT, errno.ENOTDIR}:
            return None
    return read_bytes(folder / name, CACHED_BYTES, "the stored file", AlteredFileError)


def _parse_seal_file(folder: Path, content: bytes | None) -> dict[str, Any]:
    """Returns the content of a seal file. Raises AlteredFileError if it is missing or does not match its own digest."""
    again = _AGAIN.format(folder=folder)
    if content is None:
        raise AlteredFileError(f"{folder / SEAL_FILE} is missing, so the other files cannot be checked; {again}")
    try:
        seal = parse_json_object(content)
        body = {key: seal[key] for key in ("files", "folder", "format")}
        whole = to_canonical_json({**body, "sha256": _content_digest(body)}).encode() == content
        if whole and body["format"] == FORMAT and all("/" not in item for item in body["files"]):
            return body
    except (ValueError, KeyError, TypeError):
        pass
    raise AlteredFileError(f"{folder / SEAL_FILE} was changed after it was stored; {again}")


def _content_digest(body: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of a seal file's content without this digest."""
    return hashlib.sha256(to_canonical_json(dict(body)).encode()).hexdigest()
