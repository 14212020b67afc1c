"""Bare-metal programs with one planted fault each: the place and the cause that `diagnose` names must be those."""

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from rtoslab.cli import app
from tests.bus_firmware import SCRIPT
from tests.instruments.small_program import small_program

_HEAD: Final = r"""
#include <stdint.h>
#define R(a) (*(volatile uint32_t *)(a))
extern uint32_t _stack;
volatile uint32_t sink;
void reset(void);
void own(void);
void hard_fault(void) {
#ifdef FAULTS_AGAIN
    R(0x30000000) = 1;
#endif
    for (;;);
}
__attribute__((section(".vectors"), used)) void *const vectors[16 + 80] = {
    &_stack, reset, [3] = hard_fault, [15] = own, [16 + 28] = own};
#define TIMER_2 do { R(0x40023840) |= 1; R(0x4000002C) = 999; R(0x4000000C) = 1; \
    R(0xE000E100) = 1u << 28; R(0x40000000) = 1; } while (0)
#define TICK do { R(0xE000E014) = 15999; R(0xE000E018) = 0; R(0xE000E010) = 7; } while (0)
#define CLEAR_TIMER_2 do { R(0x40000010) = 0; (void)R(0x40000010); } while (0)
static void spend(int rounds) { for (int i = 0; i < rounds; i++) sink++; }
"""
_RECURSES: Final = """
void own(void) { spend(1); }
__attribute__((noinline)) int dig(int depth) {
    volatile int room[16];
    room[0] = depth;
    return depth ? dig(depth + 1) + room[0] : 0;
}
void reset(void) { dig(1); for (;;) sink++; }
"""
_LOSES_STACK: Final = r"""
void own(void) { spend(1); }
void reset(void) { TICK; __asm volatile("ldr r0, =0x30000000\n msr msp, r0"); for (;;) sink++; }
"""
_RETURNS_BADLY: Final = r"""
void own(void) { __asm volatile("mvn r0, #0\n bx r0"); }
void reset(void) { TICK; spend(1); for (;;) sink++; }
"""
_HAS_NO_VECTOR: Final = """
void own(void) { spend(1); }
void reset(void) { R(0xE000E100) = 1u << 27; R(0xE000E200) = 1u << 27; for (;;) sink++; }
"""
_LOCKS_UP: Final = """
void own(void) { spend(1); }
void reset(void) { R(0x30000000) = 1; for (;;) sink++; }
"""
_NEVER_FEEDS: Final = """
void own(void) { spend(1); }
void reset(void) {
    R(0x40003000) = 0x5555;
    R(0x40003004) = 0;
    R(0x40003008) = 100;
    R(0x40003000) = 0xCCCC;
    for (;;) sink++;
}
"""
_RESETS_ITSELF: Final = """
void own(void) { spend(1); }
void reset(void) { spend(5000); R(0xE000ED0C) = 0x05FA0004; for (;;) sink++; }
"""
_WRITES_TO_NULL: Final = """
void own(void) { spend(9); }
struct list { volatile uint32_t first, last, size; } *volatile list;
void reset(void) { TICK; list = 0; list->size = 1; for (;;) sink++; }
"""
_SLOW_TICK: Final = """
void own(void) { spend(5000); }
void reset(void) { TICK; for (;;) sink++; }
"""
_TIMER: Final = """
void own(void) { CLEAR_TIMER_2; END; }
void reset(void) { TIMER_2; spend(1); for (;;) sink++; }
"""
_MASKS_FOR_EVER: Final = """
void own(void) { spend(9); }
void reset(void) { TICK; spend(9); __asm volatile("cpsid i"); for (;;) sink++; }
"""
_SLEEPS: Final = """
void own(void) { spend(9); }
void reset(void) { TICK; for (;;) __asm volatile("wfi"); }
"""


