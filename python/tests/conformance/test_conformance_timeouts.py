"""Waits for events and messages that give up on a tick: each check fails on a port that is broken for it."""

from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.conformance.judge import CheckOutcome
from tests.checkouts import replace_text
from tests.conformance.test_conformance_end_to_end import BREAKS_OF_TIMEOUTS, conformance, failing

FREERTOS, RT = "kernels/freertos/port.h", "kernels/rt/port.h"
WAIT = "    return (xEventGroupWaitBits(*event, bits, pdTRUE, pdFALSE, ticks) & bits) != 0;\n"
BREAKS = {
    "event_timeout_expires": [
        ("freertos", FREERTOS, WAIT, WAIT.replace(", ticks)", ", ticks + 1)")),
        ("freertos", FREERTOS, WAIT, WAIT.replace(" & bits) != 0", ") != 0")),  # another bit is taken for one of these
        ("rt", RT, "rt_event_timedwait(event, bits, ticks)", "rt_event_timedwait(event, bits, 2u * ticks)"),
    ],
    "event_timeout_given": [
        ("freertos", FREERTOS, WAIT, f"    vTaskDelay(ticks);\n{WAIT.replace(', ticks)', ', 0)')}"),  # it only sleeps
        ("freertos", FREERTOS, WAIT, WAIT.replace("pdTRUE", "pdFALSE")),  # the bit is not taken
        ("freertos", FREERTOS, WAIT, WAIT.replace("pdFALSE", "pdTRUE")),  # it waits for all of them
    ],
    "mailbox_timeout_expires": [
        ("rt", RT, "rt_queue_timedpop(mailbox, message, ticks)", "rt_queue_timedpop(mailbox, message, ticks + 1)"),
        ("freertos", FREERTOS, "(*mailbox, message, ticks) == pdTRUE", "(*mailbox, message, ticks) != pdTRUE"),
    ],
    "mailbox_timeout_given": [
        (
            "rt", RT, "    return rt_queue_timedpop(mailbox, message, ticks);\n",
            "    rt_task_sleep(ticks);\n    return rt_queue_timedpop(mailbox, message, 0);\n",
        ),
    ],
}  # fmt: skip
EACH = [(check, *what) for check, breaks in BREAKS.items() for what in breaks]


@pytest.mark.parametrize(("kernel", "cores"), [("freertos", 1), ("rt", 1)])
def test_ports_with_timeouts_pass_their_checks(kernel: str, cores: int) -> None:
    result = {
        finding.check: finding.outcome for finding in conformance(find_checkout_root(), kernel, cores=cores).findings
    }
    assert {result[check] for check in BREAKS} == {CheckOutcome.HOLDS}


def test_kernel_without_timeouts_needs_no_checks() -> None:
    result = {finding.check: finding for finding in conformance(find_checkout_root(), "bare").findings}
    assert {result[check].outcome for check in BREAKS} == {CheckOutcome.NOT_APPLICABLE}
    assert "only its semaphore counts ticks" in result["event_timeout_expires"].saw


def test_every_check_fails_for_some_broken_port() -> None:
    assert set(BREAKS) == BREAKS_OF_TIMEOUTS


@pytest.mark.parametrize(("check", "kernel", "file", "old", "new"), EACH)
def test_broken_port_offers_the_broken_service(check: str, kernel: str, file: str, old: str, new: str) -> None:
    assert old in (find_checkout_root() / "firmware" / file).read_text()
    assert old != new, (check, kernel)


@pytest.mark.long
@pytest.mark.parametrize(("check", "kernel", "file", "old", "new"), EACH)
def test_broken_port_fails(checkout: Path, check: str, kernel: str, file: str, old: str, new: str) -> None:
    replace_text(checkout, file, old, new)
    verdict = conformance(checkout, kernel)
    assert check in failing(verdict), (verdict.failure, failing(verdict))
