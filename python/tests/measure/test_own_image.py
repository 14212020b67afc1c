"""`rtoslab run --image`: whoever built it, an image that holds our runner says what it measures, and is proved."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rtoslab import api
from rtoslab.base.errors import ImageFileError, RunError, SettingError, StoreError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.measure.own_image import measure_user_elf_image
from rtoslab.results.results import FailedMeasurement, MeasuredPoint
from rtoslab.store.store import RunDirectory
from rtoslab.targets import introduction
from rtoslab.verify import verify_run_or_sweep_folder
from tests.board_images import Program
from tests.cli.test_cli import command_error, rtoslab

ROOT = find_checkout_root()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """T7 with FreeRTOS, as if somebody had built it elsewhere."""
    path = tmp_path_factory.mktemp("own") / "app.elf"
    path.write_bytes(api.build_image("t7", kernel="freertos", board="pico").read_bytes())
    return path


def image_of_unknown_kernel(image: Path, folder: Path) -> Path:
    """The same of a kernel that nobody here has heard of."""
    content = image.read_bytes()
    assert content.count(b"\0freertos\0") == 1
    path = folder / "other.elf"
    path.write_bytes(content.replace(b"\0freertos\0", b"\0myKernel\0"))
    return path


def test_external_image_gives_the_same_result_as_a_built_one(image: Path, tmp_path: Path) -> None:
    folder, outcome = measure_user_elf_image(ROOT, image, "pico", tmp_path / "own", {})
    (here,) = api.run("t7", kernels=["freertos"], boards=["pico"], cores=[1], out=tmp_path / "here")
    assert isinstance(outcome.result, MeasuredPoint)
    assert isinstance(here.result, MeasuredPoint)
    assert outcome.result.counters == here.result.counters
    assert outcome.result.image == here.result.image
    assert [proof.verdict for proof in outcome.result.proofs] == [proof.verdict for proof in here.result.proofs]
    (point,) = RunDirectory.open_run_directory(folder).read_measured_points()
    build: Any = point.manifest["build"]
    assert "GCC" in build["compiler"]["banner"]
    assert build["built_elsewhere"]
    (checked,) = verify_run_or_sweep_folder(Catalogue(ROOT), folder)
    assert not checked.differences
    _, again = measure_user_elf_image(ROOT, image, "pico", tmp_path / "own", {})
    assert not again.fresh


def test_external_image_of_other_options_has_no_known_length_of_code(tmp_path: Path) -> None:
    small = tmp_path / "small.elf"
    built = api.build_image("t7", kernel="freertos", board="pico", config={"opt": "-Os"})
    small.write_bytes(built.read_bytes())
    _, outcome = measure_user_elf_image(ROOT, small, "pico", tmp_path / "own", {})
    assert isinstance(outcome.result, MeasuredPoint), outcome.result


def test_unknown_kernel_is_proved_without_symbols(image: Path, tmp_path: Path) -> None:
    folder, outcome = measure_user_elf_image(
        ROOT, image_of_unknown_kernel(image, tmp_path), "pico", tmp_path / "own", {}
    )
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    assert {proof.verdict.value for proof in outcome.result.proofs} >= {"holds", "unseen"}
    (checked,) = verify_run_or_sweep_folder(Catalogue(ROOT), folder)
    assert not checked.differences
    assert "myKernel" in rtoslab("report", folder, "--format", "md").stdout
    assert rtoslab("report", folder, "-o", tmp_path / "r.html").returncode == 0


def test_image_is_judged_again_when_its_port_is_known(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was proved of it as a stranger is no answer then."""
    monkeypatch.chdir(tmp_path)
    path = image_of_unknown_kernel(image, tmp_path)
    before, unknown = measure_user_elf_image(ROOT, path, "pico", None, {})
    port = tmp_path / "ports" / "myKernel"
    shutil.copytree(ROOT / "firmware" / "kernels" / "freertos", port)
    facts = (port / "kernel.toml").read_text()
    assert 'id = "freertos"' in facts
    (port / "kernel.toml").write_text(facts.replace('id = "freertos"', 'id = "myKernel"'))
    monkeypatch.setenv("RTOSLAB_PORTS", str(port.parent))
    after, known = measure_user_elf_image(ROOT, path, "pico", None, {})
    assert isinstance(unknown.result, MeasuredPoint)
    assert isinstance(known.result, MeasuredPoint), known.result
    assert known.fresh
    assert "unseen" in {proof.verdict.value for proof in unknown.result.proofs}
    assert {proof.verdict.value for proof in known.result.proofs} == {"holds"}
    assert before != after
    with pytest.raises(StoreError, match="choose another --out"):
        measure_user_elf_image(ROOT, path, "pico", before, {})
    renamed = path.rename(tmp_path / "renamed.elf")
    assert measure_user_elf_image(ROOT, renamed, "pico", None, {})[1].fresh


