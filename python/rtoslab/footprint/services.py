"""The cost of each service of a kernel: an image with it less the image without, section by section."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rtoslab.base import PlanError, UnknownNameError
from rtoslab.catalogue import Catalogue
from rtoslab.footprint.attribute import KINDS
from rtoslab.footprint.callgraph import StaticStack, read_callgraph
from rtoslab.footprint.points import footprint_point
from rtoslab.footprint.programs import MINIMAL, BuiltProgram, weigh_point
from rtoslab.footprint.stacks import StackRun, see

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Cost:
    """One program of firmware/footprint/ over its base. Bytes."""

    program: str
    title: str
    base: str
    """The program it is compared to. Empty: nothing, the figures are the image's own."""
    kinds: Mapping[str, int]
    """Keyed by kind of attribute.KINDS."""
    pool: int | None
    """Taken at run time from the kernel's heap, or from the array that stands for one. None: `pool_unseen` says why."""
    origins: Mapping[str, int]
    """text and rodata by origin: how much of it is the kernel, how much the program that calls it."""
    not_applicable: str | None = None
    pool_unseen: str = ""
    has_pool: bool = True
    """False where the program's own image has no heap or array to take memory from."""


@dataclass(frozen=True, slots=True)
class Stack:
    """One task in one program."""

    program: str
    task: str
    used_bytes: int
    size_bytes: int
    static: StaticStack | None
    """Calls only, from the compiler. None where it wrote of no such function."""


@dataclass(frozen=True)
class Survey:
    """All there is to say of a kernel on a board."""

    minimal: BuiltProgram
    costs: tuple[Cost, ...]
    stacks: tuple[Stack, ...]


def survey(
    catalogue: Catalogue,
    kernel: str,
    board: str,
    *,
    programs: Sequence[str] | None = None,
    cores: int = 1,
    config: Mapping[str, str] | None = None,
    progress: Progress = lambda _: None,
) -> Survey:
    """Builds and runs the programs (all of them by default) and what they are compared to."""
    for name in programs or ():
        if name not in catalogue.footprints:
            raise UnknownNameError("footprint program", name, catalogue.footprints)
    requested = tuple(programs or _in_order(catalogue))
    built: dict[str, tuple[BuiltProgram, StackRun]] = {}

    def image(name: str) -> tuple[BuiltProgram, StackRun] | str:
        """The image with what it showed, or why there is none."""
        point = footprint_point(catalogue, name, kernel, board, cores, config or {})
        if point.not_applicable is not None:
            return point.not_applicable
        if name not in built:
            progress(point.label)
            weighed = weigh_point(catalogue, point)
            built[name] = (weighed, see(catalogue, weighed))
        return built[name]

    minimal = image(MINIMAL)
    if isinstance(minimal, str):
        raise PlanError(f"Nothing of {kernel} on {board} can be weighed: {minimal}.")
    costs = tuple(_cost(catalogue, name, image) for name in requested)
    stacks = tuple(stack for name in requested if name in built for stack in _stacks(catalogue, name, *built[name]))
    return Survey(minimal[0], costs, stacks)


def _in_order(catalogue: Catalogue) -> list[str]:
    """Each program after its base, else by name."""

    def depth(name: str) -> int:
        base = catalogue.footprints[name].facts.base
        return 1 + depth(base) if base else 0

    return sorted(catalogue.footprints, key=lambda name: (min(depth(name), 2), name))


def _cost(catalogue: Catalogue, name: str, image: Callable[[str], tuple[BuiltProgram, StackRun] | str]) -> Cost:
    facts = catalogue.footprints[name].facts
    built = image(name)
    base = image(facts.base) if facts.base else None
    empty = Cost(name, facts.title, facts.base, {}, 0, {})
    if isinstance(built, str) or isinstance(base, str):
        return replace(empty, not_applicable=built if isinstance(built, str) else str(base))
    kinds, origins = _bytes(built[0])
    pool = built[1].pool_used_bytes
    if base is not None:
        base_kinds, base_origins = _bytes(base[0])
        kinds.subtract(base_kinds)
        origins.subtract(base_origins)
        under = base[1].pool_used_bytes if base[1].has_pool else 0  # an image without a pool took nothing from one
        pool = None if pool is None or under is None else pool - under
    # The pool itself is a size somebody chose. It is not what the service needs.
    kinds["bss"] -= built[1].pool_bytes - (base[1].pool_bytes if base is not None else 0)
    return replace(
        empty,
        kinds={kind: kinds[kind] for kind in KINDS},
        pool=pool,
        pool_unseen=built[1].pool_unseen or (base[1].pool_unseen if base is not None and base[1].has_pool else ""),
        has_pool=built[1].has_pool,
        origins={origin: size for origin, size in sorted(origins.items()) if size},
    )


def _bytes(weighed: BuiltProgram) -> tuple[Counter[str], Counter[str]]:
    kinds: Counter[str] = Counter()
    origins: Counter[str] = Counter()
    for item in weighed.footprint.items:
        kinds[item.kind] += item.size
        if item.kind in {"text", "rodata"}:
            origins[item.origin] += item.size
    return kinds, origins


def _stacks(catalogue: Catalogue, name: str, weighed: BuiltProgram, seen: StackRun) -> list[Stack]:
    graph = read_callgraph(weighed.callgraph)
    probes = catalogue.kernel(weighed.point.kernel).facts.probes
    idle = probes.idle_symbols if probes else ()

    def static(task: str) -> StaticStack | None:
        functions = ("entry",) if task == "task" else ("main",) if task.startswith("(") else idle
        return next((depth for function in functions if (depth := graph.deepest(function)) is not None), None)

    return [Stack(name, stack.task, stack.used_bytes, stack.size_bytes, static(stack.task)) for stack in seen.stacks]
