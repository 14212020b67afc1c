"""Footprints as tables of plain values, for the terminal, CSV and JSON alike. Sizes in bytes."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rtoslab.base import Table, Value
from rtoslab.footprint.attribute import KINDS, Footprint
from rtoslab.footprint.callgraph import StaticStack
from rtoslab.footprint.diff import Change, Difference
from rtoslab.footprint.services import Survey

IMAGE_TABLES: Final = ("sections", "memories", "origins", "objects", "symbols")
SURVEY_TABLES: Final = ("services", "stacks")
DIFFERENCE_TABLES: Final = ("totals", "objects", "symbols")


def image_tables(image: Footprint) -> tuple[Table, ...]:
    """Returns what one image weighs. The last row of `sections` is what `arm-none-eabi-size` prints."""
    return (
        Table("sections", f"Sections of {image.name}", _SECTIONS, _sections(image)),
        Table("memories", "Bytes taken in each memory", ("memory", "bytes"), list(image.memories.items())),
        Table("origins", "Whose bytes they are", ("origin", *KINDS, "total"), _groups(image, "origin")),
        Table("objects", "By object file", ("origin", "object", *KINDS, "total"), _groups(image, "origin", "object")),
        Table(
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


def _sections(image: Footprint) -> list[Sequence[Value]]:
    rows: list[Sequence[Value]] = []
    for section in image.sections:
        kinds = [sum(i.size for i in image.items if i.section == section.name and i.kind == kind) for kind in KINDS]
        load = f"{section.load_address:#010x}" if section.has_contents else ""
        rows.append((section.name, f"{section.address:#010x}", load, *kinds, section.size))
    rows.append(("all", "", "", *map(image.total, KINDS), sum(section.size for section in image.sections)))
    return rows


def _groups(image: Footprint, *axes: str) -> list[Sequence[Value]]:
    groups = sorted(image.by(*axes).items(), key=lambda row: (row[0][:-1], -row[1].total(), row[0]))
    return [(*names, *(sizes[kind] for kind in KINDS), sizes.total()) for names, sizes in groups]


def survey_tables(surveys: Sequence[Survey]) -> tuple[Table, ...]:
    """Returns what a kernel's services cost, over what they are compared to, and what the tasks' stacks need."""
    services: list[Sequence[Value]] = []
    lacking: list[Sequence[Value]] = []
    stacks: list[Sequence[Value]] = []
    for survey in surveys:
        where = (survey.minimal.point.kernel, survey.minimal.point.board)
        for cost in survey.costs:
            if cost.not_applicable is not None:
                lacking.append((*where, cost.program, cost.not_applicable))
                continue
            sizes = [cost.kinds[kind] for kind in KINDS]
            pool = "n/a" if cost.pool is None else cost.pool
            services.append((*where, cost.program, cost.base or "-", *sizes, pool, cost.origins.get("kernel", 0)))
            if cost.pool is None:
                lacking.append((*where, f"{cost.program}: pool", cost.pool_unseen))
        for stack in survey.stacks:
            calls = stack.static.bytes if stack.static else None
            shown = (stack.used_bytes, stack.size_bytes, calls, _unknown(stack.static))
            stacks.append((*where, stack.program, stack.task, *shown))
    return (
        Table(
            "services",
            "The minimal image, and what each program adds to the one it is over (pool: taken at run time)",
            ("kernel", "board", "program", "over", *KINDS, "pool", "in the kernel"),
            services,
        ),
        Table("lacking", "What cannot be weighed", ("kernel", "board", "program", "reason"), lacking),
        Table(
            "stacks",
            "Stacks: peak seen on the virtual board, size given, deepest chain of calls by the compiler",
            ("kernel", "board", "program", "task", "peak", "size", "calls", "not in the calls"),
            stacks,
        ),
    )


def _unknown(static: StaticStack | None) -> str:
    if static is None:
        return "no such function in what the compiler wrote"
    return "; ".join(static.unknown)


def minimal_table(surveys: Sequence[Survey]) -> Table:
    """The minimal images of several kernels and boards side by side. Bss without the pool, whose size is chosen."""
    rows: list[Sequence[Value]] = []
    for survey in surveys:
        image = survey.minimal.footprint
        kernel = image.by("origin").get(("kernel",), Counter())
        shares = [kernel[kind] for kind in KINDS]
        sizes = [image.total(kind) for kind in KINDS]
        rows.append((survey.minimal.point.kernel, survey.minimal.point.board, *sizes, *shares))
    columns = ("kernel", "board", *KINDS, *(f"kernel's {kind}" for kind in KINDS))
    return Table("minimal", "Minimal images: the whole, and of it the kernel's own object files", columns, rows)


def difference_tables(difference: Difference) -> tuple[Table, ...]:
    """Returns what changed from one image to the other."""
    names = ("before", "after", "change")
    totals = [
        (kind, difference.before.total(kind), difference.after.total(kind), difference.total(kind)) for kind in KINDS
    ]
    whole = [sum(section.size for section in image.sections) for image in (difference.before, difference.after)]
    return (
        Table("totals", "In all", ("kind", *names), [*totals, ("all", *whole, whole[1] - whole[0])]),
        Table(
            "objects",
            "Object files that changed",
            ("object", "kind", *names),
            [_change(change)[1:] for change in difference.by_object()],
        ),
        Table(
            "symbols",
            "Symbols that changed",
            ("symbol", "object", "kind", *names),
            list(map(_change, difference.changes)),
        ),
    )


def _change(change: Change) -> Sequence[Value]:
    return (change.symbol, change.object, change.kind, change.before, change.after, change.change)
