"""Targets: a machine that plays a script."""

import re
from typing import NoReturn

import pytest

from rtoslab.base import SymbolError
from rtoslab.catalogue.kernel_facts import Kernel
from rtoslab.targets import virtual
from rtoslab.targets.event_kinds import IDENT_CURRENT, KIND_WRITE
from rtoslab.targets.virtual import RunOutput, VirtualBenchmarkRunRequest, run_virtual_benchmark
from rtoslab.targets.watch import StepRecorder
from tests.fakes import FakeMachine, board, events, stream


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual, "load_image_into_board", lambda *_: None)


KERNEL = Kernel.model_validate(
    {
        "id": "k",
        "title": "K",
        "version": "1",
        "smp": False,
        "services": {},
        "probes": {"current_task_single": "current"},
    }
)
SWITCH = events([(KIND_WRITE, IDENT_CURRENT, 0, 0x2000_0200)])


def run(*script: tuple[str, int, bytes, bytes]) -> RunOutput:
    job = VirtualBenchmarkRunRequest(
        image=b"", name="image", board=board(), kernel=KERNEL, clock_hz=125_000_000, cores=1, window_ms=250
    )
    return run_virtual_benchmark(job, machine=FakeMachine(list(script)))


def test_complete_run_from_the_command_line() -> None:
    early, late = stream()[:50], stream()[50:]
    output = run(
        ("watch", 0, b"", SWITCH), ("watch", 1, early, SWITCH), ("cycles", 1, b"", SWITCH), ("watch", 2, b"", b""),
        ("until", 2, late, SWITCH),
    )  # fmt: skip
    assert output.failure is None
    assert output.uart == stream()
    assert output.observed is not None
    assert output.observed.event_count == 1, "only the event between opening and closing the window counts"
    assert output.observed.exceptions == {0: {15: 3}}


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ([], "did not complete its set-up within 5 s of virtual time; core 0 was at 0x10000042 in main"),
        ([("watch", 1, b"", b"")], "did not complete its window within 1.25 s"),
        ([("watch", 1, b"", b""), ("watch", 2, b"", b"")], "did not complete its sending within 30 s"),
        ([("lockup", 0, b"", b"")], r"stopped during set-up \(lockup\): the script says lockup"),
        ([("watch", 1, b"", b""), ("deadlock", 1, b"", b"")], r"stopped during window \(deadlock\)"),
        ([("until", 0, b"", b"")], "ended during its set-up"),
        ([("watch", 1, b"", b""), ("until", 1, b"", b"")], "ended during its window"),
        ([("watch", 7, b"", b"")], "set its window state to 7"),
        ([("watch", 1, b"", b""), ("watch", 2, b"", b""), ("watch", 1, b"", b"")], "began a second window"),
    ],
)
def test_failing_image_is_reported_in_words(script: list[tuple[str, int, bytes, bytes]], failure: str) -> None:
    output = run(*script)
    assert output.failure is not None
    assert re.search(failure, output.failure), output.failure
    assert output.observed is None, "a run that failed has no observation to be mistaken for one"


@pytest.mark.parametrize(("hz", "void"), [(124_999_999, False), (124_500_000, True), (126_000_000, True)])
def test_image_that_sets_another_clock_is_refused(hz: int, void: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeMachine, "clock_hz", lambda _: hz)
    output = run(("watch", 1, b"", b""), ("watch", 2, b"", b""), ("until", 2, b"", b""))
    assert (f"{hz} Hz by the board's registers" in (output.failure or "")) == void


def test_output_before_the_failure_is_stored() -> None:
    assert run(("lockup", 0, b"@0 begin", b"")).uart == b"@0 begin"


def test_image_without_a_symbol_of_kernel_toml_fails_only_its_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel's description must not end the run of all others, be they measured or examined."""

    def lacking(*_: object) -> NoReturn:
        raise SymbolError("block has no prio")

    monkeypatch.setattr(StepRecorder, "begin_measurement_window_recording", lacking)
    output = run(("watch", 1, b"@0 begin", b""))
    assert output.failure == "block has no prio"
    assert output.uart == b"@0 begin"
