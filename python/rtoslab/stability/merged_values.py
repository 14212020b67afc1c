"""Combines newly measured rows of some kernels with the rows of the other kernels in an existing stability file."""

from collections.abc import Collection
from dataclasses import replace

from rtoslab.base import PlanError
from rtoslab.stability.builds import NONE, SWITCH, BuildVariationFactor, KernelBuild
from rtoslab.stability.values_file import PaperClaimStabilityFile


def merge_claim_stability_rows(
    earlier: PaperClaimStabilityFile, new: PaperClaimStabilityFile, kernels: Collection[str]
) -> PaperClaimStabilityFile:
    """Returns the builds of `new`, with the rows of these kernels from `new` and those of all others from `earlier`.

    `kernels` are named as in the paper. A build that changes a switch of one of them may be missing in `earlier`. The
    other kernels are the same in it as without the switch. If `new` has no switches at all, the measured kernels are
    the same in the builds that change a switch of another kernel. Raises PlanError if the two were measured
    differently.
    """
    new = _keep_macro_overrides_of_other_kernels(earlier, new, kernels)
    _require_equal_conditions(earlier, new)
    rows = list(new.rows)
    numbers: dict[int, int] = {}
    members = []
    for build, own in zip(new.builds, new.rows_by_build, strict=True):
        unchanged = [
            number
            for number in earlier.rows_by_build[_number_of_matching_earlier_build(earlier, build, kernels)]
            if earlier.rows[number].stands_for.kernel not in kernels
        ]
        for number in unchanged:
            if number not in numbers:
                numbers[number] = len(rows)
                rows.append(earlier.rows[number])
        members.append((*own, *(numbers[number] for number in unchanged)))
    return replace(new, rows=tuple(rows), rows_by_build=tuple(members))


def _keep_macro_overrides_of_other_kernels(
    earlier: PaperClaimStabilityFile, new: PaperClaimStabilityFile, kernels: Collection[str]
) -> PaperClaimStabilityFile:
    """Returns `new` with the earlier builds that change a switch of another kernel, if `new` has no switches."""
    names = [factor.name for factor in earlier.factors]
    if SWITCH not in names or SWITCH in {factor.name for factor in new.factors}:
        return new
    place = names.index(SWITCH)
    members = {build.levels: rows for build, rows in zip(new.builds, new.rows_by_build, strict=True)}
    builds = [
        build
        for build in earlier.builds
        if not _is_macro_override_of_kernels(build.levels[place], kernels)
        and _build_factor_levels_except_one(build.levels, place) in members
    ]
    levels = tuple(
        level for level in earlier.factors[place].levels if not _is_macro_override_of_kernels(level, kernels)
    )
    switch = BuildVariationFactor(SWITCH, levels)
    return replace(
        new,
        factors=(*new.factors[:place], switch, *new.factors[place:]),
        builds=tuple(builds),
        rows_by_build=tuple(members[_build_factor_levels_except_one(build.levels, place)] for build in builds),
    )


def _is_macro_override_of_kernels(level: str, kernels: Collection[str]) -> bool:
    """Whether a level of the factor `switch` belongs to one of these kernels."""
    return any(level.endswith(f" ({kernel})") for kernel in kernels)


def _build_factor_levels_except_one(levels: tuple[str, ...], place: int) -> tuple[str, ...]:
    """Returns the levels of a build without that of one factor."""
    return (*levels[:place], *levels[place + 1 :])


def _require_equal_conditions(earlier: PaperClaimStabilityFile, new: PaperClaimStabilityFile) -> None:
    """Raises PlanError if the rows of two files cannot be compared with each other."""
    for name, was, now in (
        ("placements", earlier.placements, new.placements),
        ("simulator and compiler", earlier.made_by, new.made_by),
        ("factors", [factor.name for factor in earlier.factors], [factor.name for factor in new.factors]),
    ):
        if was != now:
            raise PlanError(
                f"The stored values of {earlier.paper} have other {name} ({was}, now {now}); measure all kernels, or "
                "name another file with --values."
            )


def _number_of_matching_earlier_build(
    earlier: PaperClaimStabilityFile, build: KernelBuild, kernels: Collection[str]
) -> int:
    """Returns the number of the earlier build in which all kernels but the measured ones are as in `build`."""
    if build in earlier.builds:
        return earlier.builds.index(build)
    names = [factor.name for factor in earlier.factors]
    place = names.index(SWITCH) if SWITCH in names else len(names)
    if any(_is_macro_override_of_kernels(level, kernels) for level in build.levels[place:]):
        plain = KernelBuild((*build.levels[:place], NONE, *build.levels[place + 1 :]))
        if plain in earlier.builds:
            return earlier.builds.index(plain)
    raise PlanError(
        f"The stored values of {earlier.paper} have no build {', '.join(build.levels)}; measure all kernels, or name "
        "another file with --values."
    )
