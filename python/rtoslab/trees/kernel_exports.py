"""A kernel that builds itself: what its user's build must be configured with, and whether an export was made so.

The trap: a configuration tool drops, without a word, options whose conditions are not met. So what an export says of
itself is read back and held against what the port asks for, each time before anything is linked.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from rtoslab.base import CatalogueError, count_text
from rtoslab.catalogue import DEFAULT_OPT, Entry, ExportWants, Kernel, Tree, export_key, export_place, tree_description
from rtoslab.intake import quote, read_text
from rtoslab.trees.versions import absent_in_export, earlier_names

OPTIMISATIONS = ("-O0", "-Og", "-Os", "-O1", "-O2", "-O3")
"""Those that an export may be made with."""
MOST_NAMED = 6
"""Most options that are named if they differ. The rest is counted."""
_BYTES = 4 << 20
_SET = re.compile(r"(CONFIG_\w+)=(.*)")
_NOT_SET = re.compile(r"# (CONFIG_\w+) is not set")
_UNKNOWN = re.compile(r"# (CONFIG_\w+) is unknown")
"""In a file of `config/earlier/`: an option that the version does not have."""
_COMMON = "common"

Settings = Mapping[str, str | None]
"""Option -> value as the file writes it. None: not set."""


def settings(path: Path) -> Settings:
    """The options that a configuration or a part of one names. Raises CatalogueError."""
    return parse_settings(read_text(path, "the kernel's configuration", CatalogueError, _BYTES))


def parse_settings(text: str) -> Settings:
    """Parses a configuration in the form that Kconfig writes. Other lines are ignored."""
    settings_: dict[str, str | None] = {}
    for line in text.splitlines():
        if match := _SET.fullmatch(line.strip()):
            settings_[match[1]] = match[2]
        elif match := _NOT_SET.fullmatch(line.strip()):
            settings_[match[1]] = None
    return settings_


def defconfig(
    kernel: Entry[Kernel], board: str, needs: Iterable[str], opt: str = DEFAULT_OPT, absent: Iterable[str] = ()
) -> str:
    """Returns what the kernel's own build must be given. `absent`: names that its version has not yet. Raises
    CatalogueError for a board that the port does not know."""
    wants = _wants(kernel)
    requested = {**_requested_options(kernel, board, needs, absent), wants.optimisation: f'"{opt}"'}
    written = {option: value for option, value in requested.items() if option not in wants.asked_elsewhere}
    lines = [f"# {option} is not set" if value is None else f"{option}={value}" for option, value in written.items()]
    return "\n".join(lines) + "\n"


def build_files(
    kernel: Entry[Kernel], board: str, needs: Iterable[str], opt: str, folder: Path, version: str | None = None
) -> tuple[dict[str, str], str]:
    """All that the kernel's own build takes from us, by file name, and what the user does with it in the port's own
    words (`config/README.in`). `folder` is where it will lie, `version` an earlier one of the kernel. Raises
    CatalogueError."""
    wants, config = _wants(kernel), kernel.folder / "config"
    absent = () if version is None else earlier_names(kernel.facts, version)
    machine = str(_requested_options(kernel, board, (), absent).get(wants.board)).strip('"')
    offered_for = [need for need in needs if wants.lacks[need]]
    ident = "-".join([kernel.folder.name, *([] if version is None else [version]), *offered_for])
    words = {"board": board, "machine": machine, "folder": str(folder), "id": ident, "port": kernel.folder.name}
    words["needs"] = "".join(f", {need}" for need in needs)

    def fill_template(path: Path, what: str) -> str:
        text = read_text(path, what, CatalogueError)
        return re.sub(r"(?<!\$)\{(\w+)\}", lambda place: words.get(place[1], place[0]), text)

    files = {
        item.name: fill_template(item, "a file for the kernel's build") for item in sorted(config.glob("application/*"))
    }
    files[wants.asked_in] = defconfig(kernel, board, needs, opt, absent)
    return files, fill_template(config / "README.in", "the port's instructions")


def add_export(kernel: Entry[Kernel], port: str, ident: str, path: Path, before: Tree | None) -> tuple[Tree, str]:
    """A description with one export more, and what that one is for. Raises CatalogueError saying what is wrong."""
    wants, title = _wants(kernel), kernel.facts.title
    if not (path / wants.config).is_file():
        raise CatalogueError(f"{path} is no export of {title}: it has no {wants.config}; see {_how(kernel)}.")
    option_values, absent = settings(path / wants.config), _absent(kernel, path)
    board, cores, needs = (
        _board(kernel, option_values, absent),
        _cores(wants, option_values),
        _needs(kernel, option_values),
    )
    wrong = _differences(kernel, board, needs, absent, option_values)
    if wrong:
        raise CatalogueError(f"The export {path} was not made as the port of {title} asks: {wrong}; {_again(kernel)}.")
    if stale := _stale(wants, path):
        raise CatalogueError(f"The export {path} {stale}; {_again(kernel)}.")
    key, version = export_key(board, cores, _opt(wants, option_values)), _version(wants, path)
    lacks = _lacks(wants, needs)
    if before is not None and (before.version, before.lacks) != (version, lacks):
        raise CatalogueError(
            f"The exports of {ident} are of {before.version} and lack {_named(before.lacks)}, this one is of {version} "
            f"and lacks {_named(lacks)}; give it a name of its own: `rtoslab tree add {ident}-2 {path} --port {port}`."
        )
    exports = {**(before.exports if before else {}), key: str(path)}
    first = before.path if before else str(path)
    description = {"id": ident, "port": port, "path": first, "version": version, "lacks": lacks, "absent": absent}
    return tree_description({**description, "exports": exports}), key


def one_export(kernel: Entry[Kernel], key: str) -> Tree:
    """The export for what `export_key` says. Raises CatalogueError if there is none."""
    tree, wants = kernel.tree, _wants(kernel)
    if tree is None or key not in tree.exports:
        raise CatalogueError(f"There is no export of {kernel.id} for {_place(key)}; see {_how(kernel)}.")
    return tree.of_export(key, wants.headers, wants.linked)


def export_trouble(kernel: Entry[Kernel], key: str) -> str | None:
    """Why no image can be made of the export for what `export_key` says, as a clause. None if one can."""
    wants, tree, board = _wants(kernel), kernel.tree, export_place(key)[0]
    if tree is None or key not in tree.exports:
        return f"no export of {kernel.facts.title} for {_place(key)} is known: {_how(kernel)}"
    path = Path(tree.exports[key])
    if not (path / wants.config).is_file():
        gone = f"the export of {kernel.id} for {_place(key)} is gone from {path}"
        return f"{gone}: `rtoslab tree add {kernel.id}` names another"
    option_values = settings(path / wants.config)
    needs, absent = _needs(kernel, option_values), _absent(kernel, path)
    wrong = _differences(kernel, board, needs, absent, option_values)
    if wrong:
        return f"the export {path} was not made as the port asks: {wrong}; {_again(kernel)}"
    if stale := _stale(wants, path):
        return f"the export {path} {stale}; {_again(kernel)}"
    facts = (_version(wants, path), _lacks(wants, needs), absent)
    if (
        facts != (tree.version, tree.lacks, tree.absent)
        or export_key(board, _cores(wants, option_values), _opt(wants, option_values)) != key
    ):
        return f"the export {path} is another than was described: `rtoslab tree add {kernel.id} {path} --force`"
    return None


def _wants(kernel: Entry[Kernel]) -> ExportWants:
    if kernel.facts.export is None:
        raise CatalogueError(f"{kernel.facts.title} is linked from no export (`[export]` of its kernel.toml).")
    return kernel.facts.export


def _place(key: str) -> str:
    board, cores, opt = export_place(key)
    return f"{board} with {count_text(cores, 'core')}{'' if opt == DEFAULT_OPT else f' and {opt}'}"


def _how(kernel: Entry[Kernel]) -> str:
    return f"`rtoslab kernel files {kernel.id} -o FOLDER`, whose README says how one is made"


def _again(kernel: Entry[Kernel]) -> str:
    return f"make it again with what `rtoslab kernel files {kernel.facts.id}` writes"


def _part(kernel: Entry[Kernel], name: str) -> Settings:
    return settings(kernel.folder / "config" / f"{name}.defconfig")


def _boards(kernel: Entry[Kernel]) -> dict[str, Settings]:
    """Returns the requested options by board."""
    others = {_COMMON, *_wants(kernel).lacks}
    paths = sorted((kernel.folder / "config").glob("*.defconfig"))
    return {path.stem: settings(path) for path in paths if path.stem not in others}


def _requested_options(
    kernel: Entry[Kernel], board: str, needs: Iterable[str], absent: Iterable[str] = ()
) -> dict[str, str | None]:
    """Returns the options of a version that lacks the names `absent`: those of `config/earlier/NAME`, for all boards,
    for this one, and for each need."""
    boards = _boards(kernel)
    if board not in boards:
        raise CatalogueError(f"The port of {kernel.facts.title} is for {', '.join(boards)}, not for {board}.")
    requested = {**boards[board], **_part(kernel, _COMMON)}
    needs = tuple(needs)
    for need in needs:
        requested |= _part(kernel, need)
    places = ("", f".{board}", *(f".{need}" for need in needs))
    for item in (f"earlier/{name}{place}" for name in absent for place in places):
        path = kernel.folder / "config" / f"{item}.defconfig"
        requested |= settings(path) if path.is_file() else {}
        for option in _unknown(path) if path.is_file() else ():
            requested.pop(option, None)
    return requested


def _unknown(path: Path) -> list[str]:
    return _UNKNOWN.findall(read_text(path, "a part of the kernel's configuration", CatalogueError, _BYTES))


def _absent(kernel: Entry[Kernel], path: Path) -> tuple[str, ...]:
    """Names of later versions that an export has not."""
    return absent_in_export(kernel.facts, [path / header for header in _wants(kernel).headers])


def _board(kernel: Entry[Kernel], option_values: Settings, absent: Iterable[str]) -> str:
    """The board of ours that an export was made for."""
    option = _wants(kernel).board
    boards = {str(_requested_options(kernel, board, (), absent).get(option)): board for board in _boards(kernel)}
    value = str(option_values.get(option))
    if value not in boards:
        raise CatalogueError(f"The export is for the board {quote(value)}; the port knows {', '.join(boards)}.")
    return boards[value]


def _needs(kernel: Entry[Kernel], option_values: Settings) -> tuple[str, ...]:
    """Those that it was made for, by the first option of each."""
    firsts = {need: next(iter(_part(kernel, need).items())) for need in _wants(kernel).lacks}
    return tuple(need for need, (option, value) in firsts.items() if option_values.get(option) == value)


def _lacks(wants: ExportWants, needs: Iterable[str]) -> tuple[str, ...]:
    """Services that an export lacks that answers these needs alone."""
    return tuple(service for need, services in wants.lacks.items() if need not in needs for service in services)


def _cores(wants: ExportWants, option_values: Settings) -> int:
    cores = option_values.get(wants.cores) or "1"
    return int(cores) if re.fullmatch(r"[1-9]", cores) else 1


def _opt(wants: ExportWants, option_values: Settings) -> str:
    return str(option_values.get(wants.optimisation)).strip('"')


def _differences(
    kernel: Entry[Kernel], board: str, needs: Iterable[str], absent: Iterable[str], option_values: Settings
) -> str:
    """The options that are not as they should be, as a clause. Empty: none."""
    wrong = [
        f"{option} {_word(option_values.get(option))}, should be {_word(value, '')}"
        for option, value in _requested_options(kernel, board, needs, absent).items()
        if option_values.get(option) != value
        and not (option == _wants(kernel).optimisation and _opt(_wants(kernel), option_values) in OPTIMISATIONS)
    ]
    more = f" and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
    return ", ".join(wrong[:MOST_NAMED]) + more


def _word(value: str | None, verb: str = "is ") -> str:
    return f"{verb}{'not set' if value is None else quote(value)}"


def _version(wants: ExportWants, path: Path) -> str:
    header = path / wants.version_header
    text = read_text(header, "the export's header of its version", CatalogueError, _BYTES)
    match = re.search(rf'^[ \t]*#[ \t]*define[ \t]+{wants.version}[ \t]+"([\w.+-]+)"', text, re.MULTILINE)
    return match[1] if match else "unknown"


def _stale(wants: ExportWants, path: Path) -> str | None:
    """Whether a file that it was made of was changed since, as a sentence's end. One that is gone does not tell."""
    product = path / wants.made_of
    if not wants.made_of:
        return None
    if not product.is_file():
        return f"does not say what it was made of, for lack of {wants.made_of}"
    since = product.stat().st_mtime_ns
    listed = read_text(product, "the list of what the export was made of", CatalogueError, _BYTES).splitlines()
    edited = (item for item in map(Path, listed) if item.is_file() and item.stat().st_mtime_ns > since)
    return next((f"is older than {item}, which it was made of" for item in edited), None)


def _named(services: Iterable[str]) -> str:
    return ", ".join(services) or "nothing"
