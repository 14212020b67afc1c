"""The gate: limits, exit codes, and a slowdown of one line caught to the exact cycle."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rtoslab.analyses.named_figures import NamedMetricValue, comparable_values_of_measurement_point
from rtoslab.base.errors import CatalogueError, PlanError
from rtoslab.cli import app
from rtoslab.compare.baseline import (
    BaselineMeasurementPoint,
    baseline_as_comparison_side,
    make_regression_baseline,
    read_baseline_without_seal_check,
    read_regression_baseline_file,
    write_baseline,
)
from rtoslab.compare.comparison import ChangeVerdict, FigureChange
from rtoslab.compare.gate import compare_run_with_baseline, gate_verdict_text
from rtoslab.compare.matching import MeasuredPointPair
from rtoslab.compare.rules import MeasuredValueLimits, parse_growth_limits
from rtoslab.compare.sides import ComparedMeasurementSet, MeasuredPointValues
from rtoslab.results.results import TaskCount
from tests.checkouts import build_apart, copy_checkout, replace_text
from tests.cli.test_cli import ROOT, command_error, rtoslab
from tests.fakes import measured_point, point

GCC = {"build.compiler.banner": "gcc 12"}


def side(cycles: float, stack: float = 100.0, compiler: str = "gcc 12", **gone: str) -> ComparedMeasurementSet:
    result = {"cycles_per_count": cycles, "stack.c0t0": stack, "image.text": 1000.0}
    metrics = {
        key: NamedMetricValue(key, "cycles" if key == "cycles_per_count" else "bytes", value)
        for key, value in result.items()
        if key not in gone.values()
    }
    return ComparedMeasurementSet(
        "run", [MeasuredPointValues(point(), metrics, True, {"build.compiler.banner": compiler})]
    )


def change(metric: str, unit: str, before: float, after: float) -> FigureChange:
    figures = MeasuredPointValues(point(), {}, True, {})
    pair = MeasuredPointPair("p", figures, figures)
    return FigureChange(
        pair, NamedMetricValue(metric, unit, before), NamedMetricValue(metric, unit, after), ChangeVerdict.WORSE
    )


@pytest.mark.parametrize(
    ("rule", "unit", "after", "broken"),
    [
        ("+0 cycles", "cycles", 100.001, True),
        ("+0 cycles", "cycles", 100.0, False),
        ("+0 cycles", "cycles", 99.0, False),
        ("+1 cycle", "cycles", 101.0, False),
        ("+0 cycles", "bytes", 500.0, False),
        ("+0 cycles|+2 %", "cycles", 101.0, True),
        ("+0 cycles|+2 %", "bytes", 102.0, False),
        ("+0 cycles|+2 %", "bytes", 102.1, True),
        ("+ 4 bytes | +10%", "bytes", 104.0, False),
        ("+ 4 bytes | +10%", "bytes", 105.0, True),
        ("never", "cycles", 1e9, False),
    ],
)
def test_limits_are_parsed_and_applied(rule: str, unit: str, after: float, broken: bool) -> None:
    assert (
        MeasuredValueLimits({"*": rule}).first_exceeded_limit(change("m", unit, 100.0, after)) is not None
    ) is broken


def test_longest_pattern_wins_and_command_line_overrides() -> None:
    stored = {"stack.*": "+8 bytes", "*": "+1 cycles"}
    assert (
        str(
            MeasuredValueLimits.merge_baseline_and_requested_limits(stored, []).growth_limits_of_measured_value(
                "stack.c0t0"
            )[0]
        )
        == "+8 bytes"
    )
    assert (
        str(
            MeasuredValueLimits.merge_baseline_and_requested_limits(
                stored, ["stack.c0*=+16 bytes"]
            ).growth_limits_of_measured_value("stack.c0t0")[0]
        )
        == "+16 bytes"
    )
    assert (
        str(
            MeasuredValueLimits.merge_baseline_and_requested_limits(stored, ["+2 %"]).growth_limits_of_measured_value(
                "stack.c0t0"
            )[0]
        )
        == "+2 %"
    )
    assert (
        str(
            MeasuredValueLimits.merge_baseline_and_requested_limits({}, []).growth_limits_of_measured_value(
                "take.median"
            )[0]
        )
        == "+0 cycles"
    )


@pytest.mark.parametrize("text", ["2 %", "+2 seconds", "", "+0 cycles,+2 %"])
def test_invalid_rule_is_reported(text: str) -> None:
    with pytest.raises(PlanError, match="is not a limit"):
        parse_growth_limits(text)


def test_baseline_survives_writing_and_reading(tmp_path: Path) -> None:
    built = make_regression_baseline(side(142.615267045937), {"stack.*": "+8 bytes"})
    write_baseline(built, tmp_path / "one.toml")
    back = read_regression_baseline_file(tmp_path / "one.toml")
    assert back == built
    write_baseline(back, tmp_path / "two.toml")
    assert (tmp_path / "one.toml").read_bytes() == (tmp_path / "two.toml").read_bytes()
    assert not compare_run_with_baseline(
        back, "main", side(142.615267045937), MeasuredValueLimits.merge_baseline_and_requested_limits(back.rules, [])
    ).regressions
    assert baseline_as_comparison_side(back, "main").figures[0].metrics["stack.c0t0"].unit == "bytes"


def test_baseline_with_unknown_keys_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("format = 1\npoint = []\nnonsense = 1\n")
    with pytest.raises(CatalogueError, match="nonsense"):
        read_regression_baseline_file(tmp_path / "x.toml")
    with pytest.raises(CatalogueError, match="Cannot read"):
        read_regression_baseline_file(tmp_path / "absent.toml")


def test_regressions_missing_figures_and_other_compilers_are_distinguished() -> None:
    baseline = make_regression_baseline(side(100.0), {})
    worse = compare_run_with_baseline(
        baseline, "main", side(101.0, 108.0), MeasuredValueLimits.merge_baseline_and_requested_limits({}, [])
    )
    assert [(regression.before.id, regression.change_in_unit) for regression, _ in worse.regressions] == [
        ("stack.c0t0", 8.0),
        ("cycles_per_count", 1.0),
    ]
    assert not compare_run_with_baseline(
        baseline, "main", side(99.0), MeasuredValueLimits.merge_baseline_and_requested_limits({}, [])
    ).regressions
    lost = compare_run_with_baseline(
        baseline,
        "main",
        side(100.0, gone="image.text"),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    assert lost.unmatched == ["t2 no longer has the figure image.text"]
    fresh = compare_run_with_baseline(
        make_regression_baseline(side(100.0, gone="image.text"), {}),
        "main",
        side(100.0),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    assert fresh.unmatched == ["t2: figure image.text is not in the baseline"]
    other = compare_run_with_baseline(
        baseline,
        "main",
        side(100.0, compiler="gcc 13"),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    assert other.differing_compilers == ("gcc 12", "gcc 13")


def test_point_missing_in_the_baseline_does_not_pass() -> None:
    """A file of which only the first lines are left, or of an earlier suite."""
    points = [point().model_copy(update={"board": board}) for board in ("pico", "a", "b", "c", "d")]
    (figures,) = side(100.0).figures
    run = ComparedMeasurementSet("run", [replace(figures, point=point_id) for point_id in points])
    baseline = make_regression_baseline(run, {})
    assert not compare_run_with_baseline(
        baseline, "main", run, MeasuredValueLimits.merge_baseline_and_requested_limits({}, [])
    ).unmatched
    cut = compare_run_with_baseline(
        baseline.model_copy(update={"point": baseline.point[:1]}),
        "main",
        run,
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    assert len(cut.unmatched) == 4
    assert all(item.endswith("is not in the baseline") for item in cut.unmatched)
    assert gate_verdict_text(cut).startswith("The gate has no result: ")
    assert gate_verdict_text(cut).endswith("; and 1 more.")
    short = compare_run_with_baseline(
        baseline,
        "main",
        ComparedMeasurementSet("run", run.figures[:3]),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    assert [item.endswith("was not measured") for item in short.unmatched] == [True, True]


def test_slowdown_of_one_line_is_found_to_the_exact_cycle(tmp_path: Path) -> None:
    """One `nop` in the port's take, code in RAM where each instruction's fetch costs the same."""
    config = ("--config", "code=sram", "--config", "samples=20", "--config", "instrument=probe")
    ask = ("run", "call_times", "--kernel", "freertos", "--board", "pico", *config, "--out", tmp_path / "run")
    assert rtoslab(*ask).returncode == 0
    baseline = tmp_path / "main.toml"
    assert rtoslab("gate", "--store", "--baseline", baseline, tmp_path / "run").returncode == 0
    root = copy_checkout(tmp_path / "checkout")
    elsewhere = {"RTOSLAB_ROOT": str(root), "RTOSLAB_BUILD": str(build_apart(tmp_path / "build"))}
    take = "    return xSemaphoreTake(*semaphore, portMAX_DELAY) == pdTRUE;"
    replace_text(root, "kernels/freertos/port.h", take, f'    __asm volatile("nop");\n{take}')
    gate = ("gate", "--baseline", baseline, "--fail-on", "+0 cycles", "--out", tmp_path / "gate")
    done = rtoslab(*gate, "-o", tmp_path / "gate.xml", **elsewhere)
    assert done.returncode == 3, done.stderr + done.stdout
    passed = re.findall(
        r'name="(\S+)">\s*<failure message="(\d+) cycles before, (\d+) now', (tmp_path / "gate.xml").read_text()
    )
    changed = {name: int(after) - int(before) for name, before, after in passed}
    assert changed["semaphore.take.available.median"] == 1
    assert {name.rpartition(".")[0] for name in changed} == {"semaphore.take.available"}, "nothing else became slower"
    assert "Regression: " in done.stdout
    assert "Cause: changed code: body (" in done.stdout
    usual = rtoslab("gate", tmp_path / "gate", "--baseline", baseline, "-o", tmp_path / "usual.xml")
    assert usual.returncode == 3
    assert re.search(r'name="instructions\.changed_code">\s*<failure', (tmp_path / "usual.xml").read_text())
    allowed = rtoslab("gate", tmp_path / "gate", "--baseline", baseline, "--fail-on", "+1 cycles")
    assert allowed.returncode == 0, allowed.stdout
    assert "Same or better" in allowed.stdout
    excused = rtoslab("gate", tmp_path / "gate", "--baseline", baseline, "--moved", "pass")
    assert excused.returncode == 3, "a nop is no move"
    assert "at other addresses" not in excused.stdout
    code = code_changes(tmp_path)
    assert "changed" in code.values()
    assert code.get("xQueueSemaphoreTake") != "changed", "the nop is in the caller"


def code_changes(folder: Path) -> dict[str, str]:
    """By function: what a comparison of `run` and `gate` in the folder says of its code."""
    done = rtoslab("compare", folder / "run", folder / "gate", "-o", folder / "compared.md")
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| (\w+) \|.*\| (\w*) \|$", (folder / "compared.md").read_text(), re.MULTILINE)
    return {name: code for name, code in rows if code in {"same", "moved", "changed"}}


def rewrite(path: Path, update: Callable[[BaselineMeasurementPoint], dict[str, Any]]) -> None:
    """A baseline as if it had been measured so."""
    stored = read_regression_baseline_file(path)
    points = tuple(baseline_point.model_copy(update=update(baseline_point)) for baseline_point in stored.point)
    changed = stored.model_copy(update={"point": points})
    write_baseline(changed.model_copy(update={"seal": changed.content_digest}), path)


def test_code_that_only_moved_is_called_placement(tmp_path: Path) -> None:
    """The baseline was measured in a quicker placement than the gate asks for."""
    ask = ("t8", "--board", "nucleo-f446re", "--window", "20ms")
    study = rtoslab("sweep", *ask, "--placements", "8", "--placements", "3", "--json")
    (result,) = json.loads(study.stdout)["studies"]
    cycles = dict(zip(result["placements"], result["figures"]["cycles_per_count"]["cycles"], strict=True))
    del cycles[0]  # it has no setting of its own in a baseline
    quick, slow = min(cycles, key=cycles.__getitem__), max(cycles, key=cycles.__getitem__)
    assert rtoslab("run", *ask, "--config", f"placement={quick}", "--out", tmp_path / "run").returncode == 0
    path = tmp_path / "main.toml"
    assert rtoslab("gate", "--store", "--baseline", path, tmp_path / "run").returncode == 0
    rules = '\n[rules]\n"image.*" = "never"\n"heap.*" = "never"\n'  # padding
    path.write_text(path.read_text().replace("\n[rules]\n", rules))
    rewrite(path, lambda point: {"config": {**point.config, "placement": str(slow)}})
    done = rtoslab("gate", "--baseline", path, "--out", tmp_path / "gate")
    assert done.returncode == 3, done.stderr
    assert "All of them by placement: the executed code is the same, but at other addresses." in done.stdout
    passed = rtoslab("gate", tmp_path / "gate", "--baseline", path, "--moved", "pass")
    assert passed.returncode == 0, passed.stdout
    code = code_changes(tmp_path)
    assert code["vPortFree"] == "moved"
    assert "changed" not in code.values()
    rewrite(path, lambda _: {"code": "0123456789ab"})
    other = rtoslab("gate", tmp_path / "gate", "--baseline", path, "--moved", "pass")
    assert other.returncode == 3, "other code is no move"


def test_code_that_moved_to_a_better_place_is_called_placement() -> None:
    """Otherwise a change that pads something would be praised for what the linker did."""

    def lying(cycles: float, code: str, compiler: str = "gcc 12") -> ComparedMeasurementSet:
        built = side(cycles, compiler=compiler)
        places = str(cycles)
        return replace(built, figures=[replace(figure, code=code, places=places) for figure in built.figures])

    baseline = make_regression_baseline(lying(100.0, "0123456789ab"), {})
    message = {
        (cycles, code, compiler): compare_run_with_baseline(
            baseline,
            "main",
            lying(cycles, code, compiler),
            MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
        )
        for cycles in (90.0, 110.0)
        for code in ("0123456789ab", "changed")
        for compiler in ("gcc 12", "gcc 13")
    }
    for (cycles, code, compiler), result in message.items():
        is_moved = (code, compiler) == ("0123456789ab", "gcc 12")
        (change,) = [item for item in result.comparison.changes if item.before.id == "cycles_per_count"]
        plain = ChangeVerdict.WORSE if cycles > 100 else ChangeVerdict.BETTER
        assert change.verdict is (ChangeVerdict.PLACEMENT if is_moved else plain)
        assert (len(result.regressions), len(result.moved)) == (cycles > 100, cycles > 100 and is_moved)
        text = gate_verdict_text(result)
        assert ("placement" in text) == is_moved
        if cycles < 100:
            assert text.startswith("Same or better: 3 figures of 1 point within their limits, 1 of them better")


def test_baseline_without_points_gives_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text("format = 2\npoint = []\n")
    none = read_baseline_without_seal_check(path)
    path.write_text(f'format = 2\nseal = "{none.content_digest}"\npoint = []\n')
    judged = compare_run_with_baseline(
        read_regression_baseline_file(path),
        "empty",
        side(1.0),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    assert "nothing was measured" in gate_verdict_text(judged)


def test_gate_without_a_result_is_an_error(tmp_path: Path) -> None:
    assert "Cannot read" in command_error(rtoslab("gate", "--baseline", "nowhere"), 1)


def test_clock_resolution_of_the_window_is_not_a_change() -> None:
    """Its phase moves with any byte of an image; T7 of 8470 counts was 20000 ticks long, and 19999 a comment later."""

    def side_of_ticks(ticks: int, count: int = 8470) -> ComparedMeasurementSet:
        counters = (TaskCount(core=0, index=0, count=count),)
        result = measured_point().model_copy(update={"window_ticks": ticks, "counters": counters})
        results = {metric.id: metric for metric in comparable_values_of_measurement_point(result)}
        return ComparedMeasurementSet("run", [MeasuredPointValues(point(), results, True, GCC)])

    for before, after, better, worse in ((20_000, 19_999, 0, 0), (19_999, 20_000, 0, 0), (19_999, 20_001, 0, 1)):
        baseline = make_regression_baseline(side_of_ticks(before), {})
        results = compare_run_with_baseline(
            baseline, "main", side_of_ticks(after), MeasuredValueLimits.merge_baseline_and_requested_limits({}, [])
        )
        verdicts = [item.verdict for item in results.comparison.changes]
        assert (verdicts.count(ChangeVerdict.BETTER), len(results.regressions)) == (better, worse), (before, after)
    slower = compare_run_with_baseline(
        make_regression_baseline(side_of_ticks(20_000), {}),
        "main",
        side_of_ticks(20_000, 8469),
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
    )
    assert [item.before.id for item, _ in slower.regressions] == ["cycles_per_count"], "one count fewer is one"


def test_plan_is_shown_before_measuring(tmp_path: Path) -> None:
    points = read_regression_baseline_file(ROOT / "baselines" / "main.toml").point
    for command in (
        ("gate", "--baseline", "main", "--out", tmp_path / "run"),
        ("gate", "--store", "--baseline", "main"),
    ):
        done = rtoslab(*command, "--dry-run")
        assert done.returncode == 0, done.stderr
        assert [line.split()[0] for line in done.stdout.splitlines()] == [
            baseline_point.point_id.benchmark for baseline_point in points
        ]
        assert re.search(
            rf"^Plan: {len(points)} points; \d+ images? to build; at most about", done.stderr, re.MULTILINE
        )
        assert "Nothing was measured" in done.stderr
    assert not list(tmp_path.iterdir())
    assert "already measured" in command_error(rtoslab("gate", tmp_path, "--baseline", "main", "--dry-run"), 1)


def test_own_baseline_is_used_only_if_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that measures something else than its user's code, and ends with 0, is the worst that a gate can do."""
    assert "There is no rtoslab.toml in this folder or above it" in command_error(rtoslab("gate"), 1)
    assert "--baseline NAME" in command_error(rtoslab("gate", tmp_path), 1)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["gate", "--dry-run"], standalone_mode=False)
    assert isinstance(done.exception, PlanError)


