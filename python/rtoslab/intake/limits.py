"""Limits of external inputs. A larger input is refused in one sentence. docs/robustness.md lists these limits."""

from typing import Final

KIB: Final = 1 << 10
MIB: Final = 1 << 20

PIPE_SECONDS: Final = 5.0
"""What comes through a pipe must have come whole by then."""

TEXT_BYTES: Final = MIB
"""A file that people write: plans, suites, boards, task sets, overheads, baselines, scripts."""
STORED_BYTES: Final = 12 * MIB
"""A file of JSON that this program wrote: results, manifests, profiles."""
EVIDENCE_BYTES: Final = 64 * MIB
"""What the evidence of one point unpacks to. The longest that was seen has a tenth of that."""
TABLE_VALUES: Final = 64_000_000
"""Rows times columns of one Parquet file: a few bytes may stand for gigabytes there."""
CACHED_BYTES: Final = 256 * MIB
"""One file of a point, an image's folder or a sweep, and one entry of the cache: their digests are checked."""
STREAM_BYTES: Final = 16 * MIB
"""A record stream from a serial port."""
STREAM_LINES: Final = 200_000
IMAGE_BYTES: Final = 64 * MIB
"""An ELF, UF2 or map file. With debug information an image of the largest chip has a tenth of that."""
CAPTURE_BYTES: Final = 24 * MIB
"""A logic analyzer's file as it is on disk."""

SOURCE_BYTES: Final = 16 * MIB
"""A source file of an image."""
MAP_BYTES: Final = 16 * MIB
"""A linker's map, or a compiler's call graph."""
CONTAINERS: Final = 1_000_000
"""Objects and lists in one JSON file."""
DEPTH: Final = 32
"""Tables in tables, lists in lists."""
KEY_PARTS: Final = 16
"""Most parts of a dotted TOML key."""
ITEMS: Final = 100_000
"""Values in one TOML file."""
ROWS: Final = 1_000
"""Tasks and interrupts of one task set."""
POINTS: Final = 10_000
"""Most points of one experiment or sweep."""
DIGITS: Final = 40
"""Most digits of a number, before and after the point, and its largest power of ten."""
LOWEST: Final = -(2**63)
HIGHEST: Final = 2**64 - 1
"""Integers: what 64 bits hold, with a sign or without."""

CHANNELS: Final = 4096
"""Most channels of one capture. Each bit of a vector is one."""
CHANGES: Final = 4_000_000
"""Levels of all channels of one capture together."""
CAPTURE_ROWS: Final = 1_000_000
"""Rows of different content, value changes or times in a capture that is text."""
LAST_TICK: Final = 2**62
"""The last tick of a capture: beyond it, differences of times would not fit 64 bits."""
LINE_CHARS: Final = 64 * KIB
"""Most characters in a line of a text that is read line by line."""
MEMBERS: Final = 4096
"""Files in one archive."""
UNPACKED_BYTES: Final = 256 * MIB
"""Most bytes of all members of one archive together, read piece by piece: a wire at rest packs a thousandfold, so
how well it packs is no sign of ill will."""
MEMBER_TEXT_BYTES: Final = 64 * KIB
"""A member that is text."""

SYMBOLS: Final = 500_000
"""Most symbols, and most sections, of one image."""
NAME_CHARS: Final = 1024
"""Most characters in the name of one symbol. Mangled names of templates are long."""
SERIAL_VALUES: Final = 4_000_000
"""Samples in one record stream."""
