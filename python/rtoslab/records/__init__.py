"""Formats that are written and read back: records on the wire and their decoding, samples, the seal over files."""

from rtoslab.records.decoder import (
    ExpectedImageIdentity,
    decode_records,
    decode_unfinished_run,
    split_record_streams_by_image,
)
from rtoslab.records.samples import DecodedRun, MeasurementWindowCounter
from rtoslab.records.seal import (
    SEAL_FILE,
    add_file_listing_digests,
    find_unexpected_files,
    read_and_verify_sealed_folder,
    require_files_match_seal,
)
from rtoslab.records.wire import OVERRIDES, WireFormatConstants, is_valid_wire_format_field, read_wire_constants
