"""A study as a document for the report formats."""

from __future__ import annotations

from rtoslab.base import count_text
from rtoslab.reports import Deviations, Document, Section, TableData, mark_deviations_by
from rtoslab.rta import study_charts as plots
from rtoslab.rta.charges import MODEL_NAMES, Model
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.prices import Prices
from rtoslab.rta.tables import (
    beside_table,
    bounds_table,
    chains_table,
    check_table,
    costs_table,
    fits_table,
    parts_table,
    sensitivity_table,
)
from rtoslab.rta.task_set_study import Study


def document(study: Study) -> Document:
    """Answer, bounds, what was observed, what the overheads cost, what may grow, the overheads themselves."""
    overheads = study.overheads
    where = (
        [f"{overheads.kernel or 'overheads by hand'}", overheads.board, f"{overheads.clock_hz / 1e6:g} MHz"]
        if overheads
        else ["no overheads"]
    )
    sections = [
        Section("bounds", "Bounds", study.notes, plots.charts(plots.pessimism(study)), _bounds(study)),
        *_observed_sections(study),
        *_tick(study),
        Section("growth", "Sensitivity", (), (), tuple(filter(None, (sensitivity_table(study), costs_table(study))))),
    ]  # fmt: skip
    if overheads is not None:
        beside = beside_table(study, study.beside) if study.beside is not None else None
        tables = tuple(filter(None, (beside, fits_table(overheads) if overheads.fit else None)))
        sections.append(Section("overheads", "The kernel's overheads", (overheads.note,), (), tables))
    document = Document(
        title=f"Response times: {study.task_set.title}",
        subtitle=" · ".join(part for part in where if part),
        summary=" ".join(study.answer()),
        sections=tuple(sections),
    )
    return mark_deviations_by(document, deviations(study), all_deviate=_all_deviate(study))


def deviations(study: Study) -> Deviations:
    """Returns the deviations of the kernels whose overheads these are."""
    return {source.kernel: source.deviations for source in _sources(study) if source.deviations}


def _all_deviate(study: Study) -> bool:
    return all(source.deviations for source in _sources(study))


def _sources(study: Study) -> list[Overheads]:
    return [overheads for overheads in (study.overheads, study.beside) if overheads is not None]


def terminal_tables(study: Study) -> list[TableData]:
    """Those for a terminal."""
    beside = beside_table(study, study.beside) if study.beside is not None else None
    return _mark_tables(study, (beside, bounds_table(study), check_table(study), chains_table(study)))


def growth_tables(study: Study) -> list[TableData]:
    """Those for a terminal after the answer: they take longer than it."""
    return _mark_tables(study, (sensitivity_table(study),))


def _mark_tables(study: Study, tables: tuple[TableData | None, ...]) -> list[TableData]:
    page = Document("", "", "", (Section("", "", tables=tuple(filter(None, tables))),))
    return [*mark_deviations_by(page, deviations(study), all_deviate=_all_deviate(study)).sections[0].tables]


def _bounds(study: Study) -> tuple[TableData, ...]:
    return tuple(filter(None, (bounds_table(study), chains_table(study), parts_table(study))))


def _observed_sections(study: Study) -> list[Section]:
    check, table = study.check, check_table(study)
    if check is None or table is None:
        return []
    shown = plots.charts(plots.distribution(study, check), plots.timeline(study, check))
    return [Section("observed", "Observed on the virtual board", check.notes, shown, (table,))]


def _tick(study: Study) -> list[Section]:
    """The two ways to charge for the tick, beside what it took."""
    check, overheads = study.check, study.overheads
    if check is None or overheads is None:
        return []
    us = study.system.microseconds_of_cycles
    taken, prices = check.plain_ticks, Prices(overheads)
    if not taken:
        return []
    totals = {
        "observed": sum(interruption.cycles for interruption in taken),
        MODEL_NAMES[Model.PARTITION]: sum(prices.interruption(interruption) for interruption in taken),
        MODEL_NAMES[Model.WORST_TICK]: sum(
            plots.worst_tick(prices, interruption, len(study.system.tasks)) for interruption in taken
        ),
    }
    rows = [[name, f"{us(value):,.1f}", f"{value / totals['observed']:.3f}"] for name, value in totals.items()]
    table = TableData(
        f"{count_text(len(taken), 'tick')} that met only work, switches included",
        ("tick's handlers", ">us", ">times the observed"),
        rows,
    )
    prose = (
        "Charging the worst tick every period counts a release of every task at every tick. The partition counts a "
        "base each tick, and each task's release when it is released."
    )
    return [Section("tick", "The tick, charged two ways", (prose,), plots.charts(plots.ticks(study, check)), (table,))]
