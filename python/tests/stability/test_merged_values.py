"""Measuring some kernels' builds again: the rows of the others stay, in every build."""

from dataclasses import replace
from typing import Any

import pytest

from rtoslab.base import PlanError, find_checkout_root
from rtoslab.catalogue import Catalogue, find_paper
from rtoslab.stability import merge_claim_stability_rows, plan_paper_claim_stability_points
from rtoslab.stability.builds import NONE, SWITCH, BuildVariationFactor, KernelBuild
from rtoslab.stability.values_file import PaperClaimStabilityFile
from tests.stability.test_stability import OPT, row

ROOT = find_checkout_root()
OLD_SWITCH = "A=1 (a)"
NEW_SWITCH = "C=1 (c)"


def stored(
    switches: tuple[str, ...], *builds: tuple[tuple[str, str], tuple[int, ...]], rows: str
) -> PaperClaimStabilityFile:
    """A file with one row for each letter of `rows`, of the kernel with this name. The row's number is its value."""
    return PaperClaimStabilityFile(
        "lentka2022",
        2,
        (OPT, BuildVariationFactor(SWITCH, (NONE, *switches))),
        tuple(KernelBuild(levels) for levels, _ in builds),
        tuple(members for _, members in builds),
        tuple(row(kernel, number) for number, kernel in enumerate(rows)),
        {"compiler": "GNU 12"},
    )


EARLIER = stored(
    (OLD_SWITCH,),
    (("-O2", NONE), (0, 1, 2)),
    (("-O3", NONE), (3, 1, 2)),
    (("-O2", OLD_SWITCH), (4, 1, 2)),
    rows="abcaa",
)
NEW = stored(
    (OLD_SWITCH, NEW_SWITCH),
    (("-O2", NONE), (0,)),
    (("-O3", NONE), (1,)),
    (("-O2", OLD_SWITCH), (0,)),
    (("-O2", NEW_SWITCH), (2,)),
    rows="ccc",
)


def contents(values: PaperClaimStabilityFile) -> list[list[tuple[str, float]]]:
    """The kernel and value of each row, by build."""
    return [
        [(values.rows[number].kernel, values.rows[number].values[0].value) for number in members]
        for members in values.rows_by_build
    ]


def test_rows_of_other_kernels_stay_in_every_build() -> None:
    merged = merge_claim_stability_rows(EARLIER, NEW, {"c"})
    assert contents(merged) == [
        [("c", 0), ("a", 0), ("b", 1)],
        [("c", 1), ("a", 3), ("b", 1)],
        [("c", 0), ("a", 4), ("b", 1)],
        [("c", 2), ("a", 0), ("b", 1)],
    ]
    assert (merged.factors, merged.builds) == (NEW.factors, NEW.builds)
    assert len(merged.rows) == 7


def test_switch_of_another_kernel_is_not_taken_as_unchanged() -> None:
    with pytest.raises(PlanError, match=r"no build -O2, C=1 \(c\); measure all kernels"):
        merge_claim_stability_rows(EARLIER, NEW, {"b"})


@pytest.mark.parametrize(
    "change",
    [{"placements": 4}, {"made_by": {"compiler": "GNU 13"}}, {"factors": (OPT,)}],
    ids=lambda change: str(*change),
)
def test_values_of_other_conditions_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match=rf"other .*{'simulator' if 'made_by' in change else str(*change)}"):
        merge_claim_stability_rows(replace(EARLIER, **change), NEW, {"c"})


def test_files_without_switches_are_merged_by_build() -> None:
    def without_switches(values: PaperClaimStabilityFile) -> PaperClaimStabilityFile:
        builds = tuple(KernelBuild(build.levels[:1]) for build in values.builds[:2])
        return replace(values, factors=(OPT,), builds=builds, rows_by_build=values.rows_by_build[:2])

    merged = merge_claim_stability_rows(without_switches(EARLIER), without_switches(NEW), {"c"})
    assert contents(merged) == [[("c", 0), ("a", 0), ("b", 1)], [("c", 1), ("a", 3), ("b", 1)]]
    more = replace(without_switches(NEW), builds=(KernelBuild(("-O2",)), KernelBuild(("-Os",))))
    with pytest.raises(PlanError, match="no build -Os; measure all kernels"):
        merge_claim_stability_rows(without_switches(EARLIER), more, {"c"})


def test_builds_with_switches_of_others_contain_the_new_rows() -> None:
    plain = replace(
        NEW,
        factors=(OPT,),
        builds=tuple(KernelBuild(build.levels[:1]) for build in NEW.builds[:2]),
        rows_by_build=NEW.rows_by_build[:2],
    )
    merged = merge_claim_stability_rows(EARLIER, plain, {"c"})
    assert contents(merged) == [
        [("c", 0), ("a", 0), ("b", 1)],
        [("c", 1), ("a", 3), ("b", 1)],
        [("c", 0), ("a", 4), ("b", 1)],
    ]
    assert (merged.factors, merged.builds) == (EARLIER.factors, EARLIER.builds)
    own = merge_claim_stability_rows(EARLIER, plain, {"a"})
    assert own.builds == EARLIER.builds[:2]
    assert own.factors[1].levels == (NONE,)


def test_plan_without_switches_has_every_combination_of_the_other_factors() -> None:
    catalogue = Catalogue(ROOT)
    plan = plan_paper_claim_stability_points(
        catalogue, find_paper(catalogue, "eren2024"), 1, ["bare"], with_switches=False
    )
    assert [factor.name for factor in plan.factors] == ["version", "optimisation", "assertions"]
    assert len(plan.builds) == len(set(plan.builds)) == 2 * 3 * 2


def test_plan_has_only_the_points_of_the_chosen_kernels() -> None:
    catalogue = Catalogue(ROOT)
    paper = find_paper(catalogue, "eren2024")
    whole, part = (
        plan_paper_claim_stability_points(catalogue, paper, 1),
        plan_paper_claim_stability_points(catalogue, paper, 1, ["bare"]),
    )
    assert {point.kernel for point in part.points} == {"bare"}
    assert {point.kernel for point in whole.points} > {"bare"}
    assert part.builds == whole.builds