@pytest.mark.parametrize(("bench", "name", "said", "stage"), [
    ("t2", b"t2_cooperative", b"t3_preemptive", "proof"),
    ("t4", b"t4_interrupt", b"t6_message", "decode"),
])  # fmt: skip
def test_image_with_wrong_identity_is_a_failed_point(
    bench: str, name: bytes, said: bytes, stage: str, tmp_path: Path
) -> None:
    content = api.build_image(bench, kernel="freertos", board="pico").read_bytes()
    assert content.count(b"\0" + name + b"\0") == 1
    (path := tmp_path / "lies.elf").write_bytes(content.replace(b"\0" + name, b"\0" + said.ljust(len(name), b"\0")))
    _, outcome = measure_user_elf_image(ROOT, path, "pico", tmp_path / "own", {})
    assert isinstance(outcome.result, FailedMeasurement)
    assert outcome.result.stage == stage, outcome.result


def test_image_without_the_runner_is_refused(image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = Program("t5", "nucleo-l073rz").elf().read_bytes()
    (path := tmp_path / "l0.elf").write_bytes(content.replace(b"\0nucleo-l073rz\0", b"\0pico" + bytes(10)))
    with pytest.raises(SettingError, match="is for the board pico; run it with --board pico"):
        measure_user_elf_image(ROOT, path, "nucleo-l073rz", tmp_path / "a", {})
    with pytest.raises(ImageFileError, match="link it for this board"):
        measure_user_elf_image(ROOT, image, "nucleo-f446re", tmp_path / "b", {})
    with pytest.raises(
        ImageFileError, match=r"floating point of version 5.*that it fits: nucleo-f767zi, nucleo-h743zi"
    ):
        measure_user_elf_image(ROOT, Program("t5", "nucleo-f767zi").elf(), "nucleo-f446re", tmp_path / "e", {})
    other = Program("t5", "nucleo-f103rb").elf()
    monkeypatch.setattr(introduction, "LIMIT_S", 0.3)  # it would say nothing in 5 s either
    with pytest.raises(RunError, match="does not contain rtoslab's runner, or is for another board than nucleo-f446re"):
        measure_user_elf_image(ROOT, other, "nucleo-f446re", tmp_path / "d", {})
    (text := tmp_path / "text.elf").write_text("no image")
    with pytest.raises(ImageFileError, match="is not an ELF file"):
        measure_user_elf_image(ROOT, text, "pico", tmp_path / "c", {})


def test_command_accepts_only_options_of_an_image(image: Path, tmp_path: Path) -> None:
    done = rtoslab("run", "--image", image, "--board", "pico", "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    (point,) = json.loads(done.stdout)["points"]
    assert point["status"] == "measured"
    assert "The image contains" in command_error(rtoslab("run", "t7", "--image", image), 1)
    assert "only timing.KEY can be set" in command_error(rtoslab("run", "--image", image, "--config", "opt=-O3"), 1)
    assert "There is nothing to measure" in command_error(rtoslab("run"), 2)
