"""Combines newly measured rows of some kernels with the rows of the other kernels in an existing stability file."""

from collections.abc import Collection
from dataclasses import replace

from rtoslab.base import PlanError
from rtoslab.stability.builds import NONE, SWITCH, KernelBuild
from rtoslab.stability.values_file import StoredStability


def merge_stability(earlier: StoredStability, new: StoredStability, kernels: Collection[str]) -> StoredStability:
    """Returns the builds of `new`, with the rows of these kernels from `new` and those of all others from `earlier`.

    `kernels` are named as in the paper. A build that changes a switch of one of them may be missing in `earlier`. The
    other kernels are the same in it as without the switch. Raises PlanError if the two were measured differently.
    """
    _require_equal_conditions(earlier, new)
    rows = list(new.rows)
    numbers: dict[int, int] = {}
    members = []
    for build, own in zip(new.builds, new.rows_by_build, strict=True):
        unchanged = [
            number
            for number in earlier.rows_by_build[_earlier_number(earlier, build, kernels)]
            if earlier.rows[number].stands_for.kernel not in kernels
        ]
        for number in unchanged:
            if number not in numbers:
                numbers[number] = len(rows)
                rows.append(earlier.rows[number])
        members.append((*own, *(numbers[number] for number in unchanged)))
    return replace(new, rows=tuple(rows), rows_by_build=tuple(members))


def _require_equal_conditions(earlier: StoredStability, new: StoredStability) -> None:
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


def _earlier_number(earlier: StoredStability, build: KernelBuild, kernels: Collection[str]) -> int:
    """Returns the number of the earlier build in which all kernels but the measured ones are as in `build`."""
    if build in earlier.builds:
        return earlier.builds.index(build)
    names = [factor.name for factor in earlier.factors]
    place = names.index(SWITCH) if SWITCH in names else len(names)
    if any(level.endswith(f" ({kernel})") for level in build.levels[place:] for kernel in kernels):
        plain = KernelBuild((*build.levels[:place], NONE, *build.levels[place + 1 :]))
        if plain in earlier.builds:
            return earlier.builds.index(plain)
    raise PlanError(
        f"The stored values of {earlier.paper} have no build {', '.join(build.levels)}; measure all kernels, or name "
        "another file with --values."
    )
