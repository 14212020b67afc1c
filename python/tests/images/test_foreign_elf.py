"""Images that other tools made: names, sizes, lines and cores as their own tools tell them."""

import hashlib
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from elftools.elf.elffile import ELFFile

from rtoslab.base import ImageFileError, build_folder, find_checkout_root
from rtoslab.footprint import read_image_footprint
from rtoslab.images import SourceLines, do_images_differ, read_elf
from rtoslab.instruments.lines import find_source_lines
from rtoslab.intake import demangle_function_name
from tests.cli.test_cli import command_error, rtoslab

SCRIPT: Final = """
ENTRY(Reset_Handler)
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 64K
  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 16K }
_estack = ORIGIN(RAM) + LENGTH(RAM);
SECTIONS {
  .isr_vector : { KEEP(*(.isr_vector)) } >FLASH
  .text : { *(.text*) *(.rodata*) } >FLASH
  .ARM.exidx : { *(.ARM.exidx*) } >FLASH
  .data : { *(.data*) } >RAM AT>FLASH
  .bss : { *(.bss*) *(COMMON) } >RAM
}
"""
START: Final = """
extern unsigned _estack; int main(void);
void Reset_Handler(void) { main(); for (;;); }
"""
ALIASES: Final = (
    START
    + """
#define R(a) (*(volatile unsigned *)(a))
void Default_Handler(void) { LOOP }
void WWDG_IRQHandler(void) __attribute__((weak, alias("Default_Handler")));
void ADC1_IRQHandler(void) __attribute__((weak, alias("Default_Handler")));
void TIM2_IRQHandler(void) __attribute__((weak, alias("Default_Handler")));
__attribute__((section(".isr_vector"), used)) void *const vectors[96] = {&_estack, (void *)Reset_Handler,
  [16] = (void *)WWDG_IRQHandler, [34] = (void *)ADC1_IRQHandler, [44] = (void *)TIM2_IRQHandler};
int main(void) { R(0xE000E100) = 1u << 28; R(0xE000E200) = 1u << 28; for (;;); }
"""
)
PLUS_PLUS: Final = """
namespace app {
template <class T> struct Filter { T s{};
  __attribute__((noinline)) T step(T v) { for (int i = 0; i < 8; i++) s += (v - s) / 4; return s; } };
struct Pid { int k;
  __attribute__((noinline)) int update(int e) const { return e * k / 7; }
  __attribute__((noinline)) int update(int e, int d) { return e * k / 7 + d; } };
}
volatile int sink;
extern "C" __attribute__((noinline)) void finish(void) { __asm volatile("nop"); }
extern "C" unsigned _estack;
extern "C" int main(void) { app::Filter<int> f; app::Pid p{3};
  for (int i = 0; i < 50; i++) sink = p.update(f.step(i));
  for (int i = 0; i < 5; i++) sink = p.update(i, 2);
  finish(); for (;;); }
extern "C" void Reset_Handler(void) { main(); for (;;); }
__attribute__((section(".isr_vector"), used)) void *const vectors[2] = {&_estack, (void *)Reset_Handler};
"""
WAX: Final = """
 .syntax unified
 .section .isr_vector, "awx", %progbits
 .word 0x20004000, Reset_Handler
 .text
 .thumb_func
 .type Reset_Handler, %function
 .global Reset_Handler
Reset_Handler: b .
"""
SIZED: Final = WAX + ".size Reset_Handler, . - Reset_Handler\n"


@cache
def linked_image(source: str, suffix: str, *options: str, core: str = "cortex-m3") -> Path:
    """The linked image of one source file."""
    folder = build_folder(find_checkout_root()) / "tests" / "elf_of_others"
    folder.mkdir(parents=True, exist_ok=True)
    name = "x" + hashlib.sha256(repr((source, suffix, options, core)).encode()).hexdigest()[:12]
    (folder / "st.ld").write_text(SCRIPT)
    (folder / f"{name}.{suffix}").write_text(source)
    flags = ["-mthumb", f"-mcpu={core}", "-O1", "-g", "-nostdlib", "-fno-exceptions", "-T", "st.ld", *options]
    command = ["arm-none-eabi-gcc", *flags, f"{name}.{suffix}", "-o", f"{name}.elf", "-lgcc"]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    return folder / f"{name}.elf"


@pytest.mark.parametrize(
    ("source", "differs"),
    [
        (START + "int main(void) { return 1; }", False),
        (START + "/* Other lines,\n but the same code. */ int main(void) { return 1; }", False),
        (START + "int main(void) { return 2; }", True),
        (START + "int main(void) { return 1; } int unused(void) { return 1; }", True),
        (START + "int room[2]; int main(void) { return 1; }", True),
        (START + "int room = 1; int main(void) { return 1; }", True),
    ],
)
def test_images_differ_in_code_data_and_addresses_only(source: str, *, differs: bool) -> None:
    one = linked_image(START + "int main(void) { return 1; }", "c")
    other = linked_image(source, "c", "-Wl,-z,noexecstack")
    assert do_images_differ(one, other) is differs


