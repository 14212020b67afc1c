"""A command line of one mind: what an option is called, means and defaults to is the same in every command."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest
from click.testing import CliRunner

from rtoslab.base.counting import count_with_noun
from rtoslab.base.errors import PlanError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.defaults import DEFAULT_BOARD, DEFAULT_KERNEL
from rtoslab.cli import app
from rtoslab.cli.overview import OLD_WORDS, SECTIONS, replace_obsolete_cli_command_name
from rtoslab.plan.labels import labels_by_differing_settings
from rtoslab.plan.plan import PlanOptions, make_measurement_plan

CATALOGUE: Final = Catalogue(find_checkout_root())
ALREADY_MADE: Final = {"pins decode", "rta bounds", "kernel files", "calibrate", "choose", "new project"}
"""Commands on what an image did already, for what is built elsewhere, on a real board, or about the user's own board:
which must be said."""
DEFAULTS_OF_ITS_OWN: Final = {
    "diagnose", "kernel tree check", "kernel reference confirm", "kernel reference refresh", "kernel reference matrix",
    "stability",
}  # fmt: skip
"""Commands whose default follows from what they are given, and is told: an image has a kernel, a tree is for some cores
only, a paper names its kernels (also for the stability of its statements), and the matrix is of all, as are the images
that `confirm` compares."""
FILTERS: Final = "runs "
"""Commands that look stored points up: without an option they take all."""


def _commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        result = group.get_command(context, name)
        assert result is not None
        if isinstance(result, click.Group):
            yield from _commands(result, f"{before}{name} ")
        else:
            yield before + name, result


EVERY: Final = dict(_commands(app))


def _options(name: str) -> dict[str, click.Option]:
    results = [parameter for parameter in EVERY[name].params if isinstance(parameter, click.Option)]
    return {word: option for option in results for word in option.opts}


@pytest.mark.parametrize("name", EVERY)
def test_option_means_the_same_in_every_command(name: str) -> None:
    options = _options(name)
    if "--out" in options:
        assert options["--out"].metavar == "FOLDER"
        assert str(options["--out"].help).startswith("Folder of the results")
        assert ("resumed" in str(options["--out"].help)) == ("--jobs" in options), "only runs of points are resumed"
        assert "-o" not in options["--out"].opts
    if {"--window", "--timeout"} & options.keys():
        assert "--for" in options, "a length of time has one name"
    if "-o" in options:
        assert "--output" in options["-o"].opts
    if "--jobs" in options:
        assert "--dry-run" in options, "what measures many points can show its plan"
    if name.startswith(FILTERS):
        return
    for word, default in (("--kernel", DEFAULT_KERNEL), ("--board", DEFAULT_BOARD)):
        if word in options and name not in ALREADY_MADE | DEFAULTS_OF_ITS_OWN:
            output = f"{options[word].default} {options[word].help}"
            assert default in output, f"{name} {word} does not say its default"
            assert not options[word].required


def test_default_kernel_and_board_are_used() -> None:
    assert DEFAULT_KERNEL in CATALOGUE.kernels
    assert DEFAULT_BOARD in CATALOGUE.boards
    (point,) = make_measurement_plan(CATALOGUE, ["t2"], PlanOptions()).points
    assert (point.kernel, point.board) == (DEFAULT_KERNEL, DEFAULT_BOARD)
    assert {item.kernel for item in make_measurement_plan(CATALOGUE, ["latency"], PlanOptions()).points} == {
        DEFAULT_KERNEL
    }
    every = make_measurement_plan(CATALOGUE, ["t2"], PlanOptions(boards=list(CATALOGUE.boards)))
    assert {item.kernel for item in every.points} == {DEFAULT_KERNEL}


def test_dry_run_shows_the_plan_and_measures_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rtoslab.cli.cmd_run.measure_points_of_plan", lambda *_, **__: pytest.fail("it was measured"))
    words = ["run", "t2", "t8", "--cores", "1,2", "--out", str(tmp_path / "out"), "--dry-run"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"{benchmark} {cores}" for benchmark in ("t2_cooperative", "t8_allocation") for cores in ("1 core", "2 cores")
    ]
    assert f"Plan: 4 points ({DEFAULT_KERNEL}, {DEFAULT_BOARD}); " in done.stderr
    assert " to build; at most about " in done.stderr
    assert not (tmp_path / "out").exists()
    message = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert [item["cores"] for item in message["plan"]] == [1, 2, 1, 2]


def test_point_label_contains_what_varies() -> None:
    def labels(*names: str, **options: object) -> list[str]:
        return labels_by_differing_settings(make_measurement_plan(CATALOGUE, names, PlanOptions(**options)).points)  # type: ignore[arg-type]

    assert labels("t2") == ["t2_cooperative"]
    assert labels("t2", kernels=["freertos", "rt"]) == ["t2_cooperative freertos", "t2_cooperative rt"]
    assert labels("t1", boards=["pico", "nucleo-f446re"], config={"opt": "-O3"}) == [
        "t1_arithmetic pico", "t1_arithmetic nucleo-f446re",
    ]  # fmt: skip
    assert [label.split(" by ")[1] for label in labels("call_times")] == ["counter", "pin", "probe"]


def test_single_point_is_counted_in_singular() -> None:
    assert [count_with_noun(number, "point") for number in (0, 1, 2, 1000)] == [
        "0 points",
        "1 point",
        "2 points",
        "1,000 points",
    ]


def _groups(group: click.Group, name: str = "rtoslab") -> Iterator[tuple[str, str]]:
    context = click.Context(group, info_name=name, terminal_width=80)
    yield name, group.get_help(context)
    for command in group.list_commands(context):
        result = group.get_command(context, command)
        if isinstance(result, click.Group):
            yield from _groups(result, f"{name} {command}")


@pytest.mark.parametrize("name", [name for name, _ in _groups(app)])
def test_help_has_one_complete_line_for_each_command(name: str) -> None:
    lines = dict(_groups(app))[name].splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if line.endswith("...") and not line.startswith("Usage")] == []


def test_help_has_every_command_in_one_section() -> None:
    output = [command for lines in SECTIONS.values() for command in lines]
    assert sorted(output) == app.list_commands(click.Context(app))
    listed = [line.strip().partition(" ") for line in dict(_groups(app))["rtoslab"].splitlines()]
    shown = {command: text.strip() for command, _, text in listed}
    assert {command: shown.get(command) for command in output} == {
        k: v for section in SECTIONS.values() for k, v in section.items()
    }


@pytest.mark.parametrize(("old", "new"), OLD_WORDS.items())
def test_old_word_runs_the_new_command_and_names_it(old: str, new: str) -> None:
    before, today = (CliRunner().invoke(app, [*words.split(), "--help"]) for words in (old, new))
    assert before.exit_code == today.exit_code == 0
    assert before.stdout == today.stdout
    assert before.stderr == f"rtoslab: The command `{old}` was renamed; use `rtoslab {new} --help`.\n"
    assert today.stderr == ""
    assert old not in app.list_commands(click.Context(app))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("baseline", "gate --store"),
        ("baseline --dry-run", "gate --store --dry-run"),
        ("baseline main runs/A runs/B", "gate --store --baseline main runs/A runs/B"),
        ("baseline --jobs 2 main", "gate --store --baseline main --jobs 2"),
        ("placement t8 --board pico", "sweep --placements 8 t8 --board pico"),
        ("placement t8 --placements 3", "sweep t8 --placements 3"),
        ("query t3.pftrace latency A B", "trace t3.pftrace latency A B"),
        ("tree add threadx PATH", "kernel tree add threadx PATH"),
    ],
)
def test_old_command_line_becomes_the_new_one(old: str, new: str) -> None:
    assert replace_obsolete_cli_command_name(old.split()) == new.split()


def test_list_of_connected_boards_is_a_list_of_its_own() -> None:
    done = CliRunner().invoke(app, ["list", "targets", "boards"])
    assert "Connected boards are listed alone" in str(done.exception)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("sweep t8 --placements 2 --fresh", "--fresh has no effect on a sweep over a benchmark's placements"),
        ("sweep plan.toml --board pico", "--board has no effect on a sweep over a plan"),
        ("gate --store --fail-on +1", "--store compares nothing, so --fail-on has no meaning with it"),
        ("trace x.pftrace", "x.pftrace is a trace already; ask it a question"),
        ("trace x.pftrace load --board pico", "x.pftrace is a trace already; leave --board out"),
        ("trace t7 --json", "--json prints the answer to a question"),
    ],
)
def test_option_without_a_meaning_is_refused(words: str, told: str) -> None:
    done = CliRunner().invoke(app, words.split())
    assert done.exit_code == 1
    assert told in str(done.exception)


def _unknown_command_words(text: str) -> str | None:
    """The first words of a text that follow `rtoslab` and that no command has. None if all are known."""
    for match in re.finditer(r"`rtoslab ([a-z][a-z_-]*(?: [a-z][a-z_-]*)*)", text):
        words = match[1].split()
        command: click.Command = app
        while isinstance(command, click.Group) and words:
            found = command.get_command(click.Context(command), words[0])
            if found is None:
                return match[0]
            command = found
            words.pop(0)
        arguments = [item for item in command.params if isinstance(item, click.Argument)]
        choices = arguments[0].type if arguments else None
        if words and isinstance(choices, click.Choice) and words[0] not in choices.choices:
            return match[0]
    return None


def test_messages_name_commands_that_exist() -> None:
    assert _unknown_command_words("`rtoslab list kernels`, `rtoslab kernel tree add ID`") is None
    assert _unknown_command_words("`rtoslab list papers`") == "`rtoslab list papers"
    assert _unknown_command_words("`rtoslab placement t7`") == "`rtoslab placement t"
    package = find_checkout_root() / "python" / "rtoslab"
    unknown = [
        f"{path.name}:{node.lineno}: {words}"
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if (words := _unknown_command_words(node.value)) is not None
    ]
    assert unknown == []


def _unknown_option(line: str) -> str | None:
    """The first option of a command line that its command does not have. None if all are known. A group that runs
    without a subcommand has options of its own."""
    words = line.split()
    command: click.Command = app
    while isinstance(command, click.Group) and words:
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            break
        command = found
        words.pop(0)
    if command is app or isinstance(command, click.Group):
        return None
    known = {"--help", *(name for item in command.params for name in (*item.opts, *item.secondary_opts))}
    options = (word.partition("=")[0] for word in words if re.match(r"--[a-z]", word))
    return next((f"{command.name} {name}" for name in options if name not in known), None)


def test_pages_and_messages_name_options_that_exist() -> None:
    assert _unknown_option("run t2 --kernel all") is None
    assert _unknown_option("kernel tree add ID PATH --forse") == "add --forse"
    root = find_checkout_root()
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "spec").glob("*.md")]
    unknown = []
    for path in [*pages, *(root / "python" / "rtoslab").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        lines = re.findall(r"`rtoslab ([^`]+)`", text)
        if path.suffix == ".md" and path.name != "CHANGELOG.md":
            lines += re.findall(r"^ {4,}(?:\$ )?rtoslab (.+)$", text, re.MULTILINE)
        for line in lines:
            option = _unknown_option(re.split(r"\s#|[|;>&]", line)[0])
            if option is not None:
                unknown.append(f"{path.name}: {option}")
    assert unknown == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["stability", "eren2024", "--kernel", "nuttx"], "--kernel has no effect; add --measure"),
        (["stability", "eren2024", "--placements", "2", "--no-switches"], "--placements, --no-switches has no effect"),
        (["footprint", "fw.elf", "--kernel", "rt"], "--kernel has no effect on an IMAGE"),
        (["footprint", "fw.elf", "--config", "opt=-O3"], "--config has no effect on an IMAGE"),
        (["footprint", "fw.elf", "--cores", "2"], "--cores has no effect on an IMAGE"),
        (["footprint", "fw.elf", "--board", "pico,nucleo-f446re"], "a second --board has no effect on an IMAGE"),
    ],
)
def test_option_without_an_effect_is_refused(words: list[str], says: str) -> None:
    """Figures of all kernels would be taken for those of the one that was named."""
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, PlanError)
    assert says in str(result.exception)
