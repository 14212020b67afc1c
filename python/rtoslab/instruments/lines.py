"""Finds file and line of an address, and the functions that the compiler inlined there.

Uses binutils' addr2line, which is installed with the compiler, with one process for all addresses."""

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import ImageFileError, cross_compiler_tool_name, tools
from rtoslab.images import SourceLines
from rtoslab.intake import ElfFile, ElfSection, demangle_function_name, read_program_image

_ADDRESS_TABLE: Final = ".debug_addr"
"""A section that split debug information leaves in the image."""
_LINE_TABLE: Final = ".debug_line"


@dataclass(frozen=True, slots=True)
class InlinedSourceLine:
    """The source line of an instruction, and the functions inlined there."""

    line: str
    """`file:line` of the innermost function. Empty if the image does not say."""
    outer_line: str
    """The line in the function that is not inlined: the call of the outermost inlined function."""
    inlined: tuple[str, ...]
    """Functions inlined there, outermost first. Empty if the code is the function's own."""


_ADDRESS = re.compile("0x[0-9a-f]{1,16}")
NOWHERE = InlinedSourceLine("", "", ())
_BY = re.compile(r"\b(?:by|for at|Fault at|fault at|faulted at|was at) (0x[0-9a-f]{8})\b")
"""How a warning names the instruction that it is about: "used by 0x…", "first asked for at 0x…", "faulted at 0x…",
"core 0 was at 0x…"."""


def find_source_lines(elf: Path, addresses: Iterable[int]) -> dict[int, InlinedSourceLine]:
    """Returns the source line of each address, by addr2line. Without debug information or addr2line, every line is
    empty."""
    addresses_ = sorted(set(addresses))
    program = shutil.which(cross_compiler_tool_name("addr2line"))
    if program is None or not addresses_:
        return dict.fromkeys(addresses_, NOWHERE)
    answer = tools.program_output(
        [program, "-a", "-f", "-i", "-e", elf], "\n".join(f"{address:#x}" for address in addresses_)
    )
    sources_ = dict.fromkeys(addresses_, NOWHERE)
    for block in re.split(r"^(?=0x)", answer, flags=re.MULTILINE)[1:]:
        head, *rest = block.splitlines()
        chain = list(zip(rest[::2], rest[1::2], strict=False))
        if chain and not chain[0][1].startswith("??") and _ADDRESS.fullmatch(head):
            inlined = tuple(demangle_function_name(name) for name, _ in reversed(chain[:-1]))
            sources_[int(head, 16)] = InlinedSourceLine(
                _without_build_folders(chain[0][1]), _without_build_folders(chain[-1][1]), inlined
            )
    unknown = [address for address, source in sources_.items() if source is NOWHERE]
    return sources_ | _read_split_debug_source_lines(elf, unknown, all_unknown=len(unknown) == len(sources_))


def _read_split_debug_source_lines(
    elf: Path, addresses: Iterable[int], *, all_unknown: bool
) -> dict[int, InlinedSourceLine]:
    """Returns the source lines that addr2line does not find, as in split debug information (DWARF 5). They are without
    names of inlined functions."""
    names = {section.name for section in _elf_sections(elf)}
    if _ADDRESS_TABLE not in names and not (all_unknown and _LINE_TABLE in names):
        return {}
    lines = SourceLines(elf)
    chains = {address: lines.source_lines_at(address) for address in addresses}
    return {address: InlinedSourceLine(chain[0], chain[-1], ()) for address, chain in chains.items() if chain}


def _elf_sections(elf: Path) -> Sequence[ElfSection]:
    """Returns the sections of an ELF image. Empty if the file cannot be read."""
    try:
        return ElfFile(read_program_image(elf)).sections
    except (ValueError, ImageFileError):
        return ()


def add_source_lines_to_warnings(warnings: Iterable[str], image: Path) -> list[str]:
    """Returns the virtual board's warnings, with file and line after each address of code."""
    texts = list(warnings)
    places = find_source_lines(image, (int(result, 16) for text in texts for result in _BY.findall(text)))

    def address_with_source_line(match: re.Match[str]) -> str:
        """Returns an address in a warning with its source line."""
        line = places[int(match[1], 16)].line
        return f"{match[0]}, {line}," if line else match[0]

    return [_BY.sub(address_with_source_line, text).replace(",)", ")") for text in texts]


def _without_build_folders(line: str) -> str:
    """Returns a source path without this machine's build and package folders."""
    line = line.partition(" (discriminator")[0]
    for pattern in (r".*/registry/src/[^/]+/", r".*?(?=firmware/)", r".*/(?=[^/]+/lib/)", r"^/.*/(?=[^/]+/[^/]+$)"):
        shorter = re.sub(pattern, "", line, count=1)
        if shorter != line:
            return shorter
    return line
