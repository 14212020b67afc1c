"""What is written to be read back: records on the wire and their decoding, samples, the seal over files."""

from rtoslab.records.decoder import Expected, decode, decode_begun
from rtoslab.records.samples import Count, Decoded
from rtoslab.records.seal import SEAL_FILE, demand_sealed, read_sealed, sealed, strangers
from rtoslab.records.wire import OVERRIDES, WireConstants, constants, has_form
