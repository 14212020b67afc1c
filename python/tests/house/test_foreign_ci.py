"""The GitHub action and the GitLab template, executed step by step with bash in a repository of somebody else's."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from rtoslab.base import find_checkout_root
from tests.checkouts import ROOM_OF_AN_INSTALLATION
from tests.foreign_firmware import foreign_repository

ROOT: Final = find_checkout_root()
HANG_S: Final = 600
ACTION: Final = ROOT / "action.yml"
TEMPLATE: Final = ROOT / "docs" / "ci" / "gitlab-project.yml"
WHEEL: Final = "rtoslab-0.2.0-py3-none-any.whl"


def make_wheel(folder: Path) -> Path:
    """What `make dist` packs, with the simulator that is built already."""
    path = folder / WHEEL
    records = []
    with zipfile.ZipFile(path, "w") as wheel:

        def add_member(name: str, data: bytes) -> None:
            wheel.writestr(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(data)}")

        package = ROOT / "python" / "rtoslab"
        rooms = [(package, "rtoslab"), *((ROOT / room, f"rtoslab/lab/{room}") for room in ROOM_OF_AN_INSTALLATION)]
        for source, target in rooms:
            for file in sorted(item for item in source.rglob("*") if item.is_file()):
                inner = file.relative_to(source)
                if "__pycache__" not in inner.parts and not (source == package and inner.parts[0] == "lab"):
                    add_member(f"{target}/{inner}", file.read_bytes())
        info = "rtoslab-0.2.0.dist-info"
        add_member(f"{info}/METADATA", b"Metadata-Version: 2.1\nName: rtoslab\nVersion: 0.2.0\n")
        add_member(f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        add_member(f"{info}/entry_points.txt", b"[console_scripts]\nrtoslab = rtoslab.__main__:main\n")
        wheel.writestr(f"{info}/RECORD", "\n".join([*records, f"{info}/RECORD,,"]) + "\n")
    return path


class Runner:
    """What GitHub's runner does with a composite action: expressions, files of outputs, PATH, the end at a failure."""

    def __init__(self, repository: Path, inputs: Mapping[str, str]) -> None:
        self.repository = repository
        self.action = yaml.safe_load(ACTION.read_text())
        given = {name: str(item.get("default", "")) for name, item in self.action["inputs"].items()}
        self.values = {f"inputs.{name}": value for name, value in {**given, **inputs}.items()}
        self.values["github.action_path"] = str(ROOT)
        self.home = repository.parent / "runner"
        self.home.mkdir()
        names = ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        self.files = {name: self.home / name.lower() for name in names}
        for file in self.files.values():
            file.write_text("")
        self.extra_path = ""
        self.told: list[subprocess.CompletedProcess[str]] = []

    def run(self, without: str = "") -> int:
        """Exit code of the first step that failed, or 0; steps that run always run all the same."""
        code = 0
        for step in self.action["runs"]["steps"]:
            if step["name"] == without or (code and step.get("if") != "always()"):
                continue
            done = self._step(step)
            code = code or done.returncode
        return code

    @property
    def summary(self) -> str:
        return self.files["GITHUB_STEP_SUMMARY"].read_text()

    def _step(self, step: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
        assert "${{" not in step["run"], "an expression inside a script lets what it holds be executed"
        own = {name: self._filled(text) for name, text in step.get("env", {}).items()}
        added = self.files["GITHUB_PATH"].read_text().split()
        path = ":".join([*reversed(added), *filter(None, [self.extra_path]), os.environ["PATH"]])
        files = {name: str(file) for name, file in self.files.items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.repository, capture_output=True, text=True, timeout=HANG_S, check=False,
            env={**clean(), **files, "RUNNER_TEMP": str(self.home), "PATH": path, **own},
        )  # fmt: skip
        if "id" in step:
            for line in self.files["GITHUB_OUTPUT"].read_text().splitlines():
                name, _, value = line.partition("=")
                self.values[f"steps.{step['id']}.outputs.{name}"] = value
        self.told.append(done)
        return done

    def _filled(self, text: str) -> str:
        return re.sub(r"\$\{\{\s*([^}\s]+)\s*\}\}", lambda result: self.values.get(result[1], ""), text)


def clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("RTOSLAB_", "GITHUB_"))}


