"""Test code only: points whose port is not examined, because the test is about something else."""

import pytest

from rtoslab.conformance.examination import ConformanceVerdict
from rtoslab.conformance.judge import CheckOutcome, ConformanceCheckResult
from rtoslab.measure import pipeline
from rtoslab.worst_case import scenario

HOLDS = ConformanceVerdict(
    digest="0" * 64, kernel="k", board="b", cores=1,
    findings=(
        ConformanceCheckResult(
            check="c", title="C", core=0, demands="all is well", saw="it is", outcome=CheckOutcome.HOLDS
        ),
    ),
)  # fmt: skip


def examine_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process: another configuration's suite takes longer to build and play than most points."""
    for module in (pipeline, scenario):
        monkeypatch.setattr(module, "check_port_conformance", lambda *_: HOLDS)
