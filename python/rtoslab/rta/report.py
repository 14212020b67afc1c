"""Makes a document of a study for the report formats."""

from __future__ import annotations

from rtoslab.base import count_with_noun
from rtoslab.reports import Deviations, ReportDocument, ReportSection, TableData, add_footnotes_for_deviating_kernels
from rtoslab.rta import study_charts as plots
from rtoslab.rta.charges import MODEL_NAMES, KernelOverheadAccountingModel
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.prices import CycleLedgerEntryCosts
from rtoslab.rta.tables import (
    chain_latencies_table,
    fitted_overheads_table,
    observed_responses_table,
    overhead_costs_table,
    overheads_comparison_table,
    response_bound_parts_table,
    response_bounds_table,
    sensitivity_table,
)
from rtoslab.rta.task_set_study import TaskSetStudy


def task_set_report(study: TaskSetStudy) -> ReportDocument:
    """Returns the report of a task set's analysis."""
    overheads = study.overheads
    where = (
        [f"{overheads.kernel or 'overheads by hand'}", overheads.board, f"{overheads.clock_hz / 1e6:g} MHz"]
        if overheads
        else ["no overheads"]
    )
    sections = [
        ReportSection("bounds", "Bounds", study.notes, plots.charts_with_data(plots.model_pessimism_chart(study)),
                _response_time_bound_tables(study)),
        *_report_sections_on_observed_run(study),
        *_tick_comparison_sections(study),
        ReportSection("growth", "Sensitivity", (), (),
                tuple(filter(None, (sensitivity_table(study), overhead_costs_table(study))))),
    ]  # fmt: skip
    if overheads is not None:
        beside = (
            overheads_comparison_table(study, study.compared_overheads)
            if study.compared_overheads is not None
            else None
        )
        tables = tuple(filter(None, (beside, fitted_overheads_table(overheads) if overheads.fit else None)))
        sections.append(ReportSection("overheads", "The kernel's overheads", (overheads.note,), (), tables))
    page = ReportDocument(
        title=f"Response times: {study.task_set.title}",
        subtitle=" · ".join(part for part in where if part),
        summary=" ".join(study.schedulability_answer_sentences()),
        sections=tuple(sections),
    )
    return add_footnotes_for_deviating_kernels(
        page, contract_deviations_of_study_kernels(study), all_deviate=_do_all_kernels_violate_port_contract(study)
    )


def contract_deviations_of_study_kernels(study: TaskSetStudy) -> Deviations:
    """Returns the declared deviations of the kernels whose overheads a study uses."""
    return {
        source.kernel: source.deviations for source in _kernel_overheads_of_task_set_study(study) if source.deviations
    }


def _do_all_kernels_violate_port_contract(study: TaskSetStudy) -> bool:
    """Whether all kernels of a study deviate from the port contract."""
    return all(source.deviations for source in _kernel_overheads_of_task_set_study(study))


def _kernel_overheads_of_task_set_study(study: TaskSetStudy) -> list[KernelOverheads]:
    """Returns the kernel overheads that a study uses or compares."""
    return [overheads for overheads in (study.overheads, study.compared_overheads) if overheads is not None]


def study_tables_for_terminal(study: TaskSetStudy) -> list[TableData]:
    """Returns the tables of a study that the terminal shows."""
    beside = (
        overheads_comparison_table(study, study.compared_overheads) if study.compared_overheads is not None else None
    )
    return _mark_deviating_kernels(
        study, (beside, response_bounds_table(study), observed_responses_table(study), chain_latencies_table(study))
    )


def sensitivity_tables_for_terminal(study: TaskSetStudy) -> list[TableData]:
    """Returns the tables of a study that the terminal shows after the answer, because they take longer."""
    return _mark_deviating_kernels(study, (sensitivity_table(study),))


def _mark_deviating_kernels(study: TaskSetStudy, tables: tuple[TableData | None, ...]) -> list[TableData]:
    """Returns the tables with marks at the kernels that deviate from the port contract."""
    page = ReportDocument("", "", "", (ReportSection("", "", tables=tuple(filter(None, tables))),))
    return [
        *add_footnotes_for_deviating_kernels(
            page, contract_deviations_of_study_kernels(study), all_deviate=_do_all_kernels_violate_port_contract(study)
        )
        .sections[0]
        .tables
    ]


def _response_time_bound_tables(study: TaskSetStudy) -> tuple[TableData, ...]:
    """Returns the tables of a study's bounds."""
    return tuple(
        filter(None, (response_bounds_table(study), chain_latencies_table(study), response_bound_parts_table(study)))
    )


def _report_sections_on_observed_run(study: TaskSetStudy) -> list[ReportSection]:
    """Returns the report's sections on the observed run. Empty without one."""
    check, table = study.check, observed_responses_table(study)
    if check is None or table is None:
        return []
    shown = plots.charts_with_data(plots.response_time_chart(study, check), plots.running_task_chart(study, check))
    return [ReportSection("observed", "Observed on the virtual board", check.notes, shown, (table,))]


def _tick_comparison_sections(study: TaskSetStudy) -> list[ReportSection]:
    """Returns the report's section that compares the charges for the tick with the observed ticks.
    Empty without a run.
    """
    check, overheads = study.check, study.overheads
    if check is None or overheads is None:
        return []
    us = study.system.microseconds_of_cycles
    taken, prices = check.tick_interruptions_of_work_or_idle, CycleLedgerEntryCosts(overheads)
    if not taken:
        return []
    totals = {
        "observed": sum(interruption.cycles for interruption in taken),
        MODEL_NAMES[KernelOverheadAccountingModel.SPLIT_TICK]: sum(
            prices.overhead_cycles_of_interruption(interruption) for interruption in taken
        ),
        MODEL_NAMES[KernelOverheadAccountingModel.WORST_TICK]: sum(
            plots.interruption_cycles_in_worst_tick_model(prices, interruption, len(study.system.tasks))
            for interruption in taken
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
            plots.charts_with_data(plots.tick_cycles_chart(study, check)),
            (table,),
        )
    ]
