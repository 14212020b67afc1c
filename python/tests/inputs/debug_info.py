"""Damaged debug information: an image that this compiler made, with its DWARF altered and the rest left whole."""

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from rtoslab.footprint import structure_member_offsets
from rtoslab.images import SourceLines
from rtoslab.intake import ElfFile
from rtoslab.targets import find_structure_members
from tests.inputs.mutate import damage_input

NAMES: Final = ("block", "nameless_t", "info")
CODE: Final = """
struct inner { char *start; int size; };
typedef const struct inner info;
struct block { int state; info stack; char name[8]; struct block *next; union { int a, b; }; };
typedef struct { unsigned tokens; unsigned short most; } nameless_t;
struct block one;
nameless_t two;
static inline int twice(int value) { return value < 3 ? value * one.state : value + two.tokens; }
__attribute__((noinline)) int count(int value) {
    for (int each = 0; each < value; each++) one.state += twice(each);
    return one.state;
}
void _start(void) { for (;;) { two.most = (unsigned short)count(one.stack.size); } }
"""
WHERE: Final = 0x0800_0000


@cache
def images() -> Sequence[bytes]:
    """One without and one with optimisation; of DWARF 4 and 5."""
    return (_compile_example("-O0", "-gdwarf-4"), _compile_example("-O2", "-gdwarf-5"))


def _compile_example(*options: str) -> bytes:
    with TemporaryDirectory() as folder:
        (Path(folder) / "block.c").write_text(CODE)
        command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", *options]
        command += [f"-ffile-prefix-map={folder}=.", f"-Wl,-Ttext={WHERE:#x}", "block.c", "-o", "block.elf"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return (Path(folder) / "block.elf").read_bytes()


def damage_debug_section(data: bytes, random: Random, _: bytes) -> bytes:
    """Damage to a section of debug information, no byte of which moves; at times more of it."""
    parts = [section for section in ElfFile(data).sections if section.name.startswith(".debug")]
    for _round in range(random.choice((1, 1, 2, 4, 16))):
        part = random.choice(parts)
        end = part.offset + part.size
        place = part.offset + random.randrange(part.size)
        piece = data[place : min(place + random.choice((1, 2, 4, 16)), end)]
        damage = damage_input(piece, random, data[part.offset : end])[: end - place]
        data = data[:place] + damage + data[place + len(damage) :]
    return data


def read(data: bytes) -> None:
    """All that commands ask of an image's debug information."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "block.elf"
        path.write_bytes(data)
        lines = SourceLines(path)
        for address in range(WHERE, WHERE + 160, 16):
            lines.source_lines_at(address)
        lines.find_code_of_line("block.c", 9)
        find_structure_members(data, NAMES)
        structure_member_offsets(path, NAMES[0])