def _build(folder: Path, program: str, *options: str) -> Path:
    source, script, elf = folder / "main.c", folder / "fw.ld", folder / "fw.elf"
    source.write_text(_HEAD + program)
    script.write_text(SCRIPT)
    subprocess.run(
        [
            "arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-g", "-ffreestanding", "-nostdlib", *options,
            "-Wl,--build-id=none", "-T", script, "-o", elf, source,
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return elf


def _diagnose(folder: Path, program: str, *options: str) -> Any:
    elf = _build(folder, program, *options)
    command = ["diagnose", str(elf), "--board", "nucleo-f446re", "--for", "50ms", "--json"]
    result = CliRunner().invoke(app, command, standalone_mode=False)
    return json.loads(result.stdout)["findings"]


@pytest.mark.parametrize(
    ("program", "end", "kind", "words"),
    [
        (_RECURSES, "", "fault", ("in dig at", "so the stack overflowed", "called from dig")),
        (_LOSES_STACK, "", "fault", ("in reset at", "the stack pointer was 0x30000000")),
        (_RETURNS_BADLY, "", "fault", ("in own at", "the return from an exception is not valid")),
        (
            _HAS_NO_VECTOR,
            "",
            "fault",
            ("interrupt 27 (exception 43) has no handler", "its vector is 0x00000000", "interrupted reset at"),
        ),
        (_NEVER_FEEDS, "", "reset", ("The independent watchdog (IWDG) reset the board", "times more")),
        (_RESETS_ITSELF, "", "reset", ("Software reset the board", "times more")),
        (_WRITES_TO_NULL, "", "ignored store", ("read-only memory at 0x00000008", "main.c:", "a null pointer")),
        (_SLOW_TICK, "", "storm", ("longer than its period",)),
        (_TIMER, "spend(300)", "storm", ("does not clear its request, or takes longer",)),
        (_TIMER, "for (;;) sink++", "storm", ("did not return",)),
    ],
    ids=[
        "recursion",
        "lost stack",
        "bad return",
        "no vector",
        "watchdog",
        "reset loop",
        "null",
        "tick",
        "handler",
        "hang",
    ],
)
def test_planted_fault_is_the_only_finding_and_its_cause_is_named(
    tmp_path: Path, program: str, end: str, kind: str, words: tuple[str, ...]
) -> None:
    (finding,) = _diagnose(tmp_path, program, f"-DEND={end}")
    assert finding["kind"] == kind
    text = " ".join([finding["title"], *finding["where"]])
    assert all(word in text for word in words), text


def test_lock_up_in_a_fault_handler_is_told(tmp_path: Path) -> None:
    (finding,) = _diagnose(tmp_path, _LOCKS_UP, "-DFAULTS_AGAIN")
    assert finding["kind"] == "fault"
    assert "locked up" in " ".join(finding["where"])


@pytest.mark.parametrize(("program", "end"), [(_TIMER, "spend(80)"), (_SLEEPS, "")], ids=["busy", "sleeps"])
def test_correct_program_has_no_finding(tmp_path: Path, program: str, end: str) -> None:
    assert not _diagnose(tmp_path, program, f"-DEND={end}")


def test_interrupts_masked_to_the_end_are_shown_with_their_own_clock(tmp_path: Path) -> None:
    """No interval ends in the first program. Beside a benchmark at 84 MHz, its time is by its own 16 MHz."""
    elf = _build(tmp_path, _MASKS_FOR_EVER)
    command = ["masked", str(elf), "t7", "--board", "nucleo-f446re", "--window", "10ms", "--json"]
    result = CliRunner().invoke(app, command, standalone_mode=False)
    (row,) = (row for row in json.loads(result.stdout) if row["in benchmark"] == "fw.elf")
    assert row["closed by"] == "(still masked at the end)"
    assert 839_000 < row["longest"] < 840_000
    assert float(row["longest (us)"]) == pytest.approx(row["longest"] / 16, abs=0.01)
    page = CliRunner().invoke(app, ["profile", str(elf), "--board", "nucleo-f446re"], standalone_mode=False)
    assert "were still masked at the end" in " ".join(page.output.split())


@pytest.mark.parametrize(
    ("program", "options", "words"),
    [
        (_LOCKS_UP, (), "ended in hard_fault, the endless loop of its handler"),
        (_LOCKS_UP, ("-DFAULTS_AGAIN",), "The board stopped: core 0 is locked up"),
    ],
    ids=["loop", "lock-up"],
)
@pytest.mark.filterwarnings("ignore::rtoslab.base.UnmodelledFeatureWarning")
@pytest.mark.parametrize("command", [["profile"], ["trace"], ["measure", "reset", "--image"]])
def test_run_that_ends_in_a_fault_has_exit_code_3(
    tmp_path: Path, program: str, options: tuple[str, ...], words: str, command: list[str]
) -> None:
    elf = _build(tmp_path, program, *options)
    result = CliRunner().invoke(app, [*command, str(elf), "--board", "nucleo-f446re"], standalone_mode=False)
    assert result.return_value == 3
    assert words in " ".join(result.output.split())


def test_profiles_of_different_boards_are_compared_with_a_word_on_that(tmp_path: Path) -> None:
    elf, pico = _build(tmp_path, _SLEEPS), small_program("pico")
    for name, image, board in (("a.json", elf, "nucleo-f446re"), ("b.json", pico, "pico")):
        command = ["profile", str(image), "--board", board, "--save", str(tmp_path / name), "--max-cycles", "9000"]
        assert CliRunner().invoke(app, command, standalone_mode=False).return_value == 0
    for other, is_different in (("a.json", False), ("b.json", True)):
        command = ["profile", "--diff", str(tmp_path / "a.json"), str(tmp_path / other)]
        shown = " ".join(CliRunner().invoke(app, command, standalone_mode=False).output.split())
        assert ("Also different: board nucleo-f446re and pico, clock 16 MHz and" in shown) == is_different


def test_pair_that_was_never_executed_has_exit_code_3(tmp_path: Path) -> None:
    elf = _build(tmp_path, _SLEEPS)
    for place, code in (("hard_fault", 3), ("own", 0)):
        command = ["sim", str(elf), "--board", "nucleo-f446re", "--between", "reset", place, "--for", "5ms"]
        assert CliRunner().invoke(app, command, standalone_mode=False).return_value == code
