"""What is installed, what is missing, how to get it."""

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import RtoslabError, StaleSimulatorError, build_folder, runs_folder, tools
from rtoslab.catalogue import Tree, read_trees
from rtoslab.hardware import SIGROK, analyzer_banner
from rtoslab.targets import simulator_sources, timing_settings
from rtoslab.trees import names_missing


@dataclass(frozen=True, slots=True)
class Examined:
    """One thing looked at."""

    name: str
    fine: bool
    found: str
    remedy: str = ""


def examine(root: Path) -> list[Examined]:
    """Everything the stages need, in the order of the stages."""
    return [
        _python(),
        *(_tool(tool) for tool in tools.needed_tools()),
        _analyzer(),
        *(_tree(tree) for tree in read_trees().values()),
        _simulator(root),
        Examined("sources", fine=True, found=str(root / "firmware")),
        _writable(build_folder(root)),
        _writable(runs_folder()),
    ]


def _python() -> Examined:
    fine = sys.version_info >= (3, 11)
    return Examined("Python", fine, platform.python_version(), "" if fine else "install Python 3.11 or later")


def _tool(tool: tools.Tool) -> Examined:
    try:
        tools.find(tool.name)
    except RtoslabError:
        return Examined(tool.name, fine=False, found=f"missing: it {tool.purpose}", remedy=tool.remedy)
    return Examined(tool.name, fine=True, found=tools.banner(tool.name))


def _analyzer() -> Examined:
    """Nothing else needs it, so without it all is fine."""
    banner = analyzer_banner()
    return Examined(SIGROK, fine=True, found=banner or "not installed: only `rtoslab capture --sigrok` needs it")


def _tree(tree: Tree) -> Examined:
    name = f"tree {tree.id}"
    missing = names_missing(tree)
    if missing:
        return Examined(name, fine=False, found=missing[0], remedy=f"rtoslab tree check {tree.id} says more")
    return Examined(name, fine=True, found=f"{tree.version}, {tree.path}")


def _simulator(root: Path) -> Examined:
    try:
        count = len(timing_settings("rp2040"))
        simulator_sources(root)
    except StaleSimulatorError as cause:
        return Examined("virtual board", fine=False, found=str(cause), remedy="make set-up")
    except RtoslabError as cause:
        return Examined("virtual board", fine=False, found=str(cause), remedy="make demo")
    return Examined("virtual board", fine=True, found=f"built, {count} timing parameters")


def _writable(folder: Path) -> Examined:
    place = next(parent for parent in (folder, *folder.parents) if os.path.exists(parent))  # noqa: PTH110 (never raises)
    try:
        probe = place / ".rtoslab-doctor"
        probe.touch()
        probe.unlink()
    except OSError as cause:
        return Examined(
            folder.name,
            fine=False,
            found=f"cannot write to {place} ({(cause.strerror or 'why is not known').lower()})",
            remedy="check its permissions",
        )
    return Examined(folder.name, fine=True, found="writable")
