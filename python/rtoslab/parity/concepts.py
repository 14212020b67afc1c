"""The conditions that make a comparison unfair if they differ, and how to read them in a point's manifest.

A kernel's own switches have other names in each kernel: the table [parity] of kernel.toml says which macro stands for
which concept. Those of the compiler and the board are the same for all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rtoslab.catalogue import Catalogue, Kernel
from rtoslab.parity.compiler_options import code_options, optimisation, options_of_single_files

Build = Mapping[str, Any]
"""The table `build` of a manifest."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing that both sides of a fair comparison have in common."""

    id: str
    title: str
    why: str
    """Why a difference is unfair, as a clause."""
    off_on: tuple[str, str] | None = None
    """Words for zero and for anything else. None: the value speaks for itself."""
    of_state: bool = False
    """Read from the board as the window opened, so no option asks for it."""

    def words(self, value: str) -> str:
        """A value in a reader's words."""
        if self.off_on is None:
            return value
        return self.off_on[0] if value in {"0", "false", ""} else self.off_on[1]


OFF_ON: Final = ("off", "on")
OF_KERNELS: Final = (
    Concept("assertions", "assertions", "every call that checks its arguments pays for it", OFF_ON),
    Concept("stack_checking", "stack checking", "every switch looks at a stack", OFF_ON),
    Concept("trace_hooks", "trace hooks", "control blocks grow and calls leave traces", OFF_ON),
    Concept("run_time_statistics", "run-time statistics", "every switch reads a clock", OFF_ON),
    Concept("tick_hz", "tick rate", "more ticks take more time from the tasks"),
    Concept("priorities", "number of priorities", "a search for the next task may be longer, its lists take memory"),
    Concept("time_slicing", "time slicing", "equal tasks are switched at ticks besides where they yield", OFF_ON),
    Concept("tickless_idle", "tickless idle", "idle time has no ticks, but its end takes longer", OFF_ON),
    Concept("mpu", "memory protection", "every switch loads regions, every call may cross into the kernel", OFF_ON),
    Concept(
        "task_selection",
        "task selection",
        "the next task is found by search or by one instruction",
        ("generic", "optimised"),
    ),
)
"""Concepts that kernel.toml names macros for."""


def _flag(beginning: str) -> Callable[[Build], str | None]:
    def read(build: Build) -> str | None:
        return next((flag for flag in reversed(build.get("flags", [])) if flag.startswith(beginning)), None)

    return read


def _feature(name: str) -> Callable[[Build], str | None]:
    return lambda build: build.get("features", {}).get(name)


def _plain(key: str) -> Callable[[Build], str | None]:
    return lambda build: str(build[key]) if build.get(key) else None


OF_BUILDS: Final[tuple[tuple[Concept, Callable[[Build], str | None]], ...]] = (
    (Concept("opt", "optimisation", "the compiler was asked for other code"), optimisation),
    (Concept("options", "compiler options", "the compiler was asked for other code"), code_options),
    (
        Concept("file_options", "options of single files", "the compiler was asked for other code there"),
        options_of_single_files,
    ),
    (
        Concept("lto", "optimisation across files", "one side's kernel is optimised as a whole", OFF_ON),
        lambda build: "1" if _flag("-flto")(build) else "0",
    ),
    (
        Concept("compiler", "compiler", "other compilers make other code"),
        lambda build: build.get("compiler", {}).get("banner"),
    ),
    (Concept("clock_hz", "clock", "memories and buses are slower or faster beside the core"), _plain("clock_hz")),
    (
        Concept("wait_states", "flash wait states", "code out of flash waits longer"),
        lambda build: build.get("clock", {}).get("wait_states"),
    ),
    (Concept("feature.icache", "instruction cache", "code out of flash waits", OFF_ON), _feature("icache")),
    (Concept("feature.dcache", "data cache", "constants and data wait", OFF_ON), _feature("dcache")),
    (Concept("feature.prefetch", "prefetch", "straight code out of flash waits", OFF_ON), _feature("prefetch")),
    (Concept("code", "code placement", "RAM and flash answer at other speeds"), _plain("code")),
    (Concept("data", "data placement", "memories answer at other speeds"), _plain("data")),
)
"""Concepts that a manifest tells for every kernel, and how. Their ids are keys of `--config`, but for
the options that a build file alone can change."""
CONCEPTS: Final = (*OF_KERNELS, *(concept for concept, _ in OF_BUILDS))


def facts_of(manifest: Mapping[str, Any], kernel: Kernel | None) -> dict[str, str]:
    """Concept's id -> raw value, of those that apply."""
    build = manifest.get("build")
    if not isinstance(build, dict):
        return {}
    facts = {}
    for concept in OF_KERNELS:
        source = kernel.parity.get(concept.id) if kernel else None
        value = _of_kernel(source, build.get("kernel_config", {}))
        if value is None and source is not None and kernel is not None and kernel.export is not None:
            value = "0"  # the whole configuration is recorded: an option that is not there is not set
        if value is not None:
            facts[concept.id] = value
    for concept, read in OF_BUILDS:
        value = read(build)
        if value is not None:
            facts[concept.id] = value
    return facts


def kernel_of(catalogue: Catalogue, manifest: Mapping[str, Any], name: str) -> Kernel | None:
    """The facts of a point's kernel, also of one whose tree is not named here, as of a reference result: the manifest
    tells which of our ports it was built with."""
    if name in catalogue.kernels:
        return catalogue.kernels[name].facts
    build = manifest.get("build")
    sources = build.get("sources", {}) if isinstance(build, dict) else {}
    ports = [name for name, entry in catalogue.kernels.items() if f"firmware/kernels/{name}/port.c" in sources]
    return catalogue.kernels[ports[0]].facts if len(ports) == 1 else None


def _of_kernel(source: str | None, macros: Mapping[str, str]) -> str | None:
    if source is None:
        return None
    return source[1:] if source.startswith("=") else macros.get(source)


def option_value(concept: Concept, value: str) -> str:
    """A raw value as `--config` would ask for it: a compiler by its name, not by its version's text."""
    if concept.id != "compiler":
        return value
    return "clang" if value.startswith("clang") else "gcc"


def keys_of(concept: Concept, kernel: Kernel) -> str:
    """The key of `--config` that changes the concept for a kernel. Empty if none does."""
    if concept not in OF_KERNELS:
        return concept.id
    source = kernel.parity.get(concept.id, "=")
    return "" if source.startswith("=") else source
