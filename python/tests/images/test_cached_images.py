"""Images made of kept objects are, byte for byte, those that CMake and ninja make alone from nothing; and what was
ended, broken or edited meanwhile never reaches one."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from rtoslab.base.errors import BuildError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.conformance import conformance_suite_measurement_point
from rtoslab.footprint.points import plan_footprint_program_build
from rtoslab.images.builder import BuiltImage, build_measurement_point_image
from rtoslab.images.image_inputs import cmake_options, kernel_cmake_options, toml_files_read_by_cmake
from rtoslab.plan.plan import PlannedPoint, PlanOptions, make_measurement_plan
from tests.checkouts import copy_checkout, replace_text
from tests.processes import start_process

FIRST: Final = (["t6", "t7"], "freertos", "nucleo-f446re")
BARE: Final = (["t4", "t1"], "bare", "pico")
BUILD: Final = "import sys; from tests.images.test_cached_images import build_one; build_one(*sys.argv[1:])"


def points(
    catalogue: Catalogue, benchmarks: Sequence[str], kernel: str, board: str, **config: str
) -> list[PlannedPoint]:
    cores = [int(config.pop("cores", "1"))]
    plan = make_measurement_plan(catalogue, benchmarks, PlanOptions([kernel], [board], cores=cores, config=config))
    return [point for point in plan.points if point.not_applicable is None]


def build_one(root: str, benchmark: str, kernel: str = "freertos") -> None:
    """For another process."""
    catalogue = Catalogue(Path(root))
    build_measurement_point_image(catalogue, points(catalogue, [benchmark], kernel, "nucleo-f446re")[0])


def assert_equals_fresh_build(catalogue: Catalogue, point: PlannedPoint, built: BuiltImage, folder: Path) -> None:
    """Builds with nothing known, without any of our code, and compares all that is kept of an image but the log."""
    options = [*cmake_options(point, built.expected), *kernel_cmake_options(catalogue, point)]
    folders = ["-S", str(catalogue.root / "firmware"), "-B", str(folder)]
    subprocess.run(["cmake", *folders, "-G", "Ninja", *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder], check=True, stdout=subprocess.DEVNULL)
    for name in ("image.elf", *([] if point.lto else ["image.map"])):
        assert (folder / name).read_bytes() == (built.folder / name).read_bytes(), name
    single = json.loads((folder / "build-info.json").read_bytes())
    assert single == {key: value for key, value in built.info.items() if key != "calls"}
    calls = "".join(path.read_text() for path in sorted(folder.rglob("*.ci")))
    assert calls == ((built.folder / "callgraph.ci").read_text() if calls else "")


def compiled_sources(built: BuiltImage) -> list[str]:
    """The sources that were compiled for an image: folder and name."""
    lines = (built.folder / "build.log").read_text().splitlines()
    paths = [Path(line) for line in lines if line.startswith("Compiled: ")]
    return sorted(f"{path.parent.name}/{path.name}" for path in paths)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalogue:
    """This checkout with nothing built and nothing kept."""
    monkeypatch.setenv("RTOSLAB_BUILD", str(tmp_path / "build"))
    return Catalogue(find_checkout_root())


def build_first_image(folder: Path, *of: Any) -> Path:
    """All that is kept of the first of some images, which is built with nothing kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RTOSLAB_BUILD", str(folder))
        catalogue = Catalogue(find_checkout_root())
        build_measurement_point_image(catalogue, points(catalogue, *of)[0])
    return folder


@pytest.fixture(scope="module")
def first_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is kept of an image with a kernel."""
    return build_first_image(tmp_path_factory.mktemp("first") / "build", *FIRST)


@pytest.fixture(scope="module")
def bare_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is kept of an image without one."""
    return build_first_image(tmp_path_factory.mktemp("bare") / "build", *BARE)


@pytest.fixture
def catalogue_with_first_image(first_alone: Path, elsewhere: Catalogue, tmp_path: Path) -> Catalogue:
    """This checkout with one image built and kept; what a test adds is its own."""
    shutil.copytree(first_alone, tmp_path / "build")
    return elsewhere


