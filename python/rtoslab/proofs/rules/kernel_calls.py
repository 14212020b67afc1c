"""Checks that the benchmark calls the kernel only by functions of the services that its proofs name, and no library.

The calls of the whole window are seen, by the instructions that make them. A port that checks for room before it sends,
or a body that reads the clock in every hundredth round, calls a function that no round contains. `course` and
`calls_per_count` check the order and number of the calls. A function of the C library or the compiler (a copy, a
division) takes time as well, so a benchmark names those that its rounds need.

Many functions do different things by their third to sixth argument: a queue is filled at its front or its back, a wait
clears bits or leaves them, and ends at once or never. Where kernel.toml states these arguments, each call must have
those of one of the services.

A port computes the end tick of a sleep from the clock, so it may read the clock once for each such call. A handler does
not know on which core it runs, so it may ask once."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from typing import Final

from rtoslab.catalogue import Kernel
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_steps import ExpectedBenchmarkStep, parse_benchmark_steps, select_steps_by_kernel_services
from rtoslab.proofs.known_code import LibraryUse
from rtoslab.proofs.observed_steps import CLOCK_ARGUMENTS
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import (
    INDIRECT,
    LIBRARY,
    NOT_STATED,
    SUPERVISOR_CALL,
    BenchmarkFunction,
    CallArguments,
    function_category,
)

_BRACKETS = ("isr_enter", "isr_exit")
_HANDLER = "isr_"
_CORE = "port_core"
_LIBRARY: Final = {
    "fill": ("memset", "__aeabi_mem"),
    "copy": ("memcpy", "memmove", "__aeabi_mem"),
    "division": ("div",),
}
"""Words in the names of library functions by what they do."""
_OF_THE_RUNNER: Final = frozenset({"sleep_ticks", "semaphore_give", "semaphore_take", "semaphore_take_for"})
"""The services that the runner calls at the window's edges."""
_EDGE = 2
"""Calls of a task at the window's edges, where the runner sleeps, waits and wakes."""


class AllowedKernelCallProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `kernel_calls` in benchmark.toml. The proof checks that the benchmark called no
    kernel or library function beside those that its round contains."""

    calling: tuple[str, ...] = ()
    """Further services of the port contract that are called."""
    library: tuple[LibraryUse, ...] = ()
    """The helpers that the rounds need of the C library and the compiler."""
    asking: tuple[str, ...] = ()
    """Functions of the port that ask the kernel for figures outside the measurement."""


def judge_evidence(params: AllowedKernelCallProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the benchmark called no kernel or library function beside those that its round contains, by the
    executed call instructions."""
    demands = "the benchmark calls no function of the kernel or a library that its round does not contain"
    observed = evidence.observed
    if observed is None or not observed.own:
        return make_unjudged_proof_finding(
            params.rule, demands, "this target has no profile" if observed is None else "no profile was kept"
        )
    kernel = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu)
    services = {*params.calling, *_BRACKETS, *_kernel_services_named_in_proofs(evidence)}
    allowed = {name for service in services for name in kernel.symbols.get(service, ())}
    allowed |= {name for name, begun in kernel.completes.items() if allowed.intersection(begun)}
    calls = Counter[tuple[str, str]]()
    for function in observed.own:
        if function.core in evidence.cores and function.name not in params.asking:
            for called, times in function.calls:
                calls[function.name, called] += times
    exempt = _count_allowed_clock_reads(kernel, services, calls) + _count_allowed_current_core_queries(
        kernel, observed.own, evidence.cores
    )
    own = {own_function.name for own_function in observed.own}
    edge = _EDGE * (len(evidence.decoded.counts) + len(evidence.cores))
    strange = {
        (by, called): times
        for (by, called), times in calls.items()
        if times - exempt[by, called] > edge
        and called not in allowed | own
        and called not in {SUPERVISOR_CALL, INDIRECT}
        and not _is_named_library(called, {*params.library, *evidence.known_benchmark_code_limits.library}, evidence)
    }
    problems = [f"{by} called {called} {times} times" for (by, called), times in sorted(strange.items())]
    problems += _describe_unexpected_arguments(evidence, kernel, services, edge)
    known = sum(times for (_, called), times in calls.items() if called in allowed)
    return make_judged_proof_finding(
        params.rule, demands, problems[:4], [f"{known} calls of {', '.join(sorted(services - {*_BRACKETS}))}"]
    )


