"""Kernels that build themselves: the configuration that the port needs, and whether an export was built with it.

A configuration tool silently drops options whose conditions are not met. So the configuration in an export is read, and
compared with the port's, each time before anything is linked.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from rtoslab.base import CatalogueError, count_with_noun
from rtoslab.catalogue import (
    DEFAULT_OPT,
    CatalogueEntry,
    Kernel,
    KernelExportRequirements,
    SourceTree,
    kernel_export_identifier,
    make_source_tree_description,
    parse_kernel_export_identifier,
)
from rtoslab.intake import quote_text, read_text
from rtoslab.trees.versions import api_names_absent_in_kernel_export, api_names_added_after_version

OPTIMISATIONS = ("-O0", "-Og", "-Os", "-O1", "-O2", "-O3")
"""The optimisation levels that an export may be built with."""
MOST_NAMED = 6
"""Of more differing options than this the rest is counted."""
_BYTES = 4 << 20
_SET = re.compile(r"(CONFIG_\w+)=(.*)")
_NOT_SET = re.compile(r"# (CONFIG_\w+) is not set")
_UNKNOWN = re.compile(r"# (CONFIG_\w+) is unknown")
"""In a file of `config/earlier/`: an option that the version does not have."""
_COMMON = "common"

Settings = Mapping[str, str | None]
"""Option -> value as the file writes it. None: not set."""


def read_kconfig_options(path: Path) -> Settings:
    """Returns the options in a Kconfig file, by name. Raises CatalogueError."""
    return parse_kconfig_options(read_text(path, "the kernel's configuration", CatalogueError, _BYTES))


def parse_kconfig_options(text: str) -> Settings:
    """Returns the options in the text of a Kconfig file, by name. Lines of other forms are ignored."""
    settings_: dict[str, str | None] = {}
    for line in text.splitlines():
        if match := _SET.fullmatch(line.strip()):
            settings_[match[1]] = match[2]
        elif match := _NOT_SET.fullmatch(line.strip()):
            settings_[match[1]] = None
    return settings_


def make_defconfig(
    kernel: CatalogueEntry[Kernel], board: str, needs: Iterable[str], opt: str = DEFAULT_OPT, absent: Iterable[str] = ()
) -> str:
    """Returns the text of the Kconfig file (defconfig) from which the kernel's own build system builds what the port
    needs.

    `needs`: groups of services. `absent`: names that its version does not have yet. Raises CatalogueError for a board
    that the port does not know.
    """
    wants = _kernel_export_requirements(kernel)
    requested = {**_kconfig_options_requested_by_port(kernel, board, needs, absent), wants.optimisation: f'"{opt}"'}
    written = {option: value for option, value in requested.items() if option not in wants.asked_elsewhere}
    lines = [f"# {option} is not set" if value is None else f"{option}={value}" for option, value in written.items()]
    return "\n".join(lines) + "\n"


def kernel_build_configuration_files(
    kernel: CatalogueEntry[Kernel], board: str, needs: Iterable[str], opt: str, folder: Path, version: str | None = None
) -> tuple[dict[str, str], str]:
    """Returns the files that a user adds to the kernel's own build, by name, and instructions for the user.

    The instructions are made from `config/README.in`. `folder`: where the files will be. `version`: of an earlier
    kernel. Raises CatalogueError.
    """
    wants, config = _kernel_export_requirements(kernel), kernel.folder / "config"
    absent = () if version is None else api_names_added_after_version(kernel.facts, version)
    machine = str(_kconfig_options_requested_by_port(kernel, board, (), absent).get(wants.board)).strip('"')
    offered_for = [need for need in needs if wants.lacks[need]]
    ident = "-".join([kernel.folder.name, *([] if version is None else [version]), *offered_for])
    words = {"board": board, "machine": machine, "folder": str(folder), "id": ident, "port": kernel.folder.name}
    words["needs"] = "".join(f", {need}" for need in needs)

    def fill_port_configuration_template(path: Path, what: str) -> str:
        """Returns a file of the port's configuration with its placeholders filled."""
        text = read_text(path, what, CatalogueError)
        return re.sub(r"(?<!\$)\{(\w+)\}", lambda place: words.get(place[1], place[0]), text)

    files = {
        item.name: fill_port_configuration_template(item, "a file for the kernel's build")
        for item in sorted(config.glob("application/*"))
    }
    files[wants.asked_in] = make_defconfig(kernel, board, needs, opt, absent)
    # The template is in the records of measured images, so it still has the old word.
    read_me = fill_port_configuration_template(config / "README.in", "the port's instructions")
    return files, read_me


