"""The generated pages name every command, option, key and mutant, and every link between pages leads somewhere."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import yaml
from pydantic import RootModel

from rtoslab.cli import app
from rtoslab.mutants.mutants import read_mutants
from tests.cli.test_cli import HANG_S, ROOT
from tests.doc_pages import PAGES
from tests.doc_reference import FOLDER, models

DOCS = ROOT / "docs"
FOLDERS_OF_PAGES = (DOCS / "kernels", ROOT / "spec", ROOT / "firmware")
GUIDES = sorted({*PAGES, *ROOT.glob("*.md"), *(page for folder in FOLDERS_OF_PAGES for page in folder.rglob("*.md"))})
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns docs/reference, generated in a process of its own: a command keeps how its help was asked for."""
    docs = tmp_path_factory.mktemp("docs")
    (docs / "reference" / "schemas").mkdir(parents=True)
    (docs / "reference" / "schemas" / "Gone.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-m", "tests.doc_reference", str(docs / "reference")], cwd=ROOT / "python",
        capture_output=True, text=True, check=False, timeout=HANG_S, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return docs / "reference"


def command_options(command: click.Command, name: str, above: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """Yields each visible command's name with each of its options, or with nothing if it has none."""
    context = click.Context(command, parent=above, info_name=name.rpartition(" ")[2])
    yield name, ""
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            yield from ((name, flag) for flag in option.opts)
    for inner in command.list_commands(context) if isinstance(command, click.Group) else ():
        assert isinstance(command, click.Group)
        deeper = command.get_command(context, inner)
        if deeper is not None and not deeper.hidden:
            yield from command_options(deeper, f"{name} {inner}", context)


def test_command_line_page_has_every_command_and_option(reference: Path) -> None:
    text = (reference / "command-line.md").read_text()
    sections = dict(re.findall(r"^#+ (.+?)\n+```text\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL))
    sections["rtoslab"] = sections.pop("Command line")
    expected = list(command_options(app, "rtoslab"))
    assert len(expected) > 200
    lost = [pair for pair in expected if not re.search(rf"{re.escape(pair[1])}\b", sections.get(pair[0], ""))]
    assert not lost
    assert sections.keys() == {name for name, _ in expected}


def test_every_file_format_has_a_schema_with_its_keys(reference: Path) -> None:
    assert {"ConfigurationSweepPlan", "Benchmark", "Board"} <= models().keys()
    assert {path.stem for path in (reference / "schemas").iterdir()} == models().keys()
    index = (reference / "schemas.md").read_text()
    for name, model in models().items():
        assert f"](schemas/{name}.json)" in index
        text = (reference / "schemas" / f"{name}.json").read_text()
        keys = {field.alias or key for key, field in model.model_fields.items()}
        assert issubclass(model, RootModel) or json.loads(text)["properties"].keys() == keys


def test_page_of_mutants_has_every_mutant(reference: Path) -> None:
    text = (reference / "mutants.md").read_text()
    sections = dict(re.findall(r"^## (\w+): .+\n\n((?:\|.*\n)+)", text, re.MULTILINE))
    mutants = read_mutants(ROOT)
    assert sections.keys() == mutants.keys()
    for name, of in mutants.items():
        rows = [line.split(" | ") for line in sections[name].splitlines()[2:]]
        assert [row[0].removeprefix("| ") for row in rows] == [mutant.id for mutant in of.mutant]
        assert [row[-1].removesuffix(" |") for row in rows] == [
            ", ".join(mutant.refused_by) or "the build" for mutant in of.mutant
        ]


def nav_pages(entries: object) -> Iterator[str]:
    """Yields the paths of pages in the navigation of mkdocs.yml."""
    if isinstance(entries, str):
        yield entries
    for entry in entries.values() if isinstance(entries, dict) else entries if isinstance(entries, list) else ():
        yield from nav_pages(entry)


def test_site_has_every_page_in_its_navigation(reference: Path) -> None:
    pages = {page.relative_to(DOCS).as_posix() for page in GUIDES if page.is_relative_to(DOCS)}
    pages |= {f"reference/{page.name}" for page in reference.glob("*.md")}
    assert sorted(nav_pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])) == sorted(pages)


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Yields each link of a page to a file, with the path that it leads to and its anchor. Code has no links."""
    for target in LINK.findall(FENCED.sub("", page.read_text())):
        name, _, anchor = target.partition("#")
        if not re.match(r"[a-z]+:", target):
            yield target, (page.parent / name).resolve() if name else page, anchor


@cache
def anchors(page: Path) -> frozenset[str]:
    """Returns the anchors of a page's headings, as GitHub and mkdocs both make them."""
    headings = HEADING.findall(
        FENCED.sub(lambda code: code[0].strip("`") if "\n" not in code[0] else "", page.read_text())
    )
    return frozenset(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings)


def broken_links(page: Path) -> list[str]:
    """Returns the links of a page that a reader of the repository cannot follow: git has no generated page."""
    return [
        target
        for target, path, anchor in links(page)
        if not path.exists() or path.is_relative_to(FOLDER) or (anchor and anchor not in anchors(path))
    ]


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_existing_files(page: Path) -> None:
    assert broken_links(page) == []


def test_links_of_generated_pages_resolve(reference: Path) -> None:
    """From where the site has them: below docs."""
    for page in reference.glob("*.md"):
        for target, path, _ in links(page):
            assert path.exists() or (DOCS / path.relative_to(reference.parent)).exists(), (page.name, target)


def test_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# A `b` (c)\n[x](a.md) [x](#a-b-c) [x](a.md#lost) [x](lost.md) `[x](code.md)` [x](https://a.b/c)"
    )
    assert broken_links(tmp_path / "a.md") == ["a.md#lost", "lost.md"]


def test_guides_have_links() -> None:
    assert sum(len(list(links(page))) for page in GUIDES) > 250