def line_of(text: str) -> int:
    """The line of PLUS_PLUS that has a text."""
    return next(number for number, line in enumerate(PLUS_PLUS.split("\n"), 1) if text in line)


@pytest.mark.parametrize("options", [(), ("-gdwarf64",), ("-gdwarf-5", "-gsplit-dwarf"), ("-gdwarf-4", "-gsplit-dwarf"),
                                     ("-gdwarf-5", "-Wa,-gdwarf-5", "-gsplit-dwarf")], ids=" ".join)  # fmt: skip
def test_every_dwarf_version_gives_the_same_lines(options: tuple[str, ...]) -> None:
    elf = linked_image(PLUS_PLUS, "cpp", *options)
    line = line_of("update(int e, int d)")
    starts, lines = SourceLines(elf).find_code_of_line(f"{elf.stem}.cpp", line)
    assert starts
    assert line_of("T step(T v)") in lines
    (function,) = [symbol for symbol in read_elf(elf).symbols if symbol.name == "app::Pid::update(int, int)"]
    assert starts[0] == function.address
    assert find_source_lines(elf, [function.address])[function.address].line.endswith(f"{elf.stem}.cpp:{line}")


def test_names_are_demangled() -> None:
    elf = linked_image(PLUS_PLUS, "cpp")
    names = {symbol.name for symbol in read_elf(elf).symbols}
    assert {"app::Filter<int>::step(int)", "app::Pid::update(int) const", "app::Pid::update(int, int)"} <= names
    done = rtoslab(
        "profile", elf, "--board", "nucleo-f103rb", "--max-cycles", "20000", "--table", "functions", "--json"
    )
    functions = {row["function"] for row in json.loads(done.stdout)["functions"]}
    assert "app::Filter<int>::step(int)" in functions
    assert not [name for name in functions if name.startswith("_Z")]
    for name in ("app::Pid::update(int)", "app::Pid::update(int) const", "_ZNK3app3Pid6updateEi"):
        measured = rtoslab("measure", name, "--image", elf, "--board", "nucleo-f103rb", "--for", "1ms", "--json")
        assert measured.stdout, measured.stderr
        assert json.loads(measured.stdout)["functions"][0]["calls"] == 50, measured.stderr
    several = command_error(rtoslab("measure", "app::Pid::update", "--image", elf, "--board", "nucleo-f103rb"), 1)
    assert "is the name of several functions: app::Pid::update(int) const or app::Pid::update(int, int)" in several
    until = rtoslab("sim", elf, "--board", "nucleo-f103rb", "--until", "app::Filter<int>::step")
    assert until.returncode == 0, until.stderr


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("_ZNK3app3Pid6updateEi", "app::Pid::update(int) const"),
        ("_ZN3app3Pid6updateEi.constprop.0", "app::Pid::update(int).constprop.0"),
        ("_ZN4core3fmt5Write9write_str17h0123456789abcdefE", "core::fmt::Write::write_str"),
        ("_RNvC6my_app4main", "my_app::main"),
        ("_Zzz", "_Zzz"),
        ("xTaskCreate", "xTaskCreate"),
        ("_Z1fI" + "S_" * 400, "_Z1fI" + "S_" * 400),
    ],
)
def test_names_without_mangling(name: str, readable: str) -> None:
    assert demangle_function_name(name) == readable


def test_abbreviated_name_is_not_expanded() -> None:
    """Each pair stands for two of the one before: without a bound, 40 of them take all memory."""
    name = "_Z1f" + "N1aE" + "".join("PFvS_S_E" for _ in range(200))
    assert len(demangle_function_name(name)) <= max(len(name), 1024)


def size_of(elf: Path) -> dict[str, int]:
    done = subprocess.run(["arm-none-eabi-size", elf], check=True, capture_output=True, text=True)
    return dict(zip(("text", "data", "bss"), map(int, done.stdout.split("\n")[1].split()[:3]), strict=True))


@pytest.mark.parametrize("source", [SIZED, SIZED + '.data\nd: .word 1\n.bss\nb: .space 4\n.section .ro,"a"\n.word 2\n',
                                    SIZED + '.section .data.code,"awx",%progbits\nram: bx lr\n'])  # fmt: skip
def test_kinds_of_sections_are_those_of_the_size_tool(source: str) -> None:
    elf = linked_image(source, "S")
    result = read_image_footprint(elf)
    assert result.berkeley_sizes() == size_of(elf)
    kinds = {
        "text": result.total_bytes("text") + result.total_bytes("rodata"),
        "data": result.total_bytes("data"),
        "bss": result.total_bytes("bss"),
    }
    assert kinds == size_of(elf)


