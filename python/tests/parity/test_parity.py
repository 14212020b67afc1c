"""The lint: planted unfairness is found, fairness is not accused, costs come from points that differ in one thing."""

import re
from pathlib import Path
from typing import Any

import pytest

from rtoslab import api
from rtoslab.base.errors import PlanError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.cli import app
from rtoslab.parity.concepts import (
    CONCEPTS,
    KERNEL_CONCEPTS,
    catalogue_kernel_of_measurement,
    fairness_condition_values_of_point,
)
from rtoslab.parity.costs import (
    COSTS_FILE,
    ConfigurationChangeCost,
    configuration_costs_from_points,
    find_configuration_change_cost,
    read_configuration_change_costs,
    read_cost_file,
    update_configuration_cost_file,
)
from rtoslab.parity.unfairness import ComparedMeasuredPoint, group_comparable_measurements, unfair_differences_in_groups
from rtoslab.reference.substitutes import read_reference_files
from rtoslab.results.results import MeasuredPoint
from tests.cli.test_cli import command_error, rtoslab
from tests.fakes import measured_point, point

CATALOGUE = Catalogue(find_checkout_root())
MACROS = {
    "configBENCH_ASSERT": "0",
    "configCHECK_FOR_STACK_OVERFLOW": "0",
    "configTICK_RATE_HZ": "1000",
    "configUSE_TIME_SLICING": "0",
    "configUSE_PORT_OPTIMISED_TASK_SELECTION": "1",
    "configUSE_TICKLESS_IDLE": "0",
    "configENABLE_MPU": "0",
    "configUSE_TRACE_FACILITY": "0",
    "configMAX_PRIORITIES": "8",
}
QUEUE_O0, QUEUE_X = {"none", "-O0 for kernel/queue.c"}, {"none", "-DX=1 for kernel/queue.c"}