@pytest.mark.parametrize(
    "command",
    [
        ("run", "t2", "--kernel", "rt", "--cores", "2"),
        ("run", "t2", "--kernel", "rt", "--cores", "2", "--json"),
        ("sweep", "t2", "--kernel", "rt", "--cores", "2", "--placements", "2"),
        ("kernel", "conformance", "--kernel", "rt", "--board", "pico", "--cores", "2"),
        ("sweep", "PLAN"),
        ("kernel", "reference", "refresh", "eren2024", "--kernel", "rt"),
    ],
)
def test_nothing_measured_exits_with_an_error(command: tuple[str, ...], tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'title = "Nothing"\nkernels = ["rt"]\nboards = ["pico"]\nbenchmarks = ["t2_cooperative"]\ncores = [2]\n'
    )
    words = [str(plan) if item == "PLAN" else item for item in command]
    out = [] if command[0] == "kernel" else ["--out", str(tmp_path / "run")]
    done = rtoslab(*words, *out)
    assert done.returncode in {1, 3}, done.stderr + done.stdout
    assert re.search(r"^Nothing was measured|^No port was checked|No point was measured", done.stderr, re.MULTILINE)


def test_edited_baseline_and_one_without_a_seal_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "main.toml"
    write_baseline(make_regression_baseline(side(142.6), {"stack.*": "+8 bytes"}), path)
    written = path.read_text()
    path.write_text("# A comment.\n" + written.replace("+8 bytes", "+16 bytes"))
    assert read_regression_baseline_file(path).rules == {"stack.*": "+16 bytes"}, "rules and comments are for hands"
    for old, new in (
        ("142.6", "150"),
        ('benchmark = "t2"', 'benchmark = "t3"'),
        ('compiler = "gcc 12"', 'compiler = "x"'),
    ):
        assert old in written
        path.write_text(written.replace(old, new))
        with pytest.raises(
            PlanError,
            match=r"was edited outside its table \[rules\], the only part that may be edited; `rtoslab gate --store "
            r"--baseline main` measures its points and",
        ):
            read_regression_baseline_file(path)
    unsealed = re.sub(r"^seal = .*\n", "", written, flags=re.MULTILINE)
    for text in (unsealed, unsealed.replace("format = 2", "format = 1")):
        path.write_text(text)
        with pytest.raises(PlanError, match="has no seal, so it was written by an earlier version or by hand"):
            read_regression_baseline_file(path)
        assert "no seal" in command_error(rtoslab("gate", "--baseline", path), 1)


