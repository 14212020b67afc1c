"""Profiles: sums, call paths, lines, forms for other viewers, differences, interrupts masked by name."""

import json
import random
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from markupsafe import escape

import rtoslab
from rtoslab.base.errors import ReportError
from rtoslab.catalogue.kernel_facts import PermittedKernelDifferences
from rtoslab.cli import app
from rtoslab.instruments.difference import find_comparison_divisor, profile_difference_tables
from rtoslab.instruments.formats import folded_stacks, speedscope_profile
from rtoslab.instruments.html import render_profile_page
from rtoslab.instruments.masked_interrupts import masked_interrupt_tables
from rtoslab.instruments.profile_tables import all_profile_tables, core_cycles_table, function_cycles_table
from rtoslab.instruments.profiler import Profile, profile_image, read_execution_profile_file
from rtoslab.instruments.records import WAYS
from rtoslab.instruments.subject import find_observed_image
from tests.instruments.images import CATALOGUE, ROOT, scene, scene_subject


@cache
def two_cores() -> Profile:
    return profile_image(find_observed_image(CATALOGUE, "t6", kernel="freertos", board="pico", cores=2, window_ms=5))


@cache
def careless() -> Profile:
    return profile_image(scene_subject("long_critical_section", "rt", "nucleo-f103rb", 20, start="careless"))


def test_cycles_of_a_core_add_up_whatever_they_are_split_by() -> None:
    result = two_cores()
    for core, cycles in enumerate(result.observed_cycles):
        assert sum(spent.total_cycles for spent in result.spent if spent.core == core) == cycles
        assert sum(core_cycles_table(result).rows[core][1:-2]) == cycles  # type: ignore[arg-type]
    assert sum(int(row[3] or 0) for row in function_cycles_table(result, None).rows) == sum(result.observed_cycles)
    assert result.operations is not None
    assert result.operations > 100


def test_same_subject_gives_the_same_profile() -> None:
    again = rtoslab.profile("t6", kernel="freertos", board="pico", cores=2, window_ms=5)
    assert again == two_cores()


def test_call_paths_reach_from_the_task_to_the_spinlock() -> None:
    result = two_cores()
    inside = [spent for spent in result.spent if spent.cycles[WAYS.index("lock")] and "xQueueReceive" in spent.stack]
    assert inside
    assert all(spent.stack[:2] == ("task_entry", "body") for spent in inside)
    assert any("vPortRecursiveLock [inlined]" in spent.stack for spent in inside)
    assert all(spent.line.endswith(tuple("0123456789")) and not spent.line.startswith("/") for spent in inside)
    handlers = {spent.stack[0] for spent in result.spent if "[exception 15]" in spent.stack[0]}
    assert handlers == {"isr_systick [exception 15]"}


def test_planted_long_critical_section_is_the_longest_and_named_by_line() -> None:
    result = careless()
    lowest = max(held.priority for held in result.held)
    worst = max((held for held in result.held if held.priority == lowest), key=lambda held: held.longest_cycles)
    assert "careless" in worst.opener
    assert worst.count == pytest.approx(20, abs=2), "once a tick"
    assert worst.longest_cycles > 500 * 5
    assert worst.total_cycles == pytest.approx(worst.count * worst.longest_cycles, rel=0.02)
    place = "firmware/scenes/long_critical_section/long_critical_section.c"
    source = (ROOT / place).read_text().splitlines()
    for line, call in ((worst.opener_line, "port_critical_enter"), (worst.closer_line, "port_critical_exit")):
        name, _, at = line.rpartition(":")
        assert name == place
        assert call in source[int(at) - 1]
    rows = [
        row
        for row in masked_interrupt_tables(result, None)[0].rows
        if row[2] == "careless" and str(row[0]).endswith("f0")
    ]
    assert [row[3:5] for row in rows] == [(worst.count, worst.longest_cycles)]


def test_folded_stacks_and_speedscope_contain_every_cycle() -> None:
    result = two_cores()
    weights = [0, 0]
    for line in folded_stacks(result).splitlines():
        stack, _, weight = line.rpartition(" ")
        weights[int(stack.partition(";")[0].removeprefix("core "))] += int(weight)
    assert tuple(weights) == result.observed_cycles
    scope = speedscope_profile(result)
    frames = scope["shared"]["frames"]
    assert all(set(frame) == {"name"} for frame in frames)
    assert len({frame["name"] for frame in frames}) == len(frames)
    for item, cycles in zip(scope["profiles"], result.observed_cycles, strict=True):
        assert item["type"] == "sampled"
        assert len(item["samples"]) == len(item["weights"])
        assert sum(item["weights"]) == item["endValue"] - item["startValue"] == cycles
        assert all(0 <= frame < len(frames) for sample in item["samples"] for frame in sample)
    assert scope["$schema"].endswith("file-format-schema.json")
    json.dumps(scope)


