"""A folder is the registration; files are read strictly; names may be short while unique."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.base.errors import CatalogueError, PlanError, UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.suites import Experiment
from rtoslab.plan.obstacles import find_measurement_obstacle
from rtoslab.plan.plan import PlanOptions, experiment_points, make_measurement_plan

ROOT = find_checkout_root()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkout of facts only."""
    for kind in ("spec", "firmware/benchmarks", "firmware/kernels", "firmware/boards", "papers"):
        for path in (ROOT / kind).rglob("*.toml"):
            target = tmp_path / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return tmp_path


def test_every_file_of_this_checkout_is_valid() -> None:
    catalogue = Catalogue(ROOT)
    assert len(catalogue.benchmarks) >= 8
    assert "freertos" in catalogue.kernels
    assert "pico" in catalogue.boards
    for suite in catalogue.suites.values():
        assert catalogue.find_experiments_of_suite_or_benchmark(suite.id)[1]


@pytest.mark.parametrize(
    ("kind", "file"), [("benchmarks", "benchmark.toml"), ("kernels", "kernel.toml"), ("boards", "board.toml")]
)
def test_new_folder_is_found_automatically(copy: Path, kind: str, file: str) -> None:
    source = next((copy / "firmware" / kind).glob(f"*/{file}"))
    added = copy / "firmware" / kind / "brand_new"
    shutil.copytree(source.parent, added)
    text = re.sub(r'^id = ".*"', 'id = "brand_new"', source.read_text(), count=1, flags=re.MULTILINE)
    (added / file).write_text(text)
    assert "brand_new" in getattr(Catalogue(copy), kind)


def test_paper_may_have_several_suites(copy: Path) -> None:
    added = copy / "papers" / "vieira2026" / "suites" / "brand_new.toml"
    added.parent.mkdir(exist_ok=True)
    text = (copy / "papers" / "vieira2026" / "suite.toml").read_text()
    added.write_text(text.replace('id = "vieira2026"', 'id = "brand_new"'))
    result = Catalogue(copy).suites["brand_new"]
    assert result.folder == copy / "papers" / "vieira2026"
    added.write_text(text)
    with pytest.raises(CatalogueError, match="is the file 'brand_new'"):
        _ = Catalogue(copy).suites
    added.rename(added.with_stem("vieira2026"))
    with pytest.raises(CatalogueError, match="two suites named 'vieira2026'"):
        _ = Catalogue(copy).suites


def test_sweep_is_every_combination_except_the_users_options(copy: Path) -> None:
    path = copy / "papers" / "vieira2026" / "suite.toml"
    sweep = 'sweep = { opt = ["-O2", "-O3"], warmup_ms = [5, 6] }\n'
    path.write_text(path.read_text().replace("notes = [", sweep + "notes = [", 1))
    swept = make_measurement_plan(Catalogue(copy), ["vieira2026"], PlanOptions(cores=(1,))).points
    assert [(point.opt, point.warmup_ms) for point in swept[:4]] == [("-O2", 5), ("-O2", 6), ("-O3", 5), ("-O3", 6)]
    chosen = make_measurement_plan(
        Catalogue(copy), ["vieira2026"], PlanOptions(cores=(1,), config={"opt": "-Os"})
    ).points
    assert [(point.opt, point.warmup_ms) for point in chosen[:2]] == [("-Os", 5), ("-Os", 6)]
    assert len(swept) == 2 * len(chosen)


def test_no_code_names_a_benchmark_kernel_or_board() -> None:
    catalogue = Catalogue(ROOT)
    papers = {path.parent.name for path in (ROOT / "papers").glob("*/paper.toml")}
    names = re.compile(rf"\b({'|'.join([*catalogue.benchmarks, *catalogue.kernels, *papers])})\b", re.IGNORECASE)
    for path in (ROOT / "python" / "rtoslab").rglob("*.py"):
        if path.name == "defaults.py":  # which kernel and board are meant where none is named
            continue
        code = re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)
        assert not names.search(code), f"{path} names {names.search(code)}"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('title = "', 'titel = "', "title: Field required|titel: Extra inputs"),
        ("tasks_per_core = 1", 'tasks_per_core = "many"', "tasks_per_core"),
        ('id = "t1_arithmetic"', 'id = "other"', "is in the folder 't1_arithmetic'"),
        ("[metric]", "[metric", "is not valid TOML"),
    ],
)
def test_invalid_file_is_named(copy: Path, old: str, new: str, problem: str) -> None:
    path = copy / "firmware" / "benchmarks" / "t1_arithmetic" / "benchmark.toml"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(CatalogueError, match=problem) as caught:
        _ = Catalogue(copy).benchmarks
    assert str(path) in str(caught.value)


