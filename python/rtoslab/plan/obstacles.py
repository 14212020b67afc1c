"""Finds the reason why a point cannot exist: a kernel, a board or a compiler does not have what it needs."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from rtoslab.base import CLANG_MISSING, COMPILERS, PlanError, UnknownNameError, count_with_noun, find_zig_with_clang
from rtoslab.catalogue import (
    DEFAULT_OPT,
    Benchmark,
    Board,
    CatalogueEntry,
    Kernel,
    KernelTreeRequirements,
    SourceTree,
    kernel_export_identifier,
    kernel_tree_path_environment_variable,
)
from rtoslab.intake import parse_integer as as_integer
from rtoslab.plan.point_options import DEFAULT_COMPILER
from rtoslab.trees import (
    OPTIMISATIONS,
    missing_tree_files,
    reason_kernel_export_is_unusable,
    reason_kernel_tree_version_mismatch,
)

_SWITCH = ("0", "1")
MAX_PLACEMENT = 99_999
"""The limit in firmware/cmake/Options.cmake."""


def find_measurement_obstacle(
    benchmark: CatalogueEntry[Benchmark],
    kernel: CatalogueEntry[Kernel],
    board: CatalogueEntry[Board],
    cores: int,
    config: Mapping[str, str],
) -> str | None:
    """Returns why a point (a benchmark with kernel, board and settings) cannot be measured, as a clause. None if it can
    be.

    Raises PlanError, UnknownNameError for a wrong value.
    """
    if config.get("opt", DEFAULT_OPT) not in OPTIMISATIONS:
        raise UnknownNameError("optimisation", config["opt"], OPTIMISATIONS)
    if config.get("lto", "0") not in _SWITCH:
        raise UnknownNameError("value of lto", config["lto"], _SWITCH)
    return (
        _reason_kernel_tree_cannot_be_built(kernel, board.facts)
        or _reason_kernel_export_cannot_link(
            kernel, kernel_export_identifier(board.id, cores, config.get("opt", DEFAULT_OPT))
        )
        or _reason_required_service_is_missing(benchmark, kernel, board, cores, config)
        or _reason_board_lacks_setting(board.facts, config)
        or _reason_start_up_overrides_setting(kernel.facts, board.facts, config)
        or _reason_compiler_cannot_build_kernel(kernel.facts, config)
        or reason_code_placement_cannot_link(kernel.facts, code_placement_from_settings(config))
    )


def _reason_kernel_tree_cannot_be_built(kernel: CatalogueEntry[Kernel], board: Board) -> str | None:
    """Returns why a kernel cannot be built from the source tree that the user named, as a clause. None if it can be."""
    wants, tree = kernel.facts.tree, kernel.tree
    if tree is None:
        how = f"`rtoslab kernel tree add {kernel.id} PATH`, see docs/trees.md"
        return f"you must add the sources of {kernel.facts.title}: {how}" if kernel.facts.needs_source_tree else None
    if tree.exports:
        return None
    if not Path(tree.path).is_dir():
        return f"the tree {tree.id} is not in the folder {_missing_kernel_tree_remedy(tree)}"
    unfit = _reason_kernel_port_lacks_board_support(kernel.facts.title, wants, board) if wants is not None else None
    if unfit is not None:
        return unfit
    if tree.cores and board.core not in tree.cores:
        return f"the tree {tree.id} has no code for the core {board.core}, only for {', '.join(tree.cores)}"
    return _reason_kernel_tree_does_not_match(tree, board.core) or reason_kernel_tree_version_mismatch(kernel)


def _reason_kernel_port_lacks_board_support(title: str, wants: KernelTreeRequirements, board: Board) -> str | None:
    """Returns why a port for source trees does not support a board's core or chip, as a clause. None if it does."""
    if board.core not in wants.cores:
        return f"the port of {title} is for {', '.join(wants.cores)}"
    if wants.chips and board.chip not in wants.chips:
        return f"the port of {title} is for the chip {', '.join(wants.chips)}"
    return None


def _reason_kernel_tree_does_not_match(tree: SourceTree, core: str) -> str | None:
    """Returns why a kernel's source tree no longer fits its description. None if it fits."""
    missing = missing_tree_files(tree, core)
    if not missing:
        return None
    absent = f"{missing[0][0].lower()}{missing[0][1:-1]}"
    return (
        f"the tree {tree.id} does not match its description ({absent}); `rtoslab kernel tree check {tree.id}` lists all"
    )


def _missing_kernel_tree_remedy(tree: SourceTree) -> str:
    """Returns a clause on who named a tree that is missing, and the remedy. Its path is private to the machine and not
    printed."""
    variable = kernel_tree_path_environment_variable(tree.id)
    if os.environ.get(variable):
        return f"that {variable} names"
    again = f"`rtoslab kernel tree add {tree.id} PATH --force`"
    return f"where it was added (`rtoslab kernel tree list`); add its new folder: {again}"


def _reason_kernel_export_cannot_link(kernel: CatalogueEntry[Kernel], key: str) -> str | None:
    """Returns why a kernel cannot be linked from the libraries that its own build system made (exports). None if it can
    be."""
    return None if kernel.facts.export is None else reason_kernel_export_is_unusable(kernel, key)


