"""From probe events to steps: who called what with which arguments, what it gave, and what a switch came out of."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rtoslab.targets.event_kinds import (
    IDENT_BEHIND,
    IDENT_CURRENT,
    IDENT_FILL,
    IDENT_MARK,
    IDENT_SYMBOL,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_PIN,
    KIND_WRITE,
)
from rtoslab.targets.events import EVENT
from rtoslab.targets.exceptions import SYSTICK
from rtoslab.targets.step_reader import decode_benchmark_steps_from_events, find_return_addresses
from rtoslab.targets.steps import HANDLER, ProbeTargetsByNumber

TAKE, GIVE = 0x100, 0x200
BEHIND_TAKE, BEHIND_GIVE, ELSEWHERE = 0x1010, 0x1020, 0x1030
KERNEL = range(0x100, 0x300)
WATCHING = ProbeTargetsByNumber(
    ("take", "give"), (TAKE, GIVE), (BEHIND_TAKE, BEHIND_GIVE), ((0x9000, 64),), KERNEL.__contains__
)
ONE, OTHER = 0x2000_0100, 0x2000_0200
LINE = 42

Row = tuple[int, int, int, int, int, int]
"""cycle, kind, ident, value, pc, more"""


def raw(rows: Sequence[Row]) -> bytes:
    built = np.zeros(len(rows), dtype=EVENT)
    for index, (cycle, kind, ident, value, pc, more) in enumerate(rows):
        built[index] = (cycle, value, pc, ident, kind, 0, more)
    return built.tobytes()


def call(cycle: int, function: int, behind: int, first: int = 7, second: int = 8) -> Row:
    return cycle, KIND_EXEC, IDENT_SYMBOL + function, first, behind | 1, second


def back(cycle: int, behind: int, value: int = 1) -> Row:
    return cycle, KIND_EXEC, IDENT_BEHIND + WATCHING.return_addresses.index(behind), value, behind, 0


def switch(cycle: int, task: int) -> Row:
    return cycle, KIND_WRITE, IDENT_CURRENT, task, 0, 0


def mark(cycle: int, tag: int) -> Row:
    return cycle, KIND_EXEC, IDENT_MARK + tag, 0, 0, 0


def enter(cycle: int, number: int, latency: int = 0) -> Row:
    return cycle, KIND_EXCEPTION_ENTER, number, latency, 0, 0


def leave(cycle: int, number: int, to: int = 0) -> Row:
    return cycle, KIND_EXCEPTION_EXIT, number, 0, to, 0


def steps(*rows: Row) -> list[tuple[str, int, str, int, int]]:
    return [
        (step.kind, step.who, step.name, step.first, step.second)
        for step in decode_benchmark_steps_from_events(raw(rows), WATCHING, {0: ONE})
    ]


def test_call_has_its_caller_its_arguments_its_result_and_its_end() -> None:
    (step,) = decode_benchmark_steps_from_events(
        raw([call(10, 0, BEHIND_TAKE), back(90, BEHIND_TAKE, 1)]), WATCHING, {0: ONE}
    )
    assert (step.who, step.name, step.first, step.second, step.result, step.end_cycle) == (ONE, "take", 7, 8, 1, 90)


def test_required_calls_around_a_handler_are_not_steps() -> None:
    bracketed = replace(WATCHING, bracket_functions=frozenset({"take"}))
    rows = [call(10, 0, BEHIND_TAKE), back(20, BEHIND_TAKE), enter(30, 16 + LINE), call(40, 0, ELSEWHERE)]
    rows += [call(50, 1, BEHIND_GIVE), back(60, BEHIND_GIVE), call(70, 0, ELSEWHERE), leave(80, 16 + LINE)]
    for watching, expected in [
        (bracketed, [(ONE, "take"), (ONE, ""), (HANDLER, "give")]),
        (WATCHING, [(ONE, "take"), (ONE, ""), (HANDLER, "take"), (HANDLER, "give"), (HANDLER, "take")]),
    ]:
        assert [
            (step.who, step.name) for step in decode_benchmark_steps_from_events(raw(rows), watching, {0: ONE})
        ] == expected


def test_call_and_its_required_successor_are_one_step() -> None:
    """As a resume that changes lists only, and the scheduler called behind it."""
    followed = replace(WATCHING, completes={"give": frozenset({"take"})})
    rows = [call(10, 0, BEHIND_TAKE), back(20, BEHIND_TAKE, 5), call(30, 1, BEHIND_GIVE), switch(40, OTHER)]
    rows += [switch(60, ONE), back(70, BEHIND_GIVE, 9), mark(75, 2)]
    took, out, _, marked = decode_benchmark_steps_from_events(raw(rows), followed, {0: ONE})
    assert (took.name, took.result, took.end_cycle) == ("take", 5, 70)
    assert (out.kind, out.name, out.first) == ("switch", "take", OTHER)
    assert marked.own_cycles == 5


def test_required_successor_counts_once() -> None:
    followed = replace(WATCHING, completes={"give": frozenset({"take"})})
    again = [call(10, 0, BEHIND_TAKE), back(20, BEHIND_TAKE), call(30, 1, BEHIND_GIVE), back(40, BEHIND_GIVE)]
    again += [call(50, 1, BEHIND_GIVE), back(60, BEHIND_GIVE)]
    assert [step.name for step in decode_benchmark_steps_from_events(raw(again), followed, {0: ONE})] == [
        "take",
        "give",
    ]
    single = [call(30, 1, BEHIND_GIVE), back(40, BEHIND_GIVE), mark(50, 2), call(60, 1, BEHIND_GIVE)]
    assert [step.name for step in decode_benchmark_steps_from_events(raw(single), followed, {0: ONE})] == [
        "give",
        "",
        "give",
    ]


def test_call_by_the_kernel_is_not_a_step() -> None:
    assert steps(call(10, 1, KERNEL[0x20])) == []
    assert find_return_addresses(raw([call(10, 1, KERNEL[0x20]), call(20, 1, BEHIND_GIVE)]), WATCHING) == [BEHIND_GIVE]


def test_call_that_ends_in_another_function_is_one_call() -> None:
    """As a compiler ends a function that only passes on what another one gives: by a jump, with the caller's return."""
    rows = [
        call(10, 0, BEHIND_TAKE),
        call(17, 1, BEHIND_TAKE, first=9),
        switch(50, OTHER),
        switch(80, ONE),
        back(100, BEHIND_TAKE, 4),
        call(120, 0, BEHIND_TAKE),
    ]
    assert [step[:4] for step in steps(*rows)] == [
        ("call", ONE, "take", 7), ("switch", ONE, "take", OTHER), ("switch", OTHER, "", ONE), ("call", ONE, "take", 7),
    ]  # fmt: skip
    assert decode_benchmark_steps_from_events(raw(rows), WATCHING, {0: ONE})[0].result == 4


