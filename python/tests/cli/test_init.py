"""`rtoslab new project` writes a project file with which the next commands work."""

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rtoslab import build_image
from rtoslab.base import PlanError
from rtoslab.cli import app
from rtoslab.targets import boards_likely_for_image, boards_that_fit_image, boards_with_core_of_image
from tests.foreign_firmware import foreign_repository
from tests.instruments.images import CATALOGUE

F446 = ("--board", "nucleo-f446re")


@pytest.fixture
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    foreign_repository(tmp_path)
    subprocess.run(["make", "-s"], cwd=tmp_path, check=True)
    (tmp_path / "rtoslab.toml").unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def endless_loop(folder: Path, options: str) -> Path:
    """An image for an STM32 whose only function calls nothing."""
    source, elf = folder / "loop.s", folder / "loop.elf"
    source.write_text(
        ".syntax unified\n.word 0x20001000, reset + 1\n.globl reset\n.type reset, %function\n"
        ".thumb_func\nreset: nop\n1: b 1b\n.size reset, . - reset\n"
    )
    gcc = ["arm-none-eabi-gcc", *options.split(), "-mthumb", "-nostdlib", "-Wl,-Ttext=0x08000000", "-Wl,-e,reset"]
    subprocess.run([*gcc, "-o", elf, source], check=True)
    return elf


def run_init(*words: str) -> Any:
    return CliRunner().invoke(app, [*words], standalone_mode=False)


def test_written_project_file_can_be_measured(project_folder: Path) -> None:
    assert run_init("new", "project", "fw.elf", *F446).return_value == 0
    written = tomllib.loads((project_folder / "rtoslab.toml").read_text())
    assert written["image"] == {"fw": {"elf": "fw.elf", "board": "nucleo-f446re"}}
    names = [item["name"] for item in written["function"]]
    assert names[0] == "filter", "it takes the most cycles"
    assert {"control_step", "work_done", "systick"} <= set(names)
    assert "reset" not in names, "it is called once"
    assert run_init("measure").return_value == 0
    assert run_init("baseline").return_value == 0
    assert run_init("gate").return_value == 0


def test_existing_project_file_is_not_overwritten(project_folder: Path) -> None:
    (project_folder / "rtoslab.toml").write_text("# mine\n")
    assert isinstance(run_init("new", "project", "fw.elf", *F446).exception, PlanError)
    assert (project_folder / "rtoslab.toml").read_text() == "# mine\n"


def test_image_that_starts_on_several_boards_needs_board_option(project_folder: Path) -> None:
    """The boards of other families are left out: there it uses registers that they do not have."""
    done = run_init("new", "project", "fw.elf")
    assert "fw.elf starts equally well on several boards; choose one with --board: " in str(done.exception)
    named = str(done.exception).removesuffix(".").partition("--board: ")[2].split(", ")
    assert "nucleo-f446re" in named
    assert not {"nucleo-h743zi", "nucleo-l073rz", "pico"} & set(named)
    assert not (project_folder / "rtoslab.toml").exists()


@pytest.mark.parametrize("board", ["nucleo-f103rb", "nucleo-f446re", "pico"])
def test_board_is_guessed_by_where_the_image_starts(
    board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elf = build_image("t4", kernel="rt", board=board)
    content = elf.read_bytes()
    fitting = boards_that_fit_image(content, elf.name)
    assert len(fitting) > 1
    assert boards_likely_for_image(content, elf.name, fitting) == [board]
    monkeypatch.chdir(tmp_path)
    done = run_init("new", "project", str(elf))
    same_core = boards_with_core_of_image(content, elf.name, fitting)
    reason = f". The image fits {len(same_core)} boards, but only on this one it starts without a fault"
    assert (
        f"The board is {board}{reason if len(same_core) > 1 else ', the only one with these memories'}" in done.output
    )
    assert tomllib.loads((tmp_path / "rtoslab.toml").read_text())["image"]["image"]["board"] == board


def test_image_without_a_board_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.elf").write_bytes(build_image("t4", kernel="rt", board="pico").read_bytes()[:-1000])
    assert "`rtoslab list boards` shows them" in str(run_init("new", "project", "x.elf").exception)


def test_image_without_functions_can_be_diagnosed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a `main` with an endless loop no function is called twice, so nothing is proposed."""
    monkeypatch.chdir(tmp_path)
    image = str(endless_loop(tmp_path, "-mcpu=cortex-m0plus"))
    done = run_init("new", "project", image, "--board", "nucleo-l073rz")
    assert done.return_value == 0
    assert "0 functions" in done.output
    assert "Next: add a [[function]]" in done.output
    assert "# [[function]]" in (tmp_path / "rtoslab.toml").read_text()
    assert run_init("diagnose", image, "--board", "nucleo-l073rz", "--for", "10ms").return_value == 0
    assert "no [[function]] and no [[interval]] uses the image" in str(run_init("measure").exception)


@pytest.mark.parametrize(
    ("options", "cores"),
    [
        ("-mcpu=cortex-m0", {"cortex-m0plus"}),
        ("-mcpu=cortex-m3", {"cortex-m3"}),
        ("-mcpu=cortex-m4", {"cortex-m4f", "cortex-m7"}),
        ("-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16", {"cortex-m4f"}),
        ("-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16", {"cortex-m7"}),
    ],
)
def test_boards_with_the_core_of_the_image_come_first(options: str, cores: set[str], tmp_path: Path) -> None:
    elf = endless_loop(tmp_path, options)
    content = elf.read_bytes()
    boards = boards_with_core_of_image(content, elf.name, boards_that_fit_image(content, elf.name))
    assert {CATALOGUE.find_board(board).facts.core for board in boards} == cores


def test_board_without_memory_for_the_variables_does_not_fit(tmp_path: Path) -> None:
    """0x24000000 is RAM of the H743 alone."""
    source, elf = tmp_path / "code.c", tmp_path / "code.elf"
    source.write_text("int value;\nvoid reset(void) { value = 1; for (;;) { } }\n")
    gcc = ["arm-none-eabi-gcc", "-mcpu=cortex-m7", "-mthumb", "-nostdlib", "-Wl,-e,reset"]
    for bss, boards in ((0x2400_0000, {"nucleo-h743zi"}), (0x2000_0000, {"nucleo-h743zi", "nucleo-f767zi"})):
        places = ["-Wl,-Ttext=0x08000000", f"-Wl,-Tbss={bss:#x}"]
        subprocess.run([*gcc, *places, "-o", elf, source], check=True)
        fitting = boards_that_fit_image(elf.read_bytes(), elf.name)
        assert set(boards_with_core_of_image(elf.read_bytes(), elf.name, fitting)) >= boards
        assert ("nucleo-f767zi" in fitting) == ("nucleo-f767zi" in boards)
