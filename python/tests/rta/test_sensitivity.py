"""How much may grow, how it is printed, and what a set without an answer ends with."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from rtoslab.base.errors import RtoslabError, TaskSetCheckError, TaskSetError
from rtoslab.cli import app
from rtoslab.rta import sensitivity as growth
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.bounds import MissingBoundReason
from rtoslab.rta.charges import KernelOverheadAccountingModel
from rtoslab.rta.overheads import MulticoreInterferenceCosts
from rtoslab.rta.record import TaskSetTrace
from rtoslab.rta.rows import TaskRow
from rtoslab.rta.system import IntegerTimeTaskSet, task_set_in_finer_time_units
from rtoslab.rta.tables import sensitivity_table
from rtoslab.rta.task_set_study import study_task_set
from rtoslab.rta.taskset import read_task_set
from rtoslab.rta.trace import _TraceReader
from rtoslab.rta.units import microseconds_with_decimals, number_with_decimals
from tests.rta.systems import KERNEL, task

LEHOCZKY = "name,period_us,wcet_us,priority,deadline_us\na,70,26,2,\nb,100,62,1,200\n"
OVERLOAD = "name,period_us,wcet_us,priority,core\na,1000,600,3,0\nb,2000,964,2,0\nc,5000,500,2,1\n"
SHORTER_THAN_THE_TICK = "name,period_us,wcet_us,priority\na,100,10,1\n"
OVERHEADS = """
clock_hz = 84_000_000
tick = {period_cycles = 84_000, base_cycles = 100, per_task_cycles = 150}
switch = {up_cycles = 90, down_cycles = 95, to_idle_cycles = 95, from_idle_cycles = 90}
"""


def write_file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_margins_smaller_than_the_unit_of_the_set_are_found(tmp_path: Path) -> None:
    """26.6 / 70 + 62 / 100 = 1: `a` may grow by 0.6 us and no further, `b` by 6/7 us, both to 1 / 0.9914."""
    result = study_task_set(read_task_set(write_file(tmp_path / "set.csv", LEHOCZKY)), None)
    assert result.sensitivity is not None
    assert result.sensitivity.growth["a"] == Fraction(6, 10)
    assert 0 <= Fraction(6, 7) - result.sensitivity.growth["b"] < Fraction(1, 1000)
    assert 0 <= Fraction(700, 694) - result.sensitivity.factor < Fraction(1, 10_000)
    table = sensitivity_table(result)
    assert table is not None
    assert [row[2:] for row in table.rows] == [["0.6", "26.6", "+2.3 %"], ["0.8", "62.8", "+1.3 %"]]
    assert "by a factor of 1.008" in table.note


@pytest.mark.parametrize("clock_hz", [None, 125_000_000])
def test_small_margin_is_not_printed_as_zero(clock_hz: int | None, tmp_path: Path) -> None:
    text = "name,period_us,wcet_us,priority\na,5000,4999.976,1\n"
    result = study_task_set(read_task_set(write_file(tmp_path / "set.csv", text)), None, clock_hz)
    table = sensitivity_table(result)
    assert table is not None
    assert table.rows == [["a", "5,000", "0.02", "5,000.00", "+0.0004 %"]]
    assert "factor of 1.000004" in table.note


def test_decimals_are_as_many_as_needed() -> None:
    assert microseconds_with_decimals(Fraction(0)) == "0.0"
    assert microseconds_with_decimals(Fraction(8, 1000)) == "0.01"
    assert microseconds_with_decimals(Fraction(-8, 1000)) == "-0.01"
    assert microseconds_with_decimals(Fraction(12_345, 10)) == "1,234"
    assert number_with_decimals(Fraction(12_345, 10), 1) == "1,234.5"


def test_finer_time_unit_gives_the_same_bounds() -> None:
    system = IntegerTimeTaskSet(
        (task("A", 50, 20, 2, jitter=3), task("B", 90, 30, 1, offset=7, masked=4, sections=(("r", 5),)))
    )
    fine = task_set_in_finer_time_units(system, 10)
    assert [bound.response for bound in compute_response_time_bounds(fine).tasks] == [
        10 * (bound.response or 0) for bound in compute_response_time_bounds(system).tasks
    ]
    assert fine.to_microseconds(fine.tasks[1].wcet) == system.to_microseconds(system.tasks[1].wcet)


def test_search_is_limited_and_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines far beyond the periods: near 100 % the busy period lasts for thousands of jobs. What is told still
    holds, and nothing shrinks that meets its deadline."""
    pairs = ((84_000, 30_000), (168_001, 30_000), (252_005, 30_000))
    tasks = (task(name, *item, 3 - at, 10**9) for at, (name, item) in enumerate(zip("ABC", pairs, strict=True)))
    system = IntegerTimeTaskSet(tuple(tasks), units_per_second=84_000_000)
    assert compute_response_time_bounds(system, KERNEL).is_schedulable
    monkeypatch.setattr(growth, "STEPS_PER_BOUND", 3)
    output: list[str] = []
    result = growth.find_wcet_sensitivity(
        system, KERNEL, KernelOverheadAccountingModel.SPLIT_TICK, is_schedulable=True, progress=output.append
    )
    assert result.factor_bounded
    assert result.bounded_tasks == ("A", "B", "C")
    assert result.factor >= 1
    assert all(fraction >= 0 for fraction in result.growth.values())
    assert len(output) == 4


