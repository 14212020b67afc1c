"""Map files are read whole or refused, and every piece of one has an origin."""

from pathlib import Path

import pytest

from rtoslab.base.errors import ImageFileError
from rtoslab.footprint.linkmap import LinkerInputSection, parse_linker_map
from rtoslab.footprint.origins import firmware_component_of_object_file, short_object_file_name

MAP = """Discarded input sections

 .text.gone     0x00000000       0x40 a.c.obj

Linker script and memory map

.text           0x08000000      0x108
 .text.main     0x08000000       0x10 CMakeFiles/image.dir/core/main.c.obj
                0x08000000                main
 *fill*         0x08000010        0x2 00
 .text.a_long_name_of_a_section
                0x08000014       0x20 /x/kernel/libkernel_kernel.a(tasks.c.obj)
                                 0x28 (size before relaxing)
 .text.empty    0x08000034        0x0 b.o
OUTPUT(image.elf elf32-littlearm)
 .debug_info    0x00000000       0x40 a.c.obj
"""


def test_map_file_gives_object_files(tmp_path: Path) -> None:
    (path := tmp_path / "image.map").write_text(MAP)
    assert parse_linker_map(path.read_bytes(), "x") == (
        LinkerInputSection(".text.main", 0x0800_0000, 0x10, "CMakeFiles/image.dir/core/main.c.obj"),
        LinkerInputSection(
            ".text.a_long_name_of_a_section", 0x0800_0014, 0x20, "/x/kernel/libkernel_kernel.a(tasks.c.obj)"
        ),
    )
    path.write_text(MAP.partition("OUTPUT")[0])
    with pytest.raises(ImageFileError, match="not a complete map file"):
        parse_linker_map(path.read_bytes(), "x")


@pytest.mark.parametrize(
    ("name", "origin", "short"),
    [
        ("CMakeFiles/image.dir/kernels/rt/port.c.obj", "port", "kernels/rt/port.c"),
        ("CMakeFiles/image.dir/chips/stm32/pins.c.obj", "board", "chips/stm32/pins.c"),
        ("CMakeFiles/image.dir/cpus/cortexm/fault.S.obj", "cpu", "cpus/cortexm/fault.S"),
        ("CMakeFiles/image.dir/footprint/frame.c.obj", "program", "footprint/frame.c"),
        ("kernel/libfreertos_kernel.a(tasks.c.obj)", "kernel", "tasks.c"),
        ("librt_kernel.a(rt.c.obj)", "kernel", "rt.c"),
        ("/any/lib/thumb/libc.a(lib_a-memset.o)", "library", "libc.a(lib_a-memset)"),
        ("linker stubs", "linker", "linker stubs"),
    ],
)
def test_symbols_have_an_origin(name: str, origin: str, short: str) -> None:
    assert (firmware_component_of_object_file(name), short_object_file_name(name)) == (origin, short)


@pytest.mark.parametrize(
    ("name", "origin", "short"),
    [
        ("/any/export/libs/libsched.a(task_start.o)", "kernel", "task_start"),
        ("/any/export/objects/sched.c.obj", "kernel", "sched.c"),
        ("/any/export/libs/libc.a(memcpy.o)", "library", "libc.a(memcpy)"),
        ("/any/export/libs/libgcc.a(_udivsi3.o)", "library", "libgcc.a(_udivsi3)"),
        ("/any/export/libs/libcxxmini.a(new.o)", "kernel", "new"),
        ("/any/exports/libs/libsched.a(task_start.o)", "library", "libsched.a(task_start)"),
        ("CMakeFiles/image.dir/kernels/nuttx/port.c.obj", "port", "kernels/nuttx/port.c"),
    ],
)
def test_export_belongs_to_the_kernel_except_c_libraries(name: str, origin: str, short: str) -> None:
    assert (firmware_component_of_object_file(name, "/any/export"), short_object_file_name(name, "/any/export")) == (
        origin,
        short,
    )