@pytest.fixture(scope="module")
def with_baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of somebody else's with its baseline, which one of its own would give byte for byte."""
    folder = tmp_path_factory.mktemp("made") / "somebody's own"
    folder.mkdir()
    foreign_repository(folder)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(
        [sys.executable, "-m", "rtoslab", "baseline"], cwd=folder, env=clean(), check=True, capture_output=True
    )
    return folder


@pytest.fixture
def repository_copy(with_baseline: Path, tmp_path: Path) -> Path:
    return shutil.copytree(with_baseline, tmp_path / with_baseline.name)


def spoil(repository: Path) -> None:
    main = repository / "main.c"
    main.write_text(main.read_text().replace("TURNS 8", "TURNS 9"))


def test_action_gates_a_foreign_repository(repository_copy: Path) -> None:
    runner = Runner(repository_copy, {"wheel": "none"})
    runner.extra_path = str(Path(sys.executable).parent)
    assert runner.run(without="Install rtoslab") == 0, runner.told[-1].stderr
    assert "Same or better" in runner.summary
    spoil(repository_copy)
    assert runner.run(without="Install rtoslab") == 3
    assert "app/control_step.max" in runner.summary
    assert runner.values["steps.gate.outputs.exit-code"] == "3"
    assert (Path(runner.values["steps.gate.outputs.report"]) / "gate.json").is_file()


def test_arguments_and_folders_cannot_inject_commands(repository_copy: Path) -> None:
    spoil(repository_copy)
    runner = Runner(
        repository_copy.parent, {"wheel": "none", "folder": repository_copy.name, "arguments": "--fail-on\n+90 %"}
    )
    runner.extra_path = str(Path(sys.executable).parent)
    assert runner.run(without="Install rtoslab") == 0, runner.told[-1].stderr
    runner.values["inputs.arguments"] = "--fail-on\n$(touch hacked)"
    assert runner.run(without="Install rtoslab") == 1
    assert not list(repository_copy.rglob("hacked"))


def test_summary_without_figures_refers_to_the_log(repository_copy: Path) -> None:
    (repository_copy / "rtoslab.baseline.toml").unlink()
    runner = Runner(repository_copy, {"wheel": "none"})
    runner.extra_path = str(Path(sys.executable).parent)
    assert runner.run(without="Install rtoslab") == 1
    assert "the log of the step before says why" in runner.summary


@pytest.mark.long
def test_action_installs_the_wheel_and_gates(repository_copy: Path) -> None:
    runner = Runner(repository_copy, {"wheel": str(make_wheel(repository_copy.parent))})
    assert runner.run() == 0, runner.told[-1].stderr
    assert "Same or better" in runner.summary
    assert (runner.home / "rtoslab" / "bin" / "rtoslab").is_file()


def gitlab(repository: Path, wheel: Path | None, environment: Path, lines: list[str]) -> int:
    own = {
        "CI_PROJECT_DIR": str(repository), "RTOSLAB_WHEEL": str(wheel or ""), "RTOSLAB_PACKAGES": "none",
        "RTOSLAB_LOCK": str(ROOT / "requirements.lock"), "RTOSLAB_FOLDER": ".", "RTOSLAB_ENVIRONMENT": str(environment),
    }  # fmt: skip
    script = "\n".join(["set -eo pipefail", *lines])
    done = subprocess.run(
        ["bash", "-c", script], cwd=repository, env={**clean(), **own}, capture_output=True, timeout=HANG_S, check=False
    )
    return done.returncode


def test_gitlab_template_gates_a_foreign_repository(repository_copy: Path) -> None:
    job = yaml.safe_load(TEMPLATE.read_text())[".rtoslab-gate"]
    assert gitlab(repository_copy, None, repository_copy, job["before_script"]) == 1
    assert gitlab(repository_copy, None, Path(sys.prefix), job["script"]) == 0
    assert "<testsuite" in (repository_copy / job["artifacts"]["reports"]["junit"]).read_text()
    assert "Same or better" in (repository_copy / job["artifacts"]["paths"][0]).read_text()
    spoil(repository_copy)
    assert gitlab(repository_copy, None, Path(sys.prefix), job["script"]) == 3


@pytest.mark.long
def test_gitlab_template_installs_the_wheel(repository_copy: Path) -> None:
    job = yaml.safe_load(TEMPLATE.read_text())[".rtoslab-gate"]
    wheel = make_wheel(repository_copy.parent)
    assert (
        gitlab(repository_copy, wheel, repository_copy.parent / "environment", [*job["before_script"], *job["script"]])
        == 0
    )