def add_kernel_export(
    kernel: CatalogueEntry[Kernel], port: str, ident: str, path: Path, known: SourceTree | None
) -> tuple[SourceTree, str]:
    """Returns a tree's description with one more export (what the kernel's own build produced), and the key of this
    export.

    `known`: the description so far, if there is one. Raises CatalogueError if the export was not built as the port
    requires.
    """
    wants, title = _kernel_export_requirements(kernel), kernel.facts.title
    if not (path / wants.config).is_file():
        raise CatalogueError(
            f"{path} is not an export of {title}, because it has no {wants.config}; see "
            f"{_how_to_export_kernel_clause(kernel)}."
        )
    option_values, absent = read_kconfig_options(path / wants.config), _kernel_names_absent_in_export(kernel, path)
    board, cores, needs = (
        _find_board_of_kernel_export(kernel, option_values, absent),
        _count_cores_of_kernel_export(wants, option_values),
        _find_kernel_export_service_groups(kernel, option_values),
    )
    wrong = _differing_options_clause(kernel, board, needs, absent, option_values)
    if wrong:
        raise CatalogueError(
            f"The export {path} was not built as the port of {title} requires: {wrong}; "
            f"{_how_to_rebuild_kernel_export_clause(kernel)}."
        )
    if stale := _outdated_export_clause(wants, path):
        raise CatalogueError(f"The export {path} {stale}; {_how_to_rebuild_kernel_export_clause(kernel)}.")
    key, version = (
        kernel_export_identifier(board, cores, _find_kernel_export_optimisation_level(wants, option_values)),
        _read_version(wants, path),
    )
    lacks = _services_missing_from_kernel_export(wants, needs)
    if known is not None and (known.version, known.lacks) != (version, lacks):
        raise CatalogueError(
            f"The exports of {ident} have version {known.version} and lack "
            f"{_format_services_or_nothing(known.lacks)}, but this one has version {version} and lacks "
            f"{_format_services_or_nothing(lacks)}; give it another name: `rtoslab "
            f"kernel tree add {ident}-2 {path} --port {port}`."
        )
    exports = {**(known.exports if known else {}), key: str(path)}
    first = known.path if known else str(path)
    description = {"id": ident, "port": port, "path": first, "version": version, "lacks": lacks, "absent": absent}
    return make_source_tree_description({**description, "exports": exports}), key


def find_kernel_export_tree(kernel: CatalogueEntry[Kernel], key: str) -> SourceTree:
    """Returns the export (libraries and headers from the kernel's own build) with this key, as a tree.

    Raises CatalogueError if there is none.
    """
    tree, wants = kernel.tree, _kernel_export_requirements(kernel)
    if tree is None or key not in tree.exports:
        raise CatalogueError(
            f"There is no export of {kernel.id} for {_kernel_export_build_target_text(key)}; see "
            f"{_how_to_export_kernel_clause(kernel)}."
        )
    return tree.kernel_export_as_source_tree(key, wants.headers, wants.linked)


def reason_kernel_export_is_unusable(kernel: CatalogueEntry[Kernel], key: str) -> str | None:
    """Returns why no image can be built from the export with this key, as a clause. None if one can."""
    wants, tree, board = _kernel_export_requirements(kernel), kernel.tree, parse_kernel_export_identifier(key)[0]
    if tree is None or key not in tree.exports:
        return (
            f"no export of {kernel.facts.title} for {_kernel_export_build_target_text(key)} is known: "
            f"{_how_to_export_kernel_clause(kernel)}"
        )
    path = Path(tree.exports[key])
    if not (path / wants.config).is_file():
        gone = f"the export of {kernel.id} for {_kernel_export_build_target_text(key)} is no longer at {path}"
        return f"{gone}: `rtoslab kernel tree add {kernel.id}` adds another one"
    option_values = read_kconfig_options(path / wants.config)
    needs, absent = (
        _find_kernel_export_service_groups(kernel, option_values),
        _kernel_names_absent_in_export(kernel, path),
    )
    wrong = _differing_options_clause(kernel, board, needs, absent, option_values)
    if wrong:
        advice = _how_to_rebuild_kernel_export_clause(kernel)
        return f"the export {path} was not built as the port requires: {wrong}; {advice}"
    if stale := _outdated_export_clause(wants, path):
        return f"the export {path} {stale}; {_how_to_rebuild_kernel_export_clause(kernel)}"
    facts = (_read_version(wants, path), _services_missing_from_kernel_export(wants, needs), absent)
    if (
        facts != (tree.version, tree.lacks, tree.absent)
        or kernel_export_identifier(
            board,
            _count_cores_of_kernel_export(wants, option_values),
            _find_kernel_export_optimisation_level(wants, option_values),
        )
        != key
    ):
        add = f"rtoslab kernel tree add {kernel.id} {path} --force"
        return f"the export {path}, or the port that uses it, has changed since it was added: `{add}`"
    return None


