"""`rtoslab init` writes a project file with which the next commands work."""

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rtoslab.base import PlanError
from rtoslab.cli import app
from tests.foreign_firmware import foreign_repository

F446 = ("--board", "nucleo-f446re")


@pytest.fixture
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    foreign_repository(tmp_path)
    subprocess.run(["make", "-s"], cwd=tmp_path, check=True)
    (tmp_path / "rtoslab.toml").unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_init(*words: str) -> Any:
    return CliRunner().invoke(app, [*words], standalone_mode=False)


def test_written_project_file_can_be_measured(project_folder: Path) -> None:
    assert run_init("init", "fw.elf", *F446).return_value == 0
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
    assert isinstance(run_init("init", "fw.elf", *F446).exception, PlanError)
    assert (project_folder / "rtoslab.toml").read_text() == "# mine\n"


def test_image_for_several_boards_needs_board_option(project_folder: Path) -> None:
    done = run_init("init", "fw.elf")
    assert "nucleo-f446re" in str(done.exception)
    assert "choose one with --board" in str(done.exception)
    assert not (project_folder / "rtoslab.toml").exists()
