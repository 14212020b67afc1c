"""Makes a new folder of the catalogue: files of `templates/` with the new name in them, or a copy of a board's folder.

The folder is written beside its place and renamed into it, so that a catalogue never reads half of one."""

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import CatalogueError, is_checkout, make_disk_error, make_folder, write_file_atomically
from rtoslab.catalogue import DEFAULT_BOARD, DEFAULT_KERNEL, RESULT_KINDS, Catalogue, read_papers
from rtoslab.intake import quote_text, read_text

_PARENT_FOLDERS: Final = {
    "benchmark": "firmware/benchmarks",
    "kernel": "firmware/kernels",
    "board": "firmware/boards",
    "paper": "papers",
}
_NAME: Final = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_LONGEST: Final = 40
_RESERVED: Final = frozenset({"all", "none", "conformance", "footprint", "scene", "manual", *RESULT_KINDS})
"""Words that commands and the firmware's build give a meaning of their own."""
_TEMPLATES: Final = Path(__file__).parent / "templates"
_MUTANTS: Final = Path("firmware/mutants")


@dataclass(frozen=True)
class NewCatalogueFolder:
    """A new folder of the catalogue: its path, and every file that was written."""

    folder: Path
    files: tuple[Path, ...]


def make_new_folder(
    catalogue: Catalogue,
    kind: str,
    name: str,
    *,
    title: str = "",
    folder: Path | None = None,
    copied_board: str = DEFAULT_BOARD,
) -> NewCatalogueFolder:
    """Makes the folder of a new kernel, board, benchmark or paper from a template. Returns what it wrote.

    `folder`: where it goes instead of the checkout's own place, for ports. `copied_board`: the board to copy, for
    boards. Raises CatalogueError if the name is invalid or taken, UnknownNameError for an unknown board, StoreError if
    the disk refuses it.
    """
    _require_free_name(catalogue, kind, name)
    if folder is None and not is_checkout(catalogue.root):
        raise CatalogueError(
            f"A {kind} cannot be added to an installed rtoslab; run the command in a checkout of "
            f"rtoslab{', or name a folder with --in' * (kind == 'kernel')}."
        )
    replacements = {
        "NAME": name,
        "TITLE": _require_title(title or name),
        "SYMBOL": name.replace("-", "_"),
        "MACRO": name.replace("-", "_").upper(),
        "KERNEL": DEFAULT_KERNEL,
        "BOARD": DEFAULT_BOARD,
    }
    target = (folder or catalogue.root / _PARENT_FOLDERS[kind]) / name
    beside: dict[Path, bytes] = {}
    files = (
        _copy_board_folder_files(catalogue, copied_board, replacements)
        if kind == "board"
        else _fill_catalogue_folder_template(_TEMPLATES / kind, replacements)
    )
    if kind == "benchmark":
        beside[catalogue.root / _MUTANTS / f"{name}.toml"] = _bytes_without_placeholders(
            _read_scaffold_template_text(_TEMPLATES / "mutants.toml"), replacements
        )
    for place in (target, *beside):
        if place.exists():
            raise CatalogueError(f"{place} exists already; choose another name, or remove it first.")
    _write_new_folder(target, files, beside)
    return NewCatalogueFolder(target, (*(target / file for file in files), *beside))


def _require_free_name(catalogue: Catalogue, kind: str, name: str) -> None:
    """Raises CatalogueError if the name is invalid, taken or reserved."""
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise CatalogueError(
            f"{quote_text(name)} cannot be a {kind}'s name; use at most {_LONGEST} lower-case letters, digits, - and "
            "_, "
            "beginning with a letter."
        )
    if kind in {"benchmark", "paper"} and "-" in name:
        raise CatalogueError(
            f"{quote_text(name)} cannot be a {kind}'s name; write {name.replace('-', '_')}, with _ for -."
        )
    known = {
        "kernel": catalogue.kernels,
        "board": catalogue.boards,
        "benchmark": catalogue.benchmarks,
        "suite": catalogue.suites,
        "paper": read_papers(catalogue),
    }
    for what, names in known.items():
        if name in names:
            raise CatalogueError(f"There is a {what} {name} already; choose another name for the {kind}.")
    if name in _RESERVED or name.startswith(("footprint-", "scene-")):
        raise CatalogueError(f"{name} has another meaning in rtoslab; choose another name for the {kind}.")


