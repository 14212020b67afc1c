"""What is shown of a whole window: each rule holds on what it is for, and breaks on what it is against."""

import dataclasses
from collections import Counter
from typing import Any

import pytest

from rtoslab.catalogue.kernel_facts import MulticoreKernelFacts
from rtoslab.proofs import BenchmarkProofEvidence, code_lengths, judge_benchmark_proofs
from rtoslab.proofs.code_lengths import CodeLength, CodeLengths
from rtoslab.proofs.rules import benchmark_proof_rule_modules, parameters_class_of_proof_rule
from rtoslab.records.decoder import decode_records
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.call_arguments import CallArguments
from rtoslab.targets.observe import BenchmarkFunction, CoreLoad, EquallyExecutedCodeRange, MeasurementWindowObservations
from tests import latency_fakes
from tests.fakes import BODY, EXPECTED, WIRE, begin, benchmark, board, count, decoded_run, kernel, stream

OWN = {"rule": "own_code"}
CALLS = {"rule": "kernel_calls"}
TOLD = {"rule": "window_told"}
INTERRUPTS = {"rule": "interrupts_told"}
STATE = {"rule": "board_state"}
FLASH = 0x1000_0100
TOTAL = 3003
"""Counts of the three tasks of BODY."""
YIELDS = {"rule": "calls_per_count", "service": "yield", "ratio": 1}
SYMBOLS = {"yield": ["kYield"], "tick_now": ["kNow"], "sleep_ticks": ["kSleep"], "semaphore_take_for": ["kTake"]}
SYMBOLS |= {"queue_send": ["kSend"], "semaphore_give": ["kSend"], "timer_start": ["kStart"]}
ARGUMENTS = {"sleep_ticks": ["end_tick"], "queue_send": ["object", "item"], "semaphore_give": ["object", 0]}
FURTHER = {"queue_send": [0xFFFF_FFFF, 0], "semaphore_give": [0, 0], "timer_start": ["any", 0, 0xFFFF_FFFF]}
SLEEPS = {**CALLS, "calling": ["sleep_ticks", "semaphore_take_for"]}


def own_function(
    *executions: int, name: str = "body", entries: int = 1, calls: dict[str, int] | None = None
) -> BenchmarkFunction:
    """A function with one instruction for each of these numbers of executions."""
    stretches = tuple(
        EquallyExecutedCodeRange(FLASH + 4 * at, 1, number, number) for at, number in enumerate(executions)
    )
    return BenchmarkFunction(0, name, entries, stretches, tuple((calls or {}).items()))


def window_observations(**facts: Any) -> MeasurementWindowObservations:
    """What the board saw of a window of 31 250 000 cycles and 250 ticks, in which all was as it should be."""
    usual: dict[str, Any] = {
        "exceptions": {0: {15: 250}},
        "own": (own_function(1, TOTAL),),
        "loads": {0: CoreLoad(31_250_000, 0, 0)},
        "compiler": "GCC: 12.2.1",
        "state": {"feature.icache": 1, "float_contexts": 0, "isr_urgency": 1, "urgency.irq26": 1},
    }
    return MeasurementWindowObservations(**{**usual, **facts})


def evidence(rule: dict[str, Any], **facts: Any) -> BenchmarkProofEvidence:
    described = board().model_copy(update={"features": {"icache": True}})
    known = kernel(
        symbols=SYMBOLS,
        arguments=ARGUMENTS,
        further_arguments=FURTHER,
        classes={"kernel": ["k"]},
        services={"tasks": True},
    )
    return BenchmarkProofEvidence(
        decoded_run(BODY), window_observations(**facts), benchmark([rule, YIELDS]), described, known
    )