def test_overload_of_one_core_is_named_by_its_utilisation() -> None:
    smp = KERNEL.model_copy(update={"smp": MulticoreInterferenceCosts(cores=2)})
    tick = 84_000
    here = (task("a", 2 * tick, tick, 3), task("b", 4 * tick, int(2.2 * tick), 2))
    system = IntegerTimeTaskSet((*here, task("c", 5 * tick, 40_000, 2, core=1)), units_per_second=KERNEL.clock_hz)
    result = compute_response_time_bounds(system, smp)
    assert "% of the processor" in result.find_response_bound("b").reason
    assert result.find_response_bound("b").obstacle is MissingBoundReason.OVERLOAD
    assert result.find_response_bound("c").reason.startswith("b on another core has no bound")
    assert not any("b on" in bound.reason or "a on" in bound.reason for bound in result.tasks if bound.name == "b")


def exit_code_and_output(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["rta", *map(str, arguments)], standalone_mode=False)
    if isinstance(done.exception, RtoslabError):
        return done.exception.exit_code, str(done.exception)
    assert done.exception is None, done.exception
    return done.return_value, done.stdout


def test_no_answer_and_missed_deadline_have_different_exit_codes(tmp_path: Path) -> None:
    overheads = write_file(tmp_path / "kernel.toml", OVERHEADS)
    code, text = exit_code_and_output(
        write_file(tmp_path / "short.csv", SHORTER_THAN_THE_TICK), "--overheads", overheads
    )
    assert (code, "No answer: a has no bound, because its period is shorter than that of the tick" in text) == (1, True)
    assert exit_code_and_output(write_file(tmp_path / "over.csv", OVERLOAD), "--overheads", overheads)[0] == 3
    assert exit_code_and_output(write_file(tmp_path / "bad.csv", "name,period_us\na,1\n"))[0] == 1
    assert TaskSetCheckError.exit_code == TaskSetError.exit_code == 1


def test_answer_comes_before_the_sensitivity(tmp_path: Path) -> None:
    _, text = exit_code_and_output(write_file(tmp_path / "set.csv", LEHOCZKY))
    assert text.index("Yes: every deadline") < text.index("Sensitivity to each")


def test_every_released_job_is_counted() -> None:
    """Jobs behind one that had not ended are unfinished as well: a miss is never of more jobs than there were."""
    trace = TaskSetTrace([TaskRow(1, 0, 1, 0, 0)], (), 100, 1000, end=1350)
    reader = _TraceReader(trace, {}, (), 0, frozenset(), writes_before_switch=False)
    reader._record_work_part_begin(1001, 0, -1)
    reader._record_work_part_end(1120, 0)
    reader._add_unfinished_jobs_at_run_end()
    assert [job.number for job in trace.jobs] == [0]
    assert [(item.number, item.release) for item in trace.unfinished] == [(1, 1100), (2, 1200), (3, 1300)]


def test_times_below_a_tenth_of_a_microsecond_are_printed_exactly(tmp_path: Path) -> None:
    """With one decimal the period of 90 ns, the bound of 15 ns and the slack would all be 0.1."""
    path = tmp_path / "short.toml"
    path.write_text('[[task]]\nname = "a"\nperiod_ns = 90\nwcet_ns = 15\npriority = 1\n')
    done = CliRunner().invoke(app, ["rta", str(path)], standalone_mode=False)
    (row,) = (line.split() for line in done.output.splitlines() if line.split()[-1:] == ["yes"])
    assert row == ["a", "1", "0.090", "0.015", "0.090", "0.015", "0.075", "yes"]
    assert "with 0.075 of 0.090 us left" in done.output


def test_missed_deadline_differs_from_the_response_in_print(tmp_path: Path) -> None:
    path = tmp_path / "close.toml"
    path.write_text('[[task]]\nname = "a"\nperiod_us = 4000\ndeadline_us = 1000\nwcet_us = 1000.02\npriority = 1\n')
    done = CliRunner().invoke(app, ["rta", str(path)], standalone_mode=False)
    assert "may take 1,000.02 us, its deadline is 1,000.00 us" in " ".join(done.output.split())