def _require_title(title: str) -> str:
    """Returns a title that TOML, a CSV file and a comment of C can contain. Raises CatalogueError for any other."""
    if not title.isprintable() or set(title) & set('"\\,') or "*/" in title or len(title) > 2 * _LONGEST:
        raise CatalogueError(
            f'{quote_text(title)} cannot be a title; use at most {2 * _LONGEST} characters, without ", \\, commas and '
            "line ends."
        )
    return title


def _fill_catalogue_folder_template(template: Path, replacements: dict[str, str]) -> dict[Path, bytes]:
    """Returns the files of a template folder by path. In names and contents, each `@WORD@` is replaced."""
    paths = sorted(path for path in template.rglob("*") if path.is_file())
    return {
        Path(_replace_placeholders(str(path.relative_to(template)), replacements)): _bytes_without_placeholders(
            _read_scaffold_template_text(path), replacements
        )
        for path in paths
    }


def _replace_placeholders(text: str, replacements: dict[str, str]) -> str:
    """Returns the text with a replacement for each `@WORD@`. `replacements`: by word."""
    return re.sub(r"@([A-Z]+)@", lambda match: replacements[match[1]], text)


def _bytes_without_placeholders(text: str, replacements: dict[str, str]) -> bytes:
    """Returns the text as bytes, with a replacement for each `@WORD@`."""
    return _replace_placeholders(text, replacements).encode()


def _read_scaffold_template_text(path: Path) -> str:
    """Returns the text of a template's file. Raises CatalogueError."""
    return read_text(path, "the template", CatalogueError)


def _copy_board_folder_files(catalogue: Catalogue, board: str, replacements: dict[str, str]) -> dict[Path, bytes]:
    """Returns the files of a board's folder under another name. Its facts say which board they are a copy of.

    Raises UnknownNameError, CatalogueError.
    """
    entry = catalogue.find_board(board)
    paths = sorted(item for item in entry.folder.rglob("*") if item.is_file())
    files = {
        path.relative_to(entry.folder): read_text(path, "the board's file", CatalogueError).encode() for path in paths
    }
    facts = Path("board.toml")
    text = files[facts].decode()
    comments = re.match(r"(#.*\n)*", text)
    body = text[comments.end() if comments else 0 :]
    body = re.sub(r"^id = .*$", f'id = "{replacements["NAME"]}"', body, count=1, flags=re.MULTILINE)
    body = re.sub(r"^title = .*$", f'title = "{replacements["TITLE"]}"', body, count=1, flags=re.MULTILINE)
    head = (
        f"# {replacements['TITLE']}. Facts only: the firmware, the virtual board and the host read the same file.\n"
        f"# A copy of {entry.facts.title}: correct clocks, pins and memories by the board's manual, and name it here.\n"
    )
    files[facts] = (head + body).encode()
    return files


def _write_new_folder(target: Path, files: dict[Path, bytes], beside: dict[Path, bytes]) -> None:
    """Writes the files of the folder `target`, and other new files elsewhere (`beside`). All are written or none.
    Raises StoreError."""
    make_folder(target.parent)
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            work.chmod(0o755)
            for path, content in files.items():
                make_folder((work / path).parent)
                write_file_atomically(work / path, content, "the new file")
            for path, content in beside.items():
                write_file_atomically(path, content, "the new file")
            work.rename(target)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise
    except OSError as cause:
        raise make_disk_error("make the folder", target, cause) from None
