"""An image that a build of its user's own made: our sources, the headers that CMake wrote once, another compiler."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.measure.own_image import measure_user_elf_image
from rtoslab.results.finding import ProofVerdict
from rtoslab.results.results import MeasuredPoint
from tests.cli.test_cli import rtoslab

ROOT = find_checkout_root()
BOARD = "nucleo-f446re"


def _command_output(*words: object) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """As docs/trees.md has it: a port in a folder of its own, and what ninja would do with it."""
    place = tmp_path_factory.mktemp("outside")
    assert rtoslab("new", "kernel", "tiny", "--title", "Tiny", "--in", place / "ports").returncode == 0
    options = ["-DBENCH=t7_synchronisation", f"-DKERNEL={place / 'ports/tiny'}", f"-DBOARD={BOARD}"]
    _command_output("cmake", "-S", ROOT / "firmware", "-B", place / "cfg", "-G", "Ninja", *options)
    lines = _command_output("ninja", "-C", place / "cfg", "-t", "commands", "image.elf").splitlines()
    return [shlex.split(line) for line in lines]


def _build_outside(commands: Sequence[Sequence[str]], compiler: Sequence[object], folder: Path) -> Path:
    """Each file by a command line of our own, linked by another one."""
    machine = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
    objects: list[Path] = []
    for words in commands:
        if "-c" not in words:
            continue
        source = Path(words[words.index("-c") + 1])
        headers = [word for word in words if word.startswith("-I")]
        objects.append(folder / f"{len(objects)}.o")
        _command_output(*compiler, *machine, "-O1", "-g", "-ffreestanding", *headers, "-c", source, "-o", objects[-1])
    (link,) = [words for words in commands if any(re.match("-T.*flash.ld", word) for word in words)]
    script = [item for item in link if item.startswith(("-L", "-T"))]
    _command_output("arm-none-eabi-gcc", *machine, "-nostartfiles", *script, *objects, "-o", folder / "app.elf")
    return folder / "app.elf"


def _compilers() -> dict[str, list[object]]:
    clang = shutil.which("clang")
    result: dict[str, list[object]] = {"gcc": ["arm-none-eabi-gcc"]}
    if clang:
        library = Path(_command_output("arm-none-eabi-gcc", "-print-file-name=libc.a").strip()).resolve()
        headers = library.parents[1] / "include"
        result["clang"] = [clang, "--target=arm-none-eabi", "-Wno-unknown-attributes", "-isystem", headers]
    return result


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_image_of_another_build_is_measured(
    name: str, commands: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compilers = _compilers()
    if name not in compilers:
        pytest.skip("clang is not on PATH")
    image = _build_outside(commands, compilers[name], tmp_path)
    _, outcome = measure_user_elf_image(ROOT, image, BOARD, tmp_path / "alone", {})
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    assert outcome.result.successful_proof_count < len(outcome.result.proofs)
    monkeypatch.setenv("RTOSLAB_PORTS", os.fspath(_ports(commands)))
    _, message = measure_user_elf_image(ROOT, image, BOARD, tmp_path / "known", {})
    assert isinstance(message.result, MeasuredPoint), message.result
    assert message.result.counters == outcome.result.counters
    assert message.result.successful_proof_count > outcome.result.successful_proof_count
    assert sum(proof.verdict is ProofVerdict.UNSEEN for proof in message.result.proofs) <= 2
    output = rtoslab("show", tmp_path / "alone").stdout
    assert "do not apply" in output


def _ports(commands: Sequence[Sequence[str]]) -> Path:
    (port,) = {Path(word) for words in commands for word in words if word.endswith("tiny/port.c")}
    return port.parents[1]