def test_our_own_baselines_are_sealed() -> None:
    results = [path for path in (ROOT / "baselines").glob("*.toml") if "[[point]]" in path.read_text()]
    assert results
    for result in results:
        assert read_regression_baseline_file(result).seal


def test_another_setting_of_the_memory_is_never_called_placement(tmp_path: Path) -> None:
    """The F4's instruction cache switched off in the board's code, which no window executes: no number at all."""
    ask = ("run", "t7", "--kernel", "freertos", "--board", "nucleo-f446re", "--window", "20ms", "--out")
    assert rtoslab(*ask, tmp_path / "before").returncode == 0
    baseline = tmp_path / "icache.toml"
    assert rtoslab("gate", "--store", "--baseline", baseline, tmp_path / "before").returncode == 0
    root = copy_checkout(tmp_path / "checkout")
    elsewhere = {"RTOSLAB_ROOT": str(root), "RTOSLAB_BUILD": str(build_apart(tmp_path / "build"))}
    cached = "(BOARD_FEATURES_ICACHE ? ACR_ICEN : 0u)"
    replace_text(root, "chips/stm32/f4/flash.c", cached, cached.replace("ACR_ICEN", "0u"))
    done = rtoslab("gate", "--baseline", baseline, "--moved", "pass", "--out", tmp_path / "gate", **elsewhere)
    assert done.returncode == 1, done.stderr + done.stdout
    assert "lacement" not in done.stdout
    assert "feature.icache is 0, 1 expected" in done.stderr
