"""Numbers exist only where every proof holds."""

import pytest
from pydantic import ValidationError

from rtoslab.results.finding import ProofVerdict
from rtoslab.results.results import FailedMeasurement, MeasuredPoint
from tests.fakes import measured_point, proof


@pytest.mark.parametrize(
    "proofs", [(), (proof(ProofVerdict.FAILS),), (proof(), proof(ProofVerdict.FAILS)), (proof(ProofVerdict.UNSEEN),)]
)
def test_measured_point_needs_passed_proofs(proofs: tuple[object, ...]) -> None:
    with pytest.raises(ValidationError, match="proof"):
        MeasuredPoint.model_validate({**measured_point().model_dump(), "proofs": proofs})


def test_real_board_may_lack_some_proofs() -> None:
    stored = MeasuredPoint.model_validate(
        {**measured_point().model_dump(), "proofs": (proof(), proof(ProofVerdict.UNSEEN))}
    )
    assert stored.proofs[1].verdict is ProofVerdict.UNSEEN


def test_failed_point_cannot_contain_figures() -> None:
    numbers = {"counters", "heap", "virtual", "window_ticks", "rulers", "stacks", "checks"}
    assert not numbers & set(FailedMeasurement.model_fields)


def test_result_survives_its_file() -> None:
    point = measured_point(2, wait=5)
    assert MeasuredPoint.model_validate_json(point.model_dump_json()) == point
