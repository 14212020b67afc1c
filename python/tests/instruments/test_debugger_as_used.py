"""`rtoslab gdb` as people use a debugger: load, run, reset, registers of peripherals, faults, tasks, editors."""

import re
import subprocess
from pathlib import Path

import pytest

from rtoslab import board
from tests.board_images import Program
from tests.cli.test_cli import HANG_S
from tests.debugged_firmware import SCRIPT
from tests.instruments.test_debugger import GDB, after, gdb_output, gdb_server, with_gdb

F446 = "nucleo-f446re"
SOURCE = r"""
#include <stdint.h>
extern uint32_t _stack;
void reset(void), hard(void), other(void);
__attribute__((section(".vectors"), used)) void *const vectors[16] = {
    &_stack, reset, other, hard, other, other, other, [15] = other};
void other(void) { for (;;) {} }
__attribute__((noipa)) void hard(void) { for (;;) {} }
#define AT(address) (*(volatile uint32_t *)(address))
volatile uint32_t seen, version = VERSION;
static uint32_t stack[64];
__attribute__((noipa)) void inner(uint32_t at) { seen = AT(at); seen++; }
__attribute__((noipa)) void middle(uint32_t at) { inner(at + 1); seen++; }
__attribute__((noipa)) void task(void) { middle(0x0fffffff); for (;;) {} }
__attribute__((noipa)) void pins(void) {
    /* Apart, so that the M7 does not issue two accesses together. */
    for (uint32_t i = 0; i < 3; i++) {
        AT(GPIO_ODR) = 1u << i;
        __asm volatile("nop\n nop\n nop\n nop");
    }
    seen = AT(GPIO_IDR);
    __asm volatile("nop\n nop");
}
void reset(void) {
    AT(RCC_ENABLE) |= 7;
    pins();
    __asm volatile("msr psp, %0\n movs r0, #2\n msr control, r0\n isb\n bl task" : : "r"(stack + 64) : "r0");
}
"""
REGISTERS = {
    F446: ("cortex-m4", "0x40023830", "0x40020014", "0x40020010"),
    "nucleo-f767zi": ("cortex-m7", "0x40023830", "0x40020014", "0x40020010"),
    "nucleo-l073rz": ("cortex-m0plus", "0x4002102C", "0x50000014", "0x50000010"),
}
"""Core, RCC's register with the ports' clocks, output and input of port A."""


def build(folder: Path, board_id: str = F446, version: int = 1) -> Path:
    cpu, clocks, output, levels = REGISTERS[board_id]
    (folder / "main.c").write_text(SOURCE)
    (folder / "fw.ld").write_text(SCRIPT.replace("BASE", "0x08000000"))
    image = folder / f"fw{version}.elf"
    names = [f"-DVERSION={version}", f"-DRCC_ENABLE={clocks}", f"-DGPIO_ODR={output}", f"-DGPIO_IDR={levels}"]
    flags = [f"-mcpu={cpu}", "-mthumb", "-O1", "-g", "-ffreestanding", "-nostdlib", "-T", "fw.ld"]
    subprocess.run(["arm-none-eabi-gcc", *flags, *names, "main.c", "-o", image.name], cwd=folder, check=True)
    return image


@with_gdb
@pytest.mark.parametrize("board_id", REGISTERS)
def test_backtrace_in_a_fault_handler_shows_the_task(board_id: str, tmp_path: Path) -> None:
    output = gdb_output(
        build(tmp_path, board_id), board_id, "break hard", "continue", "backtrace", "print $psp", "print $control"
    )
    frames = re.findall(r"^#\d+ +(?:0x\w+ in )?(\S+)", after(output, "backtrace"), re.MULTILINE)
    assert frames[:5] == ["hard", "<signal", "inner", "middle", "task"], after(output, "backtrace")
    assert "0x2000" in after(output, "print $psp")


@with_gdb
def test_new_build_is_loaded_and_run_again(tmp_path: Path) -> None:
    old, new = build(tmp_path, version=1), build(tmp_path, version=77)
    output = gdb_output(
        old, F446, "break pins", "continue", f"file {new}", f"load {new}", "monitor reset halt", "monitor cycles",
        "maintenance flush register-cache", "continue", "print version", "monitor reset", "monitor nonsense",
    )  # fmt: skip
    assert "Loading section .text" in output
    assert "is stopped before its first instruction" in after(output, "monitor reset halt")
    assert "core 0: " in after(output, "monitor cycles")
    assert "Breakpoint 1, pins" in after(output, "continue", 1)
    assert "= 77\n" in after(output, "print version")
    assert "monitor reset halt" in after(output, "monitor nonsense"), "the help names it"


