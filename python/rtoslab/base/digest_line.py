"""Bytes that bear their digest: what is kept so counts as whole or as not there."""

import hashlib


def with_digest(content: bytes) -> bytes:
    """The content behind a line with its SHA-256."""
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def without_digest(whole: bytes) -> bytes | None:
    """What was put behind one; None if it is not that any more."""
    content = whole.partition(b"\n")[2]
    return content if with_digest(content) == whole else None
