"""The scene of signals, which only a kernel from the user's sources has, on a port that is given some."""

from pathlib import Path

from rtoslab.conformance.judge import CheckOutcome
from tests.checkouts import replace_text
from tests.conformance.test_conformance_end_to_end import conformance, failing

FOLDER = "kernels/rt/services/signal"
HEADER = """
#pragma once

static inline bool port_signal_prepare(void)
{
    return true;
}

static inline bool port_signal_send(port_task_t task)
{
    rt_notify_post(&task->notification);
    return true;
}

static inline bool port_signal_wait(void)
{
    (void)rt_notify_wait(&((struct port_task *)rt_active_task)->notification);
    return true;
}
"""


def test_scene_of_signals_finds_a_wait_that_polls(checkout: Path) -> None:
    replace_text(checkout, "kernels/rt/kernel.toml", "signal = false", "signal = true")
    folder = checkout / "firmware" / FOLDER
    folder.mkdir()
    (folder / "service.toml").write_text(
        '[symbols]\nsignal_send = ["rt_notify_post"]\nsignal_wait = ["rt_notify_wait"]\n'
    )
    (folder / "port_signal.h").write_text(HEADER)
    verdict = conformance(checkout, "rt")
    held = {finding.check for finding in verdict.findings if finding.outcome is CheckOutcome.HOLDS}
    assert "signals_arrive" in held
    replace_text(checkout, f"{FOLDER}/port_signal.h", "    (void)rt_notify_wait(",
          "    rt_task_sleep(1);\n    (void)rt_notify_wait(")  # fmt: skip
    assert failing(conformance(checkout, "rt")) == {"signals_arrive"}
