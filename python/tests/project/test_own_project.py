"""`rtoslab gate` and `rtoslab gate --store` in a repository of somebody else's."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rtoslab.base import CatalogueError, PlanError, ToolMissingError, find_checkout_root
from rtoslab.cli import app, own_project
from rtoslab.compare import MeasuredValueLimits
from rtoslab.project import read_project, read_project_baseline
from rtoslab.project.judging import (
    CHANGED,
    MOVED,
    OTHER_CODE,
    OTHER_DATA,
    OTHER_SETTING,
    OTHER_WORK,
    SAME_CODE,
    UNKNOWN,
    judge_project_against_baseline,
    project_result_sentences,
)
from rtoslab.project.measuring import ImageMeasuredValues, ProjectValuesByCodePlacement
from rtoslab.project.project_baseline import ProjectBaseline
from tests.foreign_firmware import PROJECT, foreign_repository

BASELINE = "rtoslab.baseline.toml"


@pytest.fixture
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MORE", raising=False)
    return foreign_repository(tmp_path)


def run_command(*words: str) -> Any:
    return CliRunner().invoke(app, [*words], standalone_mode=False)


def gate_result(*words: str) -> dict[str, Any]:
    done = run_command("gate", "--json", *words)
    assert done.exception is None, done.exception
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["exit_code"] == done.return_value
    return result


def find_figure(result: dict[str, Any], name: str, key: str) -> dict[str, Any]:
    (one,) = [item for item in result["figures"] if (item["name"], item["figure"]) == (name, key)]
    return dict(one)


def rewrite(path: Path, old: str, new: str) -> None:
    """A baseline as if it had been written so."""
    text = path.read_text()
    assert old in text
    changed = text.replace(old, new)
    digest = ProjectBaseline.model_validate(tomllib.loads(changed)).content_digest
    path.write_text(re.sub(r'^seal = "\w+"', f'seal = "{digest}"', changed, flags=re.MULTILINE))


DEVICE = """
from pathlib import Path
class Port:
    def __init__(self):
        Path(__file__).with_name("attached.txt").write_text("yes")
    def receive(self, byte, now_ns):
        pass
