"""The one way in for what others made: every file and every text from outside is read here, within stated limits.

A reader of this package refuses in one sentence what is too large, too deep, too wide, too long or too late, before it
costs memory or time. No other module opens or parses what comes from outside (`test_one_way_in.py` looks). `limits`
holds all numbers. `input_files` reads bytes and text. `tables` TOML, `objects` JSON, `archives` zip files,
`elf_images` ELF, `symbol_names` its names, `debug_entries` its debug information. `numbers` integers and decimals in
any of them and on the command line. `names` what becomes part of a file's name.
`parquet` files of columns, `zstandard` compressed content.
"""

from rtoslab.intake.archives import Archive, open_archive
from rtoslab.intake.debug_entries import children, line_program
from rtoslab.intake.elf_images import MAGIC, Elf, ElfSection, ElfSegment, ElfSymbol, debug, debug_errors
from rtoslab.intake.escapes import markdown, paragraph, sheet, xml
from rtoslab.intake.input_files import is_file, path_text, printable_output, read_bytes, read_text
from rtoslab.intake.limits import (
    CACHED_BYTES,
    CAPTURE_BYTES,
    CAPTURE_ROWS,
    CHANGES,
    CHANNELS,
    CONTAINERS,
    EVIDENCE_BYTES,
    LAST_TICK,
    LINE_CHARS,
    MAP_BYTES,
    MEMBER_TEXT_BYTES,
    POINTS,
    ROWS,
    SERIAL_VALUES,
    STORED_BYTES,
    STREAM_BYTES,
    STREAM_LINES,
    SYMBOLS,
    TABLE_VALUES,
)
from rtoslab.intake.models import missing, problem
from rtoslab.intake.names import file_name, one_line, visible
from rtoslab.intake.numbers import decimal, fraction, quote, ticks, whole
from rtoslab.intake.objects import parse_object, read_object
from rtoslab.intake.parquet import ParquetColumn, column_of, read_parquet, write_parquet
from rtoslab.intake.program_images import read_image
from rtoslab.intake.symbol_names import readable_name
from rtoslab.intake.tables import read_table
from rtoslab.intake.texts import lines, words
from rtoslab.intake.zstandard import compress, decompress
