"""The scene of joins, which only kernels from the user's sources have, on a port that is given some."""

from pathlib import Path

from rtoslab.conformance.judge import CheckOutcome
from tests.checkouts import replace_text
from tests.conformance.test_conformance_end_to_end import conformance, failing

FOLDER = "kernels/freertos/services/task_join"
HEADER = """
#pragma once

typedef struct {
    void (*function)(void);
    UBaseType_t priority;
    volatile bool ended;
} port_task_join_t;

static void port_task_join_begin(void *task)
{
    ((port_task_join_t *)task)->function();
    ((port_task_join_t *)task)->ended = true;
    vTaskDelete(NULL);
}

static inline bool port_task_join_prepare(port_task_join_t *task, void (*function)(void), unsigned priority)
{
    *task = (port_task_join_t){.function = function, .priority = PORT_PRIORITY(priority)};
    return true;
}

static inline bool port_task_join_start(port_task_join_t *task)
{
    task->ended = false;
    return xTaskCreate(port_task_join_begin, "", 256, task, task->priority, NULL) == pdPASS;
}

static inline bool port_task_join_wait(port_task_join_t *task)
{
    while (!task->ended) {
        vTaskDelay(1);
    }
    return true;
}
"""


def test_scene_of_joins_finds_a_wait_that_waits_for_nothing(checkout: Path) -> None:
    replace_text(checkout, "kernels/freertos/kernel.toml", "task_join = false", "task_join = true")
    folder = checkout / "firmware" / FOLDER
    folder.mkdir()
    (folder / "service.toml").write_text('[symbols]\ntask_join_start = ["xTaskCreate"]\n')
    (folder / "port_task_join.h").write_text(HEADER)
    verdict = conformance(checkout, "freertos")
    held = {finding.check for finding in verdict.findings if finding.outcome is CheckOutcome.HOLDS}
    assert "task_joins" in held
    replace_text(checkout, f"{FOLDER}/port_task_join.h", "while (!task->ended)", "while (task->ended)")
    assert "task_joins" in failing(conformance(checkout, "freertos"))
