"""The sources that the simulator's binary was built from, compared with those of the checkout.

A manifest that names the checkout's sources while an older binary ran would be wrong, and nobody could see it later. So
the binary contains the list of its own sources (`sim/py/build.rs`). The manifest names that list, and a checkout with
other sources is refused. An installed package has no sources to compare."""

import hashlib
from functools import cache
from pathlib import Path

from rtoslab.base import StaleSimulatorError, listing_of_file_hashes
from rtoslab.targets.board import simulator_module


@cache
def simulator_version() -> str:
    """Returns the version of rtoslab that the simulator was built from."""
    return str(simulator_module().VERSION)


@cache
def timing_version(chip: str) -> int:
    """Returns the version of the timing of virtual boards with a chip. Boards of equal versions take the same
    cycles."""
    return int(simulator_module().timing_version(chip))


@cache
def simulator_sources_digest(root: Path) -> str:
    """Returns the SHA-256 of the sources that the simulator was built from, as 64 hex digits.

    Raises StaleSimulatorError if the checkout `root` holds other sources, ToolMissingError without a simulator.
    """
    own: str = simulator_module().SOURCES
    if (root / "sim").is_dir():
        _require_matching_simulator_sources(own, root)
    return hashlib.sha256(own.encode()).hexdigest()


def _require_matching_simulator_sources(own: str, root: Path) -> None:
    """Raises StaleSimulatorError if the checkout's simulator sources differ from those of the binary.

    The checkout's files are those of the crates that the list names, but for tests.
    """
    files = [root / line.rpartition(" ")[0] for line in own.splitlines()]
    folders = {root.joinpath(*path.relative_to(root).parts[:3]) for path in files if "src" in path.parts}
    code = {
        path
        for folder in folders
        for path in folder.rglob("*.rs")
        if _is_source_in_simulator_binary(path.relative_to(root))
    }
    present = code | {file for file in files if file.is_file()}
    now, then = (
        dict(line.rsplit(" ", 1) for line in text.splitlines()) for text in (listing_of_file_hashes(root, present), own)
    )
    changed = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    if changed:
        others = f" and {len(changed) - 1} other files" if changed[1:] else ""
        raise StaleSimulatorError(
            f"The simulator was built from other sources than those in {root} ({changed[0]}{others}); "
            "run `make set-up` there, then measure again."
        )


def _is_source_in_simulator_binary(path: Path) -> bool:
    """Whether a source file of the simulator is compiled into its binary. Test files (`tests/`, `tests.rs`) are not."""
    return "tests" not in {*path.parts, path.stem}