"""


def test_devices_are_attached_from_the_folder_of_the_project_file(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project_folder / "port.py").write_text(DEVICE)
    path = project_folder / "rtoslab.toml"
    path.write_text(path.read_text().replace("[image.app]\n", '[image.app]\nattach = ["uart2=port.py:Port"]\n', 1))
    below = project_folder / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert run_command("baseline").return_value == 0
    assert (project_folder / "attached.txt").is_file()
    path.write_text(path.read_text().replace("port.py:Port", "port.py:Nothing"))
    assert "port.py has no class Nothing" in str(run_command("gate").exception)


def test_same_code_passes_and_a_slower_loop_fails(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_command("baseline").return_value == 0
    first = (project_folder / BASELINE).read_bytes()
    assert run_command("baseline").return_value == 0
    assert (project_folder / BASELINE).read_bytes() == first
    same = gate_result("-o", "gate.md")
    assert (same["verdict"], same["exit_code"]) == ("pass", 0)
    assert not [item for item in same["figures"] if item["before"] != item["now"]]
    monkeypatch.setenv("MORE", "-DTURNS=9")
    slower = gate_result("-o", "gate.md", "-o", "gate.xml")
    assert (slower["verdict"], slower["exit_code"]) == ("worse", 3)
    step = find_figure(slower, "control_step", "max")
    assert step["code"] == "changed"
    assert step["now"] > step["before"]
    assert step["passed_limit"] == "+0 cycles"
    assert find_figure(slower, "step to done", "p99")["passed_limit"] == "+0 cycles"
    assert "| app/control_step.max |" in (project_folder / "gate.md").read_text()
    report = (project_folder / "gate.xml").read_text()
    assert report.count("<failure") == len([item for item in slower["figures"] if item["passed_limit"]]) > 0
    assert f'failures="{report.count("<failure")}"' in report
    assert gate_result("--fail-on", "+50 %")["verdict"] == "pass"


def test_moved_code_is_reported_and_may_pass(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = []
    assert run_command("baseline").return_value == 0
    for turn in range(1, 9):
        monkeypatch.setenv("MORE", f"-DEARLY={3**turn}")
        result = gate_result()
        worse = [item for item in result["figures"] if item["passed_limit"] and item["unit"] == "cycles"]
        moved += [item for item in worse if item["name"] == "control_step"]
        assert {item["code"] for item in moved} <= {"moved"}
        if moved:
            assert result["exit_code"] == 3
            break
    assert moved, "no place is slower than the first"
    let = gate_result("--moved", "pass")
    assert not [item for item in let["figures"] if item["passed_limit"] and item["name"] == "control_step"]


def test_change_within_placement_is_not_a_regression(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign_repository(project_folder, PROJECT.replace("for_ms = 3", "for_ms = 1\nplacements = 5"))
    assert run_command("baseline").return_value == 0
    stored = tomllib.loads((project_folder / BASELINE).read_text())
    assert stored["image"]["app"]["placements"] == 5
    (step,) = [item for item in stored["item"] if item["name"] == "control_step"]
    assert len(set(step["figures"]["median"])) > 1, "moving costs nothing here"
    monkeypatch.setenv("MORE", "-DEARLY=2187")
    result = gate_result()
    assert not [item for item in result["figures"] if item["passed_limit"]]
    step_now = find_figure(result, "control_step", "median")
    assert step_now["placement"]
    assert step_now["before_band"][0] <= step_now["before"] <= step_now["before_band"][1]
    assert step_now["now_band"][0] < step_now["now_band"][1]
    monkeypatch.setenv("MORE", "-DTURNS=40")
    assert find_figure(gate_result(), "control_step", "median")["passed_limit"] == "+0 cycles"
    foreign_repository(project_folder)
    cannot = gate_result()
    assert (cannot["verdict"], cannot["exit_code"]) == ("unknown", 1)
    assert "the baseline has placements 5, the project 1" in cannot["lost"][0]


def test_build_without_placements_is_reported_as_na(project_folder: Path) -> None:
    foreign_repository(project_folder, PROJECT.replace("for_ms = 3", "for_ms = 1\nplacements = 2"))
    make = project_folder / "Makefile"
    make.write_text(make.read_text().replace("$(RTOSLAB_PLACEMENT_SOURCE)", ""))
    done = run_command("baseline")
    assert done.return_value == 0
    assert "measured in one placement only, because the build ignores RTOSLAB_PLACEMENT" in done.stdout
    (note,) = gate_result()["notes"]
    assert note.startswith("app: measured in one placement only, because the build ignores RTOSLAB_PLACEMENT")


def test_budgets_and_missing_or_new_figures_are_reported(project_folder: Path) -> None:
    assert run_command("baseline").return_value == 0
    more = '\n[[function]]\nimage = "app"\nname = "filter"\nmax_cycles = 3\n'
    foreign_repository(project_folder, PROJECT + more)
    result = gate_result()
    assert result["exit_code"] == 1, "no answer about what the baseline lacks"
    assert result["over_budget"][0].startswith("app: filter: ")
    assert result["lost"] == ["app: filter is not in the baseline; `rtoslab gate --store` adds it"]
    foreign_repository(
        project_folder, PROJECT.replace("for_ms = 3", 'for_ms = 3\nuntil = "work_done"\nstart = "work_done"')
    )
    lost = gate_result()
    assert lost["exit_code"] == 1
    assert lost["lost"] == [
        "app: the baseline has start unset, the project work_done; `rtoslab gate --store` writes it again"
    ]


def test_another_compiler_is_refused_unless_allowed(project_folder: Path) -> None:
    assert run_command("baseline").return_value == 0
    stored = project_folder / BASELINE
    rewrite(stored, 'compiler = "GCC', 'compiler = "Another GCC')
    assert "so the compiler alone can change the cycles" in str(run_command("gate").exception)
    assert gate_result("--other-compiler", "skip")["exit_code"] == 0
    assert gate_result("--other-compiler", "compare")["verdict"] == "pass"


def test_wrong_use_is_named(project_folder: Path) -> None:
    assert "There is no baseline" in str(run_command("gate").exception)
    assert isinstance(run_command("gate", "--jobs", "4").exception, PlanError)
    assert "control_step" in run_command("gate", "--dry-run").stdout
    foreign_repository(project_folder, PROJECT.replace('["make", "-s"]', '["mke", "-s"]'))
    cannot = run_command("measure").exception
    assert isinstance(cannot, ToolMissingError)
    assert cannot.exit_code == 1, "no answer, rather than a regression"
    assert "`mke` does not start: no such file or directory" in str(cannot)
    foreign_repository(project_folder)
    twice = PROJECT.replace("[gate]", '[[function]]\nimage = "app"\nname = "control_step"\n[gate]')
    foreign_repository(project_folder, twice)
    with pytest.raises(CatalogueError, match="is there twice"):
        read_project(project_folder)
    (project_folder / BASELINE).write_text("format = 9\nimage = {}\n")
    with pytest.raises(PlanError, match="format 9"):
        read_project_baseline(project_folder / BASELINE)


def test_own_board_is_found_by_folder_or_variable(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = (find_checkout_root() / "firmware" / "boards" / "nucleo-f446re" / "board.toml").read_text()
    own = project_folder / "boards" / "mine" / "board.toml"
    own.parent.mkdir(parents=True)
    own.write_text(facts.replace('id = "nucleo-f446re"', 'id = "mine"'))
    foreign_repository(project_folder, PROJECT.replace("nucleo-f446re", "mine"))
    assert run_command("baseline").return_value == 0
    own.parent.parent.rename(project_folder / "elsewhere")
    assert "no board named 'mine'" in str(run_command("baseline").exception)
    monkeypatch.setenv("RTOSLAB_BOARDS", str(project_folder / "elsewhere"))
    assert gate_result()["verdict"] == "pass"


def test_project_file_is_searched_upwards(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = project_folder / "src" / "drivers"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert run_command("baseline").return_value == 0
    assert (project_folder / BASELINE).is_file()
    assert gate_result("-o", "gate.md")["verdict"] == "pass"
    assert (deep / "gate.md").is_file(), "what is written goes where the user is"
    assert run_command("measure").return_value == 0
    monkeypatch.setattr(own_project, "_file_owner_user_id", lambda path: 1 if path.is_dir() else 2)
    assert "belongs to another user" in str(run_command("gate").exception)


def test_gate_without_measurements_is_an_error(project_folder: Path) -> None:
    assert run_command("baseline").return_value == 0
    never = '[image.app]\nelf = "fw.elf"\nboard = "nucleo-f446re"\nbuild = ["make", "-s"]\nfor_ms = 1\n'
    never += '[[function]]\nimage = "app"\nname = "systick"\n'
    (project_folder / "rtoslab.toml").write_text(never.replace("for_ms = 1", 'for_ms = 1\nuntil = "100"'))
    assert "no function was called" in str(run_command("baseline").exception)
    result = gate_result()
    assert (result["verdict"], result["exit_code"]) == ("unknown", 1)
    done = run_command("measure")
    assert done.return_value == 3
    assert "Nothing was measured" in done.stderr


def test_placement_variable_of_the_environment_is_ignored(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_command("baseline").return_value == 0
    before = (project_folder / "fw.elf").read_bytes()
    monkeypatch.setenv("RTOSLAB_PLACEMENT_SOURCE", str(project_folder / "left.s"))
    (project_folder / "left.s").write_text('.section .text.left, "axR", %progbits\n.space 64\n')
    assert gate_result()["verdict"] == "pass"
    assert (project_folder / "fw.elf").read_bytes() == before


def test_more_instructions_are_found_although_placement_hides_them(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five nops are five instructions in every place of the code, whatever they do to the cycles."""
    assert run_command("baseline").return_value == 0
    for shift in (0, 2, 4, 6, 8):
        monkeypatch.setenv("MORE", f"-DNOPS=5 -DEARLY={3**shift}")
        result = gate_result()
        assert (result["verdict"], result["exit_code"]) == ("worse", 3)
        for name_of_measured_value in ("instructions_min", "instructions_median", "instructions_max"):
            message = find_figure(result, "control_step", name_of_measured_value)
            assert (message["now"] - message["before"], message["passed_limit"]) == (5, "+0 instructions")
            assert (message["code"], message["functions"]) == ("changed", ["control_step"])
        interval = find_figure(result, "step to done", "instructions_min")
        assert (interval["now"] - interval["before"], interval["functions"]) == (5, ["control_step"])
    assert "changed: control_step" in run_command("gate").stdout
    monkeypatch.setenv("MORE", "-DTURNS=9")
    turns = find_figure(gate_result(), "control_step", "max")
    assert turns["functions"] == ["filter"], "what it calls is named, not what is as it was"


