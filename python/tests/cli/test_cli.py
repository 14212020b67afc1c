"""The command: one clear sentence per error, the documented exit codes, output for machines."""

import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import rtoslab as rtoslab_package
from rtoslab.base.errors import ImageFileError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue import OPTIONAL_SERVICES
from rtoslab.targets.simulation import SimulationRunOptions, parse_serial_input_script, simulate_image, unescape_text
from tests import command_server
from tests.checkouts import build_apart
from tests.command_server import is_served, run_served
from tests.differential.engines import elf
from tests.fakes import FakeMachine, board

ROOT = find_checkout_root()
HANG_S = command_server.HANG_S


def rtoslab(*args: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    if is_served(environment):
        return run_served([*map(str, args)], {**os.environ, **environment}, ROOT, HANG_S)
    return from_nothing(*args, **environment)


def from_nothing(*args: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same as a shell starts it, every module loaded anew."""
    return subprocess.run(
        [sys.executable, "-m", "rtoslab", *map(str, args)],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}, timeout=HANG_S, check=False,
    )  # fmt: skip


def command_error(done: subprocess.CompletedProcess[str], code: int) -> str:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip()


def test_show_without_a_run_lists_existing_runs() -> None:
    assert rtoslab("show").stdout == rtoslab("runs").stdout


def test_commands_on_a_run_without_a_figure_do_not_end_as_success(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert rtoslab("run", "mutex", "--kernel", "bare", "--board", "nucleo-f446re", "--out", run).returncode == 3
    page = tmp_path / "report.html"
    for words in (f"show {run}", f"show {run} --json", f"report {run} --format md", f"report {run} -o {page}"):
        done = rtoslab(*words.split())
        assert done.returncode == 3, words
        assert "None of the stored points has a figure: each failed or is n/a, and says why." in done.stderr
    assert "n/a" in page.read_text()
    assert rtoslab("compare", run, run).returncode == 3
    for words in (f"lint {run}", f"choose --board nucleo-f446re --from {run}"):
        assert "contains no measured point" in command_error(rtoslab(*words.split()), 1)


def test_list_names_the_groups_of_benchmarks() -> None:
    listed = rtoslab("list", "suites").stdout
    assert re.search(r"counts +│ all with counts: ", listed)
    assert re.search(r"latency +│ all with latency: ", listed)


def test_python_shell_completes_the_public_names() -> None:
    assert {"run", "board", "load", "__version__"} <= set(dir(rtoslab_package))


def test_list_prints_json() -> None:
    result = json.loads(rtoslab("list", "--json").stdout)
    assert {"kernels", "boards", "benchmarks", "suites"} == set(result)
    assert "pico" in [item["id"] for item in result["boards"]]
    lacks = {item["id"]: item["lacks"] for item in result["kernels"]}
    assert set(lacks["freertos"]) - set(OPTIONAL_SERVICES) == {"condition", "pool", "queue_pointer"}
    assert lacks["rt"]["heap"] == "rt allocates nothing: every object is the application's own"
    assert {"tasks", "heap", "smp"} <= set(lacks["bare"])


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["run", "vieria2026"], 1, "did you mean 'vieira2026'?"),
        (["run", "t1", "--kernel", "freertoss"], 1, "There is no kernel named 'freertoss'; did you mean 'freertos'?"),
        (["run", "t1", "--board", "pica"], 1, "did you mean 'pico'?"),
        (["run", "t1", "--window", "fast"], 2, "not a time such as 250ms or 30s"),
        (["run", "t1", "--cores", "one"], 2, "not a list of core counts"),
        (["run", "t1", "--config", "novalue"], 2, "is not KEY=VALUE"),
        (["run"], 2, "There is nothing to measure"),
        (["zzz"], 2, "No such command"),
        (["lst"], 2, "There is no command 'lst'; did you mean 'list'?"),
        (["run", "tt1"], 1, "There is no suite or benchmark named 'tt1'; did you mean 't1_arithmetic'?"),
        (
            ["run", "t1", "--config", "feature.icach=0"],
            1,
            "no feature of a board named 'icach'; did you mean 'icache'?",
        ),
        (["trace", "x.pftrace", "lod"], 1, "There is no question named 'lod'; did you mean 'load'?"),
        (["show", "nowhere"], 1, "is not a run directory"),
        (["report", "nowhere", "-o", "x.html"], 1, "is not a run directory"),
        (
            ["sweep", "docs/sweeps/f446re.toml", "-o", "x.pdf"],
            1,
            "x.pdf has no known format; let it end in .html or .md",
        ),
        (["gate", "-o", "x"], 1, "x has no known format; let it end in .html, .md, .json or .xml"),
        (["runs", "export", "-o", "x.xlsx"], 1, "x.xlsx has no known format; let it end in .parquet, .csv or .jsonl"),
        (["sim", "nowhere.elf"], 1, "Cannot read the image nowhere.elf (no such file or directory)"),
        (["sim", "README.none", "--board", "pico2"], 1, "There is no board named 'pico2'; did you mean 'pico'?"),
        (["sim", "x", "--cores", "3"], 1, "has 2 cores, not 3"),
    ],
)
def test_wrong_use_is_reported_in_one_sentence(args: list[str], code: int, sentence: str) -> None:
    assert sentence in command_error(rtoslab(*args), code)


def test_broken_image_is_named(tmp_path: Path) -> None:
    image = tmp_path / "broken.elf"
    image.write_bytes(b"\x7fELF" + bytes(20))
    assert "broken.elf cannot be loaded" in command_error(rtoslab("sim", image), 1)
    image.write_bytes(b"")
    assert "is empty" in command_error(rtoslab("sim", image), 1)


def test_missing_checkout_is_reported(tmp_path: Path) -> None:
    assert "RTOSLAB_ROOT is" in command_error(rtoslab("list", RTOSLAB_ROOT=str(tmp_path)), 1)


def test_missing_compiler_is_reported(tmp_path: Path) -> None:
    only_python = tmp_path / "bin"
    only_python.mkdir()
    text = command_error(rtoslab("run", "t1", "--out", tmp_path / "run", PATH=str(only_python)), 1)
    assert "cmake is not installed" in text
    assert "apt-get install cmake" in text


def test_doctor_lists_missing_tools(tmp_path: Path) -> None:
    done = rtoslab("doctor", "--json", PATH=str(tmp_path))
    assert done.returncode == 1
    result = {load["name"]: load for load in json.loads(done.stdout)}
    assert not result["cmake"]["fine"]
    assert result["cmake"]["remedy"] == "apt-get install cmake"


def test_doctor_reports_an_inaccessible_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom rtoslab.cli.cmd_doctor import _check_folder_is_writable\n"
        "os.chdir(sys.argv[1])\n"
        "if os.geteuid() == 0:\n    os.chmod('.', 0o755)\n    os.seteuid(65534)\n"
        "print(_check_folder_is_writable(Path('closed/rtoslab/firmware')).found)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout == "cannot write to closed (permission denied)\n", done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_is_printed(shell: str) -> None:
    assert "_RTOSLAB_COMPLETE" in rtoslab("completion", shell).stdout


def test_completion_suggests_board_names() -> None:
    done = rtoslab(_RTOSLAB_COMPLETE="bash_complete", COMP_WORDS="rtoslab run --board pi", COMP_CWORD="3")
    assert "pico" in done.stdout


def test_script_lines_are_prompt_and_text() -> None:
    text = "# comment\n\n$ => help\n=> now\nname: => a\\tb\\c\n"
    assert parse_serial_input_script(text) == [(b"$", b"help\r"), (b"", b"now\r"), (b"name:", b"a\tb")]
    with pytest.raises(ImageFileError, match="Line 1 of the script has no `=>`"):
        parse_serial_input_script("prompt text")


def test_escapes_in_typed_text() -> None:
    assert unescape_text(r"a\n\r\t\\\x41\q") == b"a\n\r\t\\A\\q"


def test_sim_collects_the_results_of_a_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtoslab.targets.simulation.load_image_into_board", lambda *_: None)
    image = tmp_path / "image"
    image.write_bytes(b"x")
    heard: list[bytes] = []
    machine = FakeMachine([("cycles", 0, b"a", b""), ("until", 0, b"b", b"")])
    request = SimulationRunOptions(until="bench_done", between=[("bench_done", "0x10000004")])
    result = simulate_image(
        image, board(), request, cores=1, on_output=lambda _, data: heard.append(data), machine=machine
    )
    results = result.as_json()
    assert heard == [b"a", b"b"]
    assert (results["stop"], results["uart"], results["cycles"], results["instructions"]) == ("until", "ab", [200], [1])
    assert results["between"] == [
        {"from": "bench_done", "to": "0x10000004", "count": 2, "min_cycles": 5, "max_cycles": 7, "total_cycles": 12}
    ]
    assert result.reached


def test_sim_reports_an_unreached_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtoslab.targets.simulation.load_image_into_board", lambda *_: None)
    image = tmp_path / "image"
    image.write_bytes(b"x")
    result = simulate_image(
        image, board(), SimulationRunOptions(until="bench_done", max_cycles=1000), machine=FakeMachine([])
    )
    assert (result.stop, result.reached, result.cycle) == ("cycles", False, 1000)


@pytest.mark.parametrize(("code", "reached"), [(0xBE00, True), (0xDE00, False)])
def test_sim_accepts_a_final_endless_loop_and_fails_on_a_fault(tmp_path: Path, code: int, reached: bool) -> None:
    image = tmp_path / "parked.elf"
    # VTOR = 0x20000100, then the instruction; the HardFault handler at 0x20000200 is the same instruction again.
    start = struct.pack("<6H2I", 0x4802, 0x4903, 0x6001, code, code, code, 0xE000_ED08, 0x2000_0100)
    vectors = struct.pack("<4I", 0, 0, 0, 0x2000_0201)
    handler = struct.pack("<H", code)
    segments = [(0x2000_0000, start), (0x2000_0100, vectors), (0x2000_0200, handler)]
    image.write_bytes(elf(segments, 0x2000_0000))
    result = simulate_image(image, board(), SimulationRunOptions(), cores=1)
    assert (result.stop, result.reached) == ("lockup", reached)


def test_image_for_another_board_names_the_boards_it_fits(tmp_path: Path) -> None:
    image = tmp_path / "other.elf"
    image.write_bytes(
        elf([(0x0800_0000, struct.pack("<II", 0x2000_1000, 0x0800_0009) + bytes([0xFE, 0xE7]))], 0x0800_0008)
    )
    output = command_error(rtoslab("sim", image, "--board", "pico"), 1)
    assert "run it on a board that it fits" in output
    assert "nucleo-f446re" in output
    assert "pico" not in output.partition("fits")[2]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--config", "configUSE_TIME_SLICNG=1"], "did you mean configUSE_TIME_SLICING?"),
        (["--config", "placment=1"], "did you mean placement?"),
        (["--config", "opt=-O9"], "There is no optimisation named '-O9'"),
        (["--config", "lto=7"], "There is no value of lto named '7'; known: 0, 1."),
        (["--kernel", "freertos,rt", "--config", "nobody=1"], "does not exist in freertos, rt"),
    ],
)
def test_unknown_setting_is_refused_before_the_build(options: list[str], sentence: str, tmp_path: Path) -> None:
    build = build_apart(tmp_path / "build")
    done = rtoslab("run", "t7", *options, "--out", tmp_path / "run", RTOSLAB_BUILD=str(build))
    assert sentence in command_error(done, 1)
    assert not (tmp_path / "run").exists()
    assert list(build.rglob("*.elf")) == []


def test_setting_of_one_of_the_kernels_is_accepted(tmp_path: Path) -> None:
    options = ["--kernel", "freertos,rt", "--config", "configUSE_PREEMPTION=1", "--dry-run"]
    done = rtoslab("run", "t7", *options, RTOSLAB_BUILD=str(build_apart(tmp_path / "build")))
    assert done.returncode == 0, done.stderr
