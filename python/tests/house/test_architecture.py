"""The facts of arch.toml: one file for the firmware, its build and the host, and nobody has them a second time."""

import re
from pathlib import Path

import pytest

from rtoslab.base import (
    CatalogueError,
    cross_compiler_tool_name,
    find_checkout_root,
    load_architecture_facts,
    tools,
    without_thumb_bit,
)
from rtoslab.base.architecture_facts import read_architecture
from rtoslab.catalogue import Catalogue
from rtoslab.targets import FIRST_EXTERNAL, PENDSV, SVCALL, SYSTICK

FILE = Path("firmware") / "cpus" / "cortexm" / "arch.toml"


def test_architecture_facts_equal_the_manuals() -> None:
    """ARMv6-M and ARMv7-M Architecture Reference Manuals, B1.5.2: exception numbers; B1.5.8: EXC_RETURN."""
    facts = load_architecture_facts()
    assert (facts.exception.nmi, facts.exception.hardfault) == (2, 3)
    assert (SVCALL, PENDSV, SYSTICK, FIRST_EXTERNAL) == (11, 14, 15, 16)
    assert facts.code.exception_return_from == 0xF0000000
    assert [without_thumb_bit(address) for address in (0x200, 0x201, 0x0800_0001)] == [0x200, 0x200, 0x0800_0000]
    assert cross_compiler_tool_name("gcc") in [tool.name for tool in tools.programs_needed_to_build()]


def test_priorities_are_the_uppermost_bits() -> None:
    facts = load_architecture_facts()
    assert facts.interrupt_priorities(2) == (0, 64, 128, 192)
    assert facts.interrupt_priorities(4) == tuple(range(0, 256, 16))
    for board in Catalogue(find_checkout_root()).boards.values():
        assert len(facts.interrupt_priorities(board.facts.irq.priority_bits)) == 1 << board.facts.irq.priority_bits


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("systick = 15\n", ""),
        ("systick = 15", "systick = 15\nbusfault = 5"),
        ("[priority]", "[prior]"),
        ("= 1\n", "= \n"),
        ("systick = 15", 'systick = "15"'),
        ("systick = 15", f"systick = {'[' * 5000}15{']' * 5000}"),
    ],
)
def test_damaged_file_is_named(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / FILE
    path.parent.mkdir(parents=True)
    text = (find_checkout_root() / FILE).read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(CatalogueError, match=r"arch\.toml is not a valid description"):
        read_architecture(tmp_path)
    path.unlink()
    with pytest.raises(CatalogueError, match=r"arch\.toml is not a valid description"):
        read_architecture(tmp_path)


AGAIN = {
    "the Thumb bit": re.compile(r"\b(pc|address|place|each|number)\)? & ~1\b|& 0xFFFF_?FFFE\b", re.IGNORECASE),
    "an exception's number": re.compile(
        r"\b(NMI|HARDFAULT|SVCALL|PENDSV|SYSTICK|EXCEPTION_\w+)\b(: Final)? ?=? (1[1-6]|[23])u?\b"
    ),
    "the first line": re.compile(r"(?<!\* )\b16 \+ |exception\w* - 16u?\b", re.IGNORECASE),
    "the tool chain's prefix": re.compile(r"\"arm-none-eabi-(?!\w+`)"),
    "the width of a priority": re.compile(r"\b8u? - \w*PRIORITY_BITS\b", re.IGNORECASE),
}


@pytest.mark.parametrize("fact", AGAIN)
def test_no_fact_is_duplicated(fact: str) -> None:
    root = find_checkout_root()
    firmware = ("*.c", "*.h", "*.S", "*.cmake", "CMakeLists.txt")
    files = [item for form in firmware for item in (root / "firmware").rglob(form)]
    files += (root / "python" / "rtoslab").rglob("*.py")
    assert len(files) > 300
    results = [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if AGAIN[fact].search(line)
    ]
    assert results == []