def test_kernel_with_tasks_declares_its_current_task(copy: Path) -> None:
    path = copy / "firmware" / "kernels" / "rt" / "kernel.toml"
    path.write_text(re.sub(r"\[probes\]\n(.+\n)+", "", path.read_text()))
    with pytest.raises(CatalogueError, match=r"kernel.toml.*under \[probes\] which word contains the running task"):
        _ = Catalogue(copy).kernels


def test_clock_that_contradicts_its_dividers_is_refused(copy: Path) -> None:
    path = copy / "firmware" / "boards" / "nucleo-f446re" / "board.toml"
    text = path.read_text()
    assert "pll_n = 180" in text
    path.write_text(text.replace("pll_n = 180", "pll_n = 170"))
    with pytest.raises(CatalogueError, match=r"\[clocks.180000000\] give 170,000,000 Hz"):
        _ = Catalogue(copy).boards


@pytest.mark.parametrize(
    ("board", "rest", "problem"),
    [
        ("nucleo-f446re", 'high = ["13"]', r"\[rest\] names the pin '13'; write it as PC13"),
        ("nucleo-f446re", 'high = ["PC13"]\nlow = ["PC13"]', "names the pin PC13 twice"),
        ("nucleo-f446re", 'high = ["PA2"]', r"names PA2, which \[pins\] or \[uart\] use"),
        ("pico", 'high = ["PA1"]', "only for chips with ports"),
    ],
)
def test_levels_at_rest_are_checked(copy: Path, board: str, rest: str, problem: str) -> None:
    path = copy / "firmware" / "boards" / board / "board.toml"
    text = re.sub(r"\[rest\]\n(.+\n)+", "", path.read_text())
    path.write_text(f"{text}\n[rest]\n{rest}\n")
    with pytest.raises(CatalogueError, match=problem):
        _ = Catalogue(copy).boards


def test_short_names_are_resolved() -> None:
    assert Catalogue(ROOT).find_benchmark("t1").id == "t1_arithmetic"
    with pytest.raises(UnknownNameError):
        Catalogue(ROOT).find_benchmark("t")


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 't3_preemptive'"):
        Catalogue(ROOT).find_benchmark("t3_premptive")
    with pytest.raises(
        UnknownNameError, match="There is no suite or benchmark named 'vieria2026'; did you mean 'vieira2026'"
    ):
        Catalogue(ROOT).find_experiments_of_suite_or_benchmark("vieria2026")


def test_suite_plans_every_benchmark_on_every_number_of_cores() -> None:
    plan = make_measurement_plan(Catalogue(ROOT), ["vieira2026"], PlanOptions())
    assert len(plan.points) == 16
    assert plan.suite == "vieira2026"
    assert {point.cores for point in plan.points} == {1, 2}
    assert all(point.not_applicable is None for point in plan.points)


EXPERIMENT = {
    "benchmarks": ["t1_arithmetic"], "kernels": ["freertos"], "boards": ["pico"], "paper_window_ms": 30_000,
    "config": {"opt": "-O3"}, "full_config": {"param.words": "64"}, "bring_your_own": ["rt", "zephyr"],
    "sweep": {"warmup_ms": ["1", "2"], "param.words": ["8", "16"]},
}  # fmt: skip