def _kernel_export_requirements(kernel: CatalogueEntry[Kernel]) -> KernelExportRequirements:
    """Returns the table `[export]` of a kernel.toml, which says what the port needs of an export. Raises CatalogueError
    if there is none."""
    if kernel.facts.export is None:
        raise CatalogueError(
            f"{kernel.facts.title} is not linked from an export; only kernels with [export] in their kernel.toml are."
        )
    return kernel.facts.export


def _kernel_export_build_target_text(key: str) -> str:
    """Returns the board, cores and optimisation level that an export is for, as text. `key`: the export's."""
    board, cores, opt = parse_kernel_export_identifier(key)
    return f"{board} with {count_with_noun(cores, 'core')}{'' if opt == DEFAULT_OPT else f' and {opt}'}"


def _how_to_export_kernel_clause(kernel: CatalogueEntry[Kernel]) -> str:
    """Returns a clause for the user: how to make an export, which is what the kernel's own build produced (libraries
    and headers)."""
    return f"`rtoslab kernel files {kernel.id} -o FOLDER`, whose README says how to build one"


def _how_to_rebuild_kernel_export_clause(kernel: CatalogueEntry[Kernel]) -> str:
    """Returns a clause for the user: how to build an export again."""
    return f"build it again with the files from `rtoslab kernel files {kernel.facts.id}`"


def _read_port_kconfig_file(kernel: CatalogueEntry[Kernel], name: str) -> Settings:
    """Returns the options in one of the port's Kconfig files: `common`, or that of a board or need."""
    return read_kconfig_options(kernel.folder / "config" / f"{name}.defconfig")


def _options_by_board(kernel: CatalogueEntry[Kernel]) -> dict[str, Settings]:
    """Returns, for each board that the port knows, the Kconfig options that are requested for this board only."""
    others = {_COMMON, *_kernel_export_requirements(kernel).lacks}
    paths = sorted((kernel.folder / "config").glob("*.defconfig"))
    return {path.stem: read_kconfig_options(path) for path in paths if path.stem not in others}


def _kconfig_options_requested_by_port(
    kernel: CatalogueEntry[Kernel], board: str, needs: Iterable[str], absent: Iterable[str] = ()
) -> dict[str, str | None]:
    """Returns the Kconfig options that the port requests for a board and some needs (groups of services). Raises
    CatalogueError.

    For a version that lacks the names `absent`, those of `config/earlier/NAME` are added: for all boards, for this one,
    and for each need.
    """
    boards = _options_by_board(kernel)
    if board not in boards:
        raise CatalogueError(f"The port of {kernel.facts.title} is for {', '.join(boards)}, not for {board}.")
    requested = {**boards[board], **_read_port_kconfig_file(kernel, _COMMON)}
    needs = tuple(needs)
    for need in needs:
        requested |= _read_port_kconfig_file(kernel, need)
    places = ("", f".{board}", *(f".{need}" for need in needs))
    for item in (f"earlier/{name}{place}" for name in absent for place in places):
        path = kernel.folder / "config" / f"{item}.defconfig"
        requested |= read_kconfig_options(path) if path.is_file() else {}
        for option in _options_unknown_to_version(path) if path.is_file() else ():
            requested.pop(option, None)
    return requested


def _options_unknown_to_version(path: Path) -> list[str]:
    """Returns the options that a version of the kernel does not have, by a file in `config/earlier/`."""
    return _UNKNOWN.findall(read_text(path, "a part of the kernel's configuration", CatalogueError, _BYTES))


def _kernel_names_absent_in_export(kernel: CatalogueEntry[Kernel], path: Path) -> tuple[str, ...]:
    """Returns the names (of functions and options) of later kernel versions that the export at this path does not
    have."""
    return api_names_absent_in_kernel_export(
        kernel.facts, [path / header for header in _kernel_export_requirements(kernel).headers]
    )