def _assert_no_altered_byte_is_read(path: Path) -> None:
    whole, content = read_execution_profile_file(path), path.read_bytes()
    dice = random.Random(7)
    for _ in range(40):
        place = dice.randrange(len(content))
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << dice.randrange(8)]) + content[place + 1 :])
        try:
            assert read_execution_profile_file(path) == whole, "blank space alone"
        except ReportError:
            continue
    path.write_bytes(content)


def test_profile_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    two_cores().save(path)
    assert read_execution_profile_file(path) == two_cores()
    _assert_no_altered_byte_is_read(path)
    path.write_text("{}")
    with pytest.raises(ReportError, match="not a stored profile"):
        read_execution_profile_file(path)
    with pytest.raises(ReportError, match="Cannot read"):
        read_execution_profile_file(tmp_path / "none.json")


def test_difference_shows_where_cycles_were_added() -> None:
    one = profile_image(find_observed_image(CATALOGUE, "t6", kernel="freertos", board="pico", cores=1, window_ms=5))
    total, classes, functions = profile_difference_tables(one, two_cores())
    assert find_comparison_divisor(one, two_cores()).unit == "cycles per operation"
    (row,) = total.rows
    cells = dict(zip(total.columns, row, strict=True))
    change = number(cells["B - A"])
    assert change == pytest.approx(number(cells["B"]) - number(cells["A"]), abs=0.11)
    assert sum(number(cells[head]) for head in total.columns if head.startswith("of which")) == pytest.approx(
        change, abs=0.5
    )
    assert number(cells["of which lock wait"]) > 0.3 * change, "two cores wait for the kernel's locks"
    for table in (classes, functions):
        assert sum(number(row[3]) for row in table.rows) == pytest.approx(change, abs=2)
    assert classes.rows[0][0] == "critical"


def number(cell: object) -> float:
    return 0.0 if cell == "-" else float(str(cell).replace(",", ""))


def test_page_is_self_contained_and_draws_each_core() -> None:
    page = render_profile_page(two_cores())
    assert page.count("<svg ") == 2
    assert re.findall(r"<script[^>]*>", page) == ["<script>"]
    assert 'src="' not in page
    assert "http" not in page.replace("http-equiv", "").replace('xmlns="http://www.w3.org/2000/svg"', "")
    for table in all_profile_tables(two_cores(), 40):
        assert str(escape(table.title)) in page


def test_command_profiles_any_image(tmp_path: Path) -> None:
    image = str(scene("long_critical_section", "rt", "nucleo-f103rb"))
    options = ["--board", "nucleo-f103rb", "--max-cycles", "300000", "--from", "careless"]
    page = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["profile", image, *options, "--json", "--html", str(page)])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    (core,) = result["cores"]
    assert core["all cycles"] == 300_000
    assert result["functions"][0]["cycles"] > 0
    assert page.stat().st_size > 10_000


def test_code_without_symbols_is_shown_in_pieces_and_not_as_functions(tmp_path: Path) -> None:
    image = scene("long_critical_section", "rt", "nucleo-f103rb")
    stripped = tmp_path / "stripped.elf"
    subprocess.run(["arm-none-eabi-strip", image, "-o", stripped], check=True)
    options = ["--board", "nucleo-f103rb", "--max-cycles", "5000", "--json"]
    result = CliRunner().invoke(app, ["profile", str(stripped), *options])
    assert result.exit_code == 0, result.output
    functions = json.loads(result.output)["functions"]
    names = {row["function"] for row in functions}
    assert names
    assert all(re.fullmatch(r"0x[0-9a-f]{6}00\.\.0x[0-9a-f]{6}ff", name) for name in names), names


def test_masked_names_the_longest_of_each_call_over_benchmarks_and_kernels() -> None:
    command = [
        "masked",
        "t6",
        "--board",
        "pico",
        "--cores",
        "2",
        "--window",
        "5ms",
        "--kernel",
        "freertos,rt",
        "--json",
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    rows = {row["call"]: row for row in json.loads(done.stdout)}
    assert "left out: t6_message rt pico 2 cores cannot be observed" in done.stderr
    held = [item for item in two_cores().held if item.priority == 0xC0 and "xQueueReceive" in item.opener]
    assert rows["xQueueReceive"]["longest"] == max(item.longest_cycles for item in held)
    assert rows["xQueueReceive"]["opened by"].startswith("vTaskEnterCritical, build/kernel/tasks.c:")
    by_lines = CATALOGUE.find_kernel("freertos").facts.model_copy(
        update={"behaviour": PermittedKernelDifferences(interrupt_masking="lines")}
    )
    assert by_lines.why_masking_not_observed == (
        "FreeRTOS masks interrupts by disabling their lines, which is not observed"
    )
    assert CATALOGUE.find_kernel("freertos").facts.why_masking_not_observed is None
    refused = CliRunner().invoke(app, ["masked", "t6", "--board", "pico", "--priority", "0x10"])
    assert "cannot have the priority 0x10" in str(refused.exception)
