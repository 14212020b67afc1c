"""The builds in which a paper's statements are examined: what a developer may choose without changing the question.

Versions, optimisation and assertions are combined with each other. Every other switch of the kernels' parity tables is
changed alone. So a ranking of kernels is not only a ranking with one set of flags.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from rtoslab.catalogue import DEFAULT_OPT, Catalogue, PaperFolder

VERSION: Final = "version"
OPTIMISATION: Final = "optimisation"
ASSERTIONS: Final = "assertions"
SWITCH: Final = "switch"
AUTHORS: Final = "the authors'"
TODAYS: Final = "today's"
OFF: Final = "off"
ON: Final = "on"
NONE: Final = "none"
LEVELS: Final = ("-O2", "-O3", "-Os")
_SWITCHES: Final = ("stack_checking", "trace_hooks", "time_slicing", "task_selection")
"""The concepts of the parity tables that are on or off, except assertions."""


@dataclass(frozen=True, slots=True)
class BuildVariationFactor:
    """A property in which builds of a kernel differ. Its first level is that of the paper's own suites."""

    name: str
    levels: tuple[str, ...]

    def text_of_build_factor_value(self, level: str) -> str:
        """Returns a level of the factor as text: `-O3`, `assertions on`, `today's versions`."""
        if self.name == VERSION:
            return f"{level} versions"
        return f"{self.name} {level}" if self.name == ASSERTIONS else level


@dataclass(frozen=True, slots=True)
class KernelBuild:
    """One way to build every kernel: the level of each factor, in the factors' order."""

    levels: tuple[str, ...]

    def differences_from_base_build(
        self, base: "KernelBuild", factors: Sequence[BuildVariationFactor]
    ) -> tuple[str, ...]:
        """Returns how this build differs from the build `base`, as texts: `-O3`, `assertions on`."""
        pairs = zip(factors, self.levels, base.levels, strict=True)
        return tuple(factor.text_of_build_factor_value(level) for factor, level, usual in pairs if level != usual)


@dataclass(frozen=True, slots=True)
class KernelMacroOverride:
    """A macro of one kernel that a build sets to another value than the paper's suites."""

    kernel: str
    macro: str
    value: str

    @property
    def macro_override_name(self) -> str:
        """Returns the name of the switch's level, such as `configUSE_TIME_SLICING=1 (freertos)`."""
        return f"{self.macro}={self.value} ({self.kernel})"


def varied_build_factors_of_paper(catalogue: Catalogue, paper: PaperFolder) -> tuple[BuildVariationFactor, ...]:
    """Returns the factors in which the builds of a paper differ. A factor that the paper itself varies is left out."""
    experiments = [experiment for suite in paper.suites for experiment in suite.experiments]
    swept = {key for experiment in experiments for key in experiment.sweep}
    given = {experiment.config.get("opt", DEFAULT_OPT) for experiment in experiments}
    factors = []
    if any(set(version.trees) - {version.kernel} for version in paper.facts.version):
        factors.append(BuildVariationFactor(VERSION, (AUTHORS, TODAYS)))
    if len(given) == 1 and "opt" not in swept:
        (usual,) = given
        factors.append(BuildVariationFactor(OPTIMISATION, (usual, *(level for level in LEVELS if level != usual))))
    factors.append(BuildVariationFactor(ASSERTIONS, (OFF, ON)))
    switches = tuple(switch.macro_override_name for switch in kernel_macro_overrides_of_paper(catalogue, paper))
    return (*factors, BuildVariationFactor(SWITCH, (NONE, *switches)))


def kernel_macro_overrides_of_paper(catalogue: Catalogue, paper: PaperFolder) -> list[KernelMacroOverride]:
    """Returns every macro that builds of the paper's kernels switch on or off, in both positions. One of the positions
    is that of the paper's suites."""
    experiments = [experiment for suite in paper.suites for experiment in suite.experiments]
    varied = {key for experiment in experiments for key in (*experiment.sweep, *experiment.config)}
    switches = []
    for kernel in paper.facts.kernels:
        entry = catalogue.kernels.get(kernel)
        if entry is None or entry.facts.export is not None:
            continue  # an export is built by its user, with the switches that its own configuration has
        macros = [entry.facts.parity[switch] for switch in _SWITCHES if switch in entry.facts.parity]
        switches += [
            KernelMacroOverride(kernel, macro, value)
            for macro in macros
            if not macro.startswith("=") and macro not in varied
            for value in ("0", "1")
        ]
    return switches


def kernel_build_of_paper_suites(factors: Sequence[BuildVariationFactor]) -> KernelBuild:
    """Returns the build that the paper's own suites use: the first level of each factor."""
    return KernelBuild(tuple(factor.levels[0] for factor in factors))


def kernel_builds_for_claim_stability(factors: Sequence[BuildVariationFactor]) -> list[KernelBuild]:
    """Returns the builds in which a paper's statements are examined: every combination of the factors, then each switch
    alone. The paper's own build is first."""
    crossed = [factor for factor in factors if factor.name != SWITCH]
    builds = [
        KernelBuild((*levels, *([NONE] if len(crossed) < len(factors) else [])))
        for levels in _combinations_of_build_factor_values(crossed)
    ]
    usual = kernel_build_of_paper_suites(factors).levels[: len(crossed)]
    single = (level for factor in factors if factor.name == SWITCH for level in factor.levels[1:])
    return [*builds, *(KernelBuild((*usual, level)) for level in single)]


def _combinations_of_build_factor_values(factors: Sequence[BuildVariationFactor]) -> Iterator[tuple[str, ...]]:
    """Yields every combination of the factors' levels, one level of each."""
    return product(*(factor.levels for factor in factors))


def factor_level_of_build(build: KernelBuild, factors: Sequence[BuildVariationFactor], name: str) -> str:
    """Returns a build's level of the factor with this name, such as `-O3`. Empty if there is no such factor."""
    named = {factor.name: level for factor, level in zip(factors, build.levels, strict=True)}
    return named.get(name, "")


def config_changes_of_kernel_build(
    catalogue: Catalogue, build: KernelBuild, factors: Sequence[BuildVariationFactor], kernel: str, role: str
) -> dict[str, str] | None:
    """Returns the settings that a build changes for a kernel, compared with the paper's suites. None if the kernel
    cannot be built so, because it is an export, whose own build decides about assertions.

    `role` is the kernel of the paper that `kernel` is a version of.
    """
    changes: dict[str, str] = {}
    optimisation = factor_level_of_build(build, factors, OPTIMISATION)
    if (
        optimisation
        and optimisation
        != kernel_build_of_paper_suites(factors).levels[_index_of_build_variation_factor(factors, OPTIMISATION)]
    ):
        changes["opt"] = optimisation
    facts = catalogue.find_kernel(kernel).facts
    if factor_level_of_build(build, factors, ASSERTIONS) == ON:
        macro = facts.parity.get("assertions", "=0")
        if facts.export is not None:
            return None
        changes |= {} if macro.startswith("=") else {macro: "1"}
    return {**changes, **_macro_set_by_override(factor_level_of_build(build, factors, SWITCH), role)}


def _macro_set_by_override(level: str, role: str) -> Mapping[str, str]:
    """Returns the macro and value of a switch's level, if it belongs to the kernel `role`. Else empty."""
    setting, _, named = level.partition(" (")
    macro, _, value = setting.partition("=")
    return {macro: value} if named.removesuffix(")") == role else {}


def _index_of_build_variation_factor(factors: Sequence[BuildVariationFactor], name: str) -> int:
    """Returns the index of the factor with this name."""
    return next(number for number, item in enumerate(factors) if item.name == name)
