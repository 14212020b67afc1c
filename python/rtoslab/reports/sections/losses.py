"""The cycles of one count by cause, with one core and with several, and the lock that bounds the throughput."""

from collections.abc import Sequence

from rtoslab.analyses import (
    CYCLE_PARTS,
    VISIBLE_PART,
    LongestHeldSpinlock,
    MulticorePerformanceLoss,
    cores_and_pinning_text,
    distinct_point_names,
    multicore_performance_losses,
)
from rtoslab.base import count_with_noun
from rtoslab.reports.sections.naming import kernel_and_board_chart_entries, short_test_title
from rtoslab.reports.sections.second_core import limiting_lock_sentences
from rtoslab.reports.sections.speed_figures import KernelSpeed
from rtoslab.reports.table import ChartData, ReportSection, TableData
from rtoslab.results import MeasuredPoint

LONGEST_BAR = 8
"""A bar of more multiples of the lone core's cycles would hide the others. Only the table has it."""
_PROSE = (
    "The loss is the cycles of a count with several cores, minus its cycles on one core alone. The table shows its "
    "causes. Kernel: additional instructions, mostly for taking and giving locks. Spinlock wait: from the first failed "
    "read of a lock to the successful one. All parts are counted, not estimated. They add up to the loss."
)
_CRITICAL_NOTE = (
    "In critical sections: cycles in which the kernel's nesting counter shows a critical section, without the wait for "
    "its locks. Busiest lock: the hardware spinlock that the cores hold longest, as a share of the window. Near 100 %, "
    "it limits the throughput, and more cores do not help. Found taken: acquisitions that had to wait. A dash: not "
    "counted, because rtoslab does not know where this kernel stores its nesting counter."
)


def multicore_losses_report_section(
    points: Sequence[MeasuredPoint], figures: Sequence[KernelSpeed]
) -> ReportSection | None:
    """Returns the report section on how many more cycles a count takes on several cores, and for what. None without
    such a pair of points."""
    losses_ = multicore_performance_losses(points)
    if not losses_:
        return None
    names = distinct_point_names([loss.gain.many_cores.point.point for loss in losses_])
    return ReportSection(
        "losses",
        "What more cores cost a single operation",
        (_PROSE, *limiting_lock_sentences(figures)),
        (_cycles_per_benchmark_count_chart(losses_, names),),
        (_additional_cycles_table(losses_, names), _critical_sections_table(losses_, names)),
    )


def _short_test_name_of_loss(loss: MulticorePerformanceLoss) -> str:
    """Returns the short name of the test in which a loss was measured."""
    return short_test_title(loss.gain.many_cores.point.point)


def _cycles_per_benchmark_count_chart(losses_: Sequence[MulticorePerformanceLoss], names: Sequence[str]) -> ChartData:
    """Returns the chart of the cycles that one count takes, by what they were used for, on one core and on several."""
    rows = []
    for loss, name in zip(losses_, names, strict=True):
        if _does_multicore_loss_exceed_chart(loss):
            continue
        single_core = name.replace(cores_and_pinning_text(loss.gain.many_cores.point.point), count_with_noun(1, "core"))
        for cost, row in ((loss.one_core, single_core), (loss.many_cores, name)):
            rows += [
                {
                    "test": loss.gain.title,
                    **kernel_and_board_chart_entries(loss.gain.many_cores.point.point),
                    "row": row,
                    "part": part,
                    "order": CYCLE_PARTS.index(part),
                    "multiple": cost.parts[part] / loss.one_core.total_cycles,
                }
                for part in CYCLE_PARTS
            ]
    caption = "Cycles that one count costs a core, by cause, relative to one core alone."
    longer = [
        f"{_short_test_name_of_loss(pair)} with {name}"
        for pair, name in zip(losses_, names, strict=True)
        if _does_multicore_loss_exceed_chart(pair)
    ]
    return ChartData("losses", rows, caption + (f" Too long for it: {', '.join(longer)}." if longer else ""))


def _does_multicore_loss_exceed_chart(loss: MulticorePerformanceLoss) -> bool:
    """Whether a count takes so many more cycles on several cores that the chart has no room for its bar."""
    return loss.many_cores.total_cycles > LONGEST_BAR * loss.one_core.total_cycles


def _additional_cycles_table(losses_: Sequence[MulticorePerformanceLoss], names: Sequence[str]) -> TableData:
    """Returns the table of the additional cycles that a count takes on several cores, by what they were used for."""
    used = [
        part
        for part in CYCLE_PARTS
        if any(
            abs(item.multicore_extra_cycles_by_cause[part]) >= VISIBLE_PART * item.many_cores.total_cycles
            for item in losses_
        )
    ]
    rows = [
        [
            _short_test_name_of_loss(loss),
            name,
            f"{loss.one_core.total_cycles:,.1f}",
            f"{loss.many_cores.total_cycles:,.1f}",
        ]
        + [f"{round(loss.multicore_extra_cycles_by_cause[part], 1) + 0.0:+,.1f}" for part in used]
        for loss, name in zip(losses_, names, strict=True)
    ]
    columns = ("test", "run with", ">cycles per count, 1 core", ">with all", *(f">{part}" for part in used))
    return TableData("Additional cycles of a count", columns, rows, "Cycles of one core, mean over the cores.")


def _critical_sections_table(losses_: Sequence[MulticorePerformanceLoss], names: Sequence[str]) -> TableData:
    """Returns the table of the cycles in critical sections (interrupts disabled), and of the lock that is held
    longest."""
    rows = []
    for loss, name in zip(losses_, names, strict=True):
        cost = [
            _cycles_with_decimal_text(loss.one_core.critical_cycles),
            _cycles_with_decimal_text(loss.many_cores.critical_cycles),
            _cycles_with_decimal_text(loss.many_cores.section_count),
        ]
        rows.append([_short_test_name_of_loss(loss), name, *cost, *_longest_held_lock_cells(loss.lock)])
    columns = (
        "test",
        "run with",
        ">in critical sections, cycles per count, 1 core",
        ">with all",
        ">sections per count",
        "busiest lock",
        ">held, of the window",
        ">taken per count",
        ">found taken",
        ">wait cycles each",
    )
    return TableData("Critical sections and their lock", columns, rows, _CRITICAL_NOTE)


def _longest_held_lock_cells(lock: LongestHeldSpinlock | None) -> list[str]:
    """Returns the table's cells about the lock that is held longest. Dashes without one."""
    if lock is None:
        return ["-"] * 5
    parts = [f"{lock.held_part:.1%}", f"{lock.per_count:,.2f}", f"{lock.contended_part:.1%}"]
    return [lock.name, *parts, f"{lock.wait_cycles_mean:,.1f}"]


def _cycles_with_decimal_text(value: float | None) -> str:
    """Returns a number of cycles as text with one decimal. A dash for None."""
    return "-" if value is None else f"{value:,.1f}"