@with_gdb
def test_run_command_restarts_the_board(tmp_path: Path) -> None:
    """With `extended-remote`, twice, and then gdb may leave it or end it."""
    image = build(tmp_path)
    with gdb_server(image, F446) as (address, server):
        commands = [
            "set confirm off", "set pagination off", f"target extended-remote {address}", "break pins", "run",
            "next", "run", "print seen", "kill",
        ]  # fmt: skip
        options = [part for command in commands for part in ("-ex", command)]
        assert GDB is not None
        done = subprocess.run(
            [GDB, "-nx", "-batch", *options, str(image)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG_S, check=False,
        )  # fmt: skip
        assert done.stdout.count("Breakpoint 1, pins") == 2, done.stdout
        assert server.wait(HANG_S) == 0, "killed, and gdb is gone"


@with_gdb
@pytest.mark.parametrize("board_id", REGISTERS)
def test_registers_are_watched_and_read_without_side_effects(board_id: str, tmp_path: Path) -> None:
    _, clocks, output_register, levels = REGISTERS[board_id]
    word = f"*(unsigned *){output_register}"
    output = gdb_output(
        build(tmp_path, board_id), board_id, "break pins", "continue", f"watch {word}", "continue", "continue",
        f"print/x {word}", f"print/x *(unsigned *){clocks}", "x/wx 0xE000ED00", "x/hx 0xE000ED02", "delete 2",
        f"rwatch *(unsigned *){levels}", "continue", "reverse-continue", "monitor warnings",
    )  # fmt: skip
    assert "New value = 1" in after(output, "continue", 1)
    assert "New value = 2" in after(output, "continue", 2)
    assert "= 0x2\n" in after(output, f"print/x {word}")
    assert "7\n" in after(output, f"print/x *(unsigned *){clocks}")
    part = {"nucleo-l073rz": "0x410cc60", F446: "0x410fc24", "nucleo-f767zi": "0x411fc27"}[board_id]
    assert part in after(output, "x/wx 0xE000ED00")
    assert part[:6] in after(output, "x/hx 0xE000ED02")
    assert "Hardware read watchpoint 3" in after(output, "continue", 3)
    assert "none" in after(output, "monitor warnings")


def test_python_board_reads_registers_without_side_effects(tmp_path: Path) -> None:
    """Reading the data register of a UART clears its flag, and SysTick's control register clears its own."""
    running = board(F446).load(build(tmp_path))
    running.run(10_000)
    assert running.word(0xE000_ED00) == 0x410F_C241
    before = running.registers(), running.cycle, running.stats()
    assert running.word(0xE000_E010) == running.word(0xE000_E010)
    assert running.read(0x4002_0014, 1) == b"\4"
    assert running.read(0x4002_0015, 2) == b"\0\0"
    assert (running.registers(), running.cycle, running.stats()) == before


def test_register_write_is_recorded(tmp_path: Path) -> None:
    running = board(F446).load(build(tmp_path))
    probe = running.watch(0x4002_0014)
    running.run(10_000)
    assert [hit.value for hit in probe.hits] == [1, 2, 4]


@with_gdb
@pytest.mark.parametrize(
    ("board_id", "cores"), [(F446, 1), ("nucleo-f103rb", 1), ("nucleo-l073rz", 1), ("pico", 1), ("pico", 2)]
)
def test_tasks_of_freertos_are_threads_with_names_and_their_own_stacks(board_id: str, cores: int) -> None:
    """T5: tasks that wait for each other. One of them, chosen by its number, is looked at from inside."""
    image = Program("t7" if cores == 2 else "t5", board_id, cores=cores).elf()
    output = gdb_output(
        image,
        board_id,
        "break xTaskIncrementTick",
        "continue",
        "continue",
        "info threads",
        "thread apply all backtrace",
    )
    threads = after(output, "info threads").splitlines()
    assert len([line for line in threads if "running" in line]) == cores, threads
    assert any("IDLE" in line for line in threads), threads
    backtraces = after(output, "thread apply all backtrace")
    assert "prvIdleTask" in backtraces
    assert backtraces.count("#0") == len([line for line in threads if "Thread 1." in line])
    assert "unavailable" not in backtraces


@with_gdb
def test_image_without_a_kernel_shows_only_its_core(tmp_path: Path) -> None:
    output = gdb_output(build(tmp_path), F446, "info threads")
    assert re.findall(r"Thread 1\.\d+ \(core 0\)", after(output, "info threads")) == ["Thread 1.1 (core 0)"]


@with_gdb
@pytest.mark.parametrize("editor", ["cortex-debug", "cppdbg"])
def test_machine_interface_commands_of_editors(editor: str, tmp_path: Path) -> None:
    """The commands that docs/debugger.md's entries make the extensions send, in their order."""
    image = build(tmp_path)
    assert GDB is not None
    with gdb_server(image, F446) as (address, _):
        begin = {
            "cortex-debug": [
                "-gdb-set mi-async on", f'-file-exec-and-symbols "{image}"',
                f"-target-select extended-remote {address}",
                '-interpreter-exec console "monitor reset halt"', '-interpreter-exec console "load"',
                '-interpreter-exec console "monitor reset halt"', "-break-insert -t pins", "-exec-continue",
            ],
            "cppdbg": [
                "-gdb-set target-async on", f'-file-exec-and-symbols "{image}"',
                f"-target-select extended-remote {address}", "-break-insert pins", "-exec-continue",
            ],
        }[editor]  # fmt: skip
        asked = [
            "-thread-info", "-stack-list-frames --thread 1", "-data-list-register-values x 13 15",
            "-data-read-memory-bytes 0xe000ed00 4", "-exec-next", "-exec-finish",
        ]  # fmt: skip
        with subprocess.Popen(
            [GDB, "-nx", "-q", "--interpreter=mi2"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as gdb:  # fmt: skip
            assert gdb.stdin is not None
            assert gdb.stdout is not None
            said: list[str] = []
            for number, command in enumerate([*begin, *asked]):
                gdb.stdin.write(f"{number}{command}\n")
                gdb.stdin.flush()
                waits_for_stop = command.startswith("-exec")
                answered = False
                while True:
                    line = gdb.stdout.readline()
                    assert line, said
                    said.append(line)
                    answered |= line.startswith(f"{number}^")
                    if answered and (not waits_for_stop or line.startswith("*stopped") or "^error" in line):
                        break
            gdb.stdin.write("-gdb-exit\n")
            gdb.stdin.flush()
            gdb.wait(HANG_S)
    text = "".join(said)
    assert "^error" not in text, text
    assert 'reason="breakpoint-hit"' in text
    assert 'func="pins"' in text
    assert 'contents="41c20f41"' in text
    assert 'target-id="Thread 1.1"' in text
