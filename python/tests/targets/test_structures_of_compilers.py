"""Members of structures as GCC and Clang write them, in DWARF 2 to 5, held against what the compiler itself says."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from rtoslab.intake import ElfFile
from rtoslab.targets import StructureMemberLayout, find_structure_members

MEMBERS = {
    "top": "void *top",
    "name": "char *name",
    "next": "struct block *next",
    "entry": "void (*entry)(void *)",
    "handler": "handler_t handler",
    "chained": "chained_t chained",
    "owner": "const volatile struct nowhere *const volatile owner",
    "state": "enum state state",
    "tiny": "enum tiny tiny",
    "flag": "_Bool flag",
    "long_one": "long long long_one",
    "inner": "inner_t inner",
    "waiting": "void *waiting[3]",
    "label": "name_t label",
    "grid": "short grid[2][3]",
    "items": "struct inner items[2]",
    "levels": "enum tiny levels[4]",
    "rest": "struct block *rest[]",
}
ARRAYS = ("waiting", "label", "grid", "items", "levels", "rest")
INSIDE = ("inner.size", "inner.used", "inner.start")
ELEMENT = {"grid": "[0][0]", **dict.fromkeys(set(ARRAYS) - {"grid"}, "[0]")}
DECLARED = """
struct inner { unsigned short size, used; char *start; };
typedef struct inner inner_t;
typedef void (*handler_t)(int);
typedef unsigned *pointer_t;
typedef const volatile pointer_t chained_t;
typedef char name_t[5];
enum state { IDLE, READY = 100000 };
enum __attribute__((packed)) tiny { LOW, HIGH };
"""
BITS = {"ready": (3, 5), "kind": (7, 77), "across": (20, 0x5A5A5), "byte": (8, 0xC3), "level": (9, 300)}
"""Name of a bit field -> its width and the value that the image holds."""


def source() -> str:
    """The structure, and a section of what the compiler says of its members; another one with bit fields."""
    lines = [DECLARED, "struct block {", *(f"    {member};" for member in MEMBERS.values()), "};"]
    message = [f"__builtin_offsetof(struct block, {member})" for member in (*MEMBERS, *INSIDE)]
    message += [f"sizeof(((struct block *)0)->{member}{ELEMENT.get(member, '')})" for member in (*MEMBERS, *INSIDE)]
    lines.append(f'__attribute__((section(".told"))) const unsigned told[] = {{ {", ".join(message)} }};')
    lines.append("struct block one;")
    fields = (f"    unsigned {name} : {width};" for name, (width, _) in BITS.items())
    lines += ["struct bits {", *fields, "    char last;", "};"]
    values = ", ".join(f".{name} = {value}" for name, (_, value) in BITS.items())
    lines.append(f'__attribute__((section(".held"))) struct bits bits = {{ {values} }};')
    return "\n".join(lines) + "\n"


COMPILERS = {
    "gcc": ("arm-none-eabi-gcc",),
    "clang": ("clang", "--target=arm-none-eabi"),
}


@pytest.fixture(scope="module", params=[(each, version) for each in COMPILERS for version in (2, 3, 4, 5)], ids=str)
def image(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    compiler, version = request.param
    if shutil.which(COMPILERS[compiler][0]) is None:
        pytest.skip(f"{compiler} is not installed: what it writes is not tried")
    folder: Path = tmp_path_factory.mktemp("structures")
    (folder / "block.c").write_text(source())
    command = [*COMPILERS[compiler], "-mcpu=cortex-m4", "-mthumb", f"-gdwarf-{version}", "-c", "block.c"]
    subprocess.run(command, cwd=folder, check=True)
    link = ["arm-none-eabi-gcc", "-nostdlib", "-Wl,--entry=0", "block.o", "-o", "block.elf"]
    subprocess.run(link, cwd=folder, check=True)
    return (folder / "block.elf").read_bytes()


def contents(image: bytes, name: str) -> bytes:
    section = ElfFile(image).find_elf_section(name)
    assert section is not None
    return image[section.offset : section.offset + section.size]


def test_members_have_the_compilers_offset_and_size(image: bytes) -> None:
    names = (*MEMBERS, *INSIDE)
    message = struct.unpack(f"<{2 * len(names)}I", contents(image, ".told"))
    result = find_structure_members(image, ["block"])["block"]
    output = {
        name: StructureMemberLayout(offset, size, name in ARRAYS)
        for name, offset, size in zip(names, message[: len(names)], message[len(names) :], strict=True)
    }
    assert result == output


def test_bit_field_is_read_alone(image: bytes) -> None:
    held = contents(image, ".held")

    def word(address: int) -> int:
        return int.from_bytes(held[address : address + 4].ljust(4, b"\0"), "little")

    result = find_structure_members(image, ["bits"])["bits"]
    assert {name: result[name].read_member(word, 0) for name in BITS} == {
        name: value for name, (_, value) in BITS.items()
    }
