"""What trees are made of beside C: assembler by any name, versions in one number, headers of another age."""

import re
from pathlib import Path

from rtoslab.base import find_checkout_root
from rtoslab.catalogue import Catalogue, SourceTree
from rtoslab.trees import draft_kernel_tree_description, recognise_kernel_port
from tests.trees.test_trees import counts, describe_tree, home, measure_t7
from tests.trees.tiny import HEADER, commit

__all__ = ["home"]

ASSEMBLER = """@ a file that is not called .S isn't preprocessed unless it is asked for
#ifndef tiny_mask
#error the macros of the description do not hold here
#endif
    .syntax unified
    .thumb
    .global tiny_mask
    .thumb_func
tiny_mask:
    mrs r0, PRIMASK
    cpsid i
    bx lr
"""


def draft_tree(home: Path, wants: str = "") -> SourceTree:
    if wants:
        facts = home / "ports" / "tiny" / "kernel.toml"
        facts.write_text(
            facts.read_text().replace('version = ["TINY_VERSION"]', f'version = ["TINY_VERSION"]\n{wants}')
        )
    return draft_kernel_tree_description(
        Catalogue(find_checkout_root()).kernels["tiny"].facts, "tiny", "tiny", home / "tree", None
    )


def test_assembler_is_preprocessed_and_recorded(home: Path) -> None:
    cpu = home / "tree" / "ports" / "v6m" / "cpu.c"
    text = cpu.read_text()
    cpu.write_text(text[: text.index("uint32_t tiny_mask(void)")] + text[text.index("void tiny_unmask") :])
    assembler = cpu.parent / "mask.s"
    assembler.write_text(ASSEMBLER)
    commit(home / "tree")
    path = describe_tree(home)
    path.write_text(path.read_text().replace("defines = []", 'defines = ["tiny_mask=tiny_masked"]', 1))
    first, build, _ = measure_t7(home, "one")
    assert build["tree"]["files_read"] == 4, "assembler, a source, a core's source and their header"
    assembler.write_text(ASSEMBLER.replace("    bx lr", "    nop\n    nop\n    bx lr"))
    second, other, cached = measure_t7(home, "two")
    assert not cached
    assert other["tree"]["sha256"] != build["tree"]["sha256"]
    assert counts(second) != counts(first)


def test_version_in_one_number_is_split(home: Path) -> None:
    header = home / "tree" / "include" / "tiny.h"
    header.write_text(header.read_text().replace('TINY_VERSION "1.5"', "TINY_VERSION 30802u"))
    assert draft_tree(home).version == "30802"
    assert draft_tree(home, "version_digits = [2, 2]").version == "3.08.02"


def test_last_version_string_counts(home: Path) -> None:
    header = home / "tree" / "include" / "tiny.h"
    header.write_text(header.read_text().replace('TINY_VERSION "1.5"', 'TINY_VERSION "Tiny kernel V1.5.2"'))
    assert draft_tree(home).version == "V1.5.2"


def test_version_is_that_of_the_headers_in_use(home: Path) -> None:
    older = home / "tree" / "attic" / "include" / "tiny.h"
    older.parent.mkdir(parents=True)
    older.write_text('#define TINY_VERSION "0.9"\n')
    assert draft_tree(home).version == "1.5"


def test_header_may_be_included_by_a_path(home: Path) -> None:
    """`#include "system/tiny.h"` needs the folder above, for every core or for one."""
    tree, facts = home / "tree", home / "ports" / "tiny" / "kernel.toml"
    facts.write_text(facts.read_text().replace('headers = ["tiny.h"]', 'headers = ["system/tiny.h", "lib/core.h"]'))
    for place in ("include/system/tiny.h", "ports/v6m/inc/lib/core.h", "ports/v7m/inc/lib/core.h", "elsewhere/core.h"):
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        (tree / place).write_text(HEADER)
    result = draft_tree(home)
    assert (result.headers, result.version) == (("include",), "1.5")
    assert {core: part.headers for core, part in result.cores.items()} == {
        "cortex-m0plus": ("ports/v6m/inc",),
        "cortex-m4f": ("ports/v7m/inc",),
    }
    assert recognise_kernel_port(Catalogue(find_checkout_root()), tree).facts.title == "Tiny"


def test_name_of_a_function_may_begin_its_line(home: Path) -> None:
    before = draft_tree(home).sources
    for path in (home / "tree").rglob("*.c"):
        path.write_text(re.sub(r"^(\w+) ((?:tiny|bare)_\w+\()", r"\1\n\2", path.read_text(), flags=re.MULTILINE))
    assert draft_tree(home).sources == before
