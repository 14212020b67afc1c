"""Reads the board's state as the window opens from its registers, to compare it with the manifest.

It reveals an image that turns a cache off, uses one wait state less or makes an interrupt more urgent, although its
manifest says otherwise.

Registers: ARMv7-M Architecture Reference Manual B3.2 (ACTLR, CCR, CPACR, FPCCR, SHPR), B3.4 (NVIC), B3.5 (MPU).
RM0008 3.3.3, RM0390 3.8.1, RM0410 3.7.1, RM0433 4.9.1 and RM0367 3.7.1 (FLASH_ACR), and the chapters on DMA of these
manuals. RP2040 datasheet 2.5.7 (DMA), 2.6.3 (XIP), 4.10.13 (SSI)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeVar

from rtoslab.catalogue import Board
from rtoslab.targets.machine import VirtualBoardMachine

ISR_URGENCY: Final = "isr_urgency"
"""The urgency that the port says of interrupts that call the kernel."""
FLOAT_CONTEXTS: Final = "float_contexts"
"""1: an exception of the window made room for floating-point state, because the interrupted code had used the unit."""
VECTORS: Final = "core.vectors"
"""The address of the vector table (VTOR) if it is not the image's own table."""
OFF_AFTER_RESET: Final = (
    "core.auxiliary",
    "flash.half_cycle",
    "flash.cache_reset",
    "flash.buffers_off",
    "dma",
    VECTORS,
)
"""Settings that no start-up code changes: ACTLR, which switches parts of the core off, bits of FLASH_ACR, channels of
DMA that are enabled, and another vector table. They are recorded only if they are not 0."""
Entry = TypeVar("Entry")

_OWN_VECTORS: Final = "cpu_vectors"
"""The symbol of the vector table of an image whose start-up is not the kernel's."""
_KERNEL_VECTORS: Final = "kernel_vectors"
"""The symbol of the table that a port adds if its kernel calls all handlers."""
_VECTOR_TABLE_REGISTER: Final = 0xE000_ED08
_SYSTICK_RELOAD: Final = 0xE000_E014
_SYSTICK_ON_CORE_CLOCK: Final = 0b101
_ENABLED: Final = 0xE000_E100
_PRIORITIES: Final = 0xE000_E400
_LINES_IN_WORD: Final = 32
_TOP_BIT: Final = 8
"""A priority is in the upper bits of its byte."""


@dataclass(frozen=True, slots=True)
class _RegisterBitField:
    """A field of bits in a memory-mapped register."""

    address: int
    bit: int
    bits: int = 1

    def value_in_register_word(self, word: int) -> int:
        """Returns the field's value in a word that was read from the register."""
        return word >> self.bit & ((1 << self.bits) - 1)


