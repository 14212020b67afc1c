"""A later change of firmware code makes the figures of a kernel on a board out of date. A comment does not."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.base import find_checkout_root
from rtoslab.choose import KernelBoardMatrix, changes_since_measurement
from rtoslab.choose.measured_code import digest_of_measured_firmware
from rtoslab.targets import timing_version

BOARDS = ("blue", "red")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(find_checkout_root() / "reference" / "matrix", tmp_path / "reference" / "matrix")
    for name in (
        "core/run.c",
        "kernels/k/port.h",
        "boards/blue/board.c",
        "boards/red/board.c",
        "scenes/a.c",
        "kernels/k/tasks.toml",
        "kernels/k/services/timer/port_timer.h",
        "include/bench/timer.h",
        "include/bench/timers.h",
    ):
        path = tmp_path / "firmware" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("int a = 1; /* One. */\n")
    return tmp_path


def matrix(root: Path) -> KernelBoardMatrix:
    target = {"chip": "stm32f446", "timing_version": timing_version("stm32f446")}
    manifests = {
        board: {"firmware": digest_of_measured_firmware(root, "k", board), "port": "k", "target": target}
        for board in BOARDS
    }
    return KernelBoardMatrix("k", "2026-11-29", manifests, ())


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("core/run.c", ["the firmware (blue, red)"]),
        ("kernels/k/port.h", ["the firmware (blue, red)"]),
        ("boards/red/board.c", ["the firmware (red)"]),
        ("scenes/a.c", []),
        ("kernels/k/tasks.toml", []),
        ("kernels/k/services/timer/port_timer.h", []),
        ("include/bench/timer.h", []),
        ("include/bench/timers.h", ["the firmware (blue, red)"]),
    ],
)
def test_changed_code_is_detected_on_its_boards(root: Path, name: str, changed: list[str]) -> None:
    measured = matrix(root)
    assert changes_since_measurement(root, measured) == []
    (root / "firmware" / name).write_text("int a = 1; /* Another word. */\n\n")
    assert changes_since_measurement(root, measured) == []
    (root / "firmware" / name).write_text("int a = 2; /* One. */\n")
    assert changes_since_measurement(root, measured) == changed


def test_code_of_an_optional_service_counts_if_a_benchmark_needs_it(root: Path) -> None:
    name = "context_switch"
    text = (find_checkout_root() / "firmware/benchmarks" / name / "benchmark.toml").read_text()
    path = root / "firmware/benchmarks" / name / "benchmark.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace('services = ["tasks"', 'services = ["timer", "tasks"', 1))
    assert path.read_text() != text
    measured = matrix(root)
    assert changes_since_measurement(root, measured) == []
    (root / "firmware/kernels/k/services/timer/port_timer.h").write_text("int a = 2;\n")
    assert changes_since_measurement(root, measured) == ["the firmware (blue, red)"]


def test_changed_timing_version_is_detected(root: Path) -> None:
    measured = matrix(root)
    target = {"chip": "stm32f446", "timing_version": timing_version("stm32f446") - 1}
    manifests = {**measured.manifests, "red": {**measured.manifests["red"], "target": target}}
    assert changes_since_measurement(root, replace(measured, manifests=manifests)) == ["the virtual board (red)"]


def test_timing_version_of_another_chip_changes_nothing(root: Path) -> None:
    assert timing_version("stm32f103") != timing_version("stm32f446")
    measured = matrix(root)
    target = {"chip": "stm32f103", "timing_version": timing_version("stm32f103")}
    manifests = {**measured.manifests, "red": {**measured.manifests["red"], "target": target}}
    assert changes_since_measurement(root, replace(measured, manifests=manifests)) == []