def test_symbols_without_a_size_are_symbols(tmp_path: Path) -> None:
    image = read_elf(linked_image(WAX, "S"))
    assert not image.symbols
    assert "Reset_Handler" in image.constants
    assert read_image_footprint(linked_image(WAX, "S")).berkeley_sizes()["text"] == 10
    stripped = tmp_path / "stripped.elf"
    subprocess.run(["arm-none-eabi-strip", linked_image(SIZED, "S"), "-o", stripped], check=True)
    with pytest.raises(ImageFileError, match="has no symbols"):
        read_elf(stripped)


LOOPS: Final = {
    "empty": "for (;;);",
    "with code": 'for (;;) __asm volatile("nop\\n nop");',
    "asleep": 'for (;;) __asm("wfi");',
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=list(LOOPS))
@pytest.mark.parametrize(
    "command", [("sim",), ("profile",), ("trace",), ("measure", "main", "--image")], ids=lambda each: each[0]
)
def test_unhandled_interrupt_is_named_by_its_number(command: tuple[str, ...], loop: str) -> None:
    """Each weak handler is the same code; it is known by none of their names."""
    elf = linked_image(ALIASES, "c", f"-DLOOP={loop}")
    limit = ("--for", "1ms") if command[0] == "measure" else ("--max-cycles", "20000")
    done = rtoslab(*command, elf, "--board", "nucleo-f103rb", *limit, COLUMNS="200")
    assert done.returncode == 3, done.stdout + done.stderr
    output = " ".join((done.stdout + done.stderr).split())
    assert "Default_Handler, an endless loop that 3 vectors share: interrupt 28 (exception 44, vector at" in output
    assert "IRQHandler" not in output


def test_returning_or_dedicated_handler_is_not_a_failure() -> None:
    returns = linked_image(ALIASES, "c", "-DLOOP=*(volatile unsigned *)0xE000E280 = 1u << 28;")
    done = rtoslab("sim", returns, "--board", "nucleo-f103rb", "--max-cycles", "20000")
    assert (done.returncode, "endless" in done.stderr) == (0, False)
    own = "void TIM2_IRQHandler(void) { for (;;); }"
    single = ALIASES.replace('void TIM2_IRQHandler(void) __attribute__((weak, alias("Default_Handler")));', own)
    done = rtoslab(
        "sim", linked_image(single, "c", "-DLOOP=for(;;);"), "--board", "nucleo-f103rb", "--max-cycles", "20000"
    )
    assert (done.returncode, "endless" in done.stderr) == (0, False)
    image = linked_image(ALIASES, "c", f"-DLOOP={LOOPS['empty']}")
    until = rtoslab("sim", image, "--board", "nucleo-f103rb", "--until",
                    "Default_Handler")  # fmt: skip
    assert until.returncode == 0, "what was asked for"


CORES: Final = {
    "cortex-m0plus": {"nucleo-l053r8", "nucleo-f103rb", "nucleo-f446re", "nucleo-f767zi"},
    "cortex-m3": {"nucleo-f103rb", "nucleo-f446re", "nucleo-f767zi"},
    "cortex-m4": {"nucleo-f446re", "nucleo-f767zi"},
    "cortex-m7": {"nucleo-f446re", "nucleo-f767zi"},
    "cortex-m4+fp": {"nucleo-f446re", "nucleo-f767zi"},
    "cortex-m7+fp": {"nucleo-f767zi"},
    "cortex-m33": set(),
    "cortex-a7": set(),
}


@pytest.mark.parametrize("core", CORES)
def test_image_runs_on_a_core_that_has_what_it_is_built_for(core: str) -> None:
    cpu, _, has_float = core.partition("+")
    options = {
        "cortex-m4": ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
        "cortex-m7": ("-mfloat-abi=hard", "-mfpu=fpv5-d16"),
    }
    source = START + "int main(void) { for (;;); } void *const vectors[2]"
    source += '__attribute__((section(".isr_vector"), used)) = {&_estack, (void *)Reset_Handler};'
    elf = linked_image(source, "c", *(options[cpu] if has_float else ()), core=cpu)
    with elf.open("rb") as file:
        assert ELFFile(file).get_section_by_name(".ARM.attributes") is not None
    for board in sorted(CORES["cortex-m0plus"]):
        done = rtoslab("sim", elf, "--board", board, "--max-cycles", "1000")
        if board in CORES[core]:
            assert done.returncode == 0, (board, done.stderr)
        else:
            output = command_error(done, 1)
            assert "is built for" in output
            assert "does not have; build it for this board's core" in output
            assert "\n" not in output
