"""Every byte has one owner, sums are what the linker and `arm-none-eabi-size` say, and a service's cost is its own."""

import csv
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.base.errors import ImageFileError, PlanError, UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.footprint import (
    ImageFootprint,
    build_footprint_program,
    compare_footprints,
    read_image_footprint,
    survey_service_sizes,
)
from rtoslab.footprint.attribute import KINDS, PADDING, _image_bytes_by_memory
from rtoslab.footprint.callgraph import StaticStackBound, read_callgraph
from rtoslab.footprint.memories import board_memory_regions
from rtoslab.images.elf import ElfOutputSection
from tests.cli.test_cli import command_error, rtoslab

CATALOGUE = Catalogue(find_checkout_root())
IMAGES = [
    ("freertos", "pico", {}),  # a boot block before the code
    ("freertos", "nucleo-f767zi", {"code": "itcm", "opt": "-O3"}),  # code programmed elsewhere than it runs
    ("rt", "nucleo-f446re", {"opt": "-O0"}),
    ("bare", "nucleo-l053r8", {}),
]


def size_tool(elf: Path, *options: str) -> list[list[str]]:
    done = subprocess.run(["arm-none-eabi-size", *options, elf], capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def assert_conserved(image: ImageFootprint, elf: Path) -> None:
    loaded = {entry.name for entry in image.sections}
    by_tool = {row[0]: int(row[1]) for row in size_tool(elf, "-A") if row and row[0] in loaded}
    assert len(by_tool) == len(loaded) >= 2
    for section in image.sections:
        items = [item for item in image.items if item.section == section.name]
        assert sum(item.size for item in items) == section.size == by_tool[section.name]
        at = section.address
        for item in items:  # none twice, none left out
            assert item.address == at
            at += item.size
    text, data, bss = map(int, size_tool(elf)[1][:3])
    assert image.berkeley_sizes() == {"text": text, "data": data, "bss": bss}
    assert [
        image.total_bytes("text") + image.total_bytes("rodata"),
        image.total_bytes("data"),
        image.total_bytes("bss"),
    ] == [
        text,
        data,
        bss,
    ]


@pytest.mark.parametrize(("kernel", "board", "config"), IMAGES, ids=str)
def test_sums_equal_the_image_size(kernel: str, board: str, config: dict[str, str]) -> None:
    weighed = build_footprint_program(CATALOGUE, kernel, board, config=config)
    assert_conserved(weighed.footprint, weighed.build.elf_path)
    origins = {item.origin for item in weighed.footprint.items}
    assert origins - {"kernel", "library", "linker"} == {"board", "cpu", "port", "program"}
    assert ("kernel" in origins) == (kernel != "bare")


@pytest.mark.long
@pytest.mark.parametrize("board", sorted(CATALOGUE.boards))
@pytest.mark.parametrize("kernel", sorted(CATALOGUE.buildable_kernels))
def test_every_kernel_on_every_board(kernel: str, board: str) -> None:
    result = survey_service_sizes(CATALOGUE, kernel, board)
    assert_conserved(result.minimal.footprint, result.minimal.build.elf_path)
    assert {cost.program for cost in result.costs} == set(CATALOGUE.footprint_programs)
    for stack in result.stacks:
        assert 0 < stack.used_bytes < stack.size_bytes, stack


def test_sums_hold_without_a_map_file(tmp_path: Path) -> None:
    weighed = build_footprint_program(CATALOGUE, "bare", "nucleo-l053r8")
    (elf := tmp_path / "alone.elf").write_bytes(weighed.build.elf_path.read_bytes())
    single = read_image_footprint(elf)
    assert_conserved(single, weighed.build.elf_path)
    assert {item.origin for item in single.items} == {"(no map file)"}
    assert "isr_systick" in {item.symbol for item in single.items}
    assert set(single.memories) == {"code region", "SRAM region"}


def test_map_of_another_link_is_refused(tmp_path: Path) -> None:
    """Its owners would be those of other bytes."""
    one, other = (
        build_footprint_program(CATALOGUE, "freertos", "nucleo-f446re", program=name, config={"opt": "-O2"})
        for name in ("task", "semaphore")
    )
    assert read_image_footprint(one.build.elf_path, one.build.elf_path.with_suffix(".map")).items
    with pytest.raises(ImageFileError, match="is not the map of this image"):
        read_image_footprint(one.build.elf_path, other.build.elf_path.with_suffix(".map"))


def test_memories_are_assigned_by_load_address() -> None:
    """Code in ITCM is programmed into flash and taken there and here; bss takes no flash."""
    image = build_footprint_program(
        CATALOGUE, "freertos", "nucleo-f767zi", config={"code": "itcm", "opt": "-O3"}
    ).footprint
    sizes = {section.name: section.size for section in image.sections}
    assert image.memories == {
        "flash": sizes[".boot"] + sizes[".text"] + sizes[".data"],
        "itcm": sizes[".text"],
        "dtcm": sizes[".data"] + sizes[".bss"],
    }


def test_data_at_a_code_address_that_the_board_lacks_is_not_lost() -> None:
    """The NUCLEO-F446RE has no memory at 0x10000000, where an STM32F407 has its CCM RAM."""
    regions = board_memory_regions(CATALOGUE.find_board("nucleo-f446re").facts)
    text = ElfOutputSection(".text", 0x0800_0000, 0x0800_0000, 100, executable=True, writable=False, has_contents=True)
    ccm = replace(text, name=".ccm", address=0x1000_0000, load_address=0x0800_0064, size=16, writable=True)
    assert _image_bytes_by_memory((text, ccm), regions) == {"code region": 16, "flash": 116}


def test_service_size_is_the_difference_of_two_images() -> None:
    config = {"opt": "-O2"}
    base = build_footprint_program(CATALOGUE, "freertos", "nucleo-f446re", program="task", config=config)
    more = build_footprint_program(CATALOGUE, "freertos", "nucleo-f446re", program="semaphore", config=config)
    result = compare_footprints(base.footprint, more.footprint)
    for kind in KINDS:
        assert result.added_bytes(kind) == sum(change.added_bytes for change in result.changes if change.kind == kind)
        assert result.added_bytes(kind) == sum(
            item.added_bytes for item in result.size_changes_by_object_file() if item.kind == kind
        )
    grown = {change.object for change in result.changes if change.before and change.symbol != PADDING}
    assert grown <= {"footprint/task/use.c", "footprint/semaphore/use.c"}, "nothing else may change"
    assert {"queue.c"} <= {change.object for change in result.changes if not change.before}

    measured = survey_service_sizes(
        CATALOGUE, "freertos", "nucleo-f446re", programs=["semaphore", "queue", "sleep", "timer"], config=config
    )
    semaphore, queue, sleep, timer = measured.costs
    assert timer.bytes_by_origin["kernel"] > queue.bytes_by_origin["kernel"], (
        "timers come with a queue and a task of their own"
    )
    assert queue.pool_bytes is not None
    assert semaphore.pool_bytes is not None
    assert timer.pool_bytes is not None
    assert timer.pool_bytes > 512, "that task's stack"
    assert semaphore.bytes_by_kind == {kind: result.added_bytes(kind) for kind in KINDS}
    assert semaphore.bytes_by_origin["kernel"] > 1000
    assert sum(semaphore.bytes_by_origin.values()) == result.added_bytes("text") + result.added_bytes("rodata")
    assert queue.pool_bytes - semaphore.pool_bytes == 4 * 4, "the same structure, and four items of four bytes"
    assert sleep.pool_bytes == 0
    stacks = {(stack.program, stack.task): stack for stack in measured.stacks}
    context = 8 * 4 + 9 * 4  # pushed by the exception, and r4 to r11 and EXC_RETURN by the kernel
    for stack in stacks.values():
        assert stack.static_stack is not None
        assert stack.used_bytes < stack.size_bytes
    assert stacks["sleep", "IDLE"].used_bytes >= context, "the sleeping task's turn came through the idle task"
    sleeping = stacks["sleep", "task"]
    assert sleeping.static_stack is not None
    assert sleeping.used_bytes > context, "it went to sleep inside a call"
    assert sleeping.used_bytes <= context + sleeping.static_stack.bytes, "one context on top of the calls"
    assert ("semaphore", "IDLE") not in stacks, "a task that never waits leaves it no time"


def test_missing_service_is_reported() -> None:
    result = survey_service_sizes(CATALOGUE, "bare", "nucleo-l053r8", programs=["mutex", "semaphore"])
    mutex, semaphore = result.costs
    assert mutex.not_applicable is not None
    assert "one flow of control needs none" in mutex.not_applicable
    assert semaphore.bytes_by_kind["text"] > 0
    (timer,) = survey_service_sizes(CATALOGUE, "bare", "nucleo-l053r8", programs=["timer"]).costs
    assert timer.not_applicable == "only the port of FreeRTOS offers this service; it is not part of the port contract"
    with pytest.raises(UnknownNameError, match="did you mean 'mutex'"):
        survey_service_sizes(CATALOGUE, "bare", "nucleo-l053r8", programs=["mutexes"])
    with pytest.raises(PlanError, match="has no mutex service"):
        build_footprint_program(CATALOGUE, "bare", "nucleo-l053r8", program="mutex")


GRAPH = """graph: { title: "a.c"
node: { title: "a.c:entry" label: "entry\\na.c:1:1\\n16 bytes (static)" }
node: { title: "leaf" label: "leaf\\na.c:2:1\\n24 bytes (static)" }
node: { title: "again" label: "again\\na.c:3:1\\n8 bytes (dynamic)" }
node: { title: "memcpy" label: "__builtin_memcpy\\n<built-in>" shape : ellipse }
edge: { sourcename: "a.c:entry" targetname: "leaf" label: "a.c:1:5" }
edge: { sourcename: "a.c:entry" targetname: "again" label: "a.c:1:6" }
edge: { sourcename: "again" targetname: "again" label: "a.c:3:5" }
edge: { sourcename: "again" targetname: "memcpy" label: "a.c:3:6" }
edge: { sourcename: "again" targetname: "__indirect_call" label: "a.c:3:7" }
}
"""


def test_call_graph_gives_stack_depth(tmp_path: Path) -> None:
    (path := tmp_path / "callgraph.ci").write_text(GRAPH)
    graph = read_callgraph(path)
    assert graph.worst_case_stack_bound("leaf") == StaticStackBound(24, ())
    assert graph.worst_case_stack_bound("entry") == StaticStackBound(
        16 + 24,
        (
            "__builtin_memcpy has no frame size",
            "again has a frame of variable size",
            "again recurs",
            "calls through pointers in again",
        ),
    )
    assert graph.worst_case_stack_bound("nowhere") is None
    assert read_callgraph(tmp_path / "absent").worst_case_stack_bound("entry") is None


def damage_elf(elf: bytes, how: str) -> bytes:
    data = bytearray(elf)
    match how:
        case "empty":
            return b""
        case "text":
            return b"not an image\n"
        case "cut":
            return elf[: len(elf) // 2]
        case "machine":
            data[18] = 62
        case "sections":
            data[32:36] = b"\xff\xff\xff\x7f"
        case "outside":  # the first section's contents
            first = int.from_bytes(data[32:36], "little") + 40
            data[first + 16 : first + 20] = b"\xff\xff\xff\x0f"
        case "object":
            data[16] = 1
    return bytes(data)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("empty", "is empty; build it again"),
        ("text", "is not an ELF file"),
        ("cut", "cannot be read as an ELF image"),
        ("machine", "it is not for a little-endian 32-bit ARM core"),
        ("sections", "cannot be read as an ELF image"),
        ("outside", "section .text ends after the end of the file"),
        ("object", "it is not linked"),
    ],
)
def test_non_image_file_is_refused(how: str, sentence: str, tmp_path: Path) -> None:
    elf = build_footprint_program(CATALOGUE, "bare", "nucleo-l053r8").build.elf_path.read_bytes()
    (path := tmp_path / "bad.elf").write_bytes(damage_elf(elf, how))
    with pytest.raises(ImageFileError, match=sentence):
        read_image_footprint(path)


