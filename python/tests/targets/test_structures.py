"""Members of a kernel's structures: where the image's debug information has them, and no more than their own bytes."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from elftools.dwarf.die import DIE

from rtoslab.base import ImageFileError, SymbolError, find_checkout_root
from rtoslab.catalogue import Catalogue, Kernel
from rtoslab.footprint import structure_member_offsets
from rtoslab.images import SourceLines, build_measurement_point_image
from rtoslab.intake import ElfFile, open_elf_file
from rtoslab.plan import PlanOptions, make_measurement_plan
from rtoslab.targets import StructureMemberLayout, find_structure_members
from rtoslab.targets.structures import KernelStructures, MemberPlaces, read_structure_member_text
from tests.board_images import WINDOW_MS
from tests.inputs import debug_info

CODE = """
struct inner { unsigned short size, used; };
typedef struct inner inner_t;
typedef unsigned char priority_t;
struct block { void *top; priority_t state, priority, base; inner_t messages; unsigned char name[8]; };
typedef struct { unsigned tokens; unsigned short most; } nameless_t;
typedef struct block named_elsewhere_t;
struct block here;
nameless_t there;
named_elsewhere_t beside;
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder: Path = tmp_path_factory.mktemp("structures")
    (folder / "block.c").write_text(CODE)
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-g", "-c", "block.c"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "block.o").read_bytes()


def test_member_has_offset_and_size_also_when_nested(image: bytes) -> None:
    result = find_structure_members(image, ["block", "nowhere"])
    assert result.keys() == {"block"}
    assert result["block"]["top"] == StructureMemberLayout(0, 4)
    assert result["block"]["priority"] == StructureMemberLayout(5, 1)
    assert result["block"]["messages.size"] == StructureMemberLayout(8, 2)
    assert result["block"]["messages.used"] == StructureMemberLayout(10, 2)


def test_unnamed_structure_is_found_by_its_type(image: bytes) -> None:
    result = find_structure_members(image, ["nameless_t", "named_elsewhere_t", "priority_t"])
    assert result == {"nameless_t": {"tokens": StructureMemberLayout(0, 4), "most": StructureMemberLayout(4, 2)}}


def test_anonymous_members_belong_to_their_structure(tmp_path: Path) -> None:
    """As Zephyr keeps a thread's priority: `base.prio`."""
    (tmp_path / "block.c").write_text(
        "struct base { union { int wait; void *node; };\n"
        "  union { struct { signed char prio; unsigned char locked; }; unsigned short preempt; }; int order; };\n"
        "struct block { int state; struct base base; union { int first; char second[4]; } told; } one;\n"
    )
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb", "-g", "-c", "block.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    result = find_structure_members((tmp_path / "block.o").read_bytes(), ["block"])["block"]
    base = {"wait": 4, "node": 4, "prio": 8, "locked": 9, "preempt": 8, "order": 12}
    message = {"told": 16, "told.first": 16, "told.second": 16}
    assert {name: item.offset for name, item in result.items()} == {
        "state": 0, "base": 4, **{f"base.{name}": at for name, at in base.items()}, **message,
    }  # fmt: skip
    assert result["base.prio"].bytes == 1


@pytest.mark.parametrize(("size", "value"), [(1, 0x05), (2, 0x0605), (4, 0x0807_0605), (8, 0x0807_0605)])
def test_bytes_after_a_member_are_not_its_value(size: int, value: int) -> None:
    memory = {0x1005: 0x0807_0605}
    assert StructureMemberLayout(5, size).read_member(memory.get, 0x1000) == value
    assert StructureMemberLayout(5, size).read_member(memory.get, 0x2000) is None


def test_control_block_with_structures_inside(tmp_path: Path) -> None:
    (tmp_path / "block.c").write_text(
        "struct inner { char *start; int size; };\ntypedef const struct inner info;\n"
        "struct block { int state; info stack; char name[8]; union { int a, b; }; } one;\n"
    )
    elf = tmp_path / "block.o"
    compile_it: list[str | Path] = [
        "arm-none-eabi-gcc",
        "-mcpu=cortex-m0plus",
        "-mthumb",
        "-g",
        "-c",
        tmp_path / "block.c",
        "-o",
        elf,
    ]
    subprocess.run(compile_it, check=True)
    result = {name: item.offset for name, item in structure_member_offsets(elf, "block").items()}
    inside = {"stack": 4, "stack.start": 4, "stack.size": 8}
    assert result == {"state": 0, **inside, "name": 12, "a": 20, "b": 20}
    assert [name for name, item in structure_member_offsets(elf, "block").items() if item.is_array] == ["name"]