@pytest.fixture
def catalogue_with_bare_image(bare_alone: Path, elsewhere: Catalogue, tmp_path: Path) -> Catalogue:
    """Likewise behind the image without a kernel."""
    shutil.copytree(bare_alone, tmp_path / "build")
    return elsewhere


@pytest.fixture
def checkout(checkout: Path, bare_alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Likewise: what is kept of other tests is not that of these."""
    monkeypatch.setenv("RTOSLAB_BUILD", str(shutil.copytree(bare_alone, tmp_path / "kept")))
    return checkout


@pytest.mark.parametrize(
    ("kernel", "board", "benchmarks", "config"),
    [
        ("freertos", "nucleo-f446re", ["t7"], {}),
        ("freertos", "nucleo-f446re", ["t6", "t7"], {"lto": "1"}),
        # Of other boards, and of an image without a kernel, tests below say the same.
        pytest.param("freertos", "pico", ["t2", "t3"], {"cores": "2"}, marks=pytest.mark.long),
        pytest.param("bare", "pico", ["t1", "t4"], {}, marks=pytest.mark.long),
        pytest.param("rt", "nucleo-f767zi", ["t6", "t7"], {}, marks=pytest.mark.long),
        pytest.param("freertos", "nucleo-l053r8", ["t1", "t4"], {"lto": "1", "opt": "-Os"}, marks=pytest.mark.long),
    ],
)
def test_cached_and_compiled_images_are_equal(
    catalogue_with_first_image: Catalogue,
    tmp_path: Path,
    kernel: str,
    board: str,
    benchmarks: list[str],
    config: dict[str, str],
) -> None:
    for point in points(catalogue_with_first_image, benchmarks, kernel, board, **config):
        built = build_measurement_point_image(catalogue_with_first_image, point)
    known = {"core/wire.c", "cortexm/startup.S", *({"FreeRTOS-Kernel/tasks.c", "src/rt.c"} if not point.lto else ())}
    assert not set(compiled_sources(built)) & known, "it was compiled for the image before"
    assert_equals_fresh_build(catalogue_with_first_image, point, built, tmp_path / "whole")


def test_cached_suite_and_footprint_images_are_equal(catalogue_with_bare_image: Catalogue, tmp_path: Path) -> None:
    first = points(catalogue_with_bare_image, *BARE)[0]
    weighed = [
        plan_footprint_program_build(catalogue_with_bare_image, name, "bare", "pico", 1, {})
        for name in ("minimal", "heap")
    ]
    for number, point in enumerate(
        [conformance_suite_measurement_point(first), *(item for item in weighed if item.not_applicable is None)]
    ):
        assert_equals_fresh_build(
            catalogue_with_bare_image,
            point,
            build_measurement_point_image(catalogue_with_bare_image, point),
            tmp_path / f"whole-{number}",
        )


def test_further_image_compiles_only_its_own_files(catalogue_with_first_image: Catalogue) -> None:
    first, second = points(catalogue_with_first_image, *FIRST)
    assert "FreeRTOS-Kernel/tasks.c" in compiled_sources(
        build_measurement_point_image(catalogue_with_first_image, first)
    )
    assert compiled_sources(build_measurement_point_image(catalogue_with_first_image, second)) == [
        "core/identity.c",
        "t7_synchronisation/t7_synchronisation.c",
    ]


def test_changed_settings_compile_only_files_that_use_them(
    catalogue_with_first_image: Catalogue, tmp_path: Path
) -> None:
    first, by_pin, *_ = points(catalogue_with_first_image, ["mutex"], "freertos", "nucleo-f446re")
    assert "core/wire.c" in compiled_sources(
        build_measurement_point_image(catalogue_with_first_image, points(catalogue_with_first_image, *FIRST)[0])
    )
    assert "run/ruler.c" in compiled_sources(build_measurement_point_image(catalogue_with_first_image, first))
    assert compiled_sources(build_measurement_point_image(catalogue_with_first_image, by_pin)) == [
        "core/identity.c",
        "latency/samples.c",
        "mutex/mutex.c",
    ]
    (other, *_) = points(catalogue_with_first_image, ["preemption"], "freertos", "nucleo-f446re")
    again = compiled_sources(build_measurement_point_image(catalogue_with_first_image, other))
    assert "core/identity.c" in again
    assert not {item for item in again if item.startswith(("FreeRTOS-Kernel/", "cortexm/", "f4/", "freertos/"))}
    point = replace(points(catalogue_with_first_image, ["mutex"], "freertos", "stm32f411ce")[0], window_ms=900)
    built = build_measurement_point_image(catalogue_with_first_image, point)
    of_all = {"core/wire.c", "cortexm/fault.c", "run/ruler.c", "run/window.c", "stm32/pins.c", "tasks/gate.c"}
    assert not of_all & set(compiled_sources(built))
    assert_equals_fresh_build(catalogue_with_first_image, point, built, tmp_path / "whole")


def test_unaffected_files_are_not_compiled_again(catalogue_with_first_image: Catalogue) -> None:
    build_measurement_point_image(
        catalogue_with_first_image, points(catalogue_with_first_image, ["t1"], "freertos", "nucleo-f446re")[0]
    )
    without = points(catalogue_with_first_image, ["t1"], "freertos", "nucleo-f446re", **{"feature.icache": "0"})[0]
    other = build_measurement_point_image(catalogue_with_first_image, without)
    assert compiled_sources(other) == ["core/identity.c", "f4/flash.c"]


def test_edited_checkout_is_compiled_again(checkout: Path, tmp_path: Path) -> None:
    catalogue = Catalogue(checkout)
    (point,) = points(catalogue, ["t1"], "bare", "pico")
    before = build_measurement_point_image(catalogue, point)
    replace_text(
        checkout, "core/bench_wire.h", "#pragma once", "#pragma once\n/* a line more, which a debugger is told */"
    )
    after = build_measurement_point_image(Catalogue(checkout), point)
    assert after.folder != before.folder
    assert "core/wire.c" in compiled_sources(after)
    assert_equals_fresh_build(Catalogue(checkout), point, after, tmp_path / "whole")
    (checkout / "firmware" / "include" / "bench_core.h").write_text("#error this comes first\n")
    with pytest.raises(BuildError, match="this comes first"):
        build_measurement_point_image(Catalogue(checkout), point)


def test_macro_of_a_service_exists_if_the_port_names_it(checkout: Path, tmp_path: Path) -> None:
    """It would be 0 in an #if, whatever the benchmark needs."""
    catalogue = Catalogue(checkout)
    (point,) = points(catalogue, ["t1"], "bare", "pico")
    asked = "#if BENCH_NEEDS_SLEEP\nint asked;\n#endif\n"
    with (checkout / "firmware" / "core" / "last_words.c").open("a") as file:
        file.write(asked)
    with pytest.raises(BuildError, match=r'last_words\.c:\d+:\d+: error: attempt to use poisoned "BENCH_NEEDS_SLEEP"'):
        build_measurement_point_image(catalogue, point)
    with (checkout / "firmware" / "kernels" / "bare" / "port.c").open("a") as file:
        file.write(asked)
    catalogue = Catalogue(checkout)
    assert_equals_fresh_build(catalogue, point, build_measurement_point_image(catalogue, point), tmp_path / "whole")


def test_further_checkout_reuses_compiled_objects(catalogue_with_bare_image: Catalogue, tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "further")
    point = points(catalogue_with_bare_image, *BARE)[0]
    first = build_measurement_point_image(catalogue_with_bare_image, point)
    text = first.folder.rename(tmp_path / "first") / "build.log"
    assert "compiler identification" in text.read_text()
    further = Catalogue(checkout)
    again = build_measurement_point_image(further, point)
    assert again.folder == first.folder, "the same content"
    assert compiled_sources(again) == ["core/identity.c"]
    assert "compiler identification" not in (again.folder / "build.log").read_text()
    assert_equals_fresh_build(further, point, again, tmp_path / "whole")
    replace_text(
        checkout, "core/bench_wire.h", "#pragma once", "#pragma once\n/* a line more, which a debugger is told */"
    )
    edited = build_measurement_point_image(Catalogue(checkout), point)
    assert "core/wire.c" in compiled_sources(edited)
    assert_equals_fresh_build(further, point, edited, tmp_path / "edited")


def test_compile_error_is_reported_and_can_be_fixed(checkout: Path, tmp_path: Path) -> None:
    file = "benchmarks/t1_arithmetic/t1_arithmetic.c"
    catalogue = Catalogue(checkout)
    (point,) = points(catalogue, ["t1"], "bare", "pico")
    replace_text(checkout, file, "#include", "int wrong = ;\n#include")
    with pytest.raises(BuildError, match=r"t1_arithmetic\.c:\d+:\d+: error: expected expression"):
        build_measurement_point_image(catalogue, point)
    replace_text(checkout, file, "int wrong = ;\n", "")
    assert_equals_fresh_build(catalogue, point, build_measurement_point_image(catalogue, point), tmp_path / "whole")


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_interrupted_build_leaves_no_partial_object(
    elsewhere: Catalogue, tmp_path: Path, ended_by: signal.Signals
) -> None:
    stored = tmp_path / "build" / "ccache"
    command = [sys.executable, "-c", BUILD, str(elsewhere.root), "t4", "bare"]
    with start_process(command, stderr=subprocess.DEVNULL, start_new_session=True) as running:
        while sum(path.name != "stats" for path in stored.glob("[0-9a-f]/?/*")) < 12:
            assert running.poll() is None, "the build ended before the test could end it"
            time.sleep(0.01)
        running.send_signal(ended_by)
        assert running.wait() != 0
    (point,) = points(elsewhere, ["t4"], "bare", "nucleo-f446re")
    assert_equals_fresh_build(elsewhere, point, build_measurement_point_image(elsewhere, point), tmp_path / "whole")


@pytest.mark.long
def test_parallel_builds_with_one_cache_are_whole(elsewhere: Catalogue, tmp_path: Path) -> None:
    command = [sys.executable, "-c", BUILD, str(elsewhere.root)]
    with start_process([*command, "t6"]) as one, start_process([*command, "t7"]) as other:
        assert (one.wait(), other.wait()) == (0, 0)
    for point in points(elsewhere, ["t6", "t7"], "freertos", "nucleo-f446re"):
        assert_equals_fresh_build(
            elsewhere, point, build_measurement_point_image(elsewhere, point), tmp_path / point.benchmark
        )


def test_results_of_cmake_are_reused_unchanged(catalogue_with_bare_image: Catalogue, tmp_path: Path) -> None:
    first, second = points(catalogue_with_bare_image, *BARE)
    assert (
        "compiler identification"
        in (build_measurement_point_image(catalogue_with_bare_image, first).folder / "build.log").read_text()
    )
    assert (
        "compiler identification"
        not in (build_measurement_point_image(catalogue_with_bare_image, second).folder / "build.log").read_text()
    )
    (stored,) = [path for path in (tmp_path / "build" / "configured").iterdir() if not path.name.startswith(".")]
    (stored / "CMakeCCompiler.cmake").write_text("damaged")
    (third,) = points(catalogue_with_bare_image, ["t7"], *BARE[1:])
    assert (
        "compiler identification"
        in (build_measurement_point_image(catalogue_with_bare_image, third).folder / "build.log").read_text()
    )


def test_cached_toml_contents_are_used_if_valid(checkout: Path, tmp_path: Path) -> None:
    catalogue = Catalogue(checkout)
    first, other = points(catalogue, *BARE)
    stored = [path for path in (tmp_path / "kept" / "facts").glob("*") if path.is_file()]
    assert len(stored) == len(toml_files_read_by_cmake(catalogue, first))
    for stored_item in stored:
        damaged = stored_item.read_bytes().replace(b"wire_version [==[2", b"wire_version [==[3")
        stored_item.write_bytes(damaged.replace(b"_WIRE_VERSION 2", b"_WIRE_VERSION 3"))  # what the code is told
    assert_equals_fresh_build(catalogue, other, build_measurement_point_image(catalogue, other), tmp_path / "damaged")
    replace_text(checkout, "boards/pico/board.toml", "hz = 1_000_000", "hz = 1_000_001")
    catalogue = Catalogue(checkout)
    (edited,) = points(catalogue, ["t1"], "bare", "pico")
    assert_equals_fresh_build(catalogue, edited, build_measurement_point_image(catalogue, edited), tmp_path / "edited")
