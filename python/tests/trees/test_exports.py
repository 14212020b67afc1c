"""Kernels that build themselves: an export is recognised, read back, refused where it differs, part of every key."""

import os
from pathlib import Path

import pytest

from rtoslab import api
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.trees import read_user_kernel_trees
from rtoslab.results.results import MeasuredPoint, NotApplicableMeasurement
from tests.cli.test_cli import command_error, rtoslab
from tests.trees.exports import CONFIG, make_export, make_export_port
from tests.trees.test_trees import counts, measure_t7


def command_output(*args: str) -> str:
    """What a command prints that does what was asked."""
    done = rtoslab(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command_refusal(*args: str) -> str:
    """The one sentence of a command that does not."""
    text = command_error(rtoslab(*args), 1)
    assert "\n" not in text
    return text


NAMED = os.environ["RTOSLAB_NAMED_TREES"]
"""The folder of whoever runs the tests, with trees and exports of their own (conftest.py)."""


@pytest.fixture
def home(user: Path) -> Path:
    """A user with a port and an export of their own, which nobody has named yet."""
    make_export_port(user / "ports")
    make_export(user / "export")
    return user


def test_export_is_named_by_board_and_cores(home: Path) -> None:
    assert "Tiny 1.5 for pico-1" in command_output("kernel", "tree", "add", "tiny", str(home / "export"))
    tree = read_user_kernel_trees()["tiny"]
    assert (tree.version, tree.lacks, tree.exports) == ("1.5", (), {"pico-1": str(home / "export")})
    assert "pico-1" in command_output("kernel", "tree", "list", "--json")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("CONFIG_TICK=1000", "CONFIG_TICK=100", "CONFIG_TICK is '100', should be '1000'"),
        ("# CONFIG_DEBUG is not set", "CONFIG_DEBUG=y", "CONFIG_DEBUG is 'y', should be not set"),
        ("CONFIG_RAM=1\n", "", "CONFIG_RAM is not set, should be '1'"),
        ('BOARD="small"', 'BOARD="large"', "the port supports \"small\""),
    ],
)  # fmt: skip
def test_export_with_other_settings_is_refused(home: Path, before: str, after: str, told: str) -> None:
    (home / "export" / ".config").write_text(CONFIG.replace(before, after))
    assert told in command_refusal("kernel", "tree", "add", "tiny", str(home / "export"))
    assert read_user_kernel_trees() == {}


def test_folder_that_is_not_an_export_is_refused(home: Path) -> None:
    assert "it has no .config" in command_refusal("kernel", "tree", "add", "tiny", str(home / "ports"))


def test_rebuilt_export_invalidates_cached_results(home: Path) -> None:
    command_output("kernel", "tree", "add", "tiny", str(home / "export"))
    first, build, cached = measure_t7(home, "one")
    assert not cached
    assert build["tree"]["files_read"] == 3, "the configuration, the library, the header"
    assert str(home) not in str(build)
    again, _, cached = measure_t7(home, "two")
    assert cached
    assert counts(again) == counts(first)
    make_export(home / "export", pause='__asm volatile("nop");')
    slower, other, cached = measure_t7(home, "three")
    assert not cached
    assert counts(slower) != counts(first)
    assert other["tree"]["sha256"] != build["tree"]["sha256"]
    make_export(home / "export")
    back, _, cached = measure_t7(home, "four")
    assert cached
    assert counts(back) == counts(first)


def test_exports_of_several_optimisation_levels_coexist(home: Path) -> None:
    command_output("kernel", "tree", "add", "tiny", str(home / "export"))
    make_export(home / "small", CONFIG.replace("-O2", "-Os"))
    assert "Tiny 1.5 for pico-1-Os" in command_output("kernel", "tree", "add", "tiny", str(home / "small"))
    assert read_user_kernel_trees()["tiny"].exports.keys() == {"pico-1", "pico-1-Os"}
    config = {"opt": "-Os"}
    (outcome,) = api.run("t7", kernels=["tiny"], boards=["pico"], window_ms=10, config=config, out=home / "small-run")
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    assert outcome.result.point.config == config
    config = {"opt": "-O3"}
    (outcome,) = api.run("t7", kernels=["tiny"], boards=["pico"], window_ms=10, config=config, out=home / "fast-run")
    assert isinstance(outcome.result, NotApplicableMeasurement), outcome.result
    assert "no export of Tiny for pico with 1 core and -O3 is known" in outcome.result.reason
    built = command_output("kernel", "files", "tiny", "--board", "pico", "--opt", "-Os", "-o", str(home / "files"))
    assert "README.md" in built
    assert 'CONFIG_OPTIMISATION="-Os"' in (home / "files" / "defconfig").read_text()