def compiler_calls(*options: str, kernel: str = "", others: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a build records of its compiler calls: its own C files and the kernel's."""
    mine = ["-mthumb", *(options or ("-O2",))]
    folders = {"firmware/*.c": mine, "kernel/*.c": ["-mthumb", kernel] if kernel else mine}
    groups = {name: {"files": 9, "options": words, "definitions": [], "folders": []} for name, words in folders.items()}
    return {"groups": groups, "files": others or {}, "linked": []}


BUILD: dict[str, Any] = {
    "flags": ["-mthumb", "-O2"],
    "calls": compiler_calls(),
    "compiler": {"banner": "gcc 12"},
    "features": {"icache": "1", "dcache": "1"},
    "clock": {"wait_states": "5"},
    "clock_hz": 84_000_000,
    "code": "flash",
    "kernel_config": MACROS,
}


def subject(who: str, **changes: Any) -> ComparedMeasuredPoint:
    where = point().model_copy(update={"kernel": "freertos"})
    return ComparedMeasuredPoint(who, where, {"build": {**BUILD, **changes}})


def macros(**changes: str) -> dict[str, Any]:
    return {"kernel_config": {**MACROS, **changes}}


@pytest.mark.parametrize(
    ("planted", "concept", "words"),
    [
        (macros(configBENCH_ASSERT="1"), "assertions", {"off", "on"}),
        (macros(configUSE_TIME_SLICING="1"), "time_slicing", {"off", "on"}),
        (macros(configUSE_PORT_OPTIMISED_TASK_SELECTION="0"), "task_selection", {"optimised", "generic"}),
        ({"features": {"icache": "0", "dcache": "1"}}, "feature.icache", {"off", "on"}),
        ({"features": {"icache": "1", "dcache": "0"}}, "feature.dcache", {"off", "on"}),
        (macros(configCHECK_FOR_STACK_OVERFLOW="2"), "stack_checking", {"off", "on"}),
        (macros(configUSE_TRACE_FACILITY="1"), "trace_hooks", {"off", "on"}),
        (macros(configTICK_RATE_HZ="100"), "tick_hz", {"1000", "100"}),
        (macros(configMAX_PRIORITIES="32"), "priorities", {"8", "32"}),
        (macros(configUSE_TICKLESS_IDLE="1"), "tickless_idle", {"off", "on"}),
        (macros(configENABLE_MPU="1"), "mpu", {"off", "on"}),
        ({"flags": ["-O2", "-flto=1 (of the kernel)"]}, "lto", {"off", "on"}),
        ({"calls": compiler_calls(others={"kernel/queue.c": {"options": ["...", "-O0"]}})}, "file_options", QUEUE_O0),
        ({"calls": compiler_calls(others={"kernel/queue.c": {"definitions": ["-DX=1"]}})}, "file_options", QUEUE_X),
        ({"calls": compiler_calls("-Os")}, "opt", {"-O2", "-Os"}),
        ({"calls": compiler_calls(kernel="-O0")}, "opt", {"-O2", "firmware -O2, kernel -O0"}),
        (
            {"calls": compiler_calls("-O2", "-fno-omit-frame-pointer")},
            "options",
            {"-mthumb", "-mthumb -fno-omit-frame-pointer"},
        ),
        ({"calls": compiler_calls("-O2", "-Wall", "-fshort-enums")}, "", set()),
        ({"compiler": {"banner": "clang 19"}}, "compiler", {"gcc 12", "clang 19"}),
        ({"clock_hz": 180_000_000}, "clock_hz", {"84000000", "180000000"}),
        ({"code": "sram"}, "code", {"flash", "sram"}),
    ],
)
def test_only_the_planted_difference_is_found(planted: dict[str, Any], concept: str, words: set[str]) -> None:
    findings = unfair_differences_in_groups(
        CATALOGUE, group_comparable_measurements([subject("a"), subject("b", **planted)])
    )
    assert [finding.concept.id for finding in findings] == ([concept] if concept else [])
    if not concept:
        return
    assert set(findings[0].values) == words
    assert findings[0].values[next(iter(findings[0].values))] == ("a",)
    assert "not measured" in findings[0].unfair_difference_cost_text


def test_equal_conditions_are_not_reported() -> None:
    assert unfair_differences_in_groups(CATALOGUE, group_comparable_measurements([subject("a"), subject("b")])) == []
    elsewhere = ComparedMeasuredPoint(
        "c", point().model_copy(update={"board": "other"}), {"build": {**BUILD, "code": "sram"}}
    )
    assert unfair_differences_in_groups(CATALOGUE, group_comparable_measurements([subject("a"), elsewhere])) == [], (
        "other boards are not compared"
    )


def test_parity_uses_existing_macros_of_every_kernel() -> None:
    known = {item.id for item in KERNEL_CONCEPTS}
    for entry in CATALOGUE.kernels.values():
        assert set(entry.facts.parity) <= known, f"{entry.id} answers for what nobody asks"
        if entry.facts.services["tasks"]:
            assert set(entry.facts.parity) == known, f"{entry.id} leaves something open"
    assert len({concept.id for concept in CONCEPTS}) == len(CONCEPTS)


def test_kernel_without_a_setting_states_its_fixed_value() -> None:
    facts = fairness_condition_values_of_point({"build": {"kernel_config": {}}}, CATALOGUE.kernels["rt"].facts)
    assert (facts["assertions"], facts["time_slicing"]) == ("1", "1")


def point_with_config(counts: int, **config: str) -> MeasuredPoint:
    plain = measured_point(1, counts)
    where = plain.point.model_copy(update={"kernel": "freertos", "config": config})
    return plain.model_copy(update={"point": where})


def test_costs_are_computed_from_points_that_differ_in_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    points = [
        point_with_config(2000, x="0", y="0"),
        point_with_config(1000, x="1", y="0"),
        point_with_config(500, x="1", y="1"),
    ]
    costs = configuration_costs_from_points(points)
    assert {(cost.key, cost.before, cost.after): cost.percent for cost in costs} == {
        ("x", "0", "1"): {"t2": pytest.approx(100, abs=0.2)},
        ("y", "0", "1"): {"t2": pytest.approx(100, abs=0.2)},
    }
    back = find_configuration_change_cost(costs, "freertos", "b", "x", ("1", "0"))
    assert back is not None
    assert back.percent == {"t2": pytest.approx(-50, abs=0.1)}
    assert find_configuration_change_cost(costs, "freertos", "b", "x", ("0", "2")) is None
    path = tmp_path / "baselines" / "costs.toml"
    update_configuration_cost_file(costs, path)
    update_configuration_cost_file(costs[:1], path)
    assert list(read_configuration_change_costs(tmp_path)) == costs


def test_edited_cost_and_a_file_without_a_seal_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "costs.toml"
    costs = configuration_costs_from_points([point_with_config(2000, x="0"), point_with_config(1000, x="1")])
    update_configuration_cost_file(costs, path)
    written = path.read_text()
    path.write_text("# A comment.\n" + written)
    assert list(read_cost_file(path)) == costs
    for old, new in (('key = "x"', 'key = "y"'), ("t2 = 1", "t2 = 2"), ('kernel = "freertos"', 'kernel = "rt"')):
        assert old in written
        path.write_text(written.replace(old, new))
        with pytest.raises(PlanError, match=r"was edited; remove it, and `rtoslab sweep PLAN.toml --costs` writes"):
            read_cost_file(path)
        with pytest.raises(PlanError, match="was edited"):
            update_configuration_cost_file(costs, path)
    for text in (re.sub(r"^seal = .*\n", "", written, flags=re.MULTILINE), written.partition("\n\n")[2]):
        path.write_text(text)
        with pytest.raises(PlanError, match="has no seal"):
            read_cost_file(path)
    path.write_text(written.replace("format = 2", "format = 3"))
    with pytest.raises(PlanError, match="has format 3, but this version reads format 2"):
        read_cost_file(path)


def test_commands_refuse_an_edited_cost(checkout: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    api.run("t7", kernels=["freertos"], boards=["pico"], cores=[1], window_ms=5, out=run)
    assert rtoslab("lint", run).returncode == 0
    update_configuration_cost_file(
        configuration_costs_from_points([point_with_config(2000, x="0"), point_with_config(1000, x="1")]),
        checkout / COSTS_FILE,
    )
    edit_cost(checkout / COSTS_FILE)
    for words in (("lint", run), ("report", run, "-o", tmp_path / "report.html")):
        message = command_error(rtoslab(*words), 1)
        assert "costs.toml was edited" in message, words
        assert "\n" not in message


def test_sweep_refuses_an_edited_cost_before_it_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    update_configuration_cost_file(
        configuration_costs_from_points([point_with_config(2000, x="0"), point_with_config(1000, x="1")]),
        tmp_path / COSTS_FILE,
    )
    edit_cost(tmp_path / COSTS_FILE)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'title = "T"\nbenchmarks = ["t2"]\nkernels = ["freertos"]\nboards = ["pico"]\n[grid]\n"opt" = ["-O1"]\n'
    )
    with pytest.raises(PlanError, match="was edited"):
        app.main(["sweep", str(plan), "--costs"], standalone_mode=False)
    assert not (tmp_path / "runs").exists()


def edit_cost(path: Path) -> None:
    text = path.read_text()
    changed = text.replace("percent = { t", "percent = { u", 1)
    assert changed != text
    path.write_text(changed)


def test_our_own_costs_are_sealed() -> None:
    assert read_cost_file(find_checkout_root() / COSTS_FILE)


def test_measured_cost_is_shown() -> None:
    costs = configuration_costs_from_points(
        [point_with_config(2000, configBENCH_ASSERT="0"), point_with_config(1000, configBENCH_ASSERT="1")]
    )
    unequal = group_comparable_measurements([subject("a"), subject("b", **macros(configBENCH_ASSERT="1"))])
    elsewhere = [cost.model_copy(update={"board": "other"}) for cost in costs]
    (finding,) = unfair_differences_in_groups(CATALOGUE, unequal, elsewhere)
    assert finding.unfair_difference_cost_text == "not measured; a sweep over this option measures it"
    (finding,) = unfair_differences_in_groups(CATALOGUE, unequal, costs)
    assert "from off to on: t2 +" in finding.unfair_difference_cost_text


def test_costs_are_shown_for_the_compared_benchmarks() -> None:
    cost = ConfigurationChangeCost(
        kernel="freertos", board="b", key="configBENCH_ASSERT", before="0", after="1", percent={"t2": 1.0, "t7": 50.0}
    )
    unequal = group_comparable_measurements([subject("a"), subject("b", **macros(configBENCH_ASSERT="1"))])
    (finding,) = unfair_differences_in_groups(CATALOGUE, unequal, [cost])
    assert finding.unfair_difference_cost_text == "freertos, from off to on: t2 +1.0 %"
    (finding,) = unfair_differences_in_groups(CATALOGUE, unequal, [cost.model_copy(update={"percent": {"t7": 50.0}})])
    assert finding.unfair_difference_cost_text == "freertos, from off to on: t7 +50.0 %"


def test_cost_is_found_among_more_than_two_values() -> None:
    """The measured pair of values need not be that of the first two sides."""
    cost = ConfigurationChangeCost(
        kernel="freertos", board="b", key="configMAX_PRIORITIES", before="8", after="32", percent={"t2": 3.0}
    )
    sides = [subject(f"p{number}", **macros(configMAX_PRIORITIES=number)) for number in ("16", "8", "32")]
    (finding,) = unfair_differences_in_groups(CATALOGUE, group_comparable_measurements(sides), [cost])
    assert finding.unfair_difference_cost_text == "freertos, from 8 to 32: t2 +3.0 %"
    small = cost.model_copy(update={"percent": {"t2": 0.04, "t7": -0.01}, "band": {"t2": (0.0, 0.05)}})
    (finding,) = unfair_differences_in_groups(CATALOGUE, group_comparable_measurements(sides), [small])
    assert finding.unfair_difference_cost_text == "freertos, from 8 to 32: t2 +0.0 % (+0.0 to +0.1)"
    costs = [small.model_copy(update={"percent": {"t3": 0.04, "t7": -0.01}, "band": {}})]
    (finding,) = unfair_differences_in_groups(CATALOGUE, group_comparable_measurements(sides), costs)
    assert finding.unfair_difference_cost_text == "freertos, from 8 to 32: less than 0.1 % in each of 2 benchmarks"


def test_cost_is_shown_only_for_its_own_values() -> None:
    """Sweeps name what departs; a side that asked for another value than the usual one is another matter."""
    costs = configuration_costs_from_points(
        [point_with_config(2000), point_with_config(1000, configMAX_PRIORITIES="32")]
    )
    plain, many = subject("a"), subject("b", **macros(configMAX_PRIORITIES="32"))
    (finding,) = unfair_differences_in_groups(CATALOGUE, group_comparable_measurements([plain, many]), costs)
    assert finding.unfair_difference_cost_text.startswith("freertos, from 8 to 32: t2 +")
    request = plain.point.model_copy(update={"config": {"configMAX_PRIORITIES": "16"}})
    few = ComparedMeasuredPoint("a", request, {"build": {**BUILD, **macros(configMAX_PRIORITIES="16")}})
    (finding,) = unfair_differences_in_groups(CATALOGUE, group_comparable_measurements([few, many]), costs)
    assert "not measured" in finding.unfair_difference_cost_text


@pytest.mark.long
def test_planted_run_is_found_by_the_command_and_in_the_report(tmp_path: Path) -> None:
    for value in ("0", "1"):
        config = {"configBENCH_ASSERT": value}
        api.run("t7", kernels=["freertos"], boards=["pico"], window_ms=10, out=tmp_path / value, config=config)
    done = rtoslab("lint", tmp_path / "0", tmp_path / "1", "--strict")
    assert done.returncode == 3
    assert "assertions: off for 0; on for 1." in done.stdout.replace(", configBENCH_ASSERT=0", "").replace(
        ", configBENCH_ASSERT=1", ""
    )
    assert "cost: freertos, from off to on: t7_synchronisation +" in done.stdout
    report = rtoslab("report", tmp_path / "0", tmp_path / "1", "--format", "md").stdout
    assert "## Is the comparison fair?" in report
    assert "| assertions |" in report
    assert rtoslab("lint", tmp_path / "0").stdout.startswith("The comparison is fair")
    compared = rtoslab("compare", tmp_path / "0", tmp_path / "1", "--format", "md").stdout
    assert compared.index("## Worse and better") < compared.index("| assertions |")


def subject_of_port(port: str, kernel: str, **macros_of: str) -> ComparedMeasuredPoint:
    """A point of a kernel whose tree is not named here, as a reference result is."""
    sources = {f"firmware/kernels/{port}/port.c": "0", "firmware/chips/stm32/board.c": "0"}
    where = point().model_copy(update={"kernel": kernel})
    return ComparedMeasuredPoint(kernel, where, {"build": {**BUILD, "sources": sources, "kernel_config": macros_of}})


@pytest.mark.parametrize("kernel", ["freertos9", "freertos9 (reference)", "freertos (reference)"])
def test_options_of_a_missing_kernel_are_known_from_its_port(kernel: str) -> None:
    here = subject("freertos", **macros(configBENCH_ASSERT="1"))
    present = subject_of_port("freertos", kernel, **MACROS)
    (result,) = unfair_differences_in_groups(CATALOGUE, group_comparable_measurements([here, present]))
    assert (result.concept.id, result.values) == ("assertions", {"on": ("freertos",), "off": (kernel,)})


def test_option_missing_in_a_complete_configuration_is_off() -> None:
    """What Kconfig writes names no option that is not set."""
    config = {"CONFIG_RR_INTERVAL": "0", "CONFIG_USEC_PER_TICK": "1000"}
    here = subject("freertos", **macros(configBENCH_ASSERT="1", configUSE_TICKLESS_IDLE="1"))
    result = {
        unfairness.concept.id: unfairness.values
        for unfairness in unfair_differences_in_groups(
            CATALOGUE, group_comparable_measurements([here, subject_of_port("nuttx", "nuttx", **config)])
        )
    }
    assert result["assertions"] == {"on": ("freertos",), "off": ("nuttx",)}
    assert result["tickless_idle"] == {"on": ("freertos",), "off": ("nuttx",)}
    on = subject_of_port("nuttx", "nuttx (reference)", **config, CONFIG_DEBUG_ASSERTIONS="1")
    assert "assertions" not in {
        unfairness.concept.id
        for unfairness in unfair_differences_in_groups(CATALOGUE, group_comparable_measurements([here, on]))
    }


def test_every_reference_result_has_the_options_of_its_kernel() -> None:
    message = {"assertions", "stack_checking", "trace_hooks", "tick_hz", "priorities", "time_slicing", "tickless_idle"}
    files = list(read_reference_files(find_checkout_root()))
    assert files
    for reference in (one for one in files if one.kernel != "bare"):  # which has no kernel to configure
        manifest = reference.points[0].manifest
        facts = fairness_condition_values_of_point(
            manifest, catalogue_kernel_of_measurement(CATALOGUE, manifest, reference.kernel)
        )
        assert message <= facts.keys(), reference.kernel


def test_command_includes_reference_results_on_request(tmp_path: Path) -> None:
    api.run("t7", kernels=["freertos"], boards=["pico"], cores=[1], window_ms=250, out=tmp_path / "own")
    assert rtoslab("lint", tmp_path / "own", "--strict").stdout.startswith("The comparison is fair")
    done = rtoslab("lint", tmp_path / "own", "--reference", "--strict")
    assert done.returncode == 3, done.stderr
    assert "number of priorities: 8 for freertos; 256 for nuttx (reference)." in done.stdout
    assert "assertions" not in done.stdout, "off on both sides"


def test_flags_count_for_records_without_compiler_calls() -> None:
    """Points that were stored before calls were recorded: nothing is known of single files, and nobody is accused."""
    old = {key: value for key, value in BUILD.items() if key != "calls"}
    result = fairness_condition_values_of_point({"build": old}, None)
    assert result["opt"] == "-O2"
    assert not {"options", "file_options"} & result.keys()
    where = point().model_copy(update={"kernel": "freertos"})
    assert not unfair_differences_in_groups(
        CATALOGUE, group_comparable_measurements([subject("new"), ComparedMeasuredPoint("old", where, {"build": old})])
    )
