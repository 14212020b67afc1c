"""Text of dataclasses is what `json` makes of their plain values, to the byte: stored evidence is compared so."""

import json
from array import array
from collections import Counter
from dataclasses import dataclass

import pytest

from rtoslab.base import to_plain, to_text
from rtoslab.targets import Intervals, Observed, Step
from rtoslab.targets.intervals import Interval


@dataclass
class Nothing:
    pass


@dataclass
class Single:
    one: object


@dataclass(frozen=True)
class Pair:
    one: object
    other: object


STEPS = (Step(5, 0, "call", 0x2000_0000, "xQueueSend", 1, 2, None, 9, 4), Step(6, 1, "tick", 1, result=0))
INTERVALS = [Interval(1, 4, 10, calls=Counter({"take": 2, "give": 1}), touched=True), Interval(2, 20)]
VALUES: tuple[object, ...] = (
    Nothing(), [Nothing(), Nothing()], [], (), {}, None, 1, True, 1.5, float("inf"), 'é"\\\n', 2**70,
    [1, None], [None, None], [1, "a"], [True, 1], [True, False, None], ["a", "b", "a"], [1.5, 2], [(1, 2), (3, 4)],
    [[]], {1: 2, "x": [Pair(1, True)]}, Counter("aab"), {(1, "x"): Pair({3, 1}, array("q", [1, 2]))},
    frozenset({"b", "a"}),
    [Pair(1, "a"), Pair(None, "b")], [Pair(Pair(1, 2), [1]), Pair(Pair(1, None), [])], [Pair(1, 2), Nothing()],
    (Pair(True, 1), Pair(False, 2)), STEPS, [Pair("%s", "%")], [Single(1), Single(2)], [Single("a"), Single(None)],
    Observed(steps=STEPS, intervals=Intervals(tuple(INTERVALS), (3, 4), ("it's",), {15: frozenset({2, 1})})),
)  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_it_is_the_same_to_the_byte(value: object) -> None:
    assert to_text(value) == json.dumps(to_plain(value), separators=(",", ":"))


def test_what_has_no_plain_form_has_no_text() -> None:
    with pytest.raises(TypeError, match="a complex has no plain form"):
        to_text([Pair(1, 1j)])
