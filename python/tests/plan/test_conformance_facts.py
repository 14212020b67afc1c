"""What kernels declare is measured; a scene that breaks fails alone; a declared deviation is measured and marked.

Ports broken on purpose, built and run on the virtual Pico."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from rtoslab import api
from rtoslab.base.errors import CatalogueError, RefusedError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.conformance.judge import CheckOutcome
from rtoslab.images import build_measurement_point_image
from rtoslab.plan.plan import PlanOptions, points_of_conformance_suite
from rtoslab.results.results import MeasuredPoint
from rtoslab.rta import images
from rtoslab.rta.firmware import build_task_set_firmware
from rtoslab.worst_case.scenario import prepare_benchmark_sweep_scenario
from tests.checkouts import replace_text
from tests.conformance.test_conformance_end_to_end import conformance, failing
from tests.rta.systems import KERNEL

FREERTOS, RT, BARE = ("kernels/freertos/port.h", "kernels/rt/port.h", "kernels/bare/port.h")

LATE = ("    (void)xTaskDelayUntil(tick, ticks);\n",
        ("    if (xTaskGetTickCount() - *tick < ticks) {\n        (void)xTaskDelayUntil(tick, ticks);\n"
        "    } else {\n        *tick = xTaskGetTickCount();\n    }\n"))  # fmt: skip
BETWEEN = "}\n\n/* Frees a block of the kernel's heap. */\nstatic inline void port_free(void *block)\n{\n"
ODD = (
    f"    return pvPortMalloc(bytes);\n{BETWEEN}    vPortFree(block);",
    f"    return (char *)pvPortMalloc(bytes + 4) + 4;\n{BETWEEN}    vPortFree((char *)block - 4);",
)
FIRST = ("    return xSemaphoreTake(*semaphore, portMAX_DELAY) == pdTRUE;\n",
         ("    UBaseType_t own = uxTaskPriorityGet(NULL);\n    bool taken;\n\n"
         "    vTaskPrioritySet(NULL, PORT_PRIORITY(0));\n"
         "    taken = xSemaphoreTake(*semaphore, portMAX_DELAY) == pdTRUE;\n"
         "    vTaskPrioritySet(NULL, own);\n    return taken;\n"))  # fmt: skip


def declare(root: Path, kernel: str, fact: str) -> None:
    """Adds a fact to kernel.toml: to those that it declares, or in front of its services."""
    toml = f"kernels/{kernel}/kernel.toml"
    declares = "\n[behaviour]\n" in (root / "firmware" / toml).read_text()
    before, after = ("[behaviour]\n", "") if declares else ("[services]\n", "\n[services]\n")
    replace_text(root, toml, f"\n{before}", f"\n[behaviour]\n{fact}\n{after}")


@dataclass(frozen=True)
class Fact:
    """What a kernel declares, the check that measures it, and the change that makes it so."""

    declared: str
    check: str
    change: tuple[str, str, str]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param([
            Fact('sleep_until_late = "restarts"', "sleep_until", (FREERTOS, *LATE)),
            Fact("sleep_adds_ticks = 1", "sleep_ticks", (
                FREERTOS, "    vTaskDelay(ticks);", "    vTaskDelay(ticks + 1);")),
            Fact("heap_align_bytes = 4", "heap_blocks", (FREERTOS, *ODD)),
            Fact('wake_order = "first"', "wake_urgent", (FREERTOS, *FIRST)),
        ], id="freertos"),
        pytest.param([Fact('event_wait_returns = "matched"', "event_bits", (
            "kernels/bare/port.c", "    return found;\n", "    return found & bits;\n"))], id="bare"),
        pytest.param([Fact("timeout_adds_ticks = 1", "timeout_expires", (
            RT, "rt_sem_timedwait(semaphore, ticks)", "rt_sem_timedwait(semaphore, ticks == 0 ? 0 : ticks + 1)"))],
            id="rt"),
    ],
)  # fmt: skip
def test_port_facts_are_measured(checkout: Path, facts: list[Fact]) -> None:
    """Those of a kernel at once: none hides another."""
    kernel = facts[0].change[0].split("/")[1]
    checks = {fact.check for fact in facts}
    for fact in facts:
        declare(checkout, kernel, fact.declared)
    assert checks <= failing(conformance(checkout, kernel)), "declared, and not so"
    for fact in facts:
        replace_text(checkout, *fact.change)
    assert not failing(conformance(checkout, kernel)) & {*checks, "tick_rate"}, "declared, and so"


def test_stuck_scene_fails_alone(checkout: Path) -> None:
    replace_text(checkout, "conformance/tasks/wake.c", "    port_sleep_ticks(4);\n    (void)port_semaphore_give",
          "    for (;;) {\n    }\n    (void)port_semaphore_give")  # fmt: skip
    verdict = conformance(checkout, "freertos")
    assert verdict.failure is None, "the suite came to its end without it"
    assert failing(verdict) == {"timeout_given"}
    assert [finding.saw for finding in verdict.findings if finding.check == "timeout_given"] == ["its scene got stuck"]
    assert not verdict.is_kernel_port_conformant


def test_scenes_that_fault_or_hang_fail_alone(checkout: Path) -> None:
    replace_text(checkout, BARE, "    *message = bare_mailbox_receive(mailbox);\n",
          "    volatile uintptr_t odd = 1;\n\n    (void)mailbox;\n    *message = *(void **)odd;\n")  # fmt: skip
    replace_text(
        checkout, "kernels/bare/port.c", "    event->bits = event->bits & ~bits;\n", "    event->bits = bits & 0u;\n"
    )
    verdict = conformance(checkout, "bare")
    saw = {finding.check: finding.saw for finding in verdict.findings if finding.outcome is CheckOutcome.FAILS}
    assert verdict.failure is None
    assert saw.keys() == {"mailbox_keeps", "event_bits"}
    assert saw["mailbox_keeps"].startswith("its scene ended in a fault (core=0 kind=hard")
    assert saw["event_bits"].startswith("its scene got stuck: ")


def test_suite_that_ends_early_keeps_its_results(checkout: Path) -> None:
    replace_text(
        checkout,
        "conformance/tasks/program.c",
        "    report_stack_uses();\n",
        '    report_stack_uses();\n    last_words_overflow("low");\n',
    )
    verdict = conformance(checkout, "freertos")
    assert "reported an overflow" in (verdict.failure or ""), "no scene's doing"
    assert failing(verdict) == set()
    outcomes = {finding.check: finding.outcome for finding in verdict.findings}
    assert outcomes["priority_order"] is CheckOutcome.HOLDS
    assert outcomes["tick_count"] is CheckOutcome.UNSEEN
    assert not verdict.is_kernel_port_conformant


def test_port_with_tasks_and_sleep_alone_is_examined(checkout: Path) -> None:
    """What CONTRIBUTING.md begins with: a port is examined after each service, from the first on."""
    path = checkout / "firmware" / "kernels" / "rt" / "kernel.toml"
    first = re.compile(r"^(?!tasks|sleep =)(\w+) = true$", re.MULTILINE)
    path.write_text(first.sub(r"\1 = false", path.read_text()))
    verdict = conformance(checkout, "rt")
    verdict.require_port_conforms()
    held = {finding.check for finding in verdict.findings if finding.outcome is CheckOutcome.HOLDS}
    assert {"priority_order", "sleep_ticks", "tick_rate", "stack_figures"} <= held


def test_declared_deviation_is_measured_and_marked(checkout: Path, tmp_path: Path) -> None:
    toml = "kernels/bare/kernel.toml"
    replace_text(checkout, toml, "[symbols]\n", '[deviations]\nqueue_order = "its manual says so"\n\n[symbols]\n')
    verdict = conformance(checkout, "bare")
    assert failing(verdict) == {"queue_order"}, "it conforms"
    replace_text(
        checkout,
        "conformance/solo.c",
        "note(port_queue_receive(&queue, item) &&",
        "note(1u && port_queue_receive(&queue, item) && item[0] != 5u &&",
    )
    verdict = conformance(checkout, "bare")
    assert verdict.is_kernel_port_conformant
    assert list(verdict.contract_deviation_reasons) == ["Queue order"]
    (outcome,) = api.run("t7", kernels=["bare"], boards=["pico"], window_ms=10, out=tmp_path / "run")
    assert isinstance(outcome.result, MeasuredPoint)
    assert "its manual says so" in outcome.result.deviations["Queue order"]
    options = PlanOptions(["bare"], ["pico"], [1], 1000)
    swept = prepare_benchmark_sweep_scenario(Catalogue(checkout), "phase_sweep", options)
    assert list(swept.deviations["bare"]) == ["Queue order"]
    replace_text(checkout, toml, "queue_order =", "queue_odour =")
    with pytest.raises(CatalogueError, match="declares a deviation of `queue_odour`, which is not a check"):
        conformance(checkout, "bare")


def test_bounds_and_overheads_keep_a_declared_deviation(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deviations = '[deviations]\nheap_blocks = "by design"\n\n[symbols]\n'
    replace_text(checkout, "kernels/freertos/kernel.toml", "[symbols]\n", deviations)
    replace_text(checkout, FREERTOS, *ODD)
    catalogue = Catalogue(checkout)
    firmware = build_task_set_firmware(catalogue, "freertos", "pico", {})
    assert "by design" in firmware.deviations["Heap blocks"]
    monkeypatch.setattr(images, "measure_kernel_overheads", lambda *_, **__: KERNEL)
    result = images.TaskSetImages(firmware, firmware, cast("Any", None)).measured_overheads(catalogue)
    assert result == KERNEL.model_copy(update={"deviations": firmware.deviations})


QUEUE = """
typedef struct rt_queue port_pointer_queue_t;

