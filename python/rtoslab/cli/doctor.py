"""Lists installed and missing programs, and how to get them."""

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import RtoslabError, StaleSimulatorError, build_folder, runs_folder, tools
from rtoslab.catalogue import Tree, read_trees
from rtoslab.hardware import SIGROK, analyzer_banner
from rtoslab.targets import simulator_sources, timing_settings
from rtoslab.trees import missing_files


@dataclass(frozen=True, slots=True)
class Examination:
    """One thing looked at."""

    name: str
    fine: bool
    found: str
    remedy: str = ""


def examine(root: Path) -> list[Examination]:
    """Everything the stages need, in the order of the stages."""
    return [
        _python(),
        *(_tool(tool) for tool in tools.needed_tools()),
        _analyzer(),
        *(_tree(tree) for tree in read_trees().values()),
        _simulator(root),
        Examination("sources", fine=True, found=str(root / "firmware")),
        _writable(build_folder(root)),
        _writable(runs_folder()),
    ]


def _python() -> Examination:
    fine = sys.version_info >= (3, 11)
    return Examination("Python", fine, platform.python_version(), "" if fine else "install Python 3.11 or later")


def _tool(tool: tools.Tool) -> Examination:
    try:
        tools.find_tool(tool.name)
    except RtoslabError:
        return Examination(tool.name, fine=False, found=f"missing: it {tool.purpose}", remedy=tool.remedy)
    return Examination(tool.name, fine=True, found=tools.version_banner(tool.name))


def _analyzer() -> Examination:
    """Nothing else needs it, so without it all is fine."""
    banner = analyzer_banner()
    return Examination(SIGROK, fine=True, found=banner or "not installed: only `rtoslab capture --sigrok` needs it")


def _tree(tree: Tree) -> Examination:
    name = f"tree {tree.id}"
    missing = missing_files(tree)
    if missing:
        return Examination(name, fine=False, found=missing[0], remedy=f"rtoslab tree check {tree.id} says more")
    return Examination(name, fine=True, found=f"{tree.version}, {tree.path}")


def _simulator(root: Path) -> Examination:
    try:
        count = len(timing_settings("rp2040"))
        simulator_sources(root)
    except StaleSimulatorError as cause:
        return Examination("virtual board", fine=False, found=str(cause), remedy="make set-up")
    except RtoslabError as cause:
        return Examination("virtual board", fine=False, found=str(cause), remedy="make demo")
    return Examination("virtual board", fine=True, found=f"built, {count} timing parameters")


def _writable(folder: Path) -> Examination:
    place = next(parent for parent in (folder, *folder.parents) if os.path.exists(parent))  # noqa: PTH110 (never raises)
    try:
        probe = place / ".rtoslab-doctor"
        probe.touch()
        probe.unlink()
    except OSError as cause:
        return Examination(
            folder.name,
            fine=False,
            found=f"cannot write to {place} ({(cause.strerror or 'why is not known').lower()})",
            remedy="check its permissions",
        )
    return Examination(folder.name, fine=True, found="writable")