def test_call_continues_after_the_next_task_was_chosen() -> None:
    """As by a kernel that writes it before the handler that changes them, and ends its call in another function."""
    rows = [call(10, 0, BEHIND_TAKE), switch(50, OTHER), call(60, 1, BEHIND_TAKE), enter(70, 14), leave(90, 14)]
    assert [step[0] for step in steps(*rows, call(100, 1, BEHIND_TAKE))] == ["call", "switch", "call"]


def test_switch_names_its_call() -> None:
    rows = [call(10, 1, BEHIND_GIVE), switch(50, OTHER), switch(80, ONE), back(100, BEHIND_GIVE), switch(120, OTHER)]
    assert [step[:3] for step in steps(*rows)] == [
        ("call", ONE, "give"), ("switch", ONE, "give"), ("switch", OTHER, ""), ("switch", ONE, ""),
    ]  # fmt: skip


def test_call_without_observed_return_ends_at_its_tasks_next_step() -> None:
    first = [call(10, 1, ELSEWHERE), switch(50, OTHER)]
    assert steps(*first)[-1][2] == "give"
    assert steps(call(10, 1, ELSEWHERE), mark(40, 2), switch(50, OTHER))[-1][2] == ""


def test_rewritten_current_task_is_not_a_switch() -> None:
    assert steps(switch(10, ONE)) == []


def test_calls_of_handlers_and_of_kernel_exceptions_are_distinguished() -> None:
    rows = [
        enter(10, LINE),
        call(20, 1, BEHIND_GIVE),
        leave(30, LINE),
        enter(40, 14),
        leave(60, 14),
        call(70, 0, BEHIND_TAKE),
    ]
    assert [step[:3] for step in steps(*rows)] == [
        ("interrupt", HANDLER - HANDLER + ONE, ""), ("call", HANDLER, "give"), ("call", ONE, "take"),
    ]  # fmt: skip


def test_call_restarted_after_an_interrupt_counts_once() -> None:
    rows = [call(100, 1, BEHIND_GIVE), enter(120, SYSTICK, 16), leave(180, SYSTICK, GIVE), call(190, 1, BEHIND_GIVE)]
    assert [step[0] for step in steps(*rows)] == ["call", "tick"]
    later = [
        call(100, 1, BEHIND_GIVE),
        back(150, BEHIND_GIVE),
        enter(400, SYSTICK),
        leave(460, SYSTICK, GIVE),
        call(470, 1, BEHIND_GIVE),
    ]
    assert [step[0] for step in steps(*later)] == ["call", "tick", "call"], "that was the next call"


def test_interrupt_near_a_call_hides_no_later_call() -> None:
    """The kernel's own exception comes right behind each call that switches."""
    rows = [
        call(100, 1, BEHIND_GIVE),
        enter(120, 14),
        switch(130, OTHER),
        leave(150, 14, BEHIND_TAKE),
        enter(300, 14),
        switch(310, ONE),
        leave(320, 14, GIVE + 8),
        back(340, BEHIND_GIVE),
        enter(400, SYSTICK),
        leave(460, SYSTICK, GIVE),
        call(470, 1, BEHIND_GIVE),
    ]
    assert [step[0] for step in steps(*rows)] == ["call", "switch", "switch", "tick", "call"]


