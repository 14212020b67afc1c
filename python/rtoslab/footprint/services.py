"""The cost of each service of a kernel: an image with it less the image without, section by section."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rtoslab.base import PlanError, UnknownNameError
from rtoslab.catalogue import Catalogue
from rtoslab.footprint.attribute import KINDS
from rtoslab.footprint.callgraph import StaticStackBound, read_callgraph
from rtoslab.footprint.points import plan_footprint_program_build
from rtoslab.footprint.programs import MINIMAL, BuiltFootprintProgram, build_footprint_program_of_point
from rtoslab.footprint.stacks import ObservedStackRun, observe_stack_use

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ServiceSize:
    """The bytes that one service of a kernel adds to an image."""

    program: str
    title: str
    base: str
    """The program it is compared to. Empty: the figures are the whole image's."""
    bytes_by_kind: Mapping[str, int]
    """Keyed by kind of attribute.KINDS."""
    pool_bytes: int | None
    """Taken at run time from the kernel's heap or memory array. None: `pool_unseen_reason` says why."""
    bytes_by_origin: Mapping[str, int]
    """Bytes of text and rodata by origin: kernel, program and so on."""
    not_applicable: str | None = None
    pool_unseen_reason: str = ""
    has_pool: bool = True
    """False where the program's own image has no heap or array to take memory from."""


@dataclass(frozen=True, slots=True)
class TaskStackUse:
    """The stack of one task in one program: used, available, and the static bound."""

    program: str
    task: str
    used_bytes: int
    size_bytes: int
    static_stack: StaticStackBound | None
    """The bound of the calls by the compiler. None if it reported no such function."""


@dataclass(frozen=True)
class ServiceSizeSurvey:
    """The sizes of a kernel's services and of its tasks' stacks on a board."""

    minimal: BuiltFootprintProgram
    costs: tuple[ServiceSize, ...]
    stacks: tuple[TaskStackUse, ...]


def survey_service_sizes(
    catalogue: Catalogue,
    kernel: str,
    board: str,
    *,
    programs: Sequence[str] | None = None,
    cores: int = 1,
    config: Mapping[str, str] | None = None,
    progress: Progress = lambda _: None,
) -> ServiceSizeSurvey:
    """Builds and runs the programs that each use one kernel service. Returns what each service adds, and the use of
    stacks.

    `programs`: their names, or None for all. Raises PlanError, UnknownNameError.
    """
    for name in programs or ():
        if name not in catalogue.footprint_programs:
            raise UnknownNameError("footprint program", name, catalogue.footprint_programs)
    requested = tuple(programs or _programs_in_extension_order(catalogue))
    built: dict[str, tuple[BuiltFootprintProgram, ObservedStackRun]] = {}

    def build_and_run(name: str) -> tuple[BuiltFootprintProgram, ObservedStackRun] | str:
        """Returns a built program and how its stacks were used in a run, or the reason why it cannot exist."""
        point = plan_footprint_program_build(catalogue, name, kernel, board, cores, config or {})
        if point.not_applicable is not None:
            return point.not_applicable
        if name not in built:
            progress(point.label)
            program = build_footprint_program_of_point(catalogue, point)
            built[name] = (program, observe_stack_use(catalogue, program))
        return built[name]

    minimal = build_and_run(MINIMAL)
    if isinstance(minimal, str):
        raise PlanError(f"The footprint of {kernel} on {board} cannot be measured: {minimal}.")
    costs = tuple(_service_size_over_base_program(catalogue, name, build_and_run) for name in requested)
    stacks = tuple(
        stack
        for name in requested
        if name in built
        for stack in _task_stack_uses_and_bounds(catalogue, name, *built[name])
    )
    return ServiceSizeSurvey(minimal[0], costs, stacks)


def _programs_in_extension_order(catalogue: Catalogue) -> list[str]:
    """Returns the names of all programs in such an order that each comes after the program it extends."""

    def count_preceding_footprint_programs(name: str) -> int:
        """Returns how many programs come before one: the one that it extends, the one that this extends, and so on."""
        base = catalogue.footprint_programs[name].facts.base
        return 1 + count_preceding_footprint_programs(base) if base else 0

    return sorted(
        catalogue.footprint_programs, key=lambda name: (min(count_preceding_footprint_programs(name), 2), name)
    )


def _service_size_over_base_program(
    catalogue: Catalogue, name: str, image: Callable[[str], tuple[BuiltFootprintProgram, ObservedStackRun] | str]
) -> ServiceSize:
    """Returns how many bytes a program has more than the program that it extends. `image`: returns a built program and
    its run."""
    facts = catalogue.footprint_programs[name].facts
    built = image(name)
    base = image(facts.base) if facts.base else None
    empty = ServiceSize(name, facts.title, facts.base, {}, 0, {})
    if isinstance(built, str) or isinstance(base, str):
        return replace(empty, not_applicable=built if isinstance(built, str) else str(base))
    kinds, origins = _bytes_by_kind_and_origin(built[0])
    pool = built[1].pool_used_bytes
    if base is not None:
        base_kinds, base_origins = _bytes_by_kind_and_origin(base[0])
        kinds.subtract(base_kinds)
        origins.subtract(base_origins)
        under = base[1].pool_used_bytes if base[1].has_pool else 0  # an image without a pool took nothing from one
        pool = None if pool is None or under is None else pool - under
    # The size of the pool is a choice, not a need of the service.
    kinds["bss"] -= built[1].pool_bytes - (base[1].pool_bytes if base is not None else 0)
    return replace(
        empty,
        bytes_by_kind={kind: kinds[kind] for kind in KINDS},
        pool_bytes=pool,
        pool_unseen_reason=built[1].pool_unseen_reason
        or (base[1].pool_unseen_reason if base is not None and base[1].has_pool else ""),
        has_pool=built[1].has_pool,
        bytes_by_origin={origin: size for origin, size in sorted(origins.items()) if size},
    )


def _bytes_by_kind_and_origin(program: BuiltFootprintProgram) -> tuple[Counter[str], Counter[str]]:
    """Returns the bytes of a program by kind (such as text), and those of its code and constants by origin."""
    kinds: Counter[str] = Counter()
    origins: Counter[str] = Counter()
    for item in program.footprint.items:
        kinds[item.kind] += item.size
        if item.kind in {"text", "rodata"}:
            origins[item.origin] += item.size
    return kinds, origins


def _task_stack_uses_and_bounds(
    catalogue: Catalogue, name: str, program: BuiltFootprintProgram, seen: ObservedStackRun
) -> list[TaskStackUse]:
    """Returns the use and the static bound of each task's stack in a program. `seen`: its run."""
    graph = read_callgraph(program.callgraph_path)
    probes = catalogue.find_kernel(program.point.kernel).facts.probes
    idle = probes.idle_symbols if probes else ()

    def static_stack_bound(task: str) -> StaticStackBound | None:
        """Returns the bound that the compiler's call graph gives for a task's stack. None if its function is
        unknown."""
        functions = ("entry",) if task == "task" else ("main",) if task.startswith("(") else idle
        return next(
            (depth for function in functions if (depth := graph.worst_case_stack_bound(function)) is not None), None
        )

    return [
        TaskStackUse(name, stack.task, stack.used_bytes, stack.size_bytes, static_stack_bound(stack.task))
        for stack in seen.stacks
    ]
