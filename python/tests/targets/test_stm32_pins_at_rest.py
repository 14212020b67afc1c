"""Pins of the virtual STM32 boards while nobody drives them."""

from pathlib import Path

import pytest

from rtoslab import board as make_board
from rtoslab.targets.board import simulator_module
from tests.bus_firmware import compile_firmware
from tests.cli.test_cli import rtoslab

MAIN = """
#include <stdint.h>
#define REG(address) (*(volatile uint32_t *)(address))
extern uint32_t _stack;
void reset(void);
__attribute__((section(".vectors"), used)) void *const vectors[2] = {&_stack, reset};
volatile uint32_t level, reads;
__attribute__((noinline, used)) void pressed(void) { level = 2; }
void reset(void) {
    REG(RCC_GPIO) |= 1u << GPIO_BIT;
#ifdef CRH
    REG(CRH) = (REG(CRH) & ~(15u << 20)) | 8u << 20; /* pulled down */
#else
    REG(GPIOC) &= ~(3u << 26);
    REG(GPIOC + 0xc) = PULL << 26;
#endif
    level = REG(IDR) >> 13 & 1;
    for (;;) {
        reads++;
        if ((REG(IDR) >> 13 & 1) != AT_REST) pressed();
    }
}
"""
BOARDS = {
    "nucleo-f103rb": ("cortex-m3", {
        "CRH": "0x40011004u", "IDR": "0x40011008u", "RCC_GPIO": "0x40021018u", "GPIO_BIT": "4", "AT_REST": "1",
    }),
    "nucleo-f446re": ("cortex-m4", {
        "GPIOC": "0x40020800u", "IDR": "0x40020810u", "RCC_GPIO": "0x40023830u", "GPIO_BIT": "2", "PULL": "2u",
        "AT_REST": "1",
    }),
    "nucleo-l053r8": ("cortex-m0plus", {
        "GPIOC": "0x50000800u", "IDR": "0x50000810u", "RCC_GPIO": "0x4002102cu", "GPIO_BIT": "2", "PULL": "2u",
        "AT_REST": "1",
    }),
    "nucleo-l073rz": ("cortex-m0plus", {
        "GPIOC": "0x50000800u", "IDR": "0x50000810u", "RCC_GPIO": "0x4002102cu", "GPIO_BIT": "2", "PULL": "2u",
        "AT_REST": "1",
    }),
    "nucleo-f767zi": ("cortex-m7", {
        "GPIOC": "0x40020800u", "IDR": "0x40020810u", "RCC_GPIO": "0x40023830u", "GPIO_BIT": "2", "PULL": "1u",
        "AT_REST": "0",
    }),
    "nucleo-h743zi": ("cortex-m7", {
        "GPIOC": "0x58020800u", "IDR": "0x58020810u", "RCC_GPIO": "0x580244e0u", "GPIO_BIT": "2", "PULL": "1u",
        "AT_REST": "0",
    }),
}  # fmt: skip
"""The button B1 at PC13, with the chip's pull resistor against that of the board."""


@pytest.mark.parametrize("name", BOARDS)
def test_a_button_that_nobody_presses(name: str, tmp_path: Path) -> None:
    cpu, definitions = BOARDS[name]
    at_rest = int(definitions["AT_REST"])
    board = make_board(name, compile_firmware(MAIN, cpu, definitions, tmp_path / "rest.elf"))
    board.run(5_000)
    assert (board.word("level"), board.word("reads") > 10) == (at_rest, True)
    board.drive("PC13", 1 - at_rest)
    board.run(1_000)
    assert board.word("level") == 2
    assert board.warnings() == []


def test_a_button_is_pressed_from_the_command(tmp_path: Path) -> None:
    cpu, definitions = BOARDS["nucleo-f446re"]
    image = compile_firmware(MAIN, cpu, definitions, tmp_path / "rest.elf")
    ends = ("--board", "nucleo-f446re", "--until", "pressed", "--max-cycles", "400000")
    for drive, code in [((), 3), (("--drive", "PC13=1@10ms"), 3), (("--drive", "PC13=0@10ms"), 0)]:
        assert rtoslab("sim", image, *ends, *drive).returncode == code, drive
    assert "board.toml" in rtoslab("sim", "--help").stdout


def test_levels_at_rest_that_cannot_be() -> None:
    machine = simulator_module().Machine
    with pytest.raises(simulator_module().SimError, match="no port K"):
        machine("stm32f446", rest=[("PK1", True)])
    with pytest.raises(simulator_module().SimError, match="no pin PA16"):
        machine("stm32f446", rest=[("PA16", True)])