def test_experiment_sweeps_over_available_kernels() -> None:
    experiment = Experiment.model_validate(EXPERIMENT)
    points = experiment_points(Catalogue(ROOT), experiment, PlanOptions())
    assert [(point.kernel, point.warmup_ms, point.params["words"]) for point in points] == [
        (kernel, warmup, words) for kernel in ("freertos", "rt") for warmup in (1, 2) for words in ("8", "16")
    ]
    assert {(point.opt, point.window_ms) for point in points} == {("-O3", 250)}


def test_full_experiment_takes_the_papers_own_durations() -> None:
    experiment = Experiment.model_validate({**EXPERIMENT, "sweep": {}})
    (point, _) = experiment_points(Catalogue(ROOT), experiment, PlanOptions(full=True))
    assert (point.window_ms, point.params) == (30_000, {"words": "64"})


def test_options_override_the_suite() -> None:
    config = {"opt": "-O3", "configTICK_RATE_HZ": "500", "timing.x": "0x10", "param.words": "64"}
    (point,) = make_measurement_plan(
        Catalogue(ROOT), ["t1"], PlanOptions(["freertos"], ["pico"], [2], 100, config)
    ).points
    assert (point.cores, point.window_ms, point.opt) == (2, 100, "-O3")
    assert point.kernel_config == {"configTICK_RATE_HZ": "500"}
    assert point.timing == {"timing.x": 16}
    assert point.params == {"words": "64"}


def test_impossible_point_stays_in_the_plan_with_its_reason(copy: Path) -> None:
    path = copy / "firmware" / "kernels" / "freertos" / "kernel.toml"
    text = path.read_text().replace("heap = true", "heap = false", 1).replace("smp = true", "smp = false")
    path.write_text(text)
    points = make_measurement_plan(Catalogue(copy), ["t8", "t1"], PlanOptions(["freertos"], ["pico"], [1, 2, 3])).points
    reasons = {(point.benchmark[:2], point.cores): point.not_applicable for point in points}
    assert reasons["t8", 1] == "FreeRTOS has no heap service: its kernel.toml says so"
    assert reasons["t1", 2] == "FreeRTOS has no symmetric multiprocessing"
    assert reasons["t1", 3] == "Raspberry Pi Pico has 2 cores"
    assert reasons["t1", 1] is None


def test_feature_of_some_boards_is_not_applicable_on_others() -> None:
    config = {"clock_hz": "8000000", "data": "dtcm", "feature.dcache": "0", "wait_states": "1"}
    boards = ["nucleo-h743zi", "nucleo-l053r8", "pico"]
    h743, l053, pico = make_measurement_plan(
        Catalogue(ROOT), ["t1"], PlanOptions(["freertos"], boards, config=config)
    ).points
    assert h743.not_applicable is None
    assert (h743.clock_hz, h743.data, h743.features, h743.wait_states) == (8_000_000, "dtcm", {"dcache": 0}, 1)
    assert l053.not_applicable == "NUCLEO-L053R8 has no memory dtcm"
    assert pico.not_applicable == "Raspberry Pi Pico has no clock of 8000000 Hz, but 125000000"


def test_missing_board_feature_is_not_applicable() -> None:
    (point,) = make_measurement_plan(
        Catalogue(ROOT), ["t1"], PlanOptions(["freertos"], ["nucleo-f103rb"], config={"feature.icache": "0"})
    ).points
    assert point.not_applicable == "NUCLEO-F103RB has no icache to switch"


@pytest.mark.parametrize(
    ("board", "core", "value", "wrong"),
    [
        ("nucleo-h743zi", "cortex-m7", "0", True),
        ("nucleo-h743zi", "cortex-m7", "1", False),
        ("nucleo-f446re", "cortex-m7", "0", False),
    ],
)
def test_feature_that_the_kernel_enables_cannot_be_disabled(board: str, core: str, value: str, wrong: bool) -> None:
    catalogue = Catalogue(ROOT)
    plain = catalogue.find_kernel("freertos")
    forcing = replace(plain, facts=plain.facts.model_copy(update={"turns_on": {core: ("dcache",)}}))
    result = find_measurement_obstacle(
        catalogue.find_benchmark("t1_arithmetic"), forcing, catalogue.find_board(board), 1, {"feature.dcache": value}
    )
    output = "the start-up of FreeRTOS turns dcache of NUCLEO-H743ZI on; `--config timing.dcache=0` holds it off"
    assert (result or "").startswith(output) is wrong


