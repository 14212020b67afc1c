"""Compares reference results with the tree or the exports that the user names.

A tree is compared by its compiled files. If all are the same, the commits are compared too, because of headers. An
export is compared by the files that images are linked with. A kernel without a named tree is not compared."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rtoslab.catalogue import DEFAULT_OPT, Catalogue, CatalogueEntry, Kernel, SourceTree, kernel_export_identifier
from rtoslab.reference.age import digest_of_file_now
from rtoslab.reference.reference_file import ReferenceResultsFile
from rtoslab.results import MeasuredPoint, PointId
from rtoslab.trees import find_kernel_export_tree, find_repositories, linked_libraries_digest

_COMPILED: Final = "kernel/"
"""The name of the tree in manifests."""
_COMMIT: Final = 12
"""The digits of a commit that are shown."""


def source_tree_changes_since(catalogue: Catalogue, reference: ReferenceResultsFile) -> list[str]:
    """Returns how the kernel sources that the user added differ from those of a reference file. Empty if they do not,
    or there are none."""
    kernel = catalogue.kernels.get(reference.kernel)
    if kernel is None or kernel.tree is None:
        return []
    paths_by_name = _source_paths_by_name(kernel.tree)
    changes: dict[str, None] = {}
    for point in reference.points:
        if isinstance(point.result, MeasuredPoint):
            changed = _kernel_tree_changes_since_point(
                kernel, kernel.tree, paths_by_name, point.result.point, point.manifest
            )
            changes.update(dict.fromkeys(changed))
    return list(changes)


def _kernel_tree_changes_since_point(
    kernel: CatalogueEntry[Kernel],
    tree: SourceTree,
    paths_by_name: Mapping[str, list[str]],
    point: PointId,
    manifest: Mapping[str, Any],
) -> list[str]:
    """Returns how the user's source tree or export differs from the one that a point was measured with.
    `paths_by_name`: the paths of the tree's source files, by the name of the file.
    """
    build = manifest["build"]
    if tree.version != build["kernel_version"]:
        return [f"{kernel.id} is {tree.version}, not {build['kernel_version']}"]
    measured = build.get("tree") or {}
    if tree.exports:
        key = kernel_export_identifier(point.board, point.cores, point.config.get("opt", DEFAULT_OPT))
        linked = measured.get("linked_sha256")
        known = linked is not None and key in tree.exports
        return (
            [f"the export {key}"]
            if known and linked_libraries_digest(find_kernel_export_tree(kernel, key)) != linked
            else []
        )
    sources = build["sources"].items()
    compiled = {name.removeprefix(_COMPILED): digest for name, digest in sources if name.startswith(_COMPILED)}
    changed = sorted(
        name for name, digest in compiled.items() if not _is_file_unchanged(tree, paths_by_name, name, digest)
    )
    if changed:
        return [f"{kernel.id}'s {name}" for name in changed]
    return _describe_changed_git_commits(kernel.id, tree, measured)


def _source_paths_by_name(tree: SourceTree) -> Mapping[str, list[str]]:
    """Returns the paths of the source files in a user's tree, by the name of the file."""
    root = Path(tree.path)
    patterns = {source for part in (tree, *tree.cores.values()) for source in part.sources if source[0] != "!"}
    paths = {path.relative_to(root).as_posix() for pattern in patterns for path in root.glob(pattern)}
    by_name: dict[str, list[str]] = {}
    for path in sorted(paths):
        by_name.setdefault(Path(path).name, []).append(path)
    return by_name


def _is_file_unchanged(tree: SourceTree, paths_by_name: Mapping[str, list[str]], name: str, digest: str) -> bool:
    """Whether a user's tree has a compiled file of the measured tree. `name`: its path there. `digest`: its SHA-256.

    The user's tree may begin at another folder, for example at FreeRTOS instead of FreeRTOS/Source.
    """
    root = Path(tree.path)
    paths = (name, *paths_by_name.get(Path(name).name, ()))
    return any(digest_of_file_now(root, path) == digest for path in paths)


def _describe_changed_git_commits(ident: str, tree: SourceTree, measured: Mapping[str, Any]) -> list[str]:
    """Returns a clause for each git repository of the tree that is at another commit than `measured` says.

    Commits are compared within one repository only: a copy of the sources in another one has commits of its own.
    """
    now = {
        (repository.at, repository.origin): (repository.commit or "", repository.dirty)
        for repository in find_repositories(tree)
    }
    before = {
        (repository["at"], repository.get("origin")): (repository["commit"] or "", repository["dirty"])
        for repository in measured.get("repositories", ())
    }
    return [
        f"{ident} is at {_short_commit_hash_text(*now[key])}, not {_short_commit_hash_text(*before[key])}"
        for key in sorted(now.keys() & before.keys(), key=str)
        if now[key] != before[key]
    ]


def _short_commit_hash_text(commit: str, dirty: bool) -> str:
    """Returns a short commit hash as text, with a remark if files were edited."""
    return f"{commit[:_COMMIT]}{', edited' if dirty else ''}"
