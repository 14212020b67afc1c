"""Every command that measures, ended from outside: one sentence or one JSON object, and what was finished is kept."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rtoslab.cli.early_end import InterruptedWithResultsError, print_json_answer, report_if_interrupted
from rtoslab.instruments.profiler import read_execution_profile_file
from rtoslab.interrupts import EXIT_INTERRUPTED
from rtoslab.store.store import RunDirectory
from rtoslab.worst_case.folder import find_inconsistent_sweep_values
from tests.cli.test_cli import HANG_S, ROOT, rtoslab
from tests.command_server import FORKED, CommandServer
from tests.processes import start_process
from tests.targets.test_sim_limits import image

ENDS_AS_IT_SIMULATES = """
import os, time
from rtoslab.targets import board
class Ended:
    def __init__(self, *_, **__):
        os.kill(os.getpid(), {number})
        time.sleep(20)
board.simulator_module().Machine = Ended
board._require_complete_simulator = lambda _: None
"""
"""The command gets a signal as it makes a virtual board."""
ENDS_ON_THE_WAY = """
import os, types
import numpy
from rtoslab.instruments import session
from rtoslab.worst_case import arrivals

def end(*_):
    os.kill(os.getpid(), {number})

to_end = session._ObservedSession._run_to_end_of_observation
def to_end_and_ended(self):
    self.progress = end
    to_end(self)
session._ObservedSession._run_to_end_of_observation = to_end_and_ended

batches = []
def frombuffer(*args):
    batches.append(args)
    if len(batches) == 4:  # the arrivals that are tried first, and three batches
        end()
    return numpy.frombuffer(*args)
