"""The map that divides a board between two kernels: the one in the checkout, and maps that must be refused."""

import re
import shutil
from pathlib import Path

import pytest

from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.catalogue.core_maps import DIVISIONS, MAP_FILE, DualKernelMemoryMap
from rtoslab.targets.core_view import sram_alias_to_striped_address

ROOT = find_checkout_root()
CATALOGUE = Catalogue(ROOT)


def changed_map(folder: Path, key: str, value: str, section: str) -> DualKernelMemoryMap | None:
    """Reads the Pico's map with one value changed, from a checkout that has nothing else."""
    firmware = folder / "firmware"
    for part in ("amp/pico", "boards/pico"):
        shutil.copytree(ROOT / "firmware" / part, firmware / part)
    path = firmware / "amp" / "pico" / MAP_FILE
    head, mark, rest = path.read_text().partition(f"[{section}]\n")
    path.write_text(head + mark + re.sub(rf"^{key} = \S+$", f"{key} = {value}", rest, count=1, flags=re.MULTILINE))
    catalogue = Catalogue(folder)
    catalogue.__dict__["boards"] = {"pico": CATALOGUE.find_board("pico")}
    return catalogue.find_dual_kernel_memory_map(catalogue.find_board("pico"))


def test_every_map_belongs_to_a_board_with_two_cores() -> None:
    maps = sorted(path.parent.name for path in CATALOGUE.two_kernel_memory_map_folder.glob(f"*/{MAP_FILE}"))
    assert maps
    for name in maps:
        board = CATALOGUE.find_board(name)
        assert board.facts.cores == 2
        assert CATALOGUE.find_dual_kernel_memory_map(board) is not None


def test_a_board_without_a_map_has_none() -> None:
    assert CATALOGUE.find_dual_kernel_memory_map(CATALOGUE.find_board("nucleo-f446re")) is None


@pytest.mark.parametrize("division", DIVISIONS)
def test_every_byte_of_the_sram_has_one_owner(division: str) -> None:
    core_map = CATALOGUE.find_dual_kernel_memory_map(CATALOGUE.find_board("pico"))
    assert core_map is not None
    owners: dict[int, str] = {}
    for part, start, size in core_map.memory_map_regions(division):
        if part.endswith("flash"):
            continue
        for address in range(start, start + size, 64):
            word = sram_alias_to_striped_address(address)
            assert owners.setdefault(word, part) == part, f"{address:#x} is of {owners[word]} and of {part}"
    memory = CATALOGUE.find_board("pico").facts.memory
    assert len(owners) == memory.sram_bytes // 64


def test_an_alias_shows_each_word_of_its_bank() -> None:
    assert sram_alias_to_striped_address(0x2100_0000) == 0x2000_0000
    assert sram_alias_to_striped_address(0x2100_0006) == 0x2000_0012
    assert sram_alias_to_striped_address(0x2103_FFFC) == 0x2003_FFFC
    assert sram_alias_to_striped_address(0x2000_0004) == 0x2000_0004
    assert sram_alias_to_striped_address(0x2004_1000) == 0x2004_1000


@pytest.mark.parametrize(
    ("section", "key", "value", "words"),
    [
        ("core1", "flash_start", "0x10080000", "core0.flash and core1.flash overlap at 0x10080000"),
        ("core1", "stack_start", "0x20041000", "core0.stack and core1.stack overlap"),
        ("striped", "core0_bytes", "0x20004", r"striped.core0 and striped.core1 overlap at 0x20020000 in \[striped\]"),
        ("banks", "core1_bytes", "0x20000", "banks.core1 and banks.shared overlap at 0x2103f000"),
        ("core1", "flash_bytes", "0x200000", "core1.flash from 0x10100000 on, 0x200000 bytes, is outside the memories"),
        ("core1", "fifo_irq", "15", "both cores have the interrupt line 15"),
        ("core1", "fifo_irq", "26", "core1.fifo_irq = 26 is no free interrupt line"),
        ("spinlocks", "message", "30", "the spinlock 30 has two uses"),
        ("peripherals", "clocks", "2", "peripherals.clocks"),
    ],
)
def test_a_map_with_a_mistake_is_refused(tmp_path: Path, section: str, key: str, value: str, words: str) -> None:
    with pytest.raises(CatalogueError, match=words):
        changed_map(tmp_path, key, value, section)
