"""Formats that are written and read back: records on the wire and their decoding, samples, the seal over files."""

from rtoslab.records.decoder import ExpectedIdentity, decode_broken_off, decode_records, split_streams
from rtoslab.records.samples import DecodedRun, WindowCounter
from rtoslab.records.seal import SEAL_FILE, read_sealed, require_sealed, seal_files, unexpected_files
from rtoslab.records.wire import OVERRIDES, WireConstants, has_form, read_wire_constants