def test_export_for_one_optimisation_needs_none_for_the_default(home: Path) -> None:
    make_export(home / "small", CONFIG.replace("-O2", "-Os"))
    command_output("kernel", "tree", "add", "tiny", str(home / "small"))
    config = {"opt": "-Os"}
    (outcome,) = api.run("t7", kernels=["tiny"], boards=["pico"], window_ms=10, config=config, out=home / "small-run")
    assert isinstance(outcome.result, MeasuredPoint), outcome.result


def reason(home: Path, board: str = "pico") -> str:
    (outcome,) = api.run("t7", kernels=["tiny"], boards=[board], cores=[1], window_ms=10, out=home / f"none-{board}")
    assert isinstance(outcome.result, NotApplicableMeasurement), outcome.result
    return outcome.result.reason


def test_export_that_became_invalid_gives_no_figure(home: Path) -> None:
    command_output("kernel", "tree", "add", "tiny", str(home / "export"))
    (home / "export" / ".config").write_text(CONFIG.replace("TICK=1000", "TICK=100"))
    assert "CONFIG_TICK is '100'" in reason(home)
    (home / "export" / ".config").write_text(CONFIG.replace("-O2", "-Os"))
    assert "has changed since it was added" in reason(home), "optimised in another way"
    (home / "export" / ".config").unlink()
    assert "is no longer at" in reason(home)
    assert "pico-1" in rtoslab("kernel", "tree", "check", "tiny").stdout


def test_export_older_than_its_sources_gives_no_figure(home: Path) -> None:
    facts = home / "ports" / "tiny" / "kernel.toml"
    facts.write_text(facts.read_text().replace('config = ".config"', 'made_of = "sources.txt"\nconfig = ".config"'))
    assert "because sources.txt is missing" in command_refusal("kernel", "tree", "add", "tiny", str(home / "export"))
    source, built = home / "semaphore.c", home / "export" / "sources.txt"
    source.write_text("of the kernel's own tree")
    built.write_text(f"{source}\n{home / 'gone.c'}\n")
    command_output("kernel", "tree", "add", "tiny", str(home / "export"))
    edited = built.stat().st_mtime_ns + 1
    os.utime(source, ns=(edited, edited))
    assert f"is older than {source}" in command_refusal("kernel", "tree", "add", "tiny", str(home / "export"))
    assert f"is older than {source}" in reason(home)
    os.utime(built, ns=(edited, edited))
    command_output("kernel", "tree", "check", "tiny")


def test_board_without_an_export_is_reported_with_remedy(home: Path) -> None:
    assert "rtoslab kernel files tiny" in reason(home)
    command_output("kernel", "tree", "add", "tiny", str(home / "export"))
    assert "for nucleo-f446re with 1 core" in reason(home, "nucleo-f446re")


def test_feature_missing_in_an_export_is_a_missing_service(home: Path) -> None:
    poorer = make_export(home / "poorer", CONFIG.replace("CONFIG_COUNTING=y\n", ""))
    command_output("kernel", "tree", "add", "tiny", str(poorer))
    assert not Catalogue(find_checkout_root()).find_kernel("tiny").facts.services["semaphore"]
    assert "semaphore" in reason(home)
    assert "give it another name" in command_refusal("kernel", "tree", "add", "tiny", str(home / "export"))
    command_output("kernel", "tree", "add", "tiny-counting", str(home / "export"), "--port", "tiny")
    assert Catalogue(find_checkout_root()).find_kernel("tiny-counting").facts.services["semaphore"]