def an_image(
    cycles: float,
    code: str = "c",
    places: str = "p",
    others: str = "o",
    turns: float = 9.0,
    **surroundings: Mapping[str, Any],
) -> ImageMeasuredValues:
    item = ProjectValuesByCodePlacement(
        {"calls": (1.0,), "max": (cycles,), "instructions_max": (turns,)}, code, places, frozenset({"f"})
    )
    known: Mapping[str, Any] = {"state": {"wait_states": 5}, "data": {"table": "a"}, "run": {"for_ms": 60}}
    return ImageMeasuredValues(
        "b", 1, "gcc", 1, {"f": item}, {"f": code, "set_up": others}, **{**known, **surroundings}
    )


@pytest.mark.parametrize(
    ("after", "cause", "functions"),
    [
        (an_image(12.0, places="q"), MOVED, ()),
        (an_image(12.0), SAME_CODE, ()),
        (an_image(12.0, code="d", places="q"), CHANGED, ("f",)),
        (an_image(12.0, code="d", places="q", others="x"), CHANGED, ("f",)),
        (an_image(12.0, places="q", others="x"), OTHER_CODE, ("set_up",)),
        (an_image(12.0, places="q", turns=11.0), OTHER_WORK, ()),
        (an_image(12.0, places="q", state={"wait_states": 7}), OTHER_SETTING, ("wait_states 5 to 7",)),
        (an_image(12.0, state={"wait_states": 7}, others="x"), OTHER_SETTING, ("wait_states 5 to 7",)),
        (an_image(12.0, code="d", state={}, places="q"), CHANGED, ("f",)),
        (an_image(12.0, code="d", state={"wait_states": 7}), CHANGED, ("wait_states 5 to 7", "f")),
        (an_image(12.0, places="q", data={"table": "b", "new": "c"}), OTHER_DATA, ("table",)),
        (an_image(12.0, places="q", data={"table": "a", "new": "c"}), MOVED, ()),
        (an_image(12.0, places="q", state={}), UNKNOWN, ()),
        (an_image(12.0, places="q", data={}), UNKNOWN, ()),
    ],
)
def test_only_code_that_differs_in_addresses_counts_as_moved(
    after: ImageMeasuredValues, cause: str, functions: tuple[str, ...]
) -> None:
    judged = judge_project_against_baseline(
        {"app": an_image(10.0)},
        {"app": after},
        MeasuredValueLimits.merge_baseline_and_requested_limits({}, []),
        moved="pass",
    )
    (change,) = [figure_change for figure_change in judged.changes if figure_change.figure == "max"]
    assert (change.cause, change.functions) == (cause, functions)
    assert judged.has_regression_or_exceeded_budget == (cause is not MOVED)
    assert [regression.figure for regression, _ in judged.regressions] == ([] if cause is MOVED else ["max"])


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (
            {"state": {"feature.icache": 0}},
            " The cause: other setting: feature.icache none to 0, wait_states 5 to none.",
        ),
        ({"data": {"table": "b"}}, " The cause: other data: table."),
        ({"state": {}}, " The cause: unknown."),
        ({"turns": 11.0}, " The cause: other work."),
    ],
)
def test_cause_beside_the_code_is_in_the_result(after: dict[str, Any], sentence: str) -> None:
    images = {"app": an_image(10.0)}, {"app": an_image(12.0, places="q", **after)}
    judged = judge_project_against_baseline(
        *images, MeasuredValueLimits.merge_baseline_and_requested_limits({}, []), moved="pass"
    )
    assert project_result_sentences(judged).endswith(f"allowed +0 cycles.{sentence}")


