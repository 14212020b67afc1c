"""A handler that ends with a tail call returns from that function as it ends."""

import subprocess
from pathlib import Path
from typing import Final, cast

import numpy as np
import pytest

from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.targets import (
    EVENT,
    KIND_CALL,
    KIND_EXCEPTION_EXIT,
    KIND_RETURN,
    events_in_time_order,
    find_symbol_address,
    load_image_into_board,
    make_board_at_reset,
)
from tests.instruments.images import CATALOGUE

SOURCE: Final = """
#include <stdint.h>
void reset(void), tick(void);
__attribute__((section(".vectors"), used)) void *const vectors[16] = {(void *)0x20001000, reset, [15] = tick};
volatile int count;
__attribute__((noipa)) int work(int step) { count += step; return count; }
void tick(void) { work(5); }
void reset(void) {
    *(volatile uint32_t *)0xE000E014 = 999;
    *(volatile uint32_t *)0xE000E018 = 0;
    *(volatile uint32_t *)0xE000E010 = 7;
    for (;;) {}
}
"""
SCRIPT: Final = """
ENTRY(reset)
SECTIONS { . = 0x08000000; .text : { KEEP(*(.vectors)) *(.text*) } .bss 0x20000000 : { *(.bss*) } }
"""
IDENT: Final = 3


@pytest.mark.parametrize(("board", "cpu"), [("nucleo-f446re", "cortex-m4"), ("nucleo-l073rz", "cortex-m0plus")])
def test_a_tail_call_of_a_handler_returns_with_its_result(board: str, cpu: str, tmp_path: Path) -> None:
    (tmp_path / "fw.c").write_text(SOURCE)
    (tmp_path / "fw.ld").write_text(SCRIPT)
    flags = [f"-mcpu={cpu}", "-mthumb", "-O2", "-g", "-ffreestanding", "-nostdlib", "-T", "fw.ld", "-o", "fw.elf"]
    subprocess.run(["arm-none-eabi-gcc", *flags, "fw.c"], cwd=tmp_path, check=True)
    machine = cast("ObservedMachine", make_board_at_reset(CATALOGUE.find_board(board).facts, cores=1))
    load_image_into_board(machine, (tmp_path / "fw.elf").read_bytes(), "fw.elf")
    machine.trace_exceptions(True)
    machine.observe(True, calls=[(find_symbol_address(machine, "work"), IDENT)])
    machine.run(4500)
    events = np.frombuffer(events_in_time_order(machine.take_events()), dtype=EVENT)
    kinds = (KIND_CALL, KIND_RETURN, KIND_EXCEPTION_EXIT)
    seen = [(int(event["kind"]), int(event["value"])) for event in events if event["kind"] in kinds]
    ends = [
        entry
        for number in range(1, 5)
        for entry in ((KIND_CALL, 5), (KIND_RETURN, 5 * number), (KIND_EXCEPTION_EXIT, 0))
    ]
    assert seen == ends
