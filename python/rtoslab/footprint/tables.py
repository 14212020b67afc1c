"""Footprints as tables of plain values, for the terminal, CSV and JSON alike. Sizes in bytes."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rtoslab.base import TitledTable, Value
from rtoslab.footprint.attribute import KINDS, ImageFootprint
from rtoslab.footprint.callgraph import StaticStackBound
from rtoslab.footprint.diff import ImageDifference, SymbolSizeChange
from rtoslab.footprint.services import ServiceSizeSurvey

IMAGE_TABLES: Final = ("sections", "memories", "origins", "objects", "symbols")
SURVEY_TABLES: Final = ("services", "stacks")
DIFFERENCE_TABLES: Final = ("totals", "objects", "symbols")


def image_size_tables(image: ImageFootprint) -> tuple[TitledTable, ...]:
    """Returns the tables of one image's bytes: by section, memory, origin, object file and symbol.

    The last row of `sections` is what `arm-none-eabi-size` prints.
    """
    return (
        TitledTable("sections", f"Sections of {image.name}", _SECTIONS, _section_size_rows(image)),
        TitledTable("memories", "Bytes taken in each memory", ("memory", "bytes"), list(image.memories.items())),
        TitledTable(
            "origins",
            "Bytes by owner",
            ("origin", *KINDS, "total"),
            _image_size_rows_grouped_by_attributes(image, "origin"),
        ),
        TitledTable(
            "objects",
            "By object file",
            ("origin", "object", *KINDS, "total"),
            _image_size_rows_grouped_by_attributes(image, "origin", "object"),
        ),
        TitledTable(
            "symbols",
            "By symbol, the largest first",
            ("symbol", "object", "origin", "kind", "section", "address", "bytes"),
            [
                (item.symbol, item.object, item.origin, item.kind, item.section, f"{item.address:#010x}", item.size)
                for item in sorted(image.items, key=lambda item: (-item.size, item.address))
            ],
        ),
    )


_SECTIONS: Final = ("section", "address", "load address", *KINDS, "bytes")


def _section_size_rows(image: ImageFootprint) -> list[Sequence[Value]]:
    """Returns the table rows of the image's sections, and a last one with their sums."""
    rows: list[Sequence[Value]] = []
    for section in image.sections:
        kinds = [sum(i.size for i in image.items if i.section == section.name and i.kind == kind) for kind in KINDS]
        load = f"{section.load_address:#010x}" if section.has_contents else ""
        rows.append((section.name, f"{section.address:#010x}", load, *kinds, section.size))
    rows.append(("all", "", "", *map(image.total_bytes, KINDS), sum(section.size for section in image.sections)))
    return rows


def _image_size_rows_grouped_by_attributes(image: ImageFootprint, *axes: str) -> list[Sequence[Value]]:
    """Returns the rows of a table of an image's bytes, grouped by these attributes of `OwnedImageBytes`."""
    groups = sorted(
        image.image_bytes_by_attributes(*axes).items(), key=lambda row: (row[0][:-1], -row[1].total(), row[0])
    )
    return [(*names, *(sizes[kind] for kind in KINDS), sizes.total()) for names, sizes in groups]


def service_survey_tables(surveys: Sequence[ServiceSizeSurvey]) -> tuple[TitledTable, ...]:
    """Returns the tables of the kernels' services: the bytes that each adds, those without a figure, and the tasks'
    stacks."""
    services: list[Sequence[Value]] = []
    lacking: list[Sequence[Value]] = []
    stacks: list[Sequence[Value]] = []
    for survey in surveys:
        where = (survey.minimal.point.kernel, survey.minimal.point.board)
        for cost in survey.costs:
            if cost.not_applicable is not None:
                lacking.append((*where, cost.program, cost.not_applicable))
                continue
            sizes = [cost.bytes_by_kind[kind] for kind in KINDS]
            pool = "n/a" if cost.pool_bytes is None else cost.pool_bytes
            services.append(
                (*where, cost.program, cost.base or "-", *sizes, pool, cost.bytes_by_origin.get("kernel", 0))
            )
            if cost.pool_bytes is None:
                lacking.append((*where, f"{cost.program}: pool", cost.pool_unseen_reason))
        for stack in survey.stacks:
            calls = stack.static_stack.bytes if stack.static_stack else None
            shown = (stack.used_bytes, stack.size_bytes, calls, _unbounded_stack_text(stack.static_stack))
            stacks.append((*where, stack.program, stack.task, *shown))
    return (
        TitledTable(
            "services",
            (
                "The minimal image, and what each program adds to the program that it extends (pool: allocated at run "
                "time)"
            ),
            ("kernel", "board", "program", "over", *KINDS, "pool", "in the kernel"),
            services,
        ),
        TitledTable("lacking", "Services that cannot be measured", ("kernel", "board", "program", "reason"), lacking),
        TitledTable(
            "stacks",
            "Stacks: largest use on the virtual board, size, deepest call chain by the compiler",
            ("kernel", "board", "program", "task", "peak", "size", "calls", "not in the calls"),
            stacks,
        ),
    )


def _unbounded_stack_text(static: StaticStackBound | None) -> str:
    """Returns what the static bound of a stack leaves out, as text. Empty if it leaves nothing out."""
    if static is None:
        return "no such function in the compiler's call graph"
    return "; ".join(static.unknown)


def minimal_image_sizes_table(surveys: Sequence[ServiceSizeSurvey]) -> TitledTable:
    """Returns a table of the sizes of several kernels' minimal images on their boards."""
    rows: list[Sequence[Value]] = []
    for survey in surveys:
        image = survey.minimal.footprint
        kernel = image.image_bytes_by_attributes("origin").get(("kernel",), Counter())
        shares = [kernel[kind] for kind in KINDS]
        sizes = [image.total_bytes(kind) for kind in KINDS]
        rows.append((survey.minimal.point.kernel, survey.minimal.point.board, *sizes, *shares))
    columns = ("kernel", "board", *KINDS, *(f"kernel's {kind}" for kind in KINDS))
    return TitledTable("minimal", "Minimal images: the whole image, and the kernel's object files in it", columns, rows)


def size_difference_tables(difference: ImageDifference) -> tuple[TitledTable, ...]:
    """Returns the tables of the differences in size between two images: in all, by object file and by symbol."""
    names = ("before", "after", "change")
    totals = [
        (kind, difference.before.total_bytes(kind), difference.after.total_bytes(kind), difference.added_bytes(kind))
        for kind in KINDS
    ]
    whole = [sum(section.size for section in image.sections) for image in (difference.before, difference.after)]
    return (
        TitledTable("totals", "In all", ("kind", *names), [*totals, ("all", *whole, whole[1] - whole[0])]),
        TitledTable(
            "objects",
            "Object files that changed",
            ("object", "kind", *names),
            [_footprint_change_table_row(change)[1:] for change in difference.size_changes_by_object_file()],
        ),
        TitledTable(
            "symbols",
            "Symbols that changed",
            ("symbol", "object", "kind", *names),
            list(map(_footprint_change_table_row, difference.changes)),
        ),
    )


def _footprint_change_table_row(change: SymbolSizeChange) -> Sequence[Value]:
    """Returns the table row of one change in size."""
    return (change.symbol, change.object, change.kind, change.before, change.after, change.added_bytes)
