"""Optional services: a port's folder for each, read with its kernel.toml, and part of no other image."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.analyses.series import pinning_text
from rtoslab.base import CatalogueError, file_digest_listing_rows, find_checkout_root
from rtoslab.catalogue import OPTIONAL_FOLDER, OPTIONAL_SERVICES, Catalogue
from rtoslab.catalogue.contract_services import SERVICE_FILE
from rtoslab.images import image_inputs
from rtoslab.images.image_inputs import (
    CONFORMANCE_IMAGE,
    cmake_options,
    image_request_digest,
    kernel_cmake_options,
    optional_services,
    optional_services_param,
)
from rtoslab.measure import identity_of_point
from rtoslab.plan.plan import PlannedPoint, PlanOptions, make_measurement_plan
from rtoslab.records import ExpectedImageIdentity

ROOT = find_checkout_root()
CATALOGUE = Catalogue(ROOT)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for kind in ("spec", "firmware/kernels"):
        for path in (ROOT / kind).rglob("*.toml"):
            target = tmp_path / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return tmp_path


def service_file(root: Path, kernel: str = "freertos") -> Path:
    return root / "firmware/kernels" / kernel / OPTIONAL_FOLDER / "timer" / SERVICE_FILE


def test_facts_of_a_service_are_the_kernels() -> None:
    facts = {name: CATALOGUE.ports[name].facts for name in ("freertos", "threadx")}
    assert facts["freertos"].symbols["timer_start"][0] == "xTimerGenericCommandFromTask"
    assert facts["freertos"].arguments["timer_stop"] == ("object", 3)
    assert facts["freertos"].results["timer_start"] == 1
    assert {name: item.behaviour.timer_callback for name, item in facts.items()} == {
        "freertos": "task", "threadx": "interrupt",
    }  # fmt: skip
    assert facts["threadx"].behaviour.wake_order == "first", "what kernel.toml declares stays"
    assert facts["threadx"].completes["_tx_timer_activate"] == ("_tx_timer_change",)


def test_every_optional_service_is_in_the_contract_and_has_a_header() -> None:
    assert set(OPTIONAL_SERVICES) <= set(CATALOGUE.port_contract_services)
    for service in OPTIONAL_SERVICES:
        assert (ROOT / f"firmware/include/bench/{service}.h").is_file()
        for entry in CATALOGUE.ports.values():
            folder = entry.folder / OPTIONAL_FOLDER / service
            assert (folder / f"port_{service}.h").is_file() == entry.facts.services[service]


def test_offered_service_needs_its_file(copy: Path) -> None:
    service_file(copy).unlink()
    with pytest.raises(CatalogueError, match=r"says timer = true, but .*service\.toml is missing; add it, or say"):
        _ = Catalogue(copy).ports


def test_file_of_a_service_that_is_not_offered_does_not_count(copy: Path) -> None:
    path = copy / "firmware/kernels/threadx/kernel.toml"
    path.write_text(path.read_text().replace("\ntimer = true\n", "\ntimer = false\n"))
    facts = Catalogue(copy).ports["threadx"].facts
    assert "timer_start" not in facts.symbols
    assert facts.behaviour.timer_callback == "task", "as if nothing was said"


@pytest.mark.parametrize(
    "line", ["[colours]\nred = 1\n", '[behaviour]\ntimer_callback = "nobody"\n', "[behaviour]\nx = 1\n"]
)
def test_wrong_facts_are_refused_with_the_file(copy: Path, line: str) -> None:
    service_file(copy).write_text(line)
    with pytest.raises(CatalogueError, match=r"timer.service\.toml"):
        _ = Catalogue(copy).ports


def point(benchmark: str, kernel: str = "freertos") -> PlannedPoint:
    (result, *_) = make_measurement_plan(CATALOGUE, [benchmark], PlanOptions([kernel])).points
    return result


def test_only_images_with_the_service_take_it_in() -> None:
    hook = "-DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake"
    assert optional_services(CATALOGUE, point("t7")) == []
    assert hook not in kernel_cmake_options(CATALOGUE, point("t7"))
    assert {hook, "-DOPTIONAL_SERVICES:STRING=timer"} <= set(kernel_cmake_options(CATALOGUE, point("timer_latency")))


def test_image_beside_another_kernel_takes_in_both_hooks() -> None:
    """One CMake variable cannot have the hook of the services and that of two kernels."""
    pair = replace(point("timer_latency"), beside="freertos", core=1)
    options = [*cmake_options(pair, ExpectedImageIdentity("", 0)), *kernel_cmake_options(CATALOGUE, pair)]
    assert "-DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=amp/amp.cmake" in options
    assert "-DCMAKE_PROJECT_INCLUDE=services/services.cmake" in options


def test_image_of_the_suite_takes_in_the_services_of_its_parameter() -> None:
    def taken_in(kernel: str, *services: str) -> list[str]:
        params = optional_services_param(services)
        return optional_services(CATALOGUE, replace(point("t7", kernel), benchmark=CONFORMANCE_IMAGE, params=params))

    assert taken_in("freertos") == []
    assert taken_in("freertos", "timer", "affinity") == ["affinity", "timer"]
    assert taken_in("bare", "timer") == []


def test_changed_folder_of_services_changes_only_images_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def digests() -> list[str]:
        return [image_request_digest(CATALOGUE, point(name)) for name in ("timer_latency", "t7")]

    before = digests()
    rows = image_inputs._file_digests_of_firmware_folder
    extra = file_digest_listing_rows(ROOT, [ROOT / "LICENSE-MIT"])
    monkeypatch.setattr(
        image_inputs,
        "_file_digests_of_firmware_folder",
        lambda *parts: rows(*parts) + (extra if parts[-1] == "services" else ()),
    )
    with_service, without = digests()
    assert with_service != before[0]
    assert without == before[1]


def test_kernel_without_the_service_says_why() -> None:
    facts = CATALOGUE.ports["zephyr"].facts
    assert facts.why_lacking_services(["affinity"]) == (
        "Zephyr has no affinity service: Zephyr runs on one core of a Cortex-M"
    )


def test_result_of_a_task_that_migrates_says_that_it_is_not_pinned() -> None:
    made = make_measurement_plan(CATALOGUE, ["p7_migrate_task", "t2"], PlanOptions(["freertos"], cores=(2,))).points
    assert {made_point.benchmark: dict(made_point.params) for made_point in made} == {
        "p7_migrate_task": {"pinned": "0"},
        "t2_cooperative": {},
    }
    assert pinning_text(identity_of_point(CATALOGUE, made[0])) == "not pinned"
    assert pinning_text(identity_of_point(CATALOGUE, made[1])) == "pinned"
