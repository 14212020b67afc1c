"""Content stored after a line with its digest, so that damaged content counts as missing."""

import hashlib
from typing import Any, Final

from rtoslab.base.canonical_json import to_canonical_json

_SEAL_DIGITS: Final = 16


def digest_of_values(content: dict[str, Any]) -> str:
    """Returns a digest of values (16 hex digits), which does not depend on how a file writes them."""
    return hashlib.sha256(to_canonical_json(content).encode()).hexdigest()[:_SEAL_DIGITS]


def prepend_digest_line(content: bytes) -> bytes:
    """Returns the content after a first line that has its SHA-256."""
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def strip_digest_line(digest_and_content: bytes) -> bytes | None:
    """Returns the content without its first line, which has the digest. None if the digest is not that of the
    content."""
    content = digest_and_content.partition(b"\n")[2]
    return content if prepend_digest_line(content) == digest_and_content else None