_URGENCY: Final = "urgency."
_CORE: Final = {
    "urgency.svcall": _RegisterBitField(0xE000_ED1C, 24, 8),
    "urgency.pendsv": _RegisterBitField(0xE000_ED20, 16, 8),
    "urgency.systick": _RegisterBitField(0xE000_ED20, 24, 8),
    "mpu": _RegisterBitField(0xE000_ED94, 0),
}
_LAZY: Final = "fpu.lazy"
_ARMV7M: Final = {
    "core.auxiliary": _RegisterBitField(0xE000_E008, 0, 32),
    "fpu": _RegisterBitField(0xE000_ED88, 20, 4),
    _LAZY: _RegisterBitField(0xE000_EF34, 30, 2),
}
_M7: Final = {
    "feature.icache": _RegisterBitField(0xE000_ED14, 17),
    "feature.dcache": _RegisterBitField(0xE000_ED14, 16),
}
_F4_ACR: Final = 0x4002_3C00
_CHIPS: Final[Mapping[str, Mapping[str, _RegisterBitField]]] = {
    "rp2040": {"xip.cache": _RegisterBitField(0x1400_0000, 0), "xip.divider": _RegisterBitField(0x1800_0014, 0, 16)},
    "stm32f1": {
        "wait_states": _RegisterBitField(0x4002_2000, 0, 3),
        "feature.prefetch": _RegisterBitField(0x4002_2000, 4),
        "flash.half_cycle": _RegisterBitField(0x4002_2000, 3),
    },
    "stm32f4": {
        "wait_states": _RegisterBitField(_F4_ACR, 0, 4),
        "feature.prefetch": _RegisterBitField(_F4_ACR, 8),
        "feature.icache": _RegisterBitField(_F4_ACR, 9),
        "feature.dcache": _RegisterBitField(_F4_ACR, 10),
        "flash.cache_reset": _RegisterBitField(_F4_ACR, 11, 2),
    },
    "stm32f7": {
        "wait_states": _RegisterBitField(_F4_ACR, 0, 4),
        "feature.prefetch": _RegisterBitField(_F4_ACR, 8),
        "feature.art": _RegisterBitField(_F4_ACR, 9),
        "flash.cache_reset": _RegisterBitField(_F4_ACR, 11),
    },
    "stm32h7": {"wait_states": _RegisterBitField(0x5200_2000, 0, 4)},
    "stm32l0": {
        "wait_states": _RegisterBitField(0x4002_2000, 0),
        "feature.prefetch": _RegisterBitField(0x4002_2000, 1),
        "feature.pre_read": _RegisterBitField(0x4002_2000, 6),
        "flash.buffers_off": _RegisterBitField(0x4002_2000, 5),
    },
}
"""Keyed by the first letters of a chip's name."""
_CLOCKS: Final[Mapping[str, tuple[int, ...]]] = {
    "rp2040": (0x4000_803C, 0x4000_8040),
    "stm32f1": (0x4002_1004,),
    "stm32f4": (0x4002_3808,),
    "stm32f7": (0x4002_3808,),
    "stm32h7": (0x5802_4410, 0x5802_4418),
    "stm32l0": (0x4002_100C,),
}
"""The registers that choose and divide the core's clock, keyed likewise."""
_F4_DMA: Final = tuple(base + 0x10 + 0x18 * stream for base in (0x4002_6000, 0x4002_6400) for stream in range(8))
_DMA_CHANNELS: Final[Mapping[str, tuple[int, ...]]] = {
    "rp2040": tuple(0x5000_0010 + 0x40 * channel for channel in range(12)),
    "stm32f1": tuple(0x4002_0008 + 0x14 * channel for channel in range(7)),
    "stm32f4": _F4_DMA,
    "stm32f7": _F4_DMA,
    "stm32h7": tuple(base + 0x10 + 0x18 * stream for base in (0x4002_0000, 0x4002_0400) for stream in range(8)),
    "stm32l0": tuple(0x4002_0008 + 0x14 * channel for channel in range(7)),
}
"""The registers whose lowest bit enables a channel or stream of DMA, keyed likewise."""
_ALIASES: Final[Mapping[str, tuple[int, ...]]] = {"rp2040": (0, 0x1000, 0x2000, 0x3000)}
"""Distances of the addresses at which a register is also written (RP2040 datasheet 2.1.2: XOR, set, clear)."""


def timing_setting_registers(board: Board) -> dict[int, str]:
    """Returns the names of the registers that affect the speed of code, by address: caches, wait states, clocks, MPU
    and FPU. Interrupt priorities are not among them, because a benchmark may enable its line late."""
    core = [
        (field.address, name)
        for name, field in _register_fields_of_core_settings(board).items()
        if not name.startswith(_URGENCY)
    ]
    chip = [(field.address, name) for name, field in _table_value_by_chip_name_prefix(_CHIPS, board).items()]
    chip += [(address, "clock") for address in _table_value_by_chip_name_prefix(_CLOCKS, board)]
    aliases = _table_value_by_chip_name_prefix({**_ALIASES, "": (0,)}, board)
    settings: dict[int, str] = {}
    for address, name in (*core, *((address + alias, name) for address, name in chip for alias in aliases)):
        settings.setdefault(address, name)  # of several in one register the first
    return settings


def is_timing_setting_unchanged_by_write(name: str, word: int, state: Mapping[str, int]) -> bool:
    """Whether writing `word` to the register of a setting leaves the setting as it is in `state`.

    False if the register contains nothing else: such a write is never part of a kernel's normal work. FPCCR also has
    LSPACT, by which a kernel discards the frame of an exception.
    """
    return name == _LAZY and name in state and _ARMV7M[name].value_in_register_word(word) == state[name]


def read_board_settings(machine: VirtualBoardMachine, board: Board, cores: int) -> dict[str, int]:
    """Returns the board's settings (clocks, caches, wait states, interrupt priorities and others) by name, as its
    registers have them. Names of other cores than 0 begin with the core (`core1.mpu`)."""
    state = {"clock_hz": machine.clock_hz()}
    for core in range(cores):
        before = f"core{core}." if core else ""
        state |= {f"{before}{name}": value for name, value in _read_core_settings(machine, board, core).items()}
    return dict(sorted(state.items()))