def naming(**names: str) -> Kernel:
    """A kernel whose kernel.toml names members of the structure `block` for a semaphore, or for a task's block."""
    facts = Catalogue(find_checkout_root()).find_kernel("freertos").facts
    assert facts.memory is not None
    assert facts.memory.task_block is not None
    stored = {"name": "name", "stack": "top", "stack_pointer": "top", "bytes": None, "words": None, "priority": None}
    block = facts.memory.task_block.model_copy(update={"type": "block", **stored, "number": None, **names})
    semaphore = facts.objects["semaphore"].model_copy(
        update={"type": "block", "members": {"used": names.get("used", "state")}, "nonzero": ()}
    )
    memory = facts.memory.model_copy(update={"task_block": block})
    return facts.model_copy(update={"objects": {"semaphore": semaphore}, "memory": memory})


@pytest.mark.parametrize(
    ("names", "table"),
    [
        ({"used": "stat"}, "objects.semaphore"),
        ({"priority": "prio"}, "memory.task_block"),
        ({"stack": "botom"}, "memory"),
    ],
)
def test_missing_member_is_reported(names: dict[str, str], table: str, image: bytes) -> None:
    with pytest.raises(SymbolError, match=rf"(?s)\[{table}.*{next(iter(names.values()))}.*block.*it has.*priority"):
        KernelStructures(image, naming(**names))


def test_present_members_are_read_and_a_missing_structure_gives_nothing(image: bytes) -> None:
    result = KernelStructures(image, naming()).read_kernel_object_members(lambda _: 7, {"xQueueSemaphoreTake": [64]})
    assert result == {("semaphore", 64): {"used": 7}}
    assert KernelStructures(b"", naming(used="stat")).read_kernel_object_members(
        lambda _: 7, {"xQueueSemaphoreTake": [64]}
    ) == {("semaphore", 64): {}}


def _referring(attribute: str, tag: str, to: Callable[[DIE], int]) -> bytes:
    """An image in which the first entry of a kind refers to another place of its unit."""
    image = debug_info.images()[0]
    with open_elf_file(image, "it", ImageFileError) as elf:
        dwarf = elf.get_dwarf_info()
        unit = next(iter(dwarf.iter_CUs()))
        entry = next(dy for dy in unit.iter_DIEs() if dy.tag == tag and attribute in dy.attributes)
        result = entry.attributes[attribute]
        assert result.form == "DW_FORM_ref4"
    section = ElfFile(image).find_elf_section(".debug_info")
    assert section is not None
    place, value = section.offset + result.offset, to(entry) - unit.cu_offset
    return image[:place] + value.to_bytes(4, "little") + image[place + 4 :]


CIRCLES = {
    "a sibling before it": ("DW_AT_sibling", "DW_TAG_structure_type", lambda each: each.offset),
    "a function's sibling before it": ("DW_AT_sibling", "DW_TAG_subprogram", lambda each: each.offset),
    "defined as itself": ("DW_AT_type", "DW_TAG_const_type", lambda each: each.offset),
    "a structure in itself": ("DW_AT_type", "DW_TAG_member", lambda each: each.get_parent().offset),
}


@pytest.mark.parametrize("circle", CIRCLES.values(), ids=CIRCLES)
def test_cyclic_debug_information_terminates(circle: tuple[str, str, Callable[[DIE], int]], tmp_path: Path) -> None:
    image = _referring(*circle)
    assert image != debug_info.images()[0]
    (tmp_path / "x.elf").write_bytes(image)
    whole, damaged = (
        find_structure_members(debug_info.images()[0], debug_info.NAMES),
        find_structure_members(image, debug_info.NAMES),
    )
    lines = SourceLines(tmp_path / "x.elf")
    assert damaged != whole or not any(
        lines.source_lines_at(index) for index in range(debug_info.WHERE, debug_info.WHERE + 64, 4)
    )


def _text(die: DIE) -> str:
    return die.attributes["DW_AT_name"].value.decode() if "DW_AT_name" in die.attributes else ""


def _type(die: DIE) -> DIE | None:
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def _members(holder: DIE, before: str, base: int) -> Iterator[tuple[str, StructureMemberLayout]]:
    for child in holder.iter_children():
        at = child.attributes.get("DW_AT_data_member_location")
        if child.tag != "DW_TAG_member" or (at is None and holder.tag != "DW_TAG_union_type"):
            continue
        chain: list[DIE] = [child]
        while "DW_AT_byte_size" not in chain[-1].attributes and (further := _type(chain[-1])) is not None:
            chain.append(further)
        size = chain[-1].attributes.get("DW_AT_byte_size")
        is_array = any(link.tag == "DW_TAG_array_type" for link in chain)
        place = base + (at.value if at is not None else 0)
        if _text(child):
            yield before + _text(child), StructureMemberLayout(place, size.value if size is not None else 4, is_array)
        if chain[-1].tag in {"DW_TAG_structure_type", "DW_TAG_union_type"} and not is_array:
            yield from _members(chain[-1], f"{before}{_text(child)}." if _text(child) else before, place)