def _describe_unexpected_arguments(
    evidence: BenchmarkProofEvidence, kernel: Kernel, services: Collection[str], edge: int
) -> list[str]:
    """Returns a sentence for each set of arguments of a call that no service has. `services`: those that the benchmark
    calls. The runner's may be called `edge` times."""
    assert evidence.observed is not None
    return [
        f"{call.function} was called {times} times with {_argument_text(call)}"
        for call, times in sorted(evidence.observed.call_arguments.items())
        if not any(_is_call_of_service(call, kernel, service) for service in services)
        and (times > edge or not any(_is_call_of_service(call, kernel, service) for service in _OF_THE_RUNNER))
    ]


def _argument_text(call: CallArguments) -> str:
    """Returns the arguments of a call that are stated, for messages."""
    places = zip(("R1", "R2", "R3", "[SP]", "[SP+4]"), call[1:], strict=True)
    return ", ".join(f"{place} {value:#x}" for place, value in places if value != NOT_STATED)


def _is_call_of_service(call: CallArguments, kernel: Kernel, service: str) -> bool:
    """Whether a call has the function of a service, and the arguments that kernel.toml states for it."""
    if call.function not in kernel.symbols.get(service, ()):
        return False
    stated = list(zip(call[2:], kernel.further_arguments.get(service, ()), strict=False))
    stated += [(call.second, word) for word in kernel.arguments.get(service, ())[1:2]]
    return all(seen in {value, NOT_STATED} for seen, value in stated if isinstance(value, int))


def _count_allowed_clock_reads(
    kernel: Kernel, services: Collection[str], calls: Mapping[tuple[str, str], int]
) -> Counter[tuple[str, str]]:
    """Returns how often each pair of caller and clock function may occur: once for each kernel call with a tick as
    argument. `calls` has the executions of each pair of caller and called function."""
    clock_services = [item for item in services if not CLOCK_ARGUMENTS.isdisjoint(kernel.arguments.get(item, ()))]
    ends = {name for service in clock_services for name in kernel.symbols.get(service, ())}
    looks = Counter[tuple[str, str]]()
    for (by, called), times in calls.items():
        if called in ends:
            looks.update({(by, clock): times for clock in kernel.symbols.get("tick_now", ())})
    return looks


def _count_allowed_current_core_queries(
    kernel: Kernel, own: Iterable[BenchmarkFunction], cores: Container[int]
) -> Counter[tuple[str, str]]:
    """Returns how often each pair of caller and kernel function may occur that asks for the current core: once per
    entry of a handler."""
    asks = Counter[tuple[str, str]]()
    for function in own:
        if function.core in cores and function.name.startswith(_HANDLER):
            for name in kernel.several_cores.ask:
                asks.update({(function.name, name): function.entries, (_CORE, name): function.entries})
    return asks


def _is_named_library(called: str, kinds: Iterable[str], evidence: BenchmarkProofEvidence) -> bool:
    """Whether a called function is a library function of the kinds (`fill`, `copy`, `division`) that the benchmark
    allows."""
    if function_category(called, evidence.kernel) != LIBRARY:
        return False
    return any(word in called for kind in kinds for word in _LIBRARY[kind])


def _kernel_services_named_in_proofs(evidence: BenchmarkProofEvidence) -> set[str]:
    """Returns the kernel services that the benchmark's proofs name."""
    kinds = set[str]()
    for table in evidence.benchmark.proof:
        kinds |= {str(table[key]) for key in ("service", "services") if isinstance(table.get(key), str)}
        kinds |= {name for name in table.get("services", ()) if not isinstance(table.get("services"), str)}
        texts = [*table.get("rounds", ()), table.get("round", ()), table.get("besides", ())]
        steps = [
            item
            for one in texts
            for item in parse_benchmark_steps(
                select_steps_by_kernel_services(one, evidence.benchmark.services), evidence.decoded.params
            )
        ]
        kinds |= {name for step in steps for name in _collect_called_services(step)}
    return kinds


def _collect_called_services(step: ExpectedBenchmarkStep) -> set[str]:
    """Returns the kernel services that an expected step and its parts call."""
    inner = {name for part in step.parts for name in _collect_called_services(part)}
    return inner | ({step.name} if step.kind == "call" else set())
