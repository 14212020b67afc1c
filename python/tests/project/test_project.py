"""rtoslab.toml: what a project wants measured, built and held against its budgets."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rtoslab.base import BuildError, CatalogueError, ToolMissingError
from rtoslab.cli import app
from rtoslab.project import read_project
from tests.instruments.small_program import small_program

IMAGE = """
[image.small]
elf = "made.elf"
board = "pico"
cores = 1
for_ms = 1
build = ["./make.sh", "a b"]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose build copies the image."""
    build = tmp_path / "make.sh"
    build.write_text(f'#!/bin/sh\n[ "$1" = "a b" ] && cp {small_program("pico")} made.elf\n')
    build.chmod(build.stat().st_mode | stat.S_IXUSR)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_project(folder: Path, *functions: str, image: str = IMAGE) -> None:
    tables = [f'[[function]]\nimage = "small"\n{function}\n' for function in functions]
    path = folder / "rtoslab.toml"
    path.write_text(image + "\n".join(tables))
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1))


def run_measure(*words: str) -> Any:
    return CliRunner().invoke(app, ["measure", *words], standalone_mode=False)


def test_within_its_budgets_a_project_passes(project: Path) -> None:
    outer = 'name = "outer"\nmax_cycles = 28\nmax_stack_bytes = 8'
    write_project(project, outer, 'name = "outer"\nby = "exclusive"\nmax_cycles = 16', 'name = "endless"')
    done = run_measure()
    assert done.return_value == 0, done.output
    assert "outer (0x" in done.output
    assert (project / "made.elf").is_file()


def test_each_budget_exceeded_is_one_line_and_exit_code_3(project: Path) -> None:
    write_project(
        project,
        'name = "outer"\nmax_cycles = 27\nmax_stack_bytes = 7',
        'name = "leaf"\nmax_cycles = 12\nmax_stack_bytes = 0',
        'name = "recursive"\nmax_cycles = 10\nby = "exclusive"',
        'name = "never_called"\nmax_cycles = 10',
        'name = "reset"\nmax_stack_bytes = 11',
        'name = "endless"\nmax_stack_bytes = 0',
    )
    done = run_measure("--json")
    assert done.return_value == 3
    result = json.loads(done.stdout)
    assert [item["calls"] for item in result["images"]["small"]["functions"]] == [20, 60, 60, 0, 0, 0]
    assert result["over"] == [
        "small: outer: 28 cycles inclusive, 27 allowed, begun in cycle 22",
        "small: outer: 8 bytes of stack, 7 allowed",
        "small: recursive: 11 cycles exclusive, 10 allowed",
        "small: never_called: no call returned, so its budget was not checked",
        "small: reset: its stack use is not known, because it sets the stack pointer itself",
    ]
    assert done.stderr.splitlines()[-5:] == result["over"]


def test_truncated_measurement_does_not_pass(project: Path) -> None:
    write_project(project, 'name = "outer"', image=IMAGE + 'until = "never_called"\n')
    assert run_measure().return_value == 3


@pytest.mark.parametrize(
    ("functions", "image", "told"),
    [
        (['name = "outer"\nmax_cycle = 3'], IMAGE, "max_cycle"),
        (['name = "outer"\nmax_cycles = "3"'], IMAGE, "max_cycles"),
        (['name = "outer"\nmax_cycles = 0'], IMAGE, "max_cycles"),
        ([], IMAGE, "function"),
        (['name = "outer"'], IMAGE.replace("small", "smell"), "no image is named 'small'; known: 'smell'"),
        (['name = "outer"'], IMAGE + '[image.more]\nelf = "a"\nboard = "pico"\n', "uses the image 'more'"),
        (['name = "outer"'], IMAGE.replace('board = "pico"', ""), "board"),
    ],
)
def test_mistake_in_the_project_file_is_reported(project: Path, functions: list[str], image: str, told: str) -> None:
    write_project(project, *functions, image=image)
    with pytest.raises(CatalogueError, match=told):
        read_project(project)


@pytest.mark.parametrize(
    ("build", "error", "told"),
    [('["false"]', BuildError, "ended with 1"), ('["./none"]', ToolMissingError, "does not start: no such file")],
)
def test_build_that_fails_is_an_error(project: Path, build: str, error: type[Exception], told: str) -> None:
    write_project(project, 'name = "outer"', image=IMAGE.replace('["./make.sh", "a b"]', build))
    (project / "made.elf").write_bytes(small_program("pico").read_bytes())
    done = run_measure()
    assert isinstance(done.exception, error)
    assert told in str(done.exception)


def test_image_options_are_refused_with_a_project(project: Path) -> None:
    write_project(project, 'name = "outer"')
    assert "change the file" in str(run_measure("--for", "2ms").exception)
