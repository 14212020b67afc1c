"""Damaged inputs of every kind: read or refused in one line, never anything else. `make fuzz-inputs` runs many more."""

import json
import subprocess
import sys
from functools import cache
from random import Random
from typing import Any

import pytest

from tests.inputs.kind import Kind
from tests.inputs.kinds import KINDS
from tests.inputs.large import LARGE
from tests.inputs.measure import LIMIT_BYTES, LIMIT_S

ROUNDS = 150


@pytest.mark.parametrize("name", KINDS)
def test_fuzzing_seeds_are_accepted(name: str) -> None:
    """Otherwise damage to them would show nothing."""
    output = [KINDS[name].refuses(seed) for seed in KINDS[name].seeds()]
    assert None in output, output


@pytest.mark.parametrize("name", KINDS)
def test_damaged_input_is_refused_in_one_line(name: str) -> None:
    kind, random = KINDS[name], Random(name)  # noqa: S311 (a seed, no secret)
    read = 0
    for _ in range(ROUNDS):
        output = kind.refuses(kind.made(random))
        read += output is None
        assert output is None or ("\n" not in output and len(output) < 1000)
    assert read, "every damage was refused: the seeds are too brittle to show anything"


def test_failing_reader_is_found() -> None:
    def read(data: bytes) -> None:
        data.decode("ascii")

    kind = Kind("broken", lambda: [b"plain"], read)
    random = Random(1)  # noqa: S311 (a seed, no secret)
    broken = 0
    for _ in range(500):
        try:
            kind.refuses(kind.made(random))
        except UnicodeDecodeError:
            broken += 1
    assert broken


QUICK = ("width of 3*10^8", "many members", "deep tables")
"""Those that cost little but what the limits save."""


@cache
def reading_costs(*names: str) -> dict[str, Any]:
    """What reading these takes, by name."""
    command = [sys.executable, "-m", "tests.inputs.measure", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return {result["name"]: result for result in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize(
    "name", [each if each in QUICK else pytest.param(each, marks=pytest.mark.long) for each in LARGE]
)
def test_most_expensive_input_stays_within_time_and_memory(name: str) -> None:
    result = reading_costs(*QUICK)[name] if name in QUICK else reading_costs(name)[name]
    assert result["bytes"] < LIMIT_BYTES
    assert result["seconds"] < LIMIT_S