static inline bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length)
{
    return port_queue_create(queue, length, sizeof(void *));
}

static inline bool port_pointer_queue_send(port_pointer_queue_t *queue, void *pointer)
{
    return rt_queue_trypush(queue, &pointer);
}

static inline bool port_pointer_queue_receive(port_pointer_queue_t *queue, void **pointer)
{
    rt_queue_pop(queue, pointer);
    return true;
}
"""


def test_queue_of_pointers_on_a_kernel_with_tasks(checkout: Path) -> None:
    replace_text(checkout, "kernels/rt/kernel.toml", "queue_pointer = false", "queue_pointer = true")
    header = checkout / "firmware" / RT
    header.write_text(header.read_text() + QUEUE)
    verdict = conformance(checkout, "rt")
    held = {finding.check for finding in verdict.findings if finding.outcome is CheckOutcome.HOLDS}
    assert {"pointer_queue_order", "pointer_queue_wakes"} <= held
    replace_text(checkout, RT, "    rt_queue_pop(queue, pointer);\n",
          "    while (!rt_queue_trypop(queue, pointer)) {\n        rt_task_sleep(1);\n    }\n")  # fmt: skip
    assert failing(conformance(checkout, "rt")) == {"pointer_queue_wakes"}


def test_suite_is_played_on_distinct_priorities(checkout: Path) -> None:
    for kernel in ("freertos", "rt"):
        toml = f"kernels/{kernel}/kernel.toml"
        replace_text(checkout, toml, "equal_priorities = true", "equal_priorities = false")
    replace_text(checkout, "kernels/freertos/config/FreeRTOSConfig.h", "#if BENCH_PRIORITIES <= 6", "#if 0")
    replace_text(checkout, "kernels/freertos/config/FreeRTOSConfig.h", "(BENCH_PRIORITIES + 2)", "12")
    for kernel in ("freertos", "rt"):
        verdict = conformance(checkout, kernel)
        verdict.require_port_conforms()
        absent = {finding.check for finding in verdict.findings if "equal_priorities" in finding.saw}
        assert absent == {"ready_order", "yield_order", "time_slice", "wake_first"}


def test_static_data_of_a_kernel_is_part_of_its_budget(checkout: Path) -> None:
    toml = "kernels/freertos/kernel.toml"
    replace_text(checkout, toml, "smp = true\n", "smp = true\nstatic_bytes = 1_001\n")
    catalogue = Catalogue(checkout)
    (point,) = points_of_conformance_suite(catalogue, PlanOptions(["freertos"], ["pico"], [1]))
    config = build_measurement_point_image(catalogue, point).info["kernel_config"]
    assert config["configTOTAL_HEAP_SIZE"] == str((65_536 - 1_001) // 8 * 8)
    replace_text(checkout, toml, "static_bytes = 1_001", "static_bytes = 65_530")
    with pytest.raises(
        RefusedError, match="kernel freertos has 65530 bytes of static data, all that board pico allows"
    ):
        build_measurement_point_image(Catalogue(checkout), point)


def test_no_included_port_declares_a_deviation() -> None:
    for kernel in ("freertos", "rt", "bare"):
        assert (
            "[deviations]" not in (find_checkout_root() / "firmware" / "kernels" / kernel / "kernel.toml").read_text()
        )