def counted(*counts: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The table of core 0's tasks at both edges of a window in which they counted so much."""
    opened = [at + 7 for at in range(4 * len(counts))]
    closed = [word + counts[at // 4] if at % 4 == 0 else word for at, word in enumerate(opened)]
    return tuple(opened), tuple(closed)


SENDS = {**CALLS, "calling": ["queue_send"]}


def sent(second: int, third: int, fourth: int, times: int = 1) -> Counter[CallArguments]:
    """Calls of the function that both sends and gives."""
    return Counter({CallArguments("kSend", second, third, fourth): times})


STARTS = {**CALLS, "calling": ["timer_start"]}


def started(room: int) -> Counter[CallArguments]:
    """A call that starts a timer, and waits so many ticks for room in a queue."""
    return Counter({CallArguments("kStart", 1, -1, 0, room): 1})


ONCE = own_function(1, TOTAL, calls={"helper": TOTAL})
CASES: list[tuple[dict[str, Any], dict[str, Any], ProofVerdict]] = [
    (OWN, {}, ProofVerdict.HOLDS),
    (OWN, {"own": (own_function(1, 1001, 2003, TOTAL),)}, ProofVerdict.HOLDS),  # one task, two of them, all
    (OWN, {"own": (own_function(1, 12 * TOTAL),)}, ProofVerdict.FAILS),  # a loop in each round
    (OWN, {"own": (own_function(1, TOTAL, 500),)}, ProofVerdict.FAILS),  # a branch that is taken now and then
    (OWN, {"own": (own_function(1, TOTAL, 7),)}, ProofVerdict.HOLDS),  # at the window's edges
    ({**OWN, "passes": ["words"]}, {"own": (own_function(1, TOTAL, 32 * TOTAL, 33 * TOTAL),)}, ProofVerdict.HOLDS),
    # The inner of two loops of 2 and 32 passes, its condition, and a pass more than that.
    ({**OWN, "passes": ["2 * words"]}, {"own": (own_function(1, 64 * TOTAL, 66 * TOTAL),)}, ProofVerdict.HOLDS),
    ({**OWN, "passes": ["2 * words"]}, {"own": (own_function(1, 67 * TOTAL),)}, ProofVerdict.FAILS),
    ({**OWN, "passes": ["words / 2"]}, {"own": (own_function(1, TOTAL, 32 * TOTAL),)}, ProofVerdict.FAILS),
    ({**OWN, "waits": 2}, {"own": (own_function(1, TOTAL, 77_777, 77_777),)}, ProofVerdict.HOLDS),
    ({**OWN, "waits": 2}, {"own": (own_function(1, TOTAL, 77_777, 77_777, 77_777),)}, ProofVerdict.FAILS),
    ({**OWN, "free": ["body"]}, {"own": (own_function(1, 77_777),)}, ProofVerdict.HOLDS),
    (OWN, {"own": (ONCE, own_function(TOTAL, TOTAL, name="helper", entries=TOTAL))}, ProofVerdict.HOLDS),
    (
        OWN,
        {"own": (ONCE, own_function(TOTAL, 2 * 250, name="helper", entries=TOTAL))},
        ProofVerdict.FAILS,
    ),  # a loop inside
    (
        OWN,
        {"own": (own_function(1, TOTAL), own_function(TOTAL, name="helper", entries=TOTAL))},
        ProofVerdict.FAILS,
    ),  # nobody calls it
    (
        OWN,
        {"own": (own_function(1, TOTAL), own_function(250, name="hook", entries=250))},
        ProofVerdict.FAILS,
    ),  # the kernel does, at each tick
    (
        {**OWN, "entered": ["hook"]},
        {"own": (own_function(1, TOTAL), own_function(250, name="hook", entries=250))},
        ProofVerdict.HOLDS,
    ),
    (OWN, {"own": (own_function(1, TOTAL), own_function(TOTAL, name="isr_irq26", entries=TOTAL))}, ProofVerdict.HOLDS),
    (
        OWN,
        {"own": (own_function(1, TOTAL), own_function(TOTAL, 20 * TOTAL, name="isr_irq26", entries=TOTAL))},
        ProofVerdict.FAILS,
    ),
    ({**OWN, "instructions": 1}, {}, ProofVerdict.FAILS),
    ({**OWN, "instructions": 2}, {}, ProofVerdict.HOLDS),
    (CALLS, {"own": (own_function(1, TOTAL, calls={"kYield": TOTAL, "kNow": 3}),)}, ProofVerdict.HOLDS),
    (CALLS, {"own": (own_function(1, TOTAL, calls={"kYield": TOTAL, "kNow": 100}),)}, ProofVerdict.FAILS),
    (CALLS, {"own": (own_function(1, TOTAL, calls={"kYield": TOTAL, "unknown": TOTAL}),)}, ProofVerdict.FAILS),
    (
        CALLS,
        {"own": (own_function(1, TOTAL, calls={"kYield": TOTAL, "memcpy": TOTAL}),)},
        ProofVerdict.FAILS,
    ),  # of the C library
    ({**CALLS, "library": ["copy"]}, {"own": (own_function(1, TOTAL, calls={"memcpy": TOTAL}),)}, ProofVerdict.HOLDS),
    ({**CALLS, "library": ["fill"]}, {"own": (own_function(1, TOTAL, calls={"memcpy": TOTAL}),)}, ProofVerdict.FAILS),
    (
        {**CALLS, "library": ["division"]},
        {"own": (own_function(1, TOTAL, calls={"__aeabi_uidivmod": TOTAL}),)},
        ProofVerdict.HOLDS,
    ),
    (CALLS, {"own": (own_function(1, TOTAL, calls={"memset": 3}),)}, ProofVerdict.HOLDS),  # at the window's edges
    (TOLD, {"task_words": counted(1000, 1001, 1002)}, ProofVerdict.HOLDS),
    (TOLD, {"task_words": counted(1000, 1001, 1001)}, ProofVerdict.FAILS),  # the image says one more
    (SENDS, {"call_arguments": sent(9, -1, 0)}, ProofVerdict.HOLDS),  # to the back of a queue
    (SENDS, {"call_arguments": sent(9, -1, 1)}, ProofVerdict.FAILS),  # to its front, even once
    (SENDS, {"call_arguments": sent(0, 0, 0)}, ProofVerdict.HOLDS),  # the runner's give
    (SENDS, {"call_arguments": sent(0, 0, 0, 100)}, ProofVerdict.FAILS),  # which happens at the edges alone
    (SENDS, {"call_arguments": sent(0, 7, 1)}, ProofVerdict.FAILS),
    (CALLS, {"call_arguments": sent(9, -1, 0)}, ProofVerdict.FAILS),  # a service that no proof names
    (STARTS, {"call_arguments": started(0xFFFF_FFFF)}, ProofVerdict.HOLDS),
    (STARTS, {"call_arguments": started(0)}, ProofVerdict.FAILS),  # it would not wait
    (
        CALLS,
        {"own": (own_function(1, TOTAL, calls={"mem_work": TOTAL}), own_function(TOTAL, name="mem_work"))},
        ProofVerdict.HOLDS,
    ),  # its own
    (CALLS, {"own": (own_function(1, TOTAL, calls={"svc": TOTAL, "indirect": TOTAL}),)}, ProofVerdict.HOLDS),
    ({**CALLS, "calling": ["tick_now"]}, {"own": (own_function(1, TOTAL, calls={"kNow": 100}),)}, ProofVerdict.HOLDS),
    ({**CALLS, "asking": ["body"]}, {"own": (own_function(1, TOTAL, calls={"kNow": 100}),)}, ProofVerdict.HOLDS),
    # A sleep that ends at a tick is reckoned from the clock, once for each.
    (SLEEPS, {"own": (own_function(1, TOTAL, calls={"kSleep": TOTAL, "kNow": TOTAL}),)}, ProofVerdict.HOLDS),
    (SLEEPS, {"own": (own_function(1, TOTAL, calls={"kSleep": TOTAL, "kNow": TOTAL + 100}),)}, ProofVerdict.FAILS),
    (
        SLEEPS,
        {"own": (own_function(1, TOTAL, calls={"kTake": TOTAL, "kNow": TOTAL}),)},
        ProofVerdict.FAILS,
    ),  # that is told none
    (
        SLEEPS,
        {"own": (own_function(1, calls={"kNow": TOTAL}), own_function(1, name="other", calls={"kSleep": TOTAL}))},
        ProofVerdict.FAILS,
    ),
    (
        CALLS,
        {"own": (own_function(1, TOTAL, calls={"kSleep": TOTAL, "kNow": TOTAL}),)},
        ProofVerdict.FAILS,
    ),  # no proof speaks of it
    (TOLD, {}, ProofVerdict.HOLDS),
    (TOLD, {"loads": {0: CoreLoad(31_252_000, 0, 0)}}, ProofVerdict.FAILS),
    (TOLD, {"loads": {0: CoreLoad(26_500_000, 0, 0)}}, ProofVerdict.FAILS),  # stamped before the window opened
    (INTERRUPTS, {}, ProofVerdict.HOLDS),
    (INTERRUPTS, {"exceptions": {0: {15: 250, 14: 5000}}}, ProofVerdict.HOLDS),  # the kernel's own
    (INTERRUPTS, {"exceptions": {0: {15: 250, 42: 1}}}, ProofVerdict.FAILS),  # a line that nobody asked for
    ({**INTERRUPTS, "lines": ["soft"]}, {"exceptions": {0: {15: 250, 42: 1}}}, ProofVerdict.HOLDS),
    (INTERRUPTS, {"exceptions": {0: {15: 500}}}, ProofVerdict.FAILS),  # a quicker tick than is told
    (STATE, {}, ProofVerdict.HOLDS),
    (STATE, {"state": {"feature.icache": 0}}, ProofVerdict.FAILS),
    (STATE, {"state": {"float_contexts": 1}}, ProofVerdict.FAILS),
    (STATE, {"heap_blocks": 12}, ProofVerdict.FAILS),
    (STATE, {"heap_blocks": -11}, ProofVerdict.FAILS),
    (STATE, {"heap_blocks": 1}, ProofVerdict.HOLDS),  # an entry that was interrupted is seen twice
    (STATE, {"heap_blocks": 3}, ProofVerdict.FAILS),
    ({**STATE, "held_blocks": 1}, {"heap_blocks": 3}, ProofVerdict.HOLDS),
    (STATE, {"state": {"heap.free_pieces": 1}}, ProofVerdict.HOLDS),
    (STATE, {"state": {"heap.free_pieces": 0}}, ProofVerdict.HOLDS),  # all is taken
    (STATE, {"state": {"heap.free_pieces": 2}}, ProofVerdict.FAILS),
    ({**STATE, "free_pieces": 2}, {"state": {"heap.free_pieces": 2}}, ProofVerdict.HOLDS),
    (STATE, {"state": {"isr_urgency": 1, "urgency.irq26": 0}}, ProofVerdict.FAILS),
    (STATE, {"state": {"isr_urgency": 5, "urgency.irq26": 1}}, ProofVerdict.HOLDS),  # of two bits, the lower ones
    (STATE, {"state": {"wait_states": 3}}, ProofVerdict.HOLDS),  # board.toml says nothing of it
    (STATE, {"state": {"mpu": 1}}, ProofVerdict.FAILS),
    (STATE, {"state": {"fpu": 15, "fpu.lazy": 3}}, ProofVerdict.HOLDS),
    (STATE, {"state": {"fpu": 15, "fpu.lazy": 2}}, ProofVerdict.FAILS),  # each frame is saved at once
    (STATE, {"state": {"fpu": 0, "fpu.lazy": 0}}, ProofVerdict.HOLDS),  # a core without the unit
    (STATE, {"state": {"urgency.irq5": 0}}, ProofVerdict.FAILS),  # a line that no benchmark has
    (STATE, {"own_floats": ("isr_irq26",)}, ProofVerdict.FAILS),
    (STATE, {"closing_state": {"feature.icache": 0}}, ProofVerdict.FAILS),  # switched off in the window
    (STATE, {"closing_state": {"urgency.irq26": 1}}, ProofVerdict.HOLDS),  # enabled in the window
    (STATE, {"closing_state": {"isr_urgency": 1, "urgency.irq26": 0}}, ProofVerdict.FAILS),
    (STATE, {"closing_state": {"urgency.irq5": 1}}, ProofVerdict.FAILS),
    (STATE, {"setting_writes": {"feature.icache": 2}}, ProofVerdict.FAILS),  # off and on again
    (STATE, {"state": {"core.vectors": 0x2000_0000}}, ProofVerdict.FAILS),  # a copy of the table in RAM
    (STATE, {"tick_cycles": 125_000}, ProofVerdict.HOLDS),
    (STATE, {"tick_cycles": 125_001}, ProofVerdict.FAILS),
    (STATE, {"tick_cycles": 1_000, "exceptions": {0: {15: 9}}}, ProofVerdict.HOLDS),  # set anew for each wait
    (STATE, {"state": {"core.auxiliary": 0, "flash.buffers_off": 0}}, ProofVerdict.HOLDS),
    (STATE, {"state": {"core.auxiliary": 2}}, ProofVerdict.FAILS),  # the write buffer is off
    (STATE, {"state": {"flash.buffers_off": 1}}, ProofVerdict.FAILS),
    (STATE, {"state": {"flash.half_cycle": 1}}, ProofVerdict.FAILS),
    (STATE, {"state": {"dma": 1}}, ProofVerdict.FAILS),  # a channel that copies takes the bus
    (STATE, {"state": {"flash.cache_reset": 1}}, ProofVerdict.FAILS),
    (
        STATE,
        {"own": (BenchmarkFunction(0, "body", 1, (EquallyExecutedCodeRange(0x2000_0100, 1, TOTAL, TOTAL),), ()),)},
        ProofVerdict.FAILS,
    ),
]


STRESS = {"rule": "pair_stress", "percent": "stress_percent", "accesses": "accesses", "found": "found_taken"}
STRESSED: list[tuple[int, tuple[int, int, int], tuple[int, int, int], ProofVerdict]] = [
    (50, (1000, 1000, 300), (4000, 2010, 200), ProofVerdict.HOLDS),
    (50, (1000, 1000, 300), (4000, 1400, 200), ProofVerdict.FAILS),  # too rarely
    (50, (1000, 500, 300), (4000, 2010, 200), ProofVerdict.FAILS),  # the target itself
    (50, (1000, 1000, 0), (4000, 2010, 0), ProofVerdict.FAILS),  # they never met
    (0, (1000, 1000, 0), (4000, 0, 0), ProofVerdict.HOLDS),
    (0, (1000, 1000, 5), (4000, 0, 0), ProofVerdict.FAILS),
    (50, (1000, 1000, 300), (0, 0, 0), ProofVerdict.FAILS),  # the stress task did not run
]
"""The requested share; rounds, accesses and collisions of the target and of the stress task."""


@pytest.mark.parametrize("core", [0, 1])
@pytest.mark.parametrize(("percent", "target", "stress", "verdict"), STRESSED)
def test_both_images_took_the_lock_as_often_as_asked(
    core: int, percent: int, target: tuple[int, int, int], stress: tuple[int, int, int], verdict: ProofVerdict
) -> None:
    runs = [
        decoded_run([
            ("param", {"name": "stress_percent", "value": percent}),
            next(record for record in BODY if record[0] == "window"),
            count(0, rounds),
            ("check", {"name": "accesses", "core": 0, "value": accesses}),
            ("check", {"name": "found_taken", "core": 0, "value": found}),
        ])
        for rounds, accesses, found in (target, stress)
    ]  # fmt: skip
    seen_by = dataclasses.replace(
        evidence(OWN), decoded=runs[core], beside=runs[1 - core], settings={"core": str(core)}
    )
    rule = benchmark_proof_rule_modules()["pair_stress"]
    assert rule.judge_evidence(parameters_class_of_proof_rule(rule).model_validate(STRESS), seen_by).verdict is verdict
    unseen = rule.judge_evidence(
        parameters_class_of_proof_rule(rule).model_validate(STRESS), dataclasses.replace(seen_by, beside=None)
    )
    assert unseen.verdict is ProofVerdict.UNSEEN


PAIR = {"rule": "windows_overlap"}
"""Judged of a kernel beside another one."""
OVERLAPS: list[tuple[tuple[int, int], ProofVerdict]] = [
    ((1000, 251_000), ProofVerdict.HOLDS),
    ((5900, 255_900), ProofVerdict.HOLDS),  # 1.96 % later
    ((6100, 256_100), ProofVerdict.FAILS),
    ((0, 1000), ProofVerdict.FAILS),  # it was over
]


@pytest.mark.parametrize(("edges", "verdict"), OVERLAPS)
def test_windows_of_two_kernels_overlap(edges: tuple[int, int], verdict: ProofVerdict) -> None:
    alone = evidence(OWN)
    fields: dict[str, str | int] = {"n": 0, "open_ticks": edges[0], "close_ticks": edges[1]}
    other = decoded_run([("window", fields), *[record for record in BODY if record[0] != "window"]])
    beside = [
        item for item in judge_benchmark_proofs(dataclasses.replace(alone, beside=other)) if item.rule == PAIR["rule"]
    ]
    assert [item.verdict for item in beside] == [verdict]
    assert not [item for item in judge_benchmark_proofs(alone) if item.rule == PAIR["rule"]]


@pytest.mark.parametrize(
    ("sets", "chip", "divider", "verdict"),
    [
        ({}, "rp2040", 2, ProofVerdict.HOLDS),
        ({}, "rp2040", 4, ProofVerdict.FAILS),
        ({"xip.divider": 4}, "rp2040", 4, ProofVerdict.HOLDS),
        ({"xip.divider": 4}, "rp2040", 2, ProofVerdict.FAILS),  # not what the description says either
        ({"xip.divider": 4}, "another", 4, ProofVerdict.FAILS),
    ],
)
def test_kernel_start_up_may_change_board_settings(
    sets: dict[str, int], chip: str, divider: int, verdict: ProofVerdict
) -> None:
    given = evidence(STATE, state={"xip.divider": divider})
    memory = given.board.memory.model_copy(update={"flash_clock_divider": 2})
    facts = kernel(symbols=SYMBOLS, services={"tasks": True}, sets={chip: sets})
    given = dataclasses.replace(given, board=given.board.model_copy(update={"memory": memory}), kernel=facts)
    (result,) = (finding for finding in judge_benchmark_proofs(given) if finding.rule == "board_state")
    assert result.verdict is verdict, result.saw


@pytest.mark.parametrize(
    ("cores", "facts", "verdict"),
    [
        ((), {"state": {"float_contexts": 1}}, ProofVerdict.FAILS),
        (("another",), {"state": {"float_contexts": 1}}, ProofVerdict.FAILS),
        (("cortex-m0plus",), {"state": {"float_contexts": 1}}, ProofVerdict.HOLDS),
        (("cortex-m0plus",), {"state": {"float_contexts": 0}}, ProofVerdict.HOLDS),
        (("cortex-m0plus",), {"state": {"float_contexts": 1}, "own_floats": ("body",)}, ProofVerdict.FAILS),
    ],
)
def test_kernel_that_moves_data_in_floating_point_registers(
    cores: tuple[str, ...], facts: dict[str, Any], verdict: ProofVerdict
) -> None:
    """Its callers have contexts, and the benchmark's own use is looked for in its code."""
    known = kernel(symbols=SYMBOLS, services={"tasks": True}, float_code=cores)
    given = dataclasses.replace(evidence(STATE, **facts), kernel=known)
    (result,) = (finding for finding in judge_benchmark_proofs(given) if finding.rule == "board_state")
    assert result.verdict is verdict, result.saw


@pytest.mark.parametrize(
    ("is_owner", "far_tasks", "verdict"),
    [
        (False, 0, ProofVerdict.HOLDS),
        (False, 4, ProofVerdict.FAILS),
        (True, 4, ProofVerdict.HOLDS),
        (True, 1, ProofVerdict.FAILS),
    ],
)
def test_kernel_that_provides_the_start_up_chooses_one_memory_for_data(
    is_owner: bool, far_tasks: int, verdict: ProofVerdict
) -> None:
    facts = kernel(symbols=SYMBOLS, services={"tasks": True}, owns_start=is_owner)
    given = evidence(STATE)
    memory = given.board.memory.model_copy(update={"d2_start": 0x3000_0000, "d2_bytes": 0x1000})
    blocks = [0x3000_0000 if at < far_tasks else 0x2000_0000 for at in range(len(given.decoded.tasks))]
    tasks = tuple(
        dataclasses.replace(task, handle=block + 0x100 * at)
        for at, (task, block) in enumerate(zip(given.decoded.tasks, blocks, strict=True))
    )
    given = dataclasses.replace(
        given,
        board=given.board.model_copy(update={"memory": memory}),
        kernel=facts,
        decoded=dataclasses.replace(given.decoded, tasks=tasks),
    )
    (result,) = (finding for finding in judge_benchmark_proofs(given) if finding.rule == "board_state")
    assert result.verdict is verdict, result.saw


@pytest.mark.parametrize(("rule", "facts", "verdict"), CASES)
def test_window_rule_holds_and_fails(rule: dict[str, Any], facts: dict[str, Any], verdict: ProofVerdict) -> None:
    given = evidence(rule, **facts)
    (result,) = (finding for finding in judge_benchmark_proofs(given) if finding.rule == rule["rule"])
    assert result.verdict is verdict, result.saw
    assert result.saw


@pytest.mark.parametrize("rule", [OWN, CALLS, TOLD, INTERRUPTS, STATE])
def test_target_without_probes_is_reported(rule: dict[str, Any]) -> None:
    given = dataclasses.replace(evidence(rule), observed=None)
    (result,) = (finding for finding in judge_benchmark_proofs(given) if finding.rule == rule["rule"])
    assert result.verdict is ProofVerdict.UNSEEN


def test_board_settings_must_equal_the_points() -> None:
    given = evidence(STATE, state={"feature.icache": 0})
    (result,) = (finding for finding in judge_benchmark_proofs(given) if finding.rule == "board_state")
    assert result.verdict is ProofVerdict.FAILS
    given = dataclasses.replace(given, settings={"feature.icache": "0"})
    (result,) = (finding for finding in judge_benchmark_proofs(given) if finding.rule == "board_state")
    assert result.verdict is ProofVerdict.HOLDS


ASKS = {"kCore": TOTAL}
HANDLER = own_function(TOTAL, name="isr_irq26", entries=TOTAL, calls=ASKS)


@pytest.mark.parametrize(
    ("rule", "facts", "verdict"),
    [
        (CALLS, {"own": (own_function(1, TOTAL), HANDLER)}, ProofVerdict.HOLDS),
        (
            CALLS,
            {"own": (own_function(TOTAL, name="isr_irq26", entries=TOTAL - 100, calls=ASKS),)},
            ProofVerdict.FAILS,
        ),  # twice
        (CALLS, {"own": (own_function(1, TOTAL, calls=ASKS),)}, ProofVerdict.FAILS),  # a task knows its core
        (
            CALLS,
            {"own": (HANDLER, own_function(TOTAL, name="port_core", entries=TOTAL, calls=ASKS))},
            ProofVerdict.HOLDS,
        ),
        (INTERRUPTS, {"exceptions": {0: {15: 250, 31: 400}, 1: {32: 600}}}, ProofVerdict.HOLDS),
        (
            INTERRUPTS,
            {"exceptions": {0: {15: 250, 31: 401}, 1: {32: 601}}},
            ProofVerdict.HOLDS,
        ),  # sent before the window
        (
            INTERRUPTS,
            {"exceptions": {0: {15: 250, 31: 400}, 1: {32: 700}}},
            ProofVerdict.FAILS,
        ),  # somebody else sent them
        (INTERRUPTS, {"exceptions": {0: {15: 250, 31: 600}, 1: {32: 400}}}, ProofVerdict.FAILS),  # a core its own
        (INTERRUPTS, {"exceptions": {0: {15: 250, 32: 400}}}, ProofVerdict.FAILS),  # the other core's line
        (INTERRUPTS, {"exceptions": {0: {15: 250, 42: 500}}}, ProofVerdict.FAILS),
    ],
)
def test_inter_core_interrupts_are_declared_by_the_kernel(
    rule: dict[str, Any], facts: dict[str, Any], verdict: ProofVerdict
) -> None:
    given = evidence(rule, calls=Counter({(0, "core_interrupt"): 600, (1, "core_interrupt"): 400}), **facts)
    message = {"ask": ["kCore"], "interrupt": ["kSend"], "lines": {given.board.chip: [15, 16]}}
    known = kernel(symbols=SYMBOLS, classes={"kernel": ["k"]}, services={"tasks": True}, several_cores=message)
    both = decode_records(stream(BODY, begin(cores=2)), WIRE, EXPECTED)
    (result,) = (
        finding
        for finding in judge_benchmark_proofs(dataclasses.replace(given, kernel=known, decoded=both))
        if finding.rule == rule["rule"]
    )
    assert result.verdict is verdict, result.saw


def test_single_core_has_no_inter_core_interrupt() -> None:
    given = evidence(INTERRUPTS, exceptions={0: {15: 250, 31: 1}}, calls=Counter({(0, "core_interrupt"): 10}))
    message = {"interrupt": ["kSend"], "lines": {given.board.chip: [15, 16]}}
    known = given.kernel.model_copy(update={"several_cores": MulticoreKernelFacts.model_validate(message)})
    (result,) = (
        finding
        for finding in judge_benchmark_proofs(dataclasses.replace(given, kernel=known))
        if finding.rule == "interrupts_told"
    )
    assert result.verdict is ProofVerdict.FAILS


KEPT = ((0, 7), (0, 7), (1, 107), (1, 127))
"""Series and raw values of what the image of `latency_fakes` sends."""


@pytest.mark.parametrize(
    ("kept", "verdict"),
    [
        (None, ProofVerdict.HOLDS),  # compiled into its callers: not to be seen
        (KEPT, ProofVerdict.HOLDS),
        (KEPT[2:], ProofVerdict.HOLDS),  # the empty interval's alone
        (KEPT[:3], ProofVerdict.FAILS),  # it sends one that it was not told
        (KEPT[:2], ProofVerdict.FAILS),  # a sample of which the runner was not told
        ((*KEPT[:2], (1, 127), (1, 107)), ProofVerdict.FAILS),  # another order
        ((*KEPT[:2], (1, 107), (1, 173)), ProofVerdict.FAILS),  # another value
        ((*KEPT, (1, 107), (1, 107), (1, 107)), ProofVerdict.FAILS),  # more than there were intervals
    ],
)
def test_samples_equal_the_values_given_to_the_runner(
    kept: tuple[tuple[int, int], ...] | None, verdict: ProofVerdict
) -> None:
    rule = benchmark_proof_rule_modules()["samples_complete"]
    given = latency_fakes.evidence({"rule": "samples_complete"})
    assert given.observed is not None
    assert given.observed.intervals is not None
    given.observed.intervals = dataclasses.replace(given.observed.intervals, kept=kept)
    result = rule.judge_evidence(parameters_class_of_proof_rule(rule)(rule="samples_complete"), given)
    assert result.verdict is verdict, result.saw


def test_runner_that_drops_samples_is_found() -> None:
    """All are alike, so that no value tells."""
    rows = [*latency_fakes.orderly(), *latency_fakes.orderly()[4:]]
    given = latency_fakes.evidence({"rule": "samples_complete"}, rows=rows)
    assert given.observed is not None
    assert given.observed.intervals is not None
    stored = ((0, 7), (0, 7), *((1, 107), (1, 127)) * 3)
    given.observed.intervals = dataclasses.replace(given.observed.intervals, kept=stored)
    rule = benchmark_proof_rule_modules()["samples_complete"]
    result = rule.judge_evidence(parameters_class_of_proof_rule(rule)(rule="samples_complete"), given)
    assert result.verdict is ProofVerdict.FAILS
    assert "when each series had its own" in result.saw
    # One that releases what it holds at the end says so.
    message = dataclasses.replace(given.decoded, params={**given.decoded.params, "places": "4"})
    held = parameters_class_of_proof_rule(rule)(rule="samples_complete", held="places")
    assert "when each series" not in rule.judge_evidence(held, dataclasses.replace(given, decoded=message)).saw


@pytest.mark.parametrize(
    ("settings", "cycles", "verdict"),
    [
        ({}, 21 * 2, ProofVerdict.HOLDS),
        ({}, 21 * 3, ProofVerdict.FAILS),  # an instruction takes much longer than usual: it reads past a cache
        ({"feature.icache": "0"}, 21 * 3, ProofVerdict.HOLDS),
        ({"opt": "-O0"}, 21 * 3, ProofVerdict.HOLDS),
    ],
)
def test_known_code_bounds_the_cycles_of_a_round(settings: dict[str, str], cycles: int, verdict: ProofVerdict) -> None:
    own_code = BenchmarkFunction(0, "body", 1, (EquallyExecutedCodeRange(FLASH, 21, TOTAL, cycles * TOTAL),), ())
    assert _known(own_code, settings) is verdict


@pytest.mark.parametrize(
    ("instructions", "settings", "verdict"),
    [
        (21, {}, ProofVerdict.HOLDS),
        (22, {}, ProofVerdict.FAILS),
        (22, {"opt": "-Os"}, ProofVerdict.HOLDS),
        (22, {"param.other": "1"}, ProofVerdict.HOLDS),  # which may change what the round does
        (22, {"feature.icache": "0"}, ProofVerdict.FAILS),
    ],
)
def test_known_code_bounds_the_instructions_of_a_round(
    instructions: int, settings: dict[str, str], verdict: ProofVerdict
) -> None:
    own_code = BenchmarkFunction(0, "body", 1, (EquallyExecutedCodeRange(FLASH, instructions, TOTAL, TOTAL),), ())
    assert _known(own_code, settings) is verdict


@pytest.mark.parametrize(
    ("instructions", "kind", "settings", "compiler", "verdict"),
    [
        (46, "counts", {}, "GCC: 12.2.1", ProofVerdict.HOLDS),
        (47, "counts", {}, "GCC: 12.2.1", ProofVerdict.FAILS),
        (45, "counts", {}, "GCC: 12.2.1", ProofVerdict.FAILS),  # a branch that its code has is never executed
        (45, "latency", {}, "GCC: 12.2.1", ProofVerdict.HOLDS),
        (47, "latency", {}, "GCC: 12.2.1", ProofVerdict.FAILS),
        (47, "counts", {}, "GCC: 13.1", ProofVerdict.HOLDS),
        (47, "counts", {"opt": "-Os"}, "GCC: 12.2.1", ProofVerdict.HOLDS),
        (
            47,
            "counts",
            {"configASSERT": "1"},
            "GCC: 12.2.1",
            ProofVerdict.HOLDS,
        ),  # the kernel's configuration changes code in line
        (47, "counts", {"wait_states": "2"}, "GCC: 12.2.1", ProofVerdict.FAILS),
    ],
)
def test_executed_code_is_as_long_as_measured(
    monkeypatch: pytest.MonkeyPatch,
    instructions: int,
    kind: str,
    settings: dict[str, str],
    compiler: str,
    verdict: ProofVerdict,
) -> None:
    """The same compiler makes the same code, so one instruction more in a port or a handler shows."""
    table = CodeLengths(compiler="GCC: 12.2.1", lengths={"t0": {"kernel core": CodeLength(46, 46)}})
    monkeypatch.setattr(code_lengths, "_read_benchmark_code_lengths_file", lambda: table)
    monkeypatch.setattr(BenchmarkProofEvidence, "code_length_key_of_core", lambda self, core: "kernel core")
    given = evidence(
        OWN,
        own=(BenchmarkFunction(0, "body", 1, (EquallyExecutedCodeRange(FLASH, instructions, TOTAL, TOTAL),), ()),),
        compiler=compiler,
    )
    facts = given.benchmark.model_copy(update={"id": "t0", "kind": kind})
    given = dataclasses.replace(given, benchmark=facts, settings=settings)
    rule = benchmark_proof_rule_modules()["own_code"]
    assert rule.judge_evidence(parameters_class_of_proof_rule(rule)(rule="own_code"), given).verdict is verdict


def _known(own_code: BenchmarkFunction, settings: dict[str, str]) -> ProofVerdict:
    """The verdict on a round of T7 with FreeRTOS, whose limits are in known_code.toml."""
    given = evidence(OWN, own=(own_code,))
    facts = given.benchmark.model_copy(update={"id": "t7_synchronisation"})
    known = given.kernel.model_copy(update={"id": "freertos"})
    given = dataclasses.replace(given, benchmark=facts, kernel=known, settings=settings)
    (result,) = (finding for finding in judge_benchmark_proofs(given) if finding.rule == "own_code")
    return result.verdict
