"""A program of firmware/footprint/, or of a kernel's own folder, as a point that can be built."""

from collections.abc import Mapping
from dataclasses import replace

from rtoslab.base import UnknownNameError
from rtoslab.catalogue import Benchmark, Catalogue, CatalogueEntry
from rtoslab.plan import DEFAULT_WINDOW_MS, PlannedPoint, make_planned_point


def plan_footprint_program_build(
    catalogue: Catalogue, program: str, kernel: str, board: str, cores: int, config: Mapping[str, str]
) -> PlannedPoint:
    """Returns, as a point, a program that is built only to measure its size (firmware/footprint/).

    It has no measurement window and no parameters. Raises UnknownNameError.
    """
    if program not in catalogue.footprint_programs:
        raise UnknownNameError("footprint program", program, catalogue.footprint_programs)
    result = catalogue.footprint_programs[program]
    nothing = Benchmark.model_validate(
        {
            **result.facts.model_dump(include={"title", "tasks_per_core", "stack_bytes", "services"}),
            **dict.fromkeys(("question", "inside", "outside"), ""),
            "id": f"footprint-{result.id}",
            "metric": {"id": "footprint", "unit": "bytes", "tasks": ()},
        }
    )
    entry = CatalogueEntry(nothing.id, result.folder, nothing)
    chosen = {**result.facts.kernel_config.get(catalogue.find_kernel(kernel).id, {}), **config}
    point = make_planned_point(
        entry, catalogue.find_kernel(kernel), catalogue.find_board(board), cores, DEFAULT_WINDOW_MS, chosen
    )
    owner = result.folder.parents[1]
    # The whole path is compared, because a checkout may itself be in a folder `kernels`.
    if owner.parent == catalogue.root / "firmware" / "kernels" and owner.name != catalogue.find_kernel(kernel).id:
        whose = catalogue.find_kernel(owner.name).facts.title
        return replace(
            point, not_applicable=(f"only the port of {whose} offers this service; it is not part of the port contract")
        )
    return point
