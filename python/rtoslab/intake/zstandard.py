"""Content compressed by Zstandard, with a limit on what it unpacks to: 27 bytes may stand for gigabytes."""

from rtoslab.intake.native import load_simulator_module


def compress(content: bytes) -> bytes:
    """Returns the content as compressed Zstandard data."""
    return bytes(load_simulator_module().compress_zstd(content))


def decompress(content: bytes, limit: int) -> bytes | None:
    """Returns the content of compressed Zstandard data. None if it has more than `limit` bytes.

    Raises ValueError for damaged data.
    """
    unpacked = load_simulator_module().decompress_zstd(content, limit)
    return None if unpacked is None else bytes(unpacked)