def test_figure_that_is_gone_is_told() -> None:
    now = an_image(10.0)
    shorter = replace(now, items={"f": replace(now.items["f"], figures={"calls": (1.0,)})})
    rules = MeasuredValueLimits.merge_baseline_and_requested_limits({}, [])
    judged = judge_project_against_baseline({"app": now}, {"app": shorter}, rules, moved="pass")
    assert judged.unanswered == ("app: f no longer has max, instructions_max",)


def test_run_of_another_length_is_not_compared() -> None:
    images = {"app": an_image(10.0)}, {"app": an_image(10.0, run={"for_ms": 59})}
    judged = judge_project_against_baseline(
        *images, MeasuredValueLimits.merge_baseline_and_requested_limits({}, []), moved="pass"
    )
    assert judged.unanswered == (
        "app: the baseline has for_ms 60, the project 59; `rtoslab gate --store` writes it again",
    )


def test_edited_baseline_and_one_without_a_seal_are_refused(project_folder: Path) -> None:
    assert run_command("baseline").return_value == 0
    stored = project_folder / BASELINE
    written = stored.read_text()
    stored.write_text("# A comment.\n" + written)
    assert gate_result()["verdict"] == "pass"
    (calls,) = set(re.findall(r"^calls = \d+", written, re.MULTILINE))
    stored.write_text(written.replace(calls, "calls = 7"))
    assert "was edited; `rtoslab gate --store` writes it again" in str(run_command("gate").exception)
    stored.write_text(re.sub(r"^seal = .*\n", "", written, flags=re.MULTILINE))
    assert "has no seal" in str(run_command("gate").exception)
    assert run_command("baseline").return_value == 0
    assert stored.read_text() == written