def test_call_may_be_restarted_after_another_handler_and_task() -> None:
    rows = [
        call(100, 1, BEHIND_GIVE),
        enter(120, SYSTICK, 16),
        leave(180, SYSTICK, 0x700),
        enter(190, 14, 10),
        switch(200, OTHER),
        leave(210, 14, ELSEWHERE),
        call(220, 1, ELSEWHERE),
        enter(240, 14),
        switch(250, ONE),
        leave(260, 14, GIVE),
        call(270, 1, BEHIND_GIVE),
    ]
    assert [step[:3] for step in steps(*rows)] == [
        ("call", ONE, "give"), ("tick", ONE, ""), ("switch", ONE, "give"), ("call", OTHER, "give"),
        ("switch", OTHER, "give"),
    ]  # fmt: skip


def test_call_may_be_restarted_by_a_later_exception() -> None:
    """A kernel that switches in thread mode lets a handler return to its own code, and resumes the task from there."""
    rows = [
        call(100, 1, BEHIND_GIVE),
        enter(120, SYSTICK, 16),
        leave(180, SYSTICK, 0x700),
        enter(200, 11, 12),
        leave(220, 11, GIVE),
        call(230, 1, BEHIND_GIVE),
        back(260, BEHIND_GIVE),
        call(290, 1, BEHIND_GIVE),
    ]
    in_thread = replace(WATCHING, resumes_in_thread=True)
    kinds = [step.kind for step in decode_benchmark_steps_from_events(raw(rows), in_thread, {0: ONE})]
    assert kinds == ["call", "tick", "call"]
    assert [step[0] for step in steps(*rows)] == ["call", "tick", "call", "call"]


def test_call_of_a_handler_is_not_the_tasks_restarted_call() -> None:
    rows = [
        enter(10, LINE),
        call(20, 1, BEHIND_GIVE),
        leave(30, LINE, GIVE),
        enter(50, SYSTICK, 10),
        leave(90, SYSTICK, GIVE),
        call(100, 1, BEHIND_GIVE),
    ]
    assert [step[:2] for step in steps(*rows)][-1] == ("call", ONE)
    returned = [call(20, 1, BEHIND_GIVE), back(40, BEHIND_GIVE), enter(60, SYSTICK), leave(90, SYSTICK, GIVE)]
    assert len(steps(*returned, call(100, 1, BEHIND_GIVE))) == 3, "the call before had returned"


def test_own_cycles_are_between_a_return_and_the_next_step() -> None:
    rows = [
        call(10, 1, BEHIND_GIVE),
        back(100, BEHIND_GIVE),
        call(130, 0, BEHIND_TAKE),
        back(200, BEHIND_TAKE),
        mark(205, 3),
    ]
    result = decode_benchmark_steps_from_events(raw(rows), WATCHING, {0: ONE})
    assert [step.own_cycles for step in result] == [None, 30, 5]


def test_kernel_handler_is_not_own_code() -> None:
    """What a handler of the benchmark's asked for may be worked off by the kernel's, before the task goes on."""
    rows = [enter(10, 16 + LINE), call(20, 1, BEHIND_GIVE), back(50, BEHIND_GIVE), enter(70, 14, latency=6)]
    rows += [leave(60, 16 + LINE), leave(300, 14, to=0x1040), call(310, 0, BEHIND_TAKE)]
    assert decode_benchmark_steps_from_events(raw(rows), WATCHING, {0: ONE})[-1].own_cycles == 310 - 50 - (300 - 64)


def test_kernel_handler_inside_a_call_counts_once() -> None:
    rows = [call(10, 0, BEHIND_TAKE), enter(20, 11), leave(80, 11, to=0x100), back(90, BEHIND_TAKE), mark(120, 2)]
    assert decode_benchmark_steps_from_events(raw(rows), WATCHING, {0: ONE})[-1].own_cycles == 120 - 90


def test_return_at_the_address_of_a_mark_comes_first() -> None:
    result = decode_benchmark_steps_from_events(
        raw([call(10, 1, BEHIND_GIVE), mark(100, 3), back(100, BEHIND_GIVE)]), WATCHING, {0: ONE}
    )
    assert result[0].end_cycle == 100
    assert result[1].own_cycles == 0


def test_filled_block_is_recorded_with_its_size() -> None:
    assert steps((10, KIND_WRITE, IDENT_FILL, 0xFFFF, 0, 0)) == [("fill", ONE, "", 0x9000, 64)]


def test_pin_edge_is_before_its_mark_despite_an_interrupt() -> None:
    pinned = replace(WATCHING, pin=8)

    def edge(cycle: int) -> Row:
        return (cycle, KIND_PIN, 8, 1, 0, 0)

    def kinds(*rows: Row) -> list[str]:
        return [step.kind for step in decode_benchmark_steps_from_events(raw(rows), pinned, {0: ONE})]

    begun = (mark(10, 2), mark(20, 3))
    assert kinds(*begun, edge(24)) == ["start", "pin", "stop"]
    assert kinds(*begun, enter(22, SYSTICK), edge(24)) == ["start", "pin", "stop", "tick"]
    assert kinds(*begun, enter(22, SYSTICK), edge(24 + 64)) == ["start", "stop", "tick", "pin"]