arrivals.BATCH = 20
arrivals.np = types.SimpleNamespace(**{{**vars(numpy), "frombuffer": frombuffer}})
"""
"""The command gets a signal in the stretch that it profiles, or behind the third batch of its sweep."""
T2 = ["t2", "--kernel", "freertos", "--board", "pico"]
MEASURING = {
    "profile": ["profile", *T2],
    "masked": ["masked", *T2],
    "trace": ["trace", *T2],
    "worst-case": ["worst-case", "--kernel", "freertos", "--board", "pico"],
    "sim": ["sim", "IMAGE", "--board", "nucleo-f103rb"],
    "conformance": [  # with a setting of which no verdict is kept
        "kernel",
        "conformance",
        "--kernel",
        "freertos",
        "--board",
        "pico",
        "--config",
        "timing.tail_chain_cycles=9",
    ],
}


@pytest.fixture(scope="module")
def forking() -> Iterator[CommandServer]:
    with CommandServer(load=("rtoslab.reports.charts", FORKED)) as built:
        yield built


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *((name, signal.SIGTERM) for name in MEASURING),
        *(("sim", number) for number in (signal.SIGHUP, signal.SIGINT)),
    ],
)
def test_interrupted_command_reports_it_once(
    name: str, number: signal.Signals, forking: CommandServer, tmp_path: Path
) -> None:
    words = [str(image(tmp_path)) if item == "IMAGE" else item for item in MEASURING[name]]
    as_json = name != "trace"
    done = forking.run(*words, *["--json"] * as_json, first=ENDS_AS_IT_SIMULATES.format(number=int(number)))
    assert done.returncode == EXIT_INTERRUPTED, done.stderr
    detail = "Stopped by the user." if number == signal.SIGINT else f"Ended by the signal {number.name}."
    if as_json:
        result = json.loads(done.stdout)
        assert (result["stop"], result["detail"], done.stderr) == ("interrupted", detail, "")
    else:
        start = detail.rstrip(".").replace("Stopped by the user", "Interrupted")
        assert (done.stdout, done.stderr) == ("", f"{start}; what was finished is kept.\n")


def interrupt_command(
    forking: CommandServer, *words: str, number: signal.Signals = signal.SIGTERM
) -> subprocess.CompletedProcess[str]:
    done = forking.run(*words, first=ENDS_ON_THE_WAY.format(number=int(number)))
    assert done.returncode == EXIT_INTERRUPTED, done.stderr
    return done


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_interrupted_profile_is_stored(number: signal.Signals, forking: CommandServer, tmp_path: Path) -> None:
    stored = tmp_path / "profile.json"
    done = interrupt_command(forking, "profile", *T2, "--save", str(stored), "--json", number=number)
    result = json.loads(done.stdout)
    assert (result["stop"], done.stderr) == ("interrupted", "")
    cached = read_execution_profile_file(stored)  # refuses cycles that do not add up
    assert cached.label.endswith(f", interrupted after {cached.observed_cycles[0]:,} cycles")
    assert 0 < cached.observed_cycles[0] < 0.5 * cached.clock_hz
    assert cached.operations is None
    assert {"cores", "functions"} <= result.keys()
    assert [row["all cycles"] for row in result["cores"]] == list(cached.observed_cycles)


def test_interrupted_profile_is_shown(forking: CommandServer) -> None:
    done = interrupt_command(forking, "profile", *T2)
    assert "interrupted after " in done.stdout.splitlines()[0]
    assert "isr_pendsv" in done.stdout
    assert done.stderr == "Ended by the signal SIGTERM; what was finished is kept.\n"


@pytest.mark.parametrize("drawn", [False, True])
def test_interrupted_sweep_is_stored(drawn: bool, forking: CommandServer, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    words = ["worst-case", "--kernel", "bare", "--board", "nucleo-l073rz", "--span", "60", "--out", str(folder)]
    done = interrupt_command(forking, *words, "--json", *["--samples", "50"] * drawn)
    result = json.loads(done.stdout)
    assert (result["stop"], result["folder"], done.stderr) == ("interrupted", str(folder), "")
    assert (result["arrivals"], result["exhaustive"]) == (40, not drawn)
    assert result["span"] == f"60 cycles, ended after the first {result['span_cycles']:,} cycles"
    assert result["span_cycles"] == 40 or drawn
    assert result["span"] in result["claim"]
    assert list(find_inconsistent_sweep_values(folder)) == []
    offsets = pq.read_table(folder / "arrivals.parquet").to_pydict()["offset"]
    assert len(offsets) == 40
    assert max(offsets) < result["span_cycles"]
    stored = json.loads((folder / "result.json").read_text())
    assert stored == {key: result[key] for key in stored}
    whole = tmp_path / "whole"
    rtoslab(*words[:-1], whole, *["--samples", "50"] * drawn)
    assert pq.read_table(whole / "arrivals.parquet").to_pydict()["offset"][:40] == offsets


def test_interrupted_sweep_is_shown(forking: CommandServer, tmp_path: Path) -> None:
    words = ["worst-case", "--kernel", "bare", "--board", "nucleo-l073rz", "--span", "60", "--out", str(tmp_path)]
    done = interrupt_command(forking, *words)
    assert "within 60 cycles, ended after the first 40 cycles" in " ".join(done.stdout.split())
    assert done.stderr == "Ended by the signal SIGTERM; what was finished is kept.\n"


@pytest.mark.parametrize("as_json", [True, False])
def test_interrupted_run_stores_and_shows_its_points(as_json: bool, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "rtoslab", "run", "vieira2026", "--cores", "1,2", "--jobs", "1", "--out", str(out)]
    with start_process(
        [*command, "--window", "60ms", *["--json"] * as_json],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
    ) as run:  # fmt: skip
        end = time.monotonic() + HANG_S
        while len(list((out / "points").glob("[!.]*"))) < 2:  # the second is begun when the first was told of
            assert run.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        run.send_signal(signal.SIGTERM)
        output, errors = run.communicate(timeout=HANG_S)
    assert run.returncode == EXIT_INTERRUPTED, errors
    stored = [
        point.result.model_dump(mode="json") for point in RunDirectory.open_run_directory(out).read_measured_points()
    ]
    assert 0 < len(stored) < 16
    assert not list((out / "points").glob(".*"))
    if as_json:
        result = json.loads(output)
        assert (result["stop"], result["run"], errors) == ("interrupted", str(out), "")
        assert result["points"]
        assert all(item in stored for item in result["points"])
    else:
        assert errors.splitlines()[-1] == "Ended by the signal SIGTERM; what was finished is kept."


def test_interrupt_carries_the_finished_results() -> None:
    done: list[int] = []
    with pytest.raises(InterruptedWithResultsError) as caught, report_if_interrupted(lambda: {"done": done}):  # noqa: PT012 (it ends within)
        done.append(1)
        raise KeyboardInterrupt("SIGTERM")
    assert (caught.value.args, caught.value.finished) == (("SIGTERM",), {"done": [1]})


def test_signals_after_the_answer_are_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    before = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    }
    try:
        print_json_answer({"a": 1})
        assert {signal.getsignal(signals) for signals in before} == {signal.SIG_IGN}
    finally:
        for item, handler in before.items():
            signal.signal(item, handler)
    assert capsys.readouterr().out == '{"a": 1}\n'


def test_json_of_an_interrupt_is_written_in_one_place() -> None:
    """A command that prints its answer by itself could be ended after it, and would then print a second object."""
    texts = {path.name: path.read_text() for path in (ROOT / "python/rtoslab/cli").glob("*.py")}
    apart = {name for name, text in texts.items() if "echo(json.dumps" in text.replace("\n", "").replace(" ", "")}
    assert apart <= {"early_end.py"}
