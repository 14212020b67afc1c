"""What is written to be read back: records on the wire and their decoding, samples, the seal over files."""

from rtoslab.records.decoder import Expected, decode, decode_begun
from rtoslab.records.samples import Count, Decoded
from rtoslab.records.seal import SEAL_FILE, demand_sealed, read_sealed, sealed, strangers
from rtoslab.records.wire import OVERRIDES, constants, has_form

__all__ = [
    "OVERRIDES",
    "SEAL_FILE",
    "Count",
    "Decoded",
    "Expected",
    "constants",
    "decode",
    "decode_begun",
    "demand_sealed",
    "has_form",
    "read_sealed",
    "sealed",
    "strangers",
]
