"""Which simulator ran: what its binary says it was built from, held against the checkout that is measured with.

A manifest that names the checkout's sources while an older binary ran tells a lie that no one can see later. So the
binary carries the list of its own sources (`sim/py/build.rs`), that list is what is named, and a checkout with other
sources is refused. If there are none (an installed package), the binary's own list counts."""

import hashlib
from functools import cache
from pathlib import Path

from rtoslab.base import StaleSimulatorError, listing
from rtoslab.targets.board import simulator


@cache
def simulator_version() -> str:
    """The version that the simulator was built as."""
    return str(simulator().VERSION)


@cache
def timing_version() -> int:
    """The version of the virtual boards' timing: boards of equal versions take the same cycles."""
    return int(simulator().TIMING_VERSION)


@cache
def simulator_sources(root: Path) -> str:
    """Returns SHA-256 of the simulator's sources, 64 hex digits.

    Raises StaleSimulatorError if the checkout `root` holds other sources, ToolMissingError without a simulator.
    """
    own: str = simulator().SOURCES
    if (root / "sim").is_dir():
        _require_same(own, root)
    return hashlib.sha256(own.encode()).hexdigest()


def _require_same(own: str, root: Path) -> None:
    """File by file. The checkout's files are those of the crates that the binary's list names, but for tests."""
    files = [root / line.rpartition(" ")[0] for line in own.splitlines()]
    folders = {root.joinpath(*path.relative_to(root).parts[:3]) for path in files if "src" in path.parts}
    code = {path for folder in folders for path in folder.rglob("*.rs") if _is_built_from(path.relative_to(root))}
    present = code | {file for file in files if file.is_file()}
    now, then = (dict(line.rsplit(" ", 1) for line in text.splitlines()) for text in (listing(root, present), own))
    changed = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    if changed:
        others = f" and {len(changed) - 1} other files" if changed[1:] else ""
        raise StaleSimulatorError(
            f"The simulator was built from other sources than those in {root} ({changed[0]}{others}); "
            "run `make set-up` there, then measure again."
        )


def _is_built_from(path: Path) -> bool:
    """Whether the simulator is made of a file of its crates: not of `tests/` and `tests.rs` (see `sim/py/build.rs`)."""
    return "tests" not in {*path.parts, path.stem}
