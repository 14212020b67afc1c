"""Bytes that bear their digest: what is kept so counts as whole or as not there. And the digest of a file's content."""

import hashlib
from typing import Any, Final

from rtoslab.base.canonical_json import canonical

_SEAL_DIGITS: Final = 16


def content_seal(content: dict[str, Any]) -> str:
    """Returns the digest of a file's content, whatever its form and its comments."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()[:_SEAL_DIGITS]


def with_digest(content: bytes) -> bytes:
    """The content after a line with its SHA-256."""
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def without_digest(whole: bytes) -> bytes | None:
    """Returns what was put after one. None if it is not that any more."""
    content = whole.partition(b"\n")[2]
    return content if with_digest(content) == whole else None