def read_startup_board_settings(machine: VirtualBoardMachine, board: Board, cores: int) -> dict[str, int]:
    """Returns those of the board's settings that firmware sets once, as it starts: not which interrupts and channels of
    DMA are on at the moment."""
    state = read_board_settings(machine, board, cores)
    return {name: value for name, value in state.items() if _URGENCY not in name and name != "dma"}


def _read_core_settings(machine: VirtualBoardMachine, board: Board, core: int) -> dict[str, int]:
    """Returns the settings of one core by name, as its registers have them. Core 0 also has those of the chip."""
    fields = _register_fields_of_core_settings(board)
    if not core:
        fields.update(_table_value_by_chip_name_prefix(_CHIPS, board))
    settings = [field.address for field in fields.values()]
    channels = () if core else _table_value_by_chip_name_prefix(_DMA_CHANNELS, board)
    # One call reads all of them, because each call copies the board.
    answers = iter(
        machine.read_registers(
            core, [_VECTOR_TABLE_REGISTER, *settings, *channels, *interrupt_controller_registers(board.irq.lines)]
        )
    )
    vectors = next(answers)
    words = zip(fields.items(), islice(answers, len(settings)), strict=True)
    state = {name: field.value_in_register_word(word) for (name, field), word in words if word is not None}
    state[VECTORS] = _find_moved_vector_table(machine, vectors)
    state["dma"] = sum(word is not None and word & 1 for word in islice(answers, len(channels)))
    state = {name: value for name, value in state.items() if value or name not in OFF_AFTER_RESET}
    shift = _TOP_BIT - board.irq.priority_bits
    for line, priority in priorities_of_enabled_interrupts(list(answers), board.irq.lines).items():
        state[f"urgency.irq{line}"] = priority >> shift
    return state


def read_systick_period_in_cycles(machine: VirtualBoardMachine) -> int | None:
    """Returns the cycles from one tick of core 0's SysTick to the next. None if SysTick is off, or counts another
    clock."""
    control, reload = machine.read_registers(0, [_SYSTICK_RELOAD - 4, _SYSTICK_RELOAD])
    if control is None or reload is None or control & _SYSTICK_ON_CORE_CLOCK != _SYSTICK_ON_CORE_CLOCK:
        return None
    return reload + 1


def _find_moved_vector_table(machine: VirtualBoardMachine, register: int | None) -> int:
    """Returns the address of the vector table in use. 0 if it is the image's own one, or the one after reset."""
    own = machine.symbol(_OWN_VECTORS)
    tables = {None, 0, own, machine.symbol(_KERNEL_VECTORS)}
    return 0 if own is None or register in tables else register or 0


def _register_fields_of_core_settings(board: Board) -> dict[str, _RegisterBitField]:
    """Returns the register fields with the settings of each core, by the setting's name."""
    v7m = _ARMV7M if board.cpu == "armv7m" else {}
    return {**_CORE, **v7m, **(_M7 if board.core == "cortex-m7" else {})}


def _table_value_by_chip_name_prefix(table: Mapping[str, Entry], board: Board) -> Entry:
    """Returns the table's first value whose key is the beginning of the board's chip name."""
    return next(entry for name, entry in table.items() if board.chip.startswith(name))


def interrupt_controller_registers(lines: int) -> list[int]:
    """Returns the addresses of the registers of the interrupt controller (NVIC) that `priorities_of_enabled_interrupts`
    needs, for a number of lines."""
    enabled = (_ENABLED + 4 * word for word in range(-(-lines // _LINES_IN_WORD)))
    return [*enabled, *(_PRIORITIES + line for line in range(0, lines, 4))]


def priorities_of_enabled_interrupts(words: Sequence[int | None], lines: int) -> dict[int, int]:
    """Returns the priority byte of each enabled interrupt line, by line. `words` are the contents of
    `interrupt_controller_registers`, in the same order."""
    known = [word or 0 for word in words]
    first = -(-lines // _LINES_IN_WORD)
    return {
        line: known[first + line // 4] >> 8 * (line % 4) & 0xFF
        for line in range(lines)
        if known[line // _LINES_IN_WORD] >> line % _LINES_IN_WORD & 1
    }
