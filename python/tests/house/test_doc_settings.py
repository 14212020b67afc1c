"""What pages name as a setting exists: settings of virtual boards on the chips they name, and none is left out.

Likewise features of boards, parameters of benchmarks, macros of kernels' configurations.
"""

import re
from pathlib import Path

import pytest

from rtoslab._sim import Machine, SettingError
from rtoslab.catalogue.catalogue import Catalogue
from tests.doc_pages import PAGES, ROOT

CHIPS = {
    "L0": ("stm32l053", "stm32l073"),
    "F1": ("stm32f103",),
    "F4": ("stm32f407", "stm32f411", "stm32f446"),
    "F7": ("stm32f767",),
    "H7": ("stm32h743",),
}
KEY = re.compile(r"\b((?:timing|flash)\.(?!ld\b|rs\b|toml\b)[a-z0-9_]+)")
"""A key in the text of a page; flash.ld, flash.rs and flash.toml are files."""
ROW = re.compile(r"^\| (`[^|]*`) \| ([^|]*) \| [^|]* \|$", re.MULTILINE)


def keys(chip: str) -> set[str]:
    """All settings of a chip."""
    return {key for key, *_ in Machine(chip).settings()}


def documented_settings(page: str) -> dict[str, set[str]]:
    """By family, the settings that the table of a page says it has."""
    result: dict[str, set[str]] = {family: set() for family in CHIPS}
    for names, families in ROW.findall(page):
        for family in CHIPS if families == "all" else families.split(", "):
            result[family] |= set(re.findall(r"`([^`]*)`", names)) - {"timing.KEY"}
    return result


EVERY = keys("rp2040").union(*(keys(chip) for chips in CHIPS.values() for chip in chips))
TABLE = documented_settings((ROOT / "docs/virtual-stm32.md").read_text().split("## Settings")[1].split("\n## ")[0])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_key_on_a_page_exists(page: Path) -> None:
    """No page names a rule or a field of the flash that no chip has."""
    named = set(KEY.findall(page.read_text()))
    assert not named - EVERY


def test_pages_name_keys() -> None:
    """The pages do name keys, in the form that is looked for."""
    named = {key for page in PAGES for key in KEY.findall(page.read_text())}
    assert {"flash.art", "timing.it_folding"} <= named


@pytest.mark.parametrize(("family", "chip"), [(family, chip) for family, chips in CHIPS.items() for chip in chips])
def test_table_of_settings_is_that_of_each_chip(family: str, chip: str) -> None:
    """Both ways: what the page names the chip has, what the chip has the page names."""
    assert TABLE[family] == {key for key in keys(chip) if not key.startswith("timing.")}


TEXTS = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in [
        *PAGES,
        *sorted((ROOT / "docs" / "kernels").glob("*.md")),
        *sorted((ROOT / "docs/sweeps").glob("*.toml")),
    ]
}
OPTION = {
    "feature": re.compile(r"\bfeature\.([A-Za-z_]\w*)"),
    "param": re.compile(r"\bparam\.([A-Za-z_]\w*)"),
    "macro": re.compile(r"\b(config[A-Z][A-Z0-9_]+)\b"),
}


def existing() -> dict[str, set[str]]:
    """By what begins an option: the names that some board, benchmark or kernel knows."""
    catalogue = Catalogue(ROOT)
    sources = [path.read_text() for path in (ROOT / "firmware" / "kernels").rglob("*") if path.suffix in SUFFIXES]
    return {
        "feature": {name for board in catalogue.boards for name in catalogue.find_board(board).facts.features},
        "param": {
            name for benchmark in catalogue.benchmarks for name in catalogue.find_benchmark(benchmark).facts.params
        },
        "macro": {name for text in sources for name in OPTION["macro"].findall(text)},
    }


SUFFIXES = {".h", ".c", ".toml", ".cmake"}
EXISTING = existing()


def unknown(text: str) -> set[str]:
    """Options in a text that nobody has; NAME stands for any."""
    result = {kind: set(pattern.findall(text)) - {"NAME"} - EXISTING[kind] for kind, pattern in OPTION.items()}
    return {f"{kind}.{name}" for kind, names in result.items() for name in names}


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_option_on_a_page_exists(page: str) -> None:
    assert not unknown(TEXTS[page])


def test_unknown_documented_option_is_found() -> None:
    """And the pages do name options of each kind."""
    assert unknown("`feature.i_cache`, `param.wrods`, configTICK_RATE") == {
        "feature.i_cache", "param.wrods", "macro.configTICK_RATE",
    }  # fmt: skip
    for pattern in OPTION.values():
        assert sum(len(pattern.findall(text)) for text in TEXTS.values()) > 3


def test_caches_of_the_f4_have_two_names() -> None:
    """As the page says; a chip without any refuses them."""
    for key in ("icache", "dcache"):
        Machine("stm32f446").set(key, 1)
        with pytest.raises(SettingError):
            Machine("stm32f103").set(key, 1)
