"""Puts the points of a plan into several placements, if their figures may depend on the place of their code."""

from collections.abc import Mapping
from dataclasses import replace

from rtoslab.analyses import does_timing_depend_on_code_addresses
from rtoslab.catalogue import INSTRUMENTS, Catalogue, PaperFolder
from rtoslab.measure import identity_of_point
from rtoslab.papers.setups import original_point_of_paper_setup_point
from rtoslab.plan import MeasurementPlan, PlannedPoint, repeat_plan_in_code_placements


def add_required_code_placements(
    catalogue: Catalogue, paper: PaperFolder, plan: MeasurementPlan, count: int
) -> MeasurementPlan:
    """Returns the plan with several placements of the code for each point whose figures may depend on the placement.
    Raises PlanError.

    One placement is enough for points of the paper's alternative set-ups, and for instruments (counter, pin, probe)
    whose samples no figure and no statement of the paper uses.
    """
    shown = _instruments_needed_by_paper(catalogue, paper)
    points: list[PlannedPoint] = []
    for point in plan.points:
        is_shown = point.instrument is None or point.instrument in shown.get(point.benchmark, ())
        selected = (
            is_shown
            and may_depend_on_code_addresses(catalogue, point)
            and not _is_measurement_of_paper_configuration(catalogue, paper, point)
        )
        points += repeat_plan_in_code_placements(
            catalogue, replace(plan, points=(point,)), count if selected else 1
        ).points
    return replace(plan, points=tuple(points))


def _is_measurement_of_paper_configuration(catalogue: Catalogue, paper: PaperFolder, point: PlannedPoint) -> bool:
    """Whether a point belongs to one of the paper's set-ups (other configurations)."""
    identity = identity_of_point(catalogue, point)
    role = paper.facts.paper_kernel_by_source_tree.get(point.kernel, point.kernel)
    named = identity.model_copy(update={"kernel": role})
    return any(original_point_of_paper_setup_point(paper, setup, named) is not None for setup in paper.facts.setup)


def _instruments_needed_by_paper(catalogue: Catalogue, paper: PaperFolder) -> dict[str, set[str]]:
    """Returns, for each benchmark, the instruments (counter, pin, probe) whose samples the paper's figures and
    statements use. All instruments if they name none."""
    places: list[Mapping[str, object]] = [
        row.experiment_coordinates_of_our_value for row in paper.paper_values_by_row_id.values() if row.lab_benchmark
    ]
    places += [figure.where for part in paper.facts.part for figure in part.figure]
    places += [
        {**claim.where, **case, **of} for claim in paper.claims for case in claim.cases for of in claim.of or ({},)
    ]
    result: dict[str, set[str]] = {}
    for place in places:
        metrics, instruments = _as_list_of_texts(place.get("metric")), _as_list_of_texts(place.get("instrument"))
        named = _as_list_of_texts(place.get("benchmark"))
        having = [
            entry.id
            for entry in catalogue.benchmarks.values()
            if entry.id in named or (not named and set(metrics) & set(entry.facts.latency_series_ids))
        ]
        for benchmark in having:
            result.setdefault(benchmark, set()).update(instruments or INSTRUMENTS)
    return result


def _as_list_of_texts(named: object) -> list[str]:
    """Returns a value or a list of values as a list of texts. Empty for None."""
    if named is None:
        return []
    return [str(point) for point in named] if isinstance(named, list | tuple) else [str(named)]


def may_depend_on_code_addresses(catalogue: Catalogue, point: PlannedPoint) -> bool:
    """Whether the addresses of the code may change the point's figures, as far as is known before it is built."""
    if point.not_applicable is not None:
        return False
    board, kernel = catalogue.find_board(point.board).facts, catalogue.find_kernel(point.kernel).facts
    choice = board.clocks.get(point.clock_hz or board.clock.sys_hz)
    waits = point.wait_states if point.wait_states is not None else getattr(choice, "wait_states", None)
    build = {
        "cores": point.cores,
        "clock": {} if waits is None else {"wait_states": str(waits)},
        "code": point.code,
        "compiler": {"id": "GNU" if point.compiler == "gcc" else ""},
        "flags": [point.opt],
        "data": "kernel" if kernel.owns_start else point.data,
    }
    return does_timing_depend_on_code_addresses({"build": build, "board": {"core": board.core}})
