"""`rtoslab kernel tree`: kernels whose sources are a folder or checkout that the user names."""

from pathlib import Path
from typing import Any

import click
from rich.table import Table

from rtoslab.base import (
    EXIT_ERROR,
    EXIT_OK,
    EXIT_POINT_FAILED,
    CatalogueError,
    RtoslabError,
    count_with_noun,
    find_checkout_root,
    make_folder,
    write_file_atomically,
)
from rtoslab.catalogue import (
    Catalogue,
    CatalogueEntry,
    Kernel,
    SourceTree,
    kernel_tree_description_as_toml,
    parse_kernel_export_identifier,
    read_user_kernel_trees,
    source_tree_description_path,
)
from rtoslab.cli.choices import boards_option, config_option
from rtoslab.cli.console import PlainConsole, colour_text
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.names import CatalogueNameParam, split_names
from rtoslab.conformance import check_whole_port_conformance
from rtoslab.plan import PlannedPoint, PlanOptions, points_of_conformance_suite
from rtoslab.trees import (
    add_kernel_export,
    draft_kernel_tree_description,
    find_repositories,
    missing_tree_files,
    reason_kernel_export_is_unusable,
    recognise_kernel_port,
    source_files_of_tree,
)


@click.group("tree", short_help="Add a kernel from a folder of sources.")
def kernel_tree_command() -> None:
    """Build kernels from source trees that you add: any folder or checkout of their sources.

    The description of a tree is stored with your configuration (RTOSLAB_TREES names another folder), never in the
    repository. For one call, the environment variable RTOSLAB_TREE_ID names another folder for the tree ID.
    """


@kernel_tree_command.command("add", short_help="Add a source tree as a kernel.")
@click.argument("ident", metavar="ID")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--port",
    help=(
        "The kernel's port: a name, or a folder with your own port.  [default: ID, or the port whose "
        "headers the tree contains]"
    ),
)
@click.option("--version", "version", help="Version of the kernel, if the tree's headers do not state it.")
@click.option("--force", is_flag=True, help="Replace an existing description of this tree and all its exports.")
def tree_add_command(ident: str, path: Path, port: str | None, version: str | None, force: bool) -> int:
    """Add the source tree PATH as the kernel ID, for use as `--kernel ID`. A description of the tree is generated.

    For a kernel with its own build system, PATH is an export of that build: one for each board and number of cores.
    """
    catalogue = Catalogue(find_checkout_root())
    target = source_tree_description_path(ident)
    if not path.is_dir():
        raise CatalogueError(f"There is no folder {path}; give the folder of the tree.")
    entry = (
        _find_named_kernel_port(catalogue, port or ident)
        if port or ident in catalogue.kernels
        else recognise_kernel_port(catalogue, path)
    )
    if target.exists() and not force and entry.facts.export is None:
        raise CatalogueError(
            f"There is a tree {ident} already, described in {target}; edit that file, or replace it with --force."
        )
    if ident == entry.id and entry.facts.package:
        raise CatalogueError(
            f"{entry.facts.title} is the name of a kernel from a package; give the tree another name, as in "
            f"`rtoslab kernel tree add {ident}-mine {path} --port {ident}`."
        )
    where, place = catalogue.kernel_port_id_or_folder(entry), path.absolute()
    if entry.facts.export is None:
        tree = draft_kernel_tree_description(entry.facts, where, ident, place, version)
        relation, how = f": {_compiled_file_count_text(tree)}", "builds"
    else:  # one export more, in place of one for the same board and cores
        tree, key = add_kernel_export(
            entry, where, ident, place, None if force else read_user_kernel_trees().get(ident)
        )
        relation, how = f" for {key}: {place}", "links"
    make_folder(target.parent)
    write_file_atomically(target, kernel_tree_description_as_toml(tree), "the tree's description")
    click.echo(f"{entry.facts.title} {tree.version}{relation}. Its description is {target}.")
    click.echo(f"`rtoslab kernel tree check {ident}` {how} it and runs the conformance suite; then `--kernel {ident}`.")
    return EXIT_OK


def _find_named_kernel_port(catalogue: Catalogue, named: str) -> CatalogueEntry[Kernel]:
    """Returns the port of that name, or the one in that folder. Raises CatalogueError, UnknownNameError."""
    folder = Path(named).absolute()
    if (folder / "kernel.toml").is_file():
        return catalogue.read_kernel_port(folder)
    return catalogue.read_kernel_port(catalogue.find_kernel(named).folder)


def _compiled_file_count_text(tree: SourceTree) -> str:
    """Returns how many files of a source tree are compiled for each core, as text.

    It shows at once if a draft took a folder too many.
    """
    return ", ".join(
        f"{count_with_noun(len(source_files_of_tree(tree, core)), 'file')} for {core}" for core in tree.cores
    )


@kernel_tree_command.command("list", short_help="Show the known trees, with version and commit.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list on stdout.")
def tree_list_command(as_json: bool) -> int:
    """List the known trees: where they are, their version and commit."""
    trees = read_user_kernel_trees()
    rows = [_tree_description_as_json(tree) for tree in trees.values()]
    if as_json:
        print_json_answer(rows, indent=2)
    elif not rows:
        click.echo(
            "No tree was added; `rtoslab kernel tree add ID PATH` adds one and writes its description to "
            f"{source_tree_description_path('ID').parent}."
        )
    else:
        table = Table("id", "port", "version", "commit", "path")
        for row in rows:
            commit = (
                ", ".join(_path_and_commit_text(repository) for repository in row["repositories"])
                or "no version control"
            )
            state = commit if row["there"] else colour_text("missing", "red")
            table.add_row(row["id"], Path(row["port"]).name, row["version"], state, row["path"])
        PlainConsole().print(table)
    return EXIT_OK