def test_files_for_the_kernels_own_build_are_the_parts_put_together(home: Path) -> None:
    command_output("kernel", "files", "tiny", "--board", "pico", "-o", str(home / "files"))
    text = (home / "files" / "defconfig").read_text()
    assert text.splitlines() == [
        'CONFIG_ARCH_BOARD="small"', "CONFIG_RAM=1", "CONFIG_TICK=1000", "# CONFIG_DEBUG is not set",
        'CONFIG_OPTIMISATION="-O2"',
    ]  # fmt: skip
    assert (home / "files" / "README.md").read_text() == (
        f"For pico: small, `rtoslab kernel tree add tiny {home / 'files'}`, {{}}.\n"
    )
    assert "is for pico" in command_refusal(
        "kernel", "files", "tiny", "--board", "nucleo-f446re", "-o", str(home / "files")
    )
    assert "has no option smp" in command_refusal(
        "kernel", "files", "tiny", "--board", "pico", "--smp", "-o", str(home / "files")
    )
    assert "is not linked from an export" in command_refusal(
        "kernel", "files", "bare", "--board", "pico", "-o", str(home / "files")
    )


def test_application_is_written_with_its_configuration(home: Path) -> None:
    port = home / "ports" / "tiny"
    asks = 'asked_in = "prj.conf"\nasked_elsewhere = ["CONFIG_ARCH_BOARD"]\nconfig = ".config"'
    (port / "kernel.toml").write_text((port / "kernel.toml").read_text().replace('config = ".config"', asks))
    (port / "config" / "application").mkdir()
    (port / "config" / "application" / "CMakeLists.txt").write_text("set(BOARD {machine})\nuse(${machine} {other})\n")
    command_output("kernel", "files", "tiny", "--board", "pico", "-o", str(home / "files"))
    assert {path.name for path in (home / "files").iterdir()} == {"CMakeLists.txt", "README.md", "prj.conf"}
    assert (home / "files" / "CMakeLists.txt").read_text() == "set(BOARD small)\nuse(${machine} {other})\n"
    assert "CONFIG_ARCH_BOARD" not in (home / "files" / "prj.conf").read_text(), "it is read back all the same:"
    (home / "export" / ".config").write_text(CONFIG.replace('BOARD="small"', 'BOARD="large"'))
    assert 'the port supports "small"' in command_refusal("kernel", "tree", "add", "tiny", str(home / "export"))


def test_nuttx_requires_both_cores_and_priority_inheritance(tmp_path: Path) -> None:
    command_output("kernel", "files", "nuttx", "--board", "pico", "--smp", "--inherit", "-o", str(tmp_path))
    text = (tmp_path / "defconfig").read_text()
    assert "CONFIG_SMP_NCPUS=2\n" in text
    assert text.count("CONFIG_PRIORITY_INHERITANCE") == 1
    assert "CONFIG_PRIORITY_INHERITANCE=y\n" in text
    message = (tmp_path / "README.md").read_text()
    assert "raspberrypi-pico:rtoslab" in message
    assert f"rtoslab kernel tree add nuttx-inherit {tmp_path}/export --port nuttx" in message
    assert "{" not in message


def test_nuttx_and_zephyr_are_configured_for_every_board_of_a_paper(tmp_path: Path) -> None:
    boards = ("nucleo-l073rz", "nucleo-f103rb", "stm32f411ce", "nucleo-h743zi")
    for kernel in ("nuttx", "zephyr"):
        for board in boards:
            folder = tmp_path / kernel / board
            command_output("kernel", "files", kernel, "--board", board, "-o", str(folder))
            assert "CONFIG" in next(folder.glob("*conf*")).read_text()


@pytest.mark.parametrize("kernel", ["nuttx", "zephyr"])
def test_kernel_conforms_with_every_available_export(monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    if not (Path(NAMED) / f"{kernel}.toml").is_file():
        pytest.skip(f"needs an export of it, named with `rtoslab kernel tree add {kernel}`")
    monkeypatch.setenv("RTOSLAB_TREES", NAMED)
    assert "fails" not in command_output("kernel", "tree", "check", kernel)
