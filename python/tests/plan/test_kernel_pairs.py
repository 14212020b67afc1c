"""Two kernels on one board: which points a pair has, and the sentence where there are none."""

import pytest

from rtoslab.api import mark_unreadable_points
from rtoslab.base.errors import PlanError, UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.plan import MeasurementPlan, PlannedPoint, PlanOptions, make_measurement_plan

CATALOGUE = Catalogue(find_checkout_root())


def points(
    kernels: str, benchmark: str = "t1_arithmetic", board: str = "pico", **config: str
) -> tuple[PlannedPoint, ...]:
    options = PlanOptions(kernels=kernels.split(","), boards=[board], cores=[1, 2], config=config)
    return make_measurement_plan(CATALOGUE, [benchmark], options).points


def test_a_pair_is_a_point_for_each_core() -> None:
    one, other = points("freertos+rt")
    assert (one.kernel, one.beside, one.core, one.cores) == ("freertos", "rt", 0, 1)
    assert (other.kernel, other.beside, other.core, other.cores) == ("rt", "freertos", 1, 1)
    assert one.measurement_on_other_core() == other
    assert one.label == "t1_arithmetic freertos pico core 0 beside rt"


def test_a_pair_is_not_measured_again_for_each_number_of_cores() -> None:
    assert [(point.cores, point.beside) for point in points("freertos,freertos+freertos")] == [
        (1, None), (2, None), (1, "freertos"), (1, "freertos"),
    ]  # fmt: skip


def test_names_may_be_short() -> None:
    assert points("free+ba")[0].beside == "bare"


@pytest.mark.parametrize(
    ("kernels", "benchmark", "board", "words"),
    [
        ("freertos+rt", "t1_arithmetic", "nucleo-f446re", "firmware/amp has no map that divides NUCLEO-F446RE"),
        ("freertos+bare", "t2_cooperative", "pico", "bare (no kernel) has no tasks service"),
        ("freertos+rt", "t8_allocation", "pico", "rt has no heap service"),
        ("freertos+rt", "interrupt_latency", "pico", "beside another kernel no latencies of one core are measured"),
        ("freertos+freertos", "contention", "pico", "is a test of 2 cores or more"),
        ("freertos+nuttx", "t1_arithmetic", "pico", "NuttX"),
    ],
)
def test_a_pair_that_is_not_possible_says_why_on_both_cores(
    kernels: str, benchmark: str, board: str, words: str
) -> None:
    found = points(kernels, benchmark, board)
    assert found
    for point in found:
        assert words in (point.not_applicable or ""), point


def test_two_kernels_share_no_object() -> None:
    own, shared = (points("freertos+freertos", "p6_get_priority", **{"param.shared": value})[0] for value in "01")
    assert own.not_applicable is None
    assert shared.not_applicable == "each of two kernels has objects of its own"


def test_a_kernel_with_the_board_to_itself_divides_no_sram() -> None:
    assert [point.ram for point in points("freertos,freertos+rt", ram="banks")] == ["striped"] * 2 + ["banks"] * 2


def test_code_runs_from_no_alias_of_the_sram() -> None:
    assert points("freertos+rt", ram="banks")[0].not_applicable is None
    assert "executes no code" in str(points("freertos+rt", ram="banks", code="sram")[0].not_applicable)


def test_macros_go_to_both_images_or_to_none() -> None:
    assert points("freertos+freertos", configTICK_RATE_HZ="100")[0].not_applicable is None
    assert "cannot be set for one of two kernels" in str(
        points("freertos+rt", configTICK_RATE_HZ="100")[0].not_applicable
    )


@pytest.mark.parametrize("name", ["freertos+", "+rt", "freertos+rt+bare"])
def test_a_pair_is_two_kernels(name: str) -> None:
    with pytest.raises(PlanError, match="a pair is two kernels, core 0's and core 1's: --kernel freertos"):
        points(name)


def test_wrong_names_and_keys_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="kernel"):
        points("freertos+linux")
    with pytest.raises(UnknownNameError, match="division of the SRAM"):
        points("freertos+rt", ram="thirds")
    with pytest.raises(PlanError, match="Name two kernels instead"):
        points("freertos", beside="rt")


def test_real_boards_measure_no_pairs_yet() -> None:
    plan = mark_unreadable_points(MeasurementPlan(points("freertos,freertos+rt"), None))
    assert [point.not_applicable for point in plan.points] == [
        None, None, *["two kernels at the same time are not measured on a real board yet"] * 2,
    ]  # fmt: skip
