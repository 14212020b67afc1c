"""Makes a document of a study for the report formats."""

from __future__ import annotations

from rtoslab.base import count_with_noun
from rtoslab.reports import Deviations, ReportDocument, ReportSection, TableData, mark_deviations_by
from rtoslab.rta import study_charts as plots
from rtoslab.rta.charges import MODEL_NAMES, OverheadModel
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.prices import EntryPrices
from rtoslab.rta.tables import (
    bounds_table,
    chains_table,
    check_table,
    costs_table,
    fits_table,
    overheads_comparison_table,
    parts_table,
    sensitivity_table,
)
from rtoslab.rta.task_set_study import TaskSetStudy


def study_document(study: TaskSetStudy) -> ReportDocument:
    """Returns the report of a task set's analysis."""
    overheads = study.overheads
    where = (
        [f"{overheads.kernel or 'overheads by hand'}", overheads.board, f"{overheads.clock_hz / 1e6:g} MHz"]
        if overheads
        else ["no overheads"]
    )
    sections = [
        ReportSection("bounds", "Bounds", study.notes, plots.nonempty_charts(plots.pessimism_chart(study)),
                _bounds_tables(study)),
        *_observed_sections(study),
        *_tick_sections(study),
        ReportSection("growth", "Sensitivity", (), (),
                tuple(filter(None, (sensitivity_table(study), costs_table(study))))),
    ]  # fmt: skip
    if overheads is not None:
        beside = (
            overheads_comparison_table(study, study.compared_overheads)
            if study.compared_overheads is not None
            else None
        )
        tables = tuple(filter(None, (beside, fits_table(overheads) if overheads.fit else None)))
        sections.append(ReportSection("overheads", "The kernel's overheads", (overheads.note,), (), tables))
    page = ReportDocument(
        title=f"Response times: {study.task_set.title}",
        subtitle=" · ".join(part for part in where if part),
        summary=" ".join(study.answer_sentences()),
        sections=tuple(sections),
    )
    return mark_deviations_by(page, study_deviations(study), all_deviate=_all_deviate(study))


def study_deviations(study: TaskSetStudy) -> Deviations:
    """Returns the declared deviations of the kernels whose overheads a study uses."""
    return {source.kernel: source.deviations for source in _overhead_sources(study) if source.deviations}


def _all_deviate(study: TaskSetStudy) -> bool:
    """Whether all kernels of a study deviate from the port contract."""
    return all(source.deviations for source in _overhead_sources(study))


def _overhead_sources(study: TaskSetStudy) -> list[KernelOverheads]:
    """Returns the kernel overheads that a study uses or compares."""
    return [overheads for overheads in (study.overheads, study.compared_overheads) if overheads is not None]


def terminal_tables(study: TaskSetStudy) -> list[TableData]:
    """Returns the tables of a study that the terminal shows."""
    beside = (
        overheads_comparison_table(study, study.compared_overheads) if study.compared_overheads is not None else None
    )
    return _mark_deviations(study, (beside, bounds_table(study), check_table(study), chains_table(study)))


def sensitivity_tables(study: TaskSetStudy) -> list[TableData]:
    """Returns the tables of a study that the terminal shows after the answer, because they take longer."""
    return _mark_deviations(study, (sensitivity_table(study),))


def _mark_deviations(study: TaskSetStudy, tables: tuple[TableData | None, ...]) -> list[TableData]:
    """Returns the tables with marks at the kernels that deviate from the port contract."""
    page = ReportDocument("", "", "", (ReportSection("", "", tables=tuple(filter(None, tables))),))
    return [*mark_deviations_by(page, study_deviations(study), all_deviate=_all_deviate(study)).sections[0].tables]


def _bounds_tables(study: TaskSetStudy) -> tuple[TableData, ...]:
    """Returns the tables of a study's bounds."""
    return tuple(filter(None, (bounds_table(study), chains_table(study), parts_table(study))))


def _observed_sections(study: TaskSetStudy) -> list[ReportSection]:
    """Returns the report's sections on the observed run. Empty without one."""
    check, table = study.check, check_table(study)
    if check is None or table is None:
        return []
    shown = plots.nonempty_charts(plots.response_chart(study, check), plots.timeline_chart(study, check))
    return [ReportSection("observed", "Observed on the virtual board", check.notes, shown, (table,))]


def _tick_sections(study: TaskSetStudy) -> list[ReportSection]:
    """Returns the report's section that compares the charges for the tick with the observed ticks.
    Empty without a run.
    """
    check, overheads = study.check, study.overheads
    if check is None or overheads is None:
        return []
    us = study.system.microseconds_of_cycles
    taken, prices = check.undisturbed_ticks, EntryPrices(overheads)
    if not taken:
        return []
    totals = {
        "observed": sum(interruption.cycles for interruption in taken),
        MODEL_NAMES[OverheadModel.SPLIT_TICK]: sum(prices.interruption_price(interruption) for interruption in taken),
        MODEL_NAMES[OverheadModel.WORST_TICK]: sum(
            plots.worst_tick_cycles(prices, interruption, len(study.system.tasks)) for interruption in taken
        ),
    }
    rows = [[name, f"{us(value):,.1f}", f"{value / totals['observed']:.3f}"] for name, value in totals.items()]
    table = TableData(
        f"{count_with_noun(len(taken), 'tick')} that interrupted only work, including switches",
        ("tick's handlers", ">us", ">times the observed"),
        rows,
    )
    prose = (
        "The worst-tick model charges a release of every task at every tick. The split-tick model charges a base "
        "at every tick, and each task's release when it is released."
    )
    return [
        ReportSection(
            "tick",
            "The tick in two models",
            (prose,),
            plots.nonempty_charts(plots.tick_chart(study, check)),
            (table,),
        )
    ]
