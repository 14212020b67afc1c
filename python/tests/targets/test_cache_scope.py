"""Sources are looked at once while a plan is made, and anew where time went by in which they may have changed."""

import time
from pathlib import Path

import pytest

from rtoslab.base import BuildError, clear_expired_file_contents_cache, file_contents_cache, memoize_by_contents
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.images import builder
from rtoslab.images.image_inputs import image_inputs_digest
from rtoslab.plan.plan import PlannedPoint, PlanOptions, make_measurement_plan
from tests.checkouts import copy_checkout


def point(catalogue: Catalogue) -> PlannedPoint:
    (result,) = make_measurement_plan(catalogue, ["t1_arithmetic"], PlanOptions(["bare"], ["pico"], cores=[1])).points
    return result


def test_cache_scope_computes_a_value_once() -> None:
    request: list[int] = []

    @memoize_by_contents
    def count_call(number: int) -> int:
        request.append(number)
        return len(request)

    with file_contents_cache():
        assert [count_call(1), count_call(2), count_call(1)] == [1, 2, 1]
        with file_contents_cache():
            assert count_call(1) == 1, "a look inside another one is that one"
        assert count_call(1) == 1, "and does not end it"
        clear_expired_file_contents_cache()
        assert count_call(1) == 3
        clear_expired_file_contents_cache(older_than_s=1000)
        assert count_call(1) == 3
        time.sleep(0.01)
        clear_expired_file_contents_cache(older_than_s=0.01)
        assert count_call(1) == 4
    assert [count_call(1), count_call(1)] == [5, 6]
    with file_contents_cache():
        assert count_call(1) == 7


def edit(root: Path) -> None:
    file = root / "firmware" / "core" / "identity.c"
    file.write_text(file.read_text(encoding="utf-8") + "/* edited */\n", encoding="utf-8")


def test_edited_source_is_seen_in_the_next_cache_scope(tmp_path: Path) -> None:
    catalogue = Catalogue(copy_checkout(tmp_path))
    request = point(catalogue)
    with file_contents_cache():
        before = image_inputs_digest(catalogue, request)
        edit(catalogue.root)
        assert image_inputs_digest(catalogue, request) == before
    after = image_inputs_digest(catalogue, request)
    assert after != before
    with file_contents_cache():
        assert image_inputs_digest(catalogue, request) == after


def test_source_edited_during_a_build_is_seen_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next image must not be named by what its sources were before."""
    catalogue = Catalogue(copy_checkout(tmp_path))
    request = point(catalogue)

    def build_into(*_: object) -> str:
        edit(catalogue.root)
        return before

    monkeypatch.setattr(builder, "_build_and_store_image", build_into)
    monkeypatch.setenv("RTOSLAB_BUILD", str(tmp_path / "build"))
    with file_contents_cache():
        before = image_inputs_digest(catalogue, request)
        with pytest.raises(BuildError):  # nothing was built
            builder.build_measurement_point_image(catalogue, request)
        assert image_inputs_digest(catalogue, request) != before
