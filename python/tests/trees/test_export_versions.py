"""Exports of earlier versions of a kernel that builds itself: told by their headers, configured as they can be."""

from pathlib import Path

import pytest

from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.trees import read_user_kernel_trees
from rtoslab.trees.kernel_exports import make_defconfig
from rtoslab.trees.versions import api_names_added_after_version
from tests.trees.exports import CONFIG, make_export, make_export_port
from tests.trees.test_exports import command_output, command_refusal
from tests.trees.test_trees import measure_t7

EARLIER = """
[[earlier]]
name = "tiny_new_word"
since = "1.10"
lacks = ["pool"]
behaviour = { heap_lock = "spinning" }

[[earlier]]
name = "TINY_PAUSE"
since = "1.2"
"""
OLD_CONFIG = CONFIG.replace("CONFIG_TICK=1000", "CONFIG_TICK=500").replace("RAM=1", "RAM=2").replace("small", "little")


@pytest.fixture
def home(user: Path) -> Path:
    """A user with a port that knows two names of later versions, of which the export has one, and that asks for another
    tick and board, and for more RAM where it counts, where the other is not there yet."""
    port = make_export_port(user / "ports")
    with (port / "kernel.toml").open("a") as facts:
        facts.write(EARLIER)
    (port / "config" / "earlier").mkdir()
    (port / "config" / "earlier" / "tiny_new_word.defconfig").write_text("CONFIG_TICK=500\n")
    (port / "config" / "earlier" / "tiny_new_word.counting.defconfig").write_text("CONFIG_RAM=2\n")
    (port / "config" / "earlier" / "tiny_new_word.pico.defconfig").write_text('CONFIG_ARCH_BOARD="little"\n')
    make_export(user / "export", OLD_CONFIG)
    return user


def test_missing_services_of_an_export_are_read_from_its_headers(home: Path) -> None:
    command_output("kernel", "tree", "add", "tiny", str(home / "export"))
    assert read_user_kernel_trees()["tiny"].absent == ("tiny_new_word",)
    facts = Catalogue(find_checkout_root()).kernels["tiny"].facts
    assert not facts.services["pool"]
    assert "tiny_new_word, which exists since" in facts.reasons["pool"]
    assert facts.behaviour.heap_lock == "spinning"
    _, build, _ = measure_t7(home, "one")
    assert build["kernel"] == "tiny"


def test_later_export_is_checked_against_the_port(home: Path) -> None:
    header = home / "export" / "include" / "tiny.h"
    header.write_text(header.read_text() + "\n#define tiny_new_word\n")
    assert "is for the board '\"little\"'" in command_refusal("kernel", "tree", "add", "tiny", str(home / "export"))
    (home / "export" / ".config").write_text(OLD_CONFIG.replace("little", "small"))
    assert "CONFIG_TICK is '500', should be '1000'" in command_refusal(
        "kernel", "tree", "add", "tiny", str(home / "export")
    )
    (home / "export" / ".config").write_text(CONFIG)
    command_output("kernel", "tree", "add", "tiny", str(home / "export"))
    assert read_user_kernel_trees()["tiny"].absent == ()


def test_export_that_became_another_version_is_not_linked(home: Path) -> None:
    command_output("kernel", "tree", "add", "tiny", str(home / "export"))
    header = home / "export" / "include" / "tiny.h"
    header.write_text(header.read_text() + "\n#define tiny_new_word\n")
    (home / "export" / ".config").write_text(CONFIG)
    assert "has changed since it was added" in command_output(
        "run", "t7", "--kernel", "tiny", "--board", "pico", "--dry-run"
    )


def test_earlier_version_is_given_its_own_configuration(home: Path) -> None:
    command_output("kernel", "files", "tiny", "--board", "pico", "--version", "1.9", "-o", str(home / "old"))
    assert "CONFIG_TICK=500" in (home / "old" / "defconfig").read_text()
    assert "CONFIG_RAM=1" in (home / "old" / "defconfig").read_text(), "it does not count"
    assert (home / "old" / "README.md").read_text().startswith("For pico: little, `rtoslab kernel tree add tiny-1.9")
    command_output("kernel", "files", "tiny", "--board", "pico", "--version", "1.10.1", "-o", str(home / "new"))
    assert "CONFIG_TICK=1000" in (home / "new" / "defconfig").read_text()


def test_versions_are_compared_by_number(home: Path) -> None:
    facts = Catalogue(find_checkout_root()).read_kernel_port(home / "ports" / "tiny").facts
    assert api_names_added_after_version(facts, "1.9") == ("tiny_new_word",)
    assert api_names_added_after_version(facts, "V1.1.4") == ("tiny_new_word", "TINY_PAUSE")
    assert api_names_added_after_version(facts, "1.10") == ()
    assert api_names_added_after_version(facts, "2") == ()
    assert api_names_added_after_version(facts, "1.10.0-RC1") == ()
    with pytest.raises(CatalogueError, match="'banana' is not a version of Tiny"):
        api_names_added_after_version(facts, "banana")


def nuttx(board: str, version: str = "99") -> set[str]:
    """What the configuration of NuttX says for a board."""
    entry = Catalogue(find_checkout_root()).find_kernel("nuttx")
    return set(
        make_defconfig(entry, board, (), absent=api_names_added_after_version(entry.facts, version)).splitlines()
    )


@pytest.mark.parametrize(("board", "chip", "older"), [
    ("nucleo-l073rz", "stm32l0", "stm32f0l0g0"),
    ("nucleo-f103rb", "stm32f1", "stm32"),
    ("stm32f411ce", "stm32f4", "stm32"),
    ("nucleo-h743zi", "stm32h7", "stm32h7"),
])  # fmt: skip
def test_nuttx_10_1_gets_chip_and_entry_by_its_own_options(board: str, chip: str, older: str) -> None:
    now, then = nuttx(board), nuttx(board, "10.1")
    assert {f'CONFIG_ARCH_CHIP="{chip}"', 'CONFIG_INIT_ENTRYPOINT="rtoslab_entry"'} <= now
    assert {f'CONFIG_ARCH_CHIP="{older}"', 'CONFIG_USER_ENTRYPOINT="rtoslab_entry"', "CONFIG_INIT_ENTRYPOINT=y"} <= then
    assert not [line for line in then if line.startswith(("CONFIG_INIT_PRIORITY", "CONFIG_STM32_PWR"))], "unknown then"
    assert 'CONFIG_INIT_ENTRYPOINT="rtoslab_entry"' in nuttx(board, "10.3"), "the entry is told so from 10.3 on"


def test_task_of_an_earlier_nuttx_is_read_by_other_members() -> None:
    port = Catalogue(find_checkout_root()).find_kernel("nuttx").facts
    for version, member in (("11.0", "stack_base_ptr"), ("10.1", "stack_alloc_ptr")):
        memory = port.kernel_facts_of_earlier_version(api_names_added_after_version(port, version)).memory
        assert memory is not None
        assert memory.task_block is not None
        assert (memory.task_block.stack, memory.task_block.type) == (member, "tcb_s")
