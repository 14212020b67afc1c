"""What a build gets from its user's environment, and what is recorded of its compiler calls."""

import ast
import os
from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.base import BuildError, tools
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.images.builder import build_measurement_point_image
from rtoslab.images.compilation import CompilerCall
from rtoslab.images.compiler_calls import (
    compact_compiler_calls,
    contradicting_definitions,
    files_at_other_optimisation_levels,
    folder_names_by_path,
)
from rtoslab.plan.plan import PlannedPoint, PlanOptions, make_measurement_plan
from tests.checkouts import copy_checkout
from tests.cli.test_cli import ROOT

HOSTILE = {
    "CFLAGS": "-O0 -fno-omit-frame-pointer",
    "ASMFLAGS": "-Wa,--fatal-warnings,--defsym,x=1",
    "CPPFLAGS": "-DNDEBUG",
    "LDFLAGS": "-Wl,--defsym=left=1 -Wl,--no-gc-sections",
    "CC": "/bin/false",
    "ASM": "/bin/false",
    "CMAKE_TOOLCHAIN_FILE": "/nowhere/toolchain.cmake",
    "CMAKE_GENERATOR": "Unix Makefiles",
    "CMAKE_BUILD_TYPE": "Debug",
    "CMAKE_C_COMPILER_LAUNCHER": "/bin/false",
    "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
    "CPATH": "/nowhere/headers",
    "GCC_EXEC_PREFIX": "/nowhere/gcc/",
    "COMPILER_PATH": "/nowhere/compiler",
    "LIBRARY_PATH": "/nowhere/libraries",
    "DEPENDENCIES_OUTPUT": "/nowhere/dependencies",
    "SOURCE_DATE_EPOCH": "1",
    "NINJA_STATUS": "[%f/%t] ninja: ",
    "LC_ALL": "xx_YY.UTF-8",
    "LANG": "xx_YY.UTF-8",
}
"""What breaks or changes a build if it reaches it; CPATH has a header of our own's name below."""
LETS_THROUGH = {"PATH", "HOME", "TMPDIR", "CARGO_HOME", "RUSTUP_HOME", "https_proxy", "HTTPS_PROXY", "SSL_CERT_FILE"}


def a_point(root: Path, **config: str) -> tuple[Catalogue, PlannedPoint]:
    catalogue = Catalogue(root)
    options = PlanOptions(["freertos"], ["nucleo-f446re"], cores=[1], config=config)
    return catalogue, make_measurement_plan(catalogue, ["t2_cooperative"], options).points[0]


def test_build_environment_contains_only_listed_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**HOSTILE, **dict.fromkeys(LETS_THROUGH, "kept"), "CARGO_NET_OFFLINE": "true"}.items():
        monkeypatch.setenv(name, value)
    result = tools.build_environment_variables()
    assert {*LETS_THROUGH, "CARGO_NET_OFFLINE", "LC_ALL"} <= result.keys()
    assert not (HOSTILE.keys() - {"LC_ALL"}) & result.keys()
    assert result["LC_ALL"] == "C"
    assert all(tools.BUILD_VARIABLES.values()), "each variable has its reason"