def test_switch_outside_a_handler_cannot_be_timed() -> None:
    catalogue = Catalogue(ROOT)
    plain = catalogue.find_kernel("freertos")
    behaviour = plain.facts.behaviour.model_copy(update={"switch_mode": "thread"})
    in_thread = replace(plain, facts=plain.facts.model_copy(update={"behaviour": behaviour}))
    board = catalogue.find_board("pico")

    def obstacle(benchmark: str) -> str | None:
        return find_measurement_obstacle(catalogue.find_benchmark(benchmark), in_thread, board, 1, {})

    assert obstacle("switch_pairs") == "FreeRTOS switches tasks in thread mode, so no handler of a switch can be timed"
    assert obstacle("tick_handler") is None
    assert find_measurement_obstacle(catalogue.find_benchmark("switch_pairs"), plain, board, 1, {}) is None


def test_tick_that_the_kernel_handles_in_two_handlers_cannot_be_timed() -> None:
    catalogue = Catalogue(ROOT)
    plain = catalogue.find_kernel("freertos")
    assert plain.facts.probes is not None
    probes = plain.facts.probes.model_copy(update={"tick_lines": {"rp2040": 27}})
    deferring = replace(plain, facts=plain.facts.model_copy(update={"probes": probes}))
    board, benchmark = catalogue.find_board("pico"), catalogue.find_benchmark("tick_handler")
    assert find_measurement_obstacle(benchmark, deferring, board, 1, {}) == (
        "FreeRTOS does the work of a tick in two handlers, so no handler of a tick can be timed"
    )
    assert find_measurement_obstacle(benchmark, plain, board, 1, {}) is None


def test_port_may_differ_by_architecture() -> None:
    kernel = Catalogue(ROOT).find_kernel("freertos").facts
    assert kernel.kernel_facts_for_architecture("armv6m").symbols["yield"] == ("vPortYield",)
    assert kernel.kernel_facts_for_architecture("armv7m").symbols["yield"] == ("isr_pendsv",)
    assert kernel.kernel_facts_for_architecture("armv7m").symbols["malloc"] == kernel.symbols["malloc"]


def test_misuse_is_refused() -> None:
    with pytest.raises(PlanError, match="must be a whole number"):
        make_measurement_plan(Catalogue(ROOT), ["t1"], PlanOptions(config={"timing.x": "fast"}))
    with pytest.raises(UnknownNameError, match="parameter of t1_arithmetic named 'word'; did you mean 'words'"):
        make_measurement_plan(Catalogue(ROOT), ["t1"], PlanOptions(config={"param.word": "1"}))
    for value, complaint in {"-1": "words=-1 must be 0 or more", "many": "must be a whole number"}.items():
        with pytest.raises(PlanError, match=complaint):
            make_measurement_plan(Catalogue(ROOT), ["t1"], PlanOptions(config={"param.words": value}))


def test_test_of_two_cores_does_not_apply_to_one() -> None:
    config = {"param.stress_percent": "10", "param.seed": "1"}
    options = PlanOptions(kernels=("freertos",), boards=("pico",), cores=(1, 2), config=config)
    points = make_measurement_plan(Catalogue(ROOT), ["contention"], options).points
    assert [bool(point.not_applicable) for point in points] == [True, False]
    assert points[0].not_applicable is not None
    assert "is a test of 2 cores or more" in points[0].not_applicable


@pytest.mark.parametrize("value", ["9" * 5000, "٣", "²", "-1", "", "1.0", "99"])
def test_parameter_that_selects_no_service_is_reported(value: str) -> None:
    benchmark = Catalogue(find_checkout_root()).find_benchmark("phase_sweep").facts
    with pytest.raises(PlanError, match=r"phase_sweep has no service='.*; choose one of 0 \(") as caught:
        benchmark.kernel_services_needed_by_benchmark({"service": value})
    assert len(str(caught.value)) < 400