def _with_another_reader(image: bytes, names: Sequence[str]) -> MemberPlaces:
    """The same by pyelftools, whose readers have nothing in common with the simulator's."""
    result: MemberPlaces = {}
    with open_elf_file(image, "it", ImageFileError) as elf:
        for die in (die for unit in elf.get_dwarf_info().iter_CUs() for die in unit.get_top_DIE().iter_children()):
            holder: DIE | None = die
            while holder is not None and holder.tag == "DW_TAG_typedef":
                holder = _type(holder)
                holder = None if holder is not None and _text(holder) else holder
            if holder is None or holder.tag != "DW_TAG_structure_type" or not holder.has_children:
                continue
            if _text(die) in names and _text(die) not in result:
                result[_text(die)] = dict(_members(holder, "", 0))
    return result


def _block_types(kernel: Kernel) -> list[str]:
    block = kernel.memory.task_block if kernel.memory else None
    return sorted({*(object_.type for object_ in kernel.objects.values()), *([block.type] if block else [])})


IMAGES: list[tuple[str, dict[str, str]]] = [("freertos", {}), ("freertos", {"lto": "1"}), ("rt", {"opt": "-O0"})]
MORE: list[tuple[str, dict[str, str]]] = [
    ("freertos", {"opt": "-O0"}), ("rt", {}), ("rt", {"lto": "1"}), ("bare", {}), ("bare", {"opt": "-O0"}),
    ("bare", {"lto": "1"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "config"), [*IMAGES, *(pytest.param(*each, marks=pytest.mark.long) for each in MORE)], ids=str
)
def test_independent_reader_agrees_on_images(kernel: str, config: dict[str, str]) -> None:
    catalogue = Catalogue(find_checkout_root())
    options = PlanOptions([kernel], ["nucleo-f446re"], [1], WINDOW_MS, config)
    name = "t5" if kernel == "freertos" else "t1"  # of freertos, what others build
    (point,) = make_measurement_plan(catalogue, [name], options).points
    content = build_measurement_point_image(catalogue, point).elf_path.read_bytes()
    names = _block_types(catalogue.find_kernel(kernel).facts)
    result = find_structure_members(content, names)
    assert result == _with_another_reader(content, names)
    assert result or kernel == "bare"


@pytest.mark.parametrize("options", [["-gdwarf-3"], ["-gdwarf-4"], ["-gdwarf-5"], ["-gz=zlib"]], ids=str)
def test_independent_reader_agrees_on_every_dwarf_version(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "block.c").write_text(CODE)
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-g", *options, "-c", "block.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    content = (tmp_path / "block.o").read_bytes()
    names = ["block", "inner", "inner_t", "nameless_t", "named_elsewhere_t", "priority_t", "nowhere"]
    result = find_structure_members(content, names)
    assert result == _with_another_reader(content, names)
    assert result.keys() == {"block", "inner", "nameless_t"}


@pytest.mark.parametrize(
    ("place", "following", "expected"),
    [
        (StructureMemberLayout(0, 1, is_array=True), 8, "consumer"),
        (StructureMemberLayout(0, 1, is_array=True), 16, "consumer???"),
        (StructureMemberLayout(0, 1, is_array=True), None, "consumer???"),
        (StructureMemberLayout(4, 1, is_array=True), 8, "umer"),
        (StructureMemberLayout(16, 4), 8, "pointed"),
        (StructureMemberLayout(20, 4), 8, ""),
    ],
)
def test_a_text_ends_with_a_zero_or_where_the_next_member_begins(
    place: StructureMemberLayout, following: int | None, expected: str
) -> None:
    """A name of eight characters fills a field of eight, and no zero follows."""
    memory = b"consumer\x01\xff\x80\0\0\0\0\0" + (0x1018).to_bytes(4, "little") + bytes(4) + b"pointed\0"
    members = {"name": place} | ({"type": StructureMemberLayout(following, 1)} if following is not None else {})
    assert (
        read_structure_member_text(members, "name", 0x1000, lambda at, count: memory[at - 0x1000 :][:count]) == expected
    )
    assert read_structure_member_text(members, "other", 0x1000, lambda at, count: memory) == ""