def test_every_build_program_gets_the_fixed_environment() -> None:
    """So that a further step of a build does not get its user's."""
    calls, allowed = 0, "tools.build_environment_variables()"
    for path in sorted((ROOT / "python" / "rtoslab" / "images").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("subprocess."):
                given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                assert given.get("env") in {allowed, allowed.replace(")", "more)")}, f"{path.name}, line {node.lineno}"
                calls += 1
    assert calls >= 2


def test_image_does_not_depend_on_the_users_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From nothing: not even what CMake found out before is kept from a build without those variables."""
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "stdint.h").write_text("#error from CPATH\n")
    catalogue, point = a_point(find_checkout_root())
    monkeypatch.setenv("RTOSLAB_BUILD", str(tmp_path / "plain"))
    plain = build_measurement_point_image(catalogue, point)
    for name, value in {**HOSTILE, "CPATH": str(tmp_path / "headers")}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RTOSLAB_BUILD", str(tmp_path / "hostile"))
    hostile = build_measurement_point_image(catalogue, point)
    assert hostile.elf_path.read_bytes() == plain.elf_path.read_bytes()
    assert hostile.info == plain.info
    for name in HOSTILE:
        monkeypatch.delenv(name)
    for folder in (tmp_path / "hostile").glob("t2*"):  # the image itself, not what was kept beside it
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    assert build_measurement_point_image(catalogue, point).elf_path.read_bytes() == plain.elf_path.read_bytes()


def test_property_on_one_file_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = build_measurement_point_image(*a_point(find_checkout_root())).info["calls"]
    (port,) = usual["files"]
    assert set(usual["files"][port]) == {"folders"}, "of all files but the port's, whose package looks there first"
    assert usual["groups"]["kernel/*.c"]["options"][-4:] == [
        "-g",
        "-ffunction-sections",
        "-fdata-sections",
        "-fno-common",
    ]
    assert "-Wl,--gc-sections" in usual["linked"]
    root = copy_checkout(tmp_path / "checkout")
    monkeypatch.setenv("RTOSLAB_BUILD", str(tmp_path / "build"))
    package = root / "firmware" / "kernels" / "freertos" / "package.cmake"
    package.write_text(
        package.read_text()
        + 'set_source_files_properties("${KERNEL_SOURCE_DIR}/queue.c" TARGET_DIRECTORY freertos_kernel '
        'PROPERTIES COMPILE_OPTIONS "-fno-inline" COMPILE_DEFINITIONS SLOW=1)\n'
    )
    result = build_measurement_point_image(*a_point(root)).info
    queue = {"options": ["...", "-fno-inline"], "definitions": ["...", "-DSLOW=1"]}
    assert result["calls"]["files"] == {**usual["files"], "kernel/queue.c": queue}
    assert "-O2" in result["flags"]
    assert str(root) not in str(result["calls"])
    assert os.path.expanduser("~") not in str(result["calls"])  # noqa: PTH111
    package.write_text(package.read_text().replace("-fno-inline", "-O0"))
    with pytest.raises(BuildError, match=r"compiled at -O2, but its build files compile kernel/queue\.c at -O0;"):
        build_measurement_point_image(*a_point(root))


def test_definitions_options_and_paths_are_separated() -> None:
    facts = "set(FIRMWARE_DIR [==[/w/firmware]==])\nset(KERNEL_DIR [==[/w/firmware/kernels/k]==])\n"
    facts += "set(KERNEL_SOURCE_DIR [==[/k/k-1.0]==])\nset(CMAKE_BINARY_DIR [==[/b/x]==])\n"
    folders = folder_names_by_path(facts)
    assert folders == {"/w/firmware": "firmware", "/k/k-1.0": "kernel", "/b/x": "build"}

    def call(source: str, *words: str) -> CompilerCall:
        tail = ("-MD", "-MT", "o", "-MF", "d", "-o", "o", "-c", source)
        return CompilerCall(Path("/b/x"), ("/bin/arm-none-eabi-gcc", *words, *tail), Path("/w/firmware"))

    usual = ("-D", "A=1", "-I/b/x/generated", "-isystem", "/k/k-1.0/include/.", "-O2", "-ffile-prefix-map=/b/x=b")
    calls = [call(f"/k/k-1.0/{name}.c", *usual) for name in "abc"]
    calls += [call("/k/k-1.0/d.c", *usual, "-O0"), call("/k/k-1.0/e.c", "-Os", "-I/opt/vendor/include")]
    calls += [call("/w/firmware/x.S", "-x", "assembler-with-cpp"), call("/k/k-1.0/a.c", *usual, "-DB")]
    link = ": && /bin/gcc -O2 -Wl,-Map=/b/x/image.map -T/w/firmware/f.ld a.obj -o image.elf libk.a && :"
    result = compact_compiler_calls(calls, [link], folders)
    assert result["groups"]["kernel/*.c"] == {
        "files": 6, "options": ["-O2"], "definitions": ["-DA=1"],
        "folders": ["-Ibuild/generated", "-isystem kernel/include"],
    }  # fmt: skip
    assert result["groups"]["firmware/*.S"]["options"] == ["-x", "assembler-with-cpp"]
    assert result["files"] == {
        "kernel/a.c (2)": {"definitions": ["...", "-DB"]},
        "kernel/d.c": {"options": ["...", "-O0"]},
        "kernel/e.c": {"options": ["-Os"], "definitions": [], "folders": ["-Ielsewhere/include"]},
    }
    assert result["linked"] == ["-O2", "-Wl,-Map=build/image.map", "-Tfirmware/f.ld", "libk.a"]
    assert compact_compiler_calls(reversed(calls), [link], folders)["groups"] == result["groups"]
    assert files_at_other_optimisation_levels(result, "-O2") == ["kernel/d.c at -O0", "kernel/e.c at -Os"]
    assert files_at_other_optimisation_levels(result, "-O0") == ["kernel/*.c at -O2", "kernel/e.c at -Os"]
    assert contradicting_definitions(result, {"A": "1", "B": "( 1 )", "C": "7"}) == []
    assert contradicting_definitions(result, {"A": "2u", "B": "0"}) == [
        "kernel/*.c with -DA=1, where A is 2u", "kernel/a.c (2) with -DB, where B is 0",
    ]  # fmt: skip
    assert contradicting_definitions({"groups": {}, "files": {"x.c": {"definitions": ["-UA"]}}}, {"A": "1"})


def test_position_of_a_file_in_the_command_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same sources in another folder give the same record: no path is in a manifest."""
    monkeypatch.setenv("RTOSLAB_BUILD", str(tmp_path / "build"))
    catalogue, point = a_point(copy_checkout(tmp_path / "checkout"))
    present = build_measurement_point_image(catalogue, replace(point, benchmark="t2_cooperative"))
    assert present.info == build_measurement_point_image(*a_point(find_checkout_root())).info
