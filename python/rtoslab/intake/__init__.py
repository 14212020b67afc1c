"""The only way in for external data: every file and every text from outside is read here, within stated limits.

A reader of this package refuses an input that is too large, too deep, too long or too late in one sentence, before
it costs memory or time. No other module opens or parses external data (`test_file_access.py` checks that). `limits`
has all numbers. `input_files` reads bytes and text, `tables` TOML, `objects` JSON, `archives` zip files,
`elf_images` ELF, `symbol_names` its names, `debug_entries` its debug information. `numbers` parses integers and
decimals, also those of the command line. `names` checks names that become part of a file's name.
`parquet` files of columns, `zstandard` compressed content.
"""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.intake.archives import LimitedZipFile, open_zip_archive
    from rtoslab.intake.debug_entries import child_debug_entries, dwarf_line_program
    from rtoslab.intake.elf_images import (
        MAGIC,
        ElfFile,
        ElfSection,
        ElfSegment,
        ElfSymbol,
        compilers_named_in_image,
        convert_debug_errors,
        open_elf_file,
    )
    from rtoslab.intake.escapes import escape_csv_cell, escape_markdown, escape_paragraph, escape_xml_characters
    from rtoslab.intake.input_files import is_file_or_pipe, make_output_printable, printable_path, read_bytes, read_text
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
        SOURCE_BYTES,
        STORED_BYTES,
        STREAM_BYTES,
        STREAM_LINES,
        SYMBOLS,
    )
    from rtoslab.intake.models import first_missing_key, first_validation_problem
    from rtoslab.intake.names import escape_to_one_line, escape_unprintable, require_file_name
    from rtoslab.intake.native import load_simulator_module
    from rtoslab.intake.numbers import (
        parse_exact_decimal,
        parse_integer,
        parse_seconds_as_ticks,
        quote_text,
        to_exact_fraction,
    )
    from rtoslab.intake.objects import parse_json_object, read_json_object
    from rtoslab.intake.parquet import ParquetColumn, decode_parquet, encode_parquet, make_parquet_column
    from rtoslab.intake.program_images import read_program_image
    from rtoslab.intake.symbol_names import demangle_function_name
    from rtoslab.intake.tables import read_toml_table
    from rtoslab.intake.texts import decode_text_lines, decode_utf8, split_bytes_at_white_space
    from rtoslab.intake.zstandard import compress, decompress
else:
    __getattr__ = lazy_attribute_getter(__name__)
