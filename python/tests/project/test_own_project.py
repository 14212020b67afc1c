"""`rtoslab gate` and `rtoslab baseline` in a repository of somebody else's."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rtoslab.base import CatalogueError, PlanError, ToolMissingError, find_root
from rtoslab.cli import app, own_project
from rtoslab.compare import Rules
from rtoslab.project import read_project, read_project_baseline
from rtoslab.project.judging import CHANGED, MOVED, OTHER_CODE, OTHER_WORK, SAME_CODE, judge_project
from rtoslab.project.measuring import ImageFigures, Item
from rtoslab.project.project_baseline import ProjectBaseline
from tests.foreign_firmware import PROJECT, foreign_repository

BASELINE = "rtoslab.baseline.toml"


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MORE", raising=False)
    return foreign_repository(tmp_path)


def say(*words: str) -> Any:
    return CliRunner().invoke(app, [*words], standalone_mode=False)


def gate(*words: str) -> dict[str, Any]:
    done = say("gate", "--json", *words)
    assert done.exception is None, done.exception
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["exit_code"] == done.return_value
    return result


def figure(result: dict[str, Any], name: str, key: str) -> dict[str, Any]:
    (one,) = [item for item in result["figures"] if (item["name"], item["figure"]) == (name, key)]
    return dict(one)


def rewrite(path: Path, old: str, new: str) -> None:
    """A baseline as if it had been written so."""
    text = path.read_text()
    assert old in text
    changed = text.replace(old, new)
    digest = ProjectBaseline.model_validate(tomllib.loads(changed)).digest
    path.write_text(re.sub(r'^seal = "\w+"', f'seal = "{digest}"', changed, flags=re.MULTILINE))


def test_the_same_code_passes_and_one_slower_turn_does_not(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert say("baseline").return_value == 0
    first = (there / BASELINE).read_bytes()
    assert say("baseline").return_value == 0
    assert (there / BASELINE).read_bytes() == first
    same = gate("-o", "gate.md")
    assert (same["verdict"], same["exit_code"]) == ("pass", 0)
    assert not [item for item in same["figures"] if item["before"] != item["now"]]
    monkeypatch.setenv("MORE", "-DTURNS=9")
    slower = gate("-o", "gate.md", "-o", "gate.xml")
    assert (slower["verdict"], slower["exit_code"]) == ("worse", 3)
    step = figure(slower, "control_step", "max")
    assert step["code"] == "changed"
    assert step["now"] > step["before"]
    assert step["passed_limit"] == "+0 cycles"
    assert figure(slower, "step to done", "p99")["passed_limit"] == "+0 cycles"
    assert "| app/control_step.max |" in (there / "gate.md").read_text()
    report = (there / "gate.xml").read_text()
    assert report.count("<failure") == len([item for item in slower["figures"] if item["passed_limit"]]) > 0
    assert f'failures="{report.count("<failure")}"' in report
    assert gate("--fail-on", "+50 %")["verdict"] == "pass"


def test_code_that_only_moved_is_told_and_may_pass(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = []
    assert say("baseline").return_value == 0
    for turn in range(1, 9):
        monkeypatch.setenv("MORE", f"-DEARLY={3**turn}")
        result = gate()
        worse = [item for item in result["figures"] if item["passed_limit"] and item["unit"] == "cycles"]
        moved += [item for item in worse if item["name"] == "control_step"]
        assert {item["code"] for item in moved} <= {"moved"}
        if moved:
            assert result["exit_code"] == 3
            break
    assert moved, "no place is slower than the first"
    let = gate("--moved", "pass")
    assert not [item for item in let["figures"] if item["passed_limit"] and item["name"] == "control_step"]


def test_in_several_placements_what_placement_may_be_is_no_regression(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign_repository(there, PROJECT.replace("for_ms = 3", "for_ms = 1\nplacements = 5"))
    assert say("baseline").return_value == 0
    stored = tomllib.loads((there / BASELINE).read_text())
    assert stored["image"]["app"]["placements"] == 5
    (step,) = [item for item in stored["item"] if item["name"] == "control_step"]
    assert len(set(step["figures"]["median"])) > 1, "moving costs nothing here"
    monkeypatch.setenv("MORE", "-DEARLY=2187")
    result = gate()
    assert not [item for item in result["figures"] if item["passed_limit"]]
    step_now = figure(result, "control_step", "median")
    assert step_now["placement"]
    assert step_now["before_band"][0] <= step_now["before"] <= step_now["before_band"][1]
    assert step_now["now_band"][0] < step_now["now_band"][1]
    monkeypatch.setenv("MORE", "-DTURNS=40")
    assert figure(gate(), "control_step", "median")["passed_limit"] == "+0 cycles"
    foreign_repository(there)
    cannot = gate()
    assert (cannot["verdict"], cannot["exit_code"]) == ("unknown", 1)
    assert "the baseline has placements 5, the project 1" in cannot["lost"][0]


def test_a_build_that_takes_no_placement_is_na_and_says_so(there: Path) -> None:
    foreign_repository(there, PROJECT.replace("for_ms = 3", "for_ms = 1\nplacements = 2"))
    make = there / "Makefile"
    make.write_text(make.read_text().replace("$(RTOSLAB_PLACEMENT_SOURCE)", ""))
    done = say("baseline")
    assert done.return_value == 0
    assert "placements n/a, the build takes no placement" in done.stdout
    (note,) = gate()["notes"]
    assert note.startswith("app: placements n/a, the build takes no placement: no function lies elsewhere")


def test_budgets_and_what_is_missing_or_new_are_told(there: Path) -> None:
    assert say("baseline").return_value == 0
    more = '\n[[function]]\nimage = "app"\nname = "filter"\nmax_cycles = 3\n'
    foreign_repository(there, PROJECT + more)
    result = gate()
    assert result["exit_code"] == 1, "no answer about what the baseline lacks"
    assert result["over_budget"][0].startswith("app: filter: ")
    assert result["lost"] == ["app: filter is not in the baseline; `rtoslab baseline` adds it"]
    foreign_repository(there, PROJECT.replace("for_ms = 3", 'for_ms = 3\nuntil = "work_done"\nstart = "work_done"'))
    lost = gate()
    assert lost["exit_code"] == 1
    assert "step to done has no min, median, p99, max, instructions_min any more" in lost["lost"][0]


def test_another_compiler_is_no_answer_unless_it_is_wanted(there: Path) -> None:
    assert say("baseline").return_value == 0
    stored = there / BASELINE
    rewrite(stored, 'compiler = "GCC', 'compiler = "Another GCC')
    assert "cycles differ for that alone" in str(say("gate").exception)
    assert gate("--other-compiler", "skip")["exit_code"] == 0
    assert gate("--other-compiler", "compare")["verdict"] == "pass"


def test_wrong_use_is_named(there: Path) -> None:
    assert "There is no baseline" in str(say("gate").exception)
    assert isinstance(say("gate", "--jobs", "4").exception, PlanError)
    assert "control_step" in say("gate", "--dry-run").stdout
    foreign_repository(there, PROJECT.replace('["make", "-s"]', '["mke", "-s"]'))
    cannot = say("measure").exception
    assert isinstance(cannot, ToolMissingError)
    assert cannot.exit_code == 1, "no answer, rather than a regression"
    assert "`mke` does not start: no such file or directory" in str(cannot)
    foreign_repository(there)
    twice = PROJECT.replace("[gate]", '[[function]]\nimage = "app"\nname = "control_step"\n[gate]')
    foreign_repository(there, twice)
    with pytest.raises(CatalogueError, match="stands twice"):
        read_project(there)
    (there / BASELINE).write_text("format = 9\nimage = {}\n")
    with pytest.raises(PlanError, match="format 9"):
        read_project_baseline(there / BASELINE)


def test_a_board_of_the_projects_own_lies_beside_it_or_where_a_variable_says(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = (find_root() / "firmware" / "boards" / "nucleo-f446re" / "board.toml").read_text()
    own = there / "boards" / "mine" / "board.toml"
    own.parent.mkdir(parents=True)
    own.write_text(facts.replace('id = "nucleo-f446re"', 'id = "mine"'))
    foreign_repository(there, PROJECT.replace("nucleo-f446re", "mine"))
    assert say("baseline").return_value == 0
    own.parent.parent.rename(there / "elsewhere")
    assert "no board named 'mine'" in str(say("baseline").exception)
    monkeypatch.setenv("RTOSLAB_BOARDS", str(there / "elsewhere"))
    assert gate()["verdict"] == "pass"


def test_the_project_file_is_looked_for_upwards(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = there / "src" / "drivers"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert say("baseline").return_value == 0
    assert (there / BASELINE).is_file()
    assert gate("-o", "gate.md")["verdict"] == "pass"
    assert (deep / "gate.md").is_file(), "what is written goes where the user is"
    assert say("measure").return_value == 0
    monkeypatch.setattr(own_project, "_owner_id", lambda path: 1 if path.is_dir() else 2)
    assert "belongs to another user" in str(say("gate").exception)


def test_a_gate_that_measured_nothing_gives_no_answer(there: Path) -> None:
    assert say("baseline").return_value == 0
    never = '[image.app]\nelf = "fw.elf"\nboard = "nucleo-f446re"\nbuild = ["make", "-s"]\nfor_ms = 1\n'
    never += '[[function]]\nimage = "app"\nname = "systick"\n'
    (there / "rtoslab.toml").write_text(never.replace("for_ms = 1", 'for_ms = 1\nuntil = "100"'))
    assert "no function was called" in str(say("baseline").exception)
    result = gate()
    assert (result["verdict"], result["exit_code"]) == ("unknown", 1)
    done = say("measure")
    assert done.return_value == 3
    assert "Nothing was measured" in done.stderr


def test_a_placement_left_in_the_environment_reaches_no_build(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert say("baseline").return_value == 0
    before = (there / "fw.elf").read_bytes()
    monkeypatch.setenv("RTOSLAB_PLACEMENT_SOURCE", str(there / "left.s"))
    (there / "left.s").write_text('.section .text.left, "axR", %progbits\n.space 64\n')
    assert gate()["verdict"] == "pass"
    assert (there / "fw.elf").read_bytes() == before


def test_instructions_show_what_a_better_place_hides_and_the_function_is_named(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five nops are five instructions in every place of the code, whatever they do to the cycles."""
    assert say("baseline").return_value == 0
    for shift in (0, 2, 4, 6, 8):
        monkeypatch.setenv("MORE", f"-DNOPS=5 -DEARLY={3**shift}")
        result = gate()
        assert (result["verdict"], result["exit_code"]) == ("worse", 3)
        for figure_name in ("instructions_min", "instructions_median", "instructions_max"):
            message = figure(result, "control_step", figure_name)
            assert (message["now"] - message["before"], message["passed_limit"]) == (5, "+0 instructions")
            assert (message["code"], message["functions"]) == ("changed", ["control_step"])
        interval = figure(result, "step to done", "instructions_min")
        assert (interval["now"] - interval["before"], interval["functions"]) == (5, ["control_step"])
    assert "changed: control_step" in say("gate").stdout
    monkeypatch.setenv("MORE", "-DTURNS=9")
    turns = figure(gate(), "control_step", "max")
    assert turns["functions"] == ["filter"], "what it calls is named, not what is as it was"


