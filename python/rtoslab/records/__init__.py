"""Formats that are written and read back: records on the wire and their decoding, samples, the seal over files."""

from rtoslab.records.decoder import ExpectedIdentity, decode_records, decode_unfinished_run, split_streams_of_images
from rtoslab.records.samples import DecodedRun, WindowCounter
from rtoslab.records.seal import (
    SEAL_FILE,
    add_seal_file,
    find_unexpected_files,
    read_sealed_folder,
    require_files_match_seal,
)
from rtoslab.records.wire import OVERRIDES, WireConstants, has_wire_format, read_wire_constants