def _find_board_of_kernel_export(kernel: CatalogueEntry[Kernel], option_values: Settings, absent: Iterable[str]) -> str:
    """Returns the board that an export was built for, by its Kconfig options. Raises CatalogueError for one that the
    port does not know."""
    option = _kernel_export_requirements(kernel).board
    boards = {
        str(_kconfig_options_requested_by_port(kernel, board, (), absent).get(option)): board
        for board in _options_by_board(kernel)
    }
    value = str(option_values.get(option))
    if value not in boards:
        raise CatalogueError(f"The export is for the board {quote_text(value)}; the port supports {', '.join(boards)}.")
    return boards[value]


def _find_kernel_export_service_groups(kernel: CatalogueEntry[Kernel], option_values: Settings) -> tuple[str, ...]:
    """Returns the groups of services that an export was built with, by its Kconfig options."""
    firsts = {
        need: next(iter(_read_port_kconfig_file(kernel, need).items()))
        for need in _kernel_export_requirements(kernel).lacks
    }
    return tuple(need for need, (option, value) in firsts.items() if option_values.get(option) == value)


def _services_missing_from_kernel_export(wants: KernelExportRequirements, needs: Iterable[str]) -> tuple[str, ...]:
    """Returns the services that an export without some groups of services lacks. `needs`: the groups that it has."""
    return tuple(service for need, services in wants.lacks.items() if need not in needs for service in services)


def _count_cores_of_kernel_export(wants: KernelExportRequirements, option_values: Settings) -> int:
    """Returns the number of cores that an export was built for, by its Kconfig options."""
    cores = option_values.get(wants.cores) or "1"
    return int(cores) if re.fullmatch(r"[1-9]", cores) else 1


def _find_kernel_export_optimisation_level(wants: KernelExportRequirements, option_values: Settings) -> str:
    """Returns the optimisation level that an export was built with, by its Kconfig options."""
    return str(option_values.get(wants.optimisation)).strip('"')


def _differing_options_clause(
    kernel: CatalogueEntry[Kernel], board: str, needs: Iterable[str], absent: Iterable[str], option_values: Settings
) -> str:
    """Returns, as a clause, the Kconfig options of an export that differ from those the port requests. Empty if none
    does."""
    wrong = [
        f"{option} {_option_value_text(option_values.get(option))}, should be {_option_value_text(value, '')}"
        for option, value in _kconfig_options_requested_by_port(kernel, board, needs, absent).items()
        if option_values.get(option) != value
        and not (
            option == _kernel_export_requirements(kernel).optimisation
            and _find_kernel_export_optimisation_level(_kernel_export_requirements(kernel), option_values)
            in OPTIMISATIONS
        )
    ]
    more = f" and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
    return ", ".join(wrong[:MOST_NAMED]) + more


def _option_value_text(value: str | None, verb: str = "is ") -> str:
    """Returns the value of a Kconfig option in words, after `verb`."""
    return f"{verb}{'not set' if value is None else quote_text(value)}"


def _read_version(wants: KernelExportRequirements, path: Path) -> str:
    """Returns the kernel's version from a header in the export at this path, or `unknown`."""
    header = path / wants.version_header
    text = read_text(header, "the export's header of its version", CatalogueError, _BYTES)
    match = re.search(rf'^[ \t]*#[ \t]*define[ \t]+{wants.version}[ \t]+"([\w.+-]+)"', text, re.MULTILINE)
    return match[1] if match else "unknown"


def _outdated_export_clause(wants: KernelExportRequirements, path: Path) -> str | None:
    """Returns why an export may be older than its sources, as the end of a sentence. None if no source was changed
    after it was built."""
    product = path / wants.made_of
    if not wants.made_of:
        return None
    if not product.is_file():
        return f"does not list its sources, because {wants.made_of} is missing"
    since = product.stat().st_mtime_ns
    listed = read_text(product, "the list of what the export was made of", CatalogueError, _BYTES).splitlines()
    edited = (item for item in map(Path, listed) if item.is_file() and item.stat().st_mtime_ns > since)
    return next((f"is older than {item}, from which it was built" for item in edited), None)


def _format_services_or_nothing(services: Iterable[str]) -> str:
    """Returns the services separated by commas, or the word "nothing"."""
    return ", ".join(services) or "nothing"