def an_image(cycles: float, code: str = "c", places: str = "p", others: str = "o", turns: float = 9.0) -> ImageFigures:
    item = Item({"calls": (1.0,), "max": (cycles,), "instructions_max": (turns,)}, code, places, frozenset({"f"}))
    return ImageFigures("b", 1, "gcc", 1, {"f": item}, {"f": code, "set_up": others})


@pytest.mark.parametrize(
    ("after", "cause", "functions"),
    [
        (an_image(12.0, places="q"), MOVED, ()),
        (an_image(12.0), SAME_CODE, ()),
        (an_image(12.0, code="d", places="q"), CHANGED, ("f",)),
        (an_image(12.0, code="d", places="q", others="x"), CHANGED, ("f",)),
        (an_image(12.0, places="q", others="x"), OTHER_CODE, ("set_up",)),
        (an_image(12.0, places="q", turns=11.0), OTHER_WORK, ()),
    ],
)
def test_only_what_differs_in_nothing_but_its_place_has_moved(
    after: ImageFigures, cause: str, functions: tuple[str, ...]
) -> None:
    judged = judge_project({"app": an_image(10.0)}, {"app": after}, Rules.from_texts({}, []), moved="pass")
    (change,) = [figure_change for figure_change in judged.changes if figure_change.figure == "max"]
    assert (change.cause, change.functions) == (cause, functions)
    assert judged.failed == (cause is not MOVED)
    assert [regression.figure for regression, _ in judged.regressions] == ([] if cause is MOVED else ["max"])


def test_an_edited_baseline_and_one_without_a_seal_are_refused(there: Path) -> None:
    assert say("baseline").return_value == 0
    stored = there / BASELINE
    written = stored.read_text()
    stored.write_text("# A comment.\n" + written)
    assert gate()["verdict"] == "pass"
    (calls,) = set(re.findall(r"^calls = \d+", written, re.MULTILINE))
    stored.write_text(written.replace(calls, "calls = 7"))
    assert "a value was edited; `rtoslab baseline` writes it anew" in str(say("gate").exception)
    stored.write_text(re.sub(r"^seal = .*\n", "", written, flags=re.MULTILINE))
    assert "has no seal" in str(say("gate").exception)
    assert say("baseline").return_value == 0
    assert stored.read_text() == written
