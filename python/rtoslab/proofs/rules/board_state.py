"""Compares the board's state as the window opens and closes with the manifest: wait states, caches, prefetch, clock,
MPU, urgencies, enabled interrupts, the vector table, the length of a tick. No setting that changes the speed of code is
written in between.

The board's registers say what is on. The manifest says what board.toml has and the point's configuration changes.
Settings that a kernel's own start-up changes (`sets` in kernel.toml) must be exactly those. No task has used the
floating-point unit, for that makes each switch of it longer, and the heap is whole: what a benchmark took before the
window was given back, unless it says that it holds blocks. The kernel's own list of free pieces counts where it can be
read: pieces are also made without counted calls. The benchmark's own code and the tasks' control blocks are in the
memories that the manifest names. The code must not calculate in floating point. If the kernel's own code uses the unit
(`float_code` in kernel.toml), tasks that call it have used it."""

from collections.abc import Iterator, Mapping

from rtoslab.catalogue import DEFAULT_CODE, Board
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import (
    APPLICATION,
    FLOAT_CONTEXTS,
    HEAP_PIECES,
    ISR_URGENCY,
    OFF_AFTER_RESET,
    SYSTICK,
    function_category,
)

_DOUBLE_COUNTED = 2
"""So many calls that take or give a block may be counted twice, because an interrupt hit their entry."""


_LAZY = 3
"""FPCCR.ASPEN and LSPEN, which are on after reset: an exception makes room for the registers and saves them later."""
_TICKS_AT_EDGES = 1
"""So many ticks may be counted more or fewer than the window has."""
_DATA_MEMORIES = ("sram", "dtcm", "ccm", "d2", "d3")
_LINE = "urgency.irq"
"""The begin of the name of an enabled interrupt's urgency."""


class BoardStateParameters(BenchmarkProofParameters):
    """The parameters of the proof `board_state` in benchmark.toml. The proof checks the board's settings as the window
    opened and closed (wait states, caches, clock, interrupt priorities, heap) against the manifest."""

    held_blocks: int = 0
    """The most heap blocks that the benchmark may hold as the window opens."""
    free_pieces: int = 1
    """The most pieces of the heap's free memory at that time, where the kernel's list of them can be read."""


