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
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    foreign_repository(tmp_path)
    subprocess.run(["make", "-s"], cwd=tmp_path, check=True)
    (tmp_path / "rtoslab.toml").unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def say(*words: str) -> Any:
    return CliRunner().invoke(app, [*words], standalone_mode=False)


def test_written_project_file_can_be_measured(there: Path) -> None:
    assert say("init", "fw.elf", *F446).return_value == 0
    written = tomllib.loads((there / "rtoslab.toml").read_text())
    assert written["image"] == {"fw": {"elf": "fw.elf", "board": "nucleo-f446re"}}
    names = [item["name"] for item in written["function"]]
    assert names[0] == "filter", "it takes the most cycles"
    assert {"control_step", "work_done", "systick"} <= set(names)
    assert "reset" not in names, "it is called once"
    assert say("measure").return_value == 0
    assert say("baseline").return_value == 0
    assert say("gate").return_value == 0


def test_existing_project_file_is_not_overwritten(there: Path) -> None:
    (there / "rtoslab.toml").write_text("# mine\n")
    assert isinstance(say("init", "fw.elf", *F446).exception, PlanError)
    assert (there / "rtoslab.toml").read_text() == "# mine\n"


def test_image_for_several_boards_needs_board_option(there: Path) -> None:
    done = say("init", "fw.elf")
    assert "nucleo-f446re" in str(done.exception)
    assert "choose one with --board" in str(done.exception)
    assert not (there / "rtoslab.toml").exists()
