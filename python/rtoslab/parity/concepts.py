"""The conditions that make a comparison unfair if they differ, and how to read them in a point's manifest.

A kernel's own switches have other names in each kernel: the table [parity] of kernel.toml says which macro stands for
which condition (also called concept here). Those of the compiler and the board are the same for all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rtoslab.catalogue import Catalogue, Kernel
from rtoslab.parity.compiler_options import code_shaping_options, optimisation_level, options_of_single_files

BuildRecord = Mapping[str, Any]
"""The table `build` of a manifest."""


@dataclass(frozen=True, slots=True)
class FairnessCondition:
    """A condition that must be equal on both sides of a fair comparison, such as the optimisation level."""

    id: str
    title: str
    why_unfair: str
    """Why a difference is unfair, as a clause."""
    off_on: tuple[str, str] | None = None
    """Texts for zero and for any other value. None: the value is shown as it is."""
    is_board_setting: bool = False
    """Whether it is read from the board as the window opened. Then no option sets it."""

    def condition_value_text(self, value: str) -> str:
        """Returns a value of the condition as a text for readers, such as `on` for `1`."""
        if self.off_on is None:
            return value
        return self.off_on[0] if value in {"0", "false", ""} else self.off_on[1]


OFF_ON: Final = ("off", "on")
KERNEL_CONCEPTS: Final = (
    FairnessCondition("assertions", "assertions", "every call that checks its arguments pays for it", OFF_ON),
    FairnessCondition("stack_checking", "stack checking", "every switch checks a stack", OFF_ON),
    FairnessCondition("trace_hooks", "trace hooks", "control blocks grow and calls leave traces", OFF_ON),
    FairnessCondition("run_time_statistics", "run-time statistics", "every switch reads a clock", OFF_ON),
    FairnessCondition("tick_hz", "tick rate", "more ticks take more time from the tasks"),
    FairnessCondition(
        "priorities", "number of priorities", "a search for the next task may be longer, its lists take memory"
    ),
    FairnessCondition("time_slicing", "time slicing", "tasks of equal priority are also switched at ticks", OFF_ON),
    FairnessCondition("tickless_idle", "tickless idle", "idle time has no ticks, but its end takes longer", OFF_ON),
    FairnessCondition(
        "mpu", "memory protection", "every switch loads regions, every call may cross into the kernel", OFF_ON
    ),
    FairnessCondition(
        "task_selection",
        "task selection",
        "the next task is found by a search or by one instruction",
        ("generic", "optimised"),
    ),
)
"""The conditions for which kernel.toml names a macro."""


def _make_compiler_flag_reader(prefix: str) -> Callable[[BuildRecord], str | None]:
    """Returns a function that takes a build's record and returns the last compiler flag with this prefix."""

    def last_flag_with_prefix(build: BuildRecord) -> str | None:
        """Returns the last compiler flag with the prefix. None if there is none."""
        return next((flag for flag in reversed(build.get("flags", [])) if flag.startswith(prefix)), None)

    return last_flag_with_prefix


def _make_board_feature_reader(name: str) -> Callable[[BuildRecord], str | None]:
    """Returns a function that takes a build's record and returns the value of a board's feature, such as a cache."""
    return lambda build: build.get("features", {}).get(name)


def _make_build_record_value_reader(key: str) -> Callable[[BuildRecord], str | None]:
    """Returns a function that takes a build's record and returns the value of a key. None if it is missing."""
    return lambda build: str(build[key]) if build.get(key) else None