def judge_evidence(params: BoardStateParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks the board's settings as the window opened and closed (wait states, caches, clock, interrupt priorities,
    heap) against the manifest."""
    demands = "what is switched on as the window opens is what the manifest says, and stays so until it closes"
    state = evidence.observed.state if evidence.observed else {}
    if not state:
        return make_unjudged_proof_finding(
            params.rule, demands, "the registers were not read" if evidence.observed else "no registers are seen"
        )
    off = dict.fromkeys(OFF_AFTER_RESET, 0)
    expected = {**off, **dict(_list_expected_settings(evidence)), **evidence.kernel.sets.get(evidence.board.chip, {})}
    problems = [
        f"{name} is {state[name]}, {value} expected"
        for name, value in expected.items()
        if name in state and state[name] != value
    ]
    problems += _describe_changed_settings(evidence, expected)
    problems += _describe_unexpected_interrupts(evidence)
    problems += _kernel_tick_length_problems(evidence)
    problems += _float_code_problems(evidence)
    problems += _memory_placement_problems(evidence)
    held = evidence.observed.heap_blocks if evidence.observed else 0
    if not -_DOUBLE_COUNTED <= held <= params.held_blocks + _DOUBLE_COUNTED:
        problems.append(f"{held} blocks of the heap are held")
    pieces = state.get(HEAP_PIECES, 0)
    if pieces > params.free_pieces:
        problems.append(f"the heap's free memory is in {pieces} pieces, {params.free_pieces} expected")
    seen = ", ".join(f"{name} {value}" for name, value in state.items())
    return make_judged_proof_finding(params.rule, demands, problems, [seen])


def _list_expected_settings(evidence: BenchmarkProofEvidence) -> Iterator[tuple[str, int]]:
    """Yields the name and the expected value of each board setting that the manifest or board.toml determines."""
    board, state = evidence.board, evidence.observed.state if evidence.observed else {}
    clock = board.clocks.get(evidence.decoded.begin.clock_hz)
    if clock is not None:
        yield "wait_states", int(evidence.settings.get("wait_states", clock.wait_states))
    for name, usual in board.features.items():
        yield f"feature.{name}", int(evidence.settings.get(f"feature.{name}", int(usual)))
    if "xip.divider" in state and board.memory.flash_clock_divider:
        yield "xip.divider", board.memory.flash_clock_divider
    yield "xip.cache", 1
    for core in evidence.cores:
        yield f"core{core}.mpu" if core else "mpu", 0
    if state.get("fpu") and evidence.kernel.behaviour.float_context == "when_used":
        yield "fpu.lazy", _LAZY
    if evidence.kernel.behaviour.float_context == "when_used" and board.core not in evidence.kernel.float_code:
        yield FLOAT_CONTEXTS, 0
    if ISR_URGENCY in state:
        for core in evidence.cores:
            before = f"core{core}." if core else ""
            for line in (board.irq.soft, board.irq.asynchronous, board.pins.in_irq):
                yield f"{before}{_LINE}{line}", state[ISR_URGENCY] & ((1 << board.irq.priority_bits) - 1)


def _describe_changed_settings(evidence: BenchmarkProofEvidence, expected: Mapping[str, int]) -> list[str]:
    """Returns a sentence for each board setting that was written in the window, or that is not as expected when it
    closes."""
    observed = evidence.observed
    assert observed is not None
    problems = [
        f"{name} is {value} as the window closes, {expected.get(name, observed.state.get(name))} expected"
        for name, value in observed.closing_state.items()
        if expected.get(name) != value and not (_LINE in name and name not in expected)
    ]
    return problems + [
        f"{name} was written {times} times in the window" for name, times in observed.setting_writes.items()
    ]


def _describe_unexpected_interrupts(evidence: BenchmarkProofEvidence) -> list[str]:
    """Returns a sentence for each enabled interrupt that belongs neither to the benchmark nor to the kernel."""
    board, observed = evidence.board, evidence.observed
    assert observed is not None
    known = {board.irq.soft, board.irq.asynchronous, board.pins.in_irq, evidence.fifo_line}
    known |= set(evidence.kernel.several_cores.lines.get(board.chip, ()))
    names = {name.rpartition(_LINE)[2] for name in (*observed.state, *observed.closing_state) if _LINE in name}
    return [
        f"interrupt {line} is enabled"
        for line in sorted(map(int, names))
        if line not in known and function_category(f"isr_irq{line}", evidence.kernel) == APPLICATION
    ]


def _kernel_tick_length_problems(evidence: BenchmarkProofEvidence) -> list[str]:
    """Returns a sentence if SysTick makes the kernel's ticks, and they are shorter or longer than the image says.

    A kernel without ticks sets SysTick for each wait, so the number of its entries is another one.
    """
    observed, tick_hz = evidence.observed, int(evidence.decoded.params.get("tick_hz", 0))
    if observed is None or observed.tick_cycles is None or not tick_hz:
        return []
    entries = observed.exceptions.get(0, {}).get(SYSTICK, 0)
    if abs(entries - evidence.window_ticks) > _TICKS_AT_EDGES:
        return []
    required = evidence.decoded.begin.clock_hz / tick_hz
    if abs(observed.tick_cycles - required) < 1:
        return []
    return [f"a tick lasts {observed.tick_cycles} cycles, {required:g} expected"]


def _float_code_problems(evidence: BenchmarkProofEvidence) -> list[str]:
    """Returns a sentence for each function of the benchmark that executes floating-point instructions."""
    names = evidence.observed.own_floats if evidence.observed else ()
    return [f"{name} calculates in floating point" for name in names]


def _memory_placement_problems(evidence: BenchmarkProofEvidence) -> list[str]:
    """Returns a sentence for each function of the benchmark that is not in the memory for code, and for each task's
    control block that is not in the memory for data. The linker script of a kernel that provides the start-up chooses
    this memory itself, and it must be the same for all control blocks."""
    code, data = evidence.settings.get("code", DEFAULT_CODE), evidence.settings.get("data", evidence.board.memory.data)
    own = evidence.observed.own if evidence.observed else ()
    functions = {function.name: function.stretches[0].address for function in own if function.stretches}
    blocks = {f"the control block of {task.name}": task.handle for task in evidence.decoded.tasks if task.handle}
    if "ram" in evidence.settings:  # RAM is then at other addresses
        blocks = {}
    if evidence.kernel.owns_start and blocks:
        data = _memory_containing(evidence.board, next(iter(blocks.values()))) or data
    return [
        *_addresses_outside_memory(evidence.board, code, functions),
        *_addresses_outside_memory(evidence.board, data, blocks),
    ]


def _memory_containing(board: Board, address: int) -> str | None:
    """Returns the name of the memory for data that contains an address. None if there is no such memory."""
    return next((name for name in _DATA_MEMORIES if address in (board.memory.memory_addresses(name) or ())), None)


def _addresses_outside_memory(board: Board, memory: str, places: Mapping[str, int]) -> Iterator[str]:
    """Yields a sentence for each address that is not in the named memory of the board. Nothing for an unknown name."""
    addresses = board.memory.memory_addresses(memory)
    for name, address in places.items():
        if addresses is not None and address not in addresses:
            yield f"{name} is at {address:#x}, which is not in {memory}"