def test_stripped_image_is_refused(tmp_path: Path) -> None:
    elf = build_footprint_program(CATALOGUE, "bare", "nucleo-l053r8").build.elf_path
    subprocess.run(["arm-none-eabi-strip", elf, "-o", tmp_path / "stripped.elf"], check=True)
    with pytest.raises(ImageFileError, match="its functions are not known"):
        read_image_footprint(tmp_path / "stripped.elf")


def test_footprint_command_shows_tables() -> None:
    weighed = build_footprint_program(CATALOGUE, "bare", "nucleo-l053r8")
    done = rtoslab("footprint", weighed.build.elf_path, "--board", "nucleo-l053r8", "--json")
    tables = json.loads(done.stdout)
    assert tables["sections"][-1]["bytes"] == sum(table["bytes"] for table in tables["symbols"])
    assert {table["memory"] for table in tables["memories"]} == {"flash", "sram"}
    rows = list(
        csv.DictReader(rtoslab("footprint", weighed.build.elf_path, "--csv", "--table", "objects").stdout.splitlines())
    )
    assert sum(int(row["total"]) for row in rows) == tables["sections"][-1]["bytes"]
    both = rtoslab("footprint", "--kernel", "bare", "--board", "nucleo-l053r8", "--against-config", "opt=-O0", "--json")
    totals = {load["kind"]: load for load in json.loads(both.stdout)["totals"]}
    assert totals["text"]["before"] > totals["text"]["after"] == weighed.footprint.total_bytes("text")
    assert totals["all"]["change"] == sum(totals[kind]["change"] for kind in KINDS)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nowhere.elf"], "Cannot read the image nowhere.elf"),
        (["README.md"], "is not an ELF file"),
        (["--against", "x.elf"], "need an IMAGE"),
        (["--kernel", "bare", "--board", "pico", "--against-kernel", "barre"], "did you mean 'bare'?"),
        (["--kernel", "bare", "--board", "pico", "--program", "queues"], "did you mean 'queue'?"),
    ],
)
def test_footprint_command_reports_errors(args: list[str], sentence: str) -> None:
    assert sentence in command_error(rtoslab("footprint", *args), 1)