BUILD_CONCEPTS: Final[tuple[tuple[FairnessCondition, Callable[[BuildRecord], str | None]], ...]] = (
    (FairnessCondition("opt", "optimisation", "the compiler generates other code"), optimisation_level),
    (FairnessCondition("options", "compiler options", "the compiler generates other code"), code_shaping_options),
    (
        FairnessCondition(
            "file_options", "options of single files", "the compiler generates other code for these files"
        ),
        options_of_single_files,
    ),
    (
        FairnessCondition("lto", "optimisation across files", "one side's kernel is optimised as a whole", OFF_ON),
        lambda build: "1" if _make_compiler_flag_reader("-flto")(build) else "0",
    ),
    (
        FairnessCondition("compiler", "compiler", "other compilers generate other code"),
        lambda build: build.get("compiler", {}).get("banner"),
    ),
    (
        FairnessCondition("clock_hz", "clock", "memories and buses are slower or faster relative to the core"),
        _make_build_record_value_reader("clock_hz"),
    ),
    (
        FairnessCondition("wait_states", "flash wait states", "code in flash waits longer"),
        lambda build: build.get("clock", {}).get("wait_states"),
    ),
    (
        FairnessCondition("feature.icache", "instruction cache", "code in flash waits", OFF_ON),
        _make_board_feature_reader("icache"),
    ),
    (
        FairnessCondition("feature.dcache", "data cache", "constants and data wait", OFF_ON),
        _make_board_feature_reader("dcache"),
    ),
    (
        FairnessCondition("feature.prefetch", "prefetch", "straight code in flash waits", OFF_ON),
        _make_board_feature_reader("prefetch"),
    ),
    (
        FairnessCondition("code", "code placement", "RAM and flash have other speeds"),
        _make_build_record_value_reader("code"),
    ),
    (
        FairnessCondition("data", "data placement", "memories have other speeds"),
        _make_build_record_value_reader("data"),
    ),
)
"""The conditions that the manifest of every kernel's point contains, each with its reader. Their ids are keys of
`--config`, except the options that only a build file can change."""
FIXED_BY_BUILD_FILES: Final = ("options", "file_options")
"""The ids of conditions that no key of `--config` changes."""
CONCEPTS: Final = (*KERNEL_CONCEPTS, *(concept for concept, _ in BUILD_CONCEPTS))


def fairness_condition_values_of_point(manifest: Mapping[str, Any], kernel: Kernel | None) -> dict[str, str]:
    """Returns the value of each fairness condition for one measured point, by the condition's id.

    `manifest`: the record of how the point (a benchmark on one kernel and board) was built and run.
    """
    build = manifest.get("build")
    if not isinstance(build, dict):
        return {}
    facts = {}
    for concept in KERNEL_CONCEPTS:
        source = kernel.parity.get(concept.id) if kernel else None
        value = _deciding_macro_value(source, build.get("kernel_config", {}))
        if value is None and source is not None and kernel is not None and kernel.export is not None:
            value = "0"  # the whole configuration is recorded: an option that is not there is not set
        if value is not None:
            facts[concept.id] = value
    for concept, read in BUILD_CONCEPTS:
        value = read(build)
        if value is not None:
            facts[concept.id] = value
    return facts


def catalogue_kernel_of_measurement(
    catalogue: Catalogue, manifest: Mapping[str, Any], kernel_name: str
) -> Kernel | None:
    """Returns the catalogue's facts on a point's kernel. None if the kernel is not known.

    A reference result may have a kernel whose tree is not named here. Then the manifest says which of our ports it was
    built with.
    """
    if kernel_name in catalogue.kernels:
        return catalogue.kernels[kernel_name].facts
    build = manifest.get("build")
    sources = build.get("sources", {}) if isinstance(build, dict) else {}
    ports = [name for name, entry in catalogue.kernels.items() if f"firmware/kernels/{name}/port.c" in sources]
    return catalogue.kernels[ports[0]].facts if len(ports) == 1 else None


def _deciding_macro_value(source: str | None, macros: Mapping[str, str]) -> str | None:
    """Returns the value of the macro that decides a condition. A `source` that begins with `=` is a fixed value
    instead. None if unknown."""
    if source is None:
        return None
    return source[1:] if source.startswith("=") else macros.get(source)


def fairness_condition_as_config_value(concept: FairnessCondition, value: str) -> str:
    """Returns the value of a condition as `--config` takes it: a compiler by its name, not by its version text."""
    if concept.id != "compiler":
        return value
    return "clang" if value.startswith("clang") else "gcc"


def config_key_for_fairness_condition(concept: FairnessCondition, kernel: Kernel) -> str:
    """Returns the key of `--config` that changes the condition for a kernel. Empty if none does."""
    if concept not in KERNEL_CONCEPTS:
        return concept.id
    source = kernel.parity.get(concept.id, "=")
    return "" if source.startswith("=") else source
