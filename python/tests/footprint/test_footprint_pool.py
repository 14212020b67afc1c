"""What a kernel took from its pool, where it is not seen."""

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.footprint import service_survey_tables, survey_service_sizes

CATALOGUE = Catalogue(find_checkout_root())


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        ({"pool_symbol": "ucHeapOfOld"}, "the image has no ucHeapOfOld, which pool_symbol in its kernel.toml names"),
        ({"pool_free_symbol": None}, "no variable of the image contains how much of ucHeap is used"),
    ],
)
def test_unknown_pool_is_not_shown_as_0_bytes(
    update: dict[str, str | None], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = CATALOGUE.find_kernel("freertos").facts
    assert facts.memory is not None
    monkeypatch.setattr(facts.memory, "__dict__", facts.memory.__dict__ | update)
    result = survey_service_sizes(CATALOGUE, "freertos", "nucleo-f446re", programs=["semaphore"], config={"opt": "-O2"})
    (semaphore,) = result.costs
    assert (semaphore.pool_bytes, semaphore.pool_unseen_reason) == (None, reason)
    services, lacking, _ = service_survey_tables([result])
    assert services.rows[0][-2] == "n/a"
    assert ("freertos", "nucleo-f446re", "semaphore: pool", reason) in lacking.rows