def _reason_required_service_is_missing(
    benchmark: CatalogueEntry[Benchmark],
    kernel: CatalogueEntry[Kernel],
    board: CatalogueEntry[Board],
    cores: int,
    config: Mapping[str, str],
) -> str | None:
    """Returns which service, series of intervals or core the benchmark needs and kernel or board lack, as a clause.
    None if they have all."""
    params = {key.removeprefix("param."): value for key, value in config.items() if key.startswith("param.")}
    needed = benchmark.facts.with_task_count_from_parameters(params).kernel_services_needed_by_benchmark(params)
    lacking = kernel.facts.why_lacking_services(needed)
    absent = benchmark.facts.absent_series(kernel.facts)
    if lacking is None and len(absent) == len(benchmark.facts.series):
        lacking = next(iter(absent.values()), None)
    if lacking is not None:
        return lacking
    few = _reason_core_count_is_unsuitable(benchmark.facts, needed, cores)
    if few is not None:
        return few
    untimed = _reason_handlers_cannot_be_timed(benchmark.facts, kernel.facts, cores)
    if untimed is not None:
        return untimed
    if cores > board.facts.cores:
        return f"{board.facts.title} has {count_with_noun(board.facts.cores, 'core')}"
    if cores > 1 and not kernel.facts.smp:
        why = kernel.facts.reasons.get("smp")
        return f"{kernel.facts.title} has no symmetric multiprocessing" + (f": {why}" if why else "")
    return None


def _reason_handlers_cannot_be_timed(benchmark: Benchmark, kernel: Kernel, cores: int) -> str | None:
    """Returns why the kernel's handlers cannot be timed. None if they can, or if the benchmark does not time any."""
    if benchmark.handlers is None:
        return None
    if cores > 1:
        return "the kernel's handlers are timed on one core"
    if benchmark.handlers.show == "tick" and kernel.probes is not None and kernel.probes.tick_lines:
        return f"{kernel.title} does the work of a tick in two handlers, so no handler of a tick can be timed"
    if benchmark.handlers.show == "switch" and kernel.behaviour.switch_mode == "thread":
        return f"{kernel.title} switches tasks in thread mode, so no handler of a switch can be timed"
    return None


def _reason_core_count_is_unsuitable(benchmark: Benchmark, needed: Collection[str], cores: int) -> str | None:
    """Returns why the benchmark needs another number of cores than `cores`, as a clause. None if the number is
    right."""
    if benchmark.pair and cores > 1:
        return f"{benchmark.title} is a test of two kernels, each on one core"
    if cores < 2 and "any_core" in needed:
        return "on one core every task runs where it must"
    if cores < benchmark.min_cores:
        return f"{benchmark.title} is a test of {benchmark.min_cores} cores or more"
    return None


def _reason_board_lacks_setting(board: Board, config: Mapping[str, str]) -> str | None:
    """Returns which clock, memory or feature of the settings the board lacks, as a clause. None if it has all."""
    clocks = sorted(board.clocks) or [board.clock.sys_hz]
    clock_hz = optional_integer_setting("clock_hz", config)
    if clock_hz is not None and clock_hz not in clocks:
        return f"{board.title} has no clock of {clock_hz} Hz, but {', '.join(map(str, clocks))}"
    if "data" in config and board.memory.memory_addresses(config["data"]) is None:
        return f"{board.title} has no memory {config['data']}"
    for key in config:
        name = key.removeprefix("feature.")
        if name != key and name not in board.features:
            return f"{board.title} has no {name} to switch"
    return None


def _reason_start_up_overrides_setting(kernel: Kernel, board: Board, config: Mapping[str, str]) -> str | None:
    """Returns why a feature of the board cannot be off, because the kernel's own start-up turns it on. None if it can
    be."""
    for name in kernel.turns_on.get(board.core, ()):
        if config.get(f"feature.{name}") == "0":
            return (
                f"the start-up of {kernel.title} turns {name} of {board.title} on; "
                f"`--config timing.{name}=0` holds it off on the virtual board"
            )
    return None


def _reason_compiler_cannot_build_kernel(kernel: Kernel, config: Mapping[str, str]) -> str | None:
    """Returns why the chosen compiler cannot build this kernel, as a clause. None if it can."""
    compiler = config.get("compiler", DEFAULT_COMPILER)
    if compiler not in COMPILERS:
        raise UnknownNameError("compiler", compiler, COMPILERS)
    if compiler == DEFAULT_COMPILER:
        return None
    if compiler in kernel.reasons:
        return kernel.reasons[compiler]
    if optional_integer_setting("lto", config):
        return f"GNU's linker cannot optimise across files that {compiler} compiled"
    return None if find_zig_with_clang() else CLANG_MISSING


def reason_code_placement_cannot_link(kernel: Kernel, placement: int) -> str | None:
    """Returns why a kernel's images cannot be linked in this placement (order of code and data), as a clause. None if
    they can, which includes kernels that come as exports of their own build."""
    if placement and kernel.owns_start and kernel.export is None:
        return f"{kernel.title} is linked by its own script, which says where everything lies"
    return None


def code_placement_from_settings(config: Mapping[str, str]) -> int:
    """Returns the number of the placement (order of code and data) in the settings. 0, the linker's own order, if none
    is given. Raises PlanError."""
    number = optional_integer_setting("placement", config) or 0
    if not 0 <= number <= MAX_PLACEMENT:
        raise PlanError(f"--config placement={number} is not possible; choose a number from 0 to {MAX_PLACEMENT}.")
    return number


def optional_integer_setting(key: str, config: Mapping[str, str]) -> int | None:
    """Returns the whole number of a settings key. None if it is not given. Raises PlanError for a value that is no
    number."""
    return parse_integer_setting(key, config[key]) if key in config else None


def parse_integer_setting(key: str, value: str) -> int:
    """Returns the integer, decimal or with 0x, of a settings key. Raises PlanError naming the key."""
    try:
        return as_integer(value)
    except ValueError as cause:
        raise PlanError(f"--config {key}={value[:40]} must be a whole number; {cause}.") from None