def _tree_description_as_json(tree: SourceTree) -> dict[str, Any]:
    """Returns a description of a user's source tree as a JSON object."""
    is_present = all(Path(export).is_dir() for export in tree.exports.values() or (tree.path,))
    return {
        "id": tree.id, "port": tree.port, "version": tree.version, "path": tree.path, "there": is_present,
        "exports": tree.exports,
        "description": str(source_tree_description_path(tree.id)),
        "repositories": [
            {"at": repository.at, "origin": repository.origin, "commit": repository.commit, "dirty": repository.dirty}
            for repository in (find_repositories(tree) if is_present else ())
        ],
    }  # fmt: skip


def _path_and_commit_text(repository: dict[str, Any]) -> str:
    """Returns the path and the commit of a git repository as text. `repository`: its JSON object."""
    place = "" if repository["at"] == "." else f"{repository['at']} "
    return place + (repository["commit"] or "none")[:10] + (" and edits" if repository["dirty"] else "")


@kernel_tree_command.command("check", short_help="Build a tree and run the conformance suite.")
@click.argument("ident", metavar="ID", type=CatalogueNameParam("kernels"))
@boards_option(default="one for each core that the tree is described for")
@config_option
def tree_check_command(ident: str, boards: tuple[str, ...], config: tuple[tuple[str, str], ...]) -> int:
    """Check that all files of a tree's description exist, build the tree, and run the conformance suite.

    Exit code 1 if something is missing, 3 if it cannot be built or does not conform.
    """
    catalogue = Catalogue(find_checkout_root())
    entry = catalogue.find_kernel(ident)
    if entry.tree is None:
        raise CatalogueError(
            f"{entry.facts.title} is not built from a tree; `rtoslab kernel tree list` shows the known trees."
        )
    missing = missing_tree_files(entry.tree)
    if missing:
        for sentence in missing:
            click.echo(sentence)
        anew = f"`rtoslab kernel tree add {entry.id} PATH --force`"
        click.echo(f"Correct {source_tree_description_path(entry.id)}, or write it again with {anew}.")
        return EXIT_ERROR
    if entry.tree.exports:
        return _check_conformance_of_kernel_exports(
            catalogue, entry, split_names(boards, catalogue.boards) or (), dict(config)
        )
    names = split_names(boards, catalogue.boards) or _one_board_per_core(catalogue, entry.tree)
    points = points_of_conformance_suite(catalogue, PlanOptions((entry.id,), names, None, config=dict(config)))
    verdicts = [_check_kernel_port_conformance(catalogue, point) for point in points]
    return EXIT_OK if all(verdicts) else EXIT_POINT_FAILED


def _check_conformance_of_kernel_exports(
    catalogue: Catalogue, entry: CatalogueEntry[Kernel], boards: tuple[str, ...], config: dict[str, str]
) -> int:
    """Builds each export of a kernel into an image and runs the conformance suite. Returns the exit code. `boards`:
    only these, if not empty."""
    assert entry.tree is not None
    verdicts = []
    for key in entry.tree.exports:
        board, cores, opt = parse_kernel_export_identifier(key)
        if boards and board not in boards:
            continue
        trouble = reason_kernel_export_is_unusable(entry, key)
        if trouble is not None:
            click.echo(f"{entry.id} for {key}: {trouble}.")
            return EXIT_ERROR
        points = points_of_conformance_suite(
            catalogue, PlanOptions((entry.id,), (board,), (cores,), config={"opt": opt, **config})
        )
        verdicts += [_check_kernel_port_conformance(catalogue, point) for point in points]
    return EXIT_OK if all(verdicts) else EXIT_POINT_FAILED


def _one_board_per_core(catalogue: Catalogue, tree: SourceTree) -> tuple[str, ...]:
    """Returns one board for each kind of core (such as Cortex-M4) that the tree is described for."""
    cores = {entry.facts.core: name for name, entry in reversed(list(catalogue.boards.items()))}
    return tuple(name for core, name in cores.items() if not tree.cores or core in tree.cores)


def _check_kernel_port_conformance(catalogue: Catalogue, point: PlannedPoint) -> bool:
    """Runs the conformance suite for a point and prints its result. Returns whether the port conforms."""
    if point.not_applicable is not None:
        click.echo(f"n/a {point.label}: {point.not_applicable}")
        return True
    try:
        verdict = check_whole_port_conformance(catalogue, point)
    except RtoslabError as cause:
        click.echo(str(cause))
        return False
    click.echo(f"{point.label}: {verdict.conformance_outcome_counts_text}.")
    if not verdict.is_kernel_port_conformant:
        click.echo(f"`rtoslab kernel conformance --kernel {point.kernel} --board {point.board}` shows every check.")
    return verdict.is_kernel_port_conformant


@kernel_tree_command.command("remove")
@click.argument("ident", metavar="ID")
def tree_remove_command(ident: str) -> int:
    """Remove the description of a tree. The tree itself and its results are kept."""
    path = source_tree_description_path(ident)
    if not path.is_file():
        raise CatalogueError(f"There is no tree {ident}; `rtoslab kernel tree list` shows the known trees.")
    path.unlink()
    click.echo(f"Removed {path}. The tree itself was not changed.")
    return EXIT_OK
