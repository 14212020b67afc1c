"""Fits, and lines above all samples."""

from hypothesis import given
from hypothesis import strategies as st

from rtoslab.rta.fitted_lines import fit_least_squares_line, fit_upper_bound_line

SAMPLES = st.dictionaries(
    st.integers(0, 10), st.lists(st.integers(0, 2000), min_size=1, max_size=5), min_size=1, max_size=8
)


@given(SAMPLES)
def test_no_sample_lies_above_the_upper_line(samples: dict[int, list[int]]) -> None:
    base, slope = fit_upper_bound_line(samples)
    assert base >= 0
    assert slope >= 0
    assert all(cycles <= base + slope * key for key, result in samples.items() for cycles in result)


def test_upper_line_is_close_to_the_samples() -> None:
    assert fit_upper_bound_line({0: [82, 76], 1: [180, 186], 2: [254], 3: [322], 4: [390]}) == (118, 68)
    assert fit_upper_bound_line({3: [10, 12]}) == (12, 0)
    assert fit_upper_bound_line({0: [10], 1: [8]}) == (10, 0), "a cost never shrinks with more tasks"


def test_fit_reports_its_residual() -> None:
    result = fit_least_squares_line("tick", "line", {0: [10, 10], 1: [14, 20], 2: [24, 24]})
    assert (result.samples, result.base, result.slope) == (6, 10.0, 7.0)
    assert (result.largest_above, result.largest_observed) == (3.0, 24)
    assert fit_least_squares_line("constant", "", {0: [5, 7]}).base == 6.0
