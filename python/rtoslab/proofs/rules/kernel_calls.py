"""The benchmark calls the kernel by the functions of the services that its proofs speak of, and by no other.

Seen are the calls of the whole window, by the instructions that make them. A port that asks for room before it sends,
or a body that looks at the clock in every hundredth round, calls a function that no round contains. Which of the
functions are called in which order, and how often, is for `course` and `calls_per_count`.

A sleep that is told the tick at which it ends is reckoned from the clock, so its port looks at that once for each call.
A handler does not know on which core it runs, so it may ask once.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping

from rtoslab.catalogue import Kernel
from rtoslab.proofs.evidence import Evidence, RuleParams, finding, unseen
from rtoslab.proofs.expected_steps import ExpectedStep, parse, present
from rtoslab.proofs.observed_steps import TICKS_OF_THE_CLOCK
from rtoslab.results import Finding
from rtoslab.targets import INDIRECT, LIBRARY, SUPERVISOR_CALL, OwnFunction, function_kind

_BRACKETS = ("isr_enter", "isr_exit")
_HANDLER = "isr_"
_CORE = "port_core"
_EDGE = 2
"""Calls of a task at the window's edges, where the runner sleeps, waits and wakes."""


class Params(RuleParams):
    """Keys of `rule = "kernel_calls"`."""

    calling: tuple[str, ...] = ()
    """Further services of the port contract that are called."""
    asking: tuple[str, ...] = ()
    """Functions of the port that ask the kernel for figures, outside of what is measured."""


def judge(params: Params, evidence: Evidence) -> Finding:
    """Judges from the call instructions that were executed in the window."""
    demands = "the benchmark calls no function of the kernel that its round does not contain"
    observed = evidence.observed
    if observed is None or not observed.own:
        return unseen(params.rule, demands, "this target has no profile" if observed is None else "no profile was kept")
    kernel = evidence.kernel.for_cpu(evidence.board.cpu)
    services = {*params.calling, *_BRACKETS, *_services_in_proofs(evidence)}
    allowed = {name for service in services for name in kernel.symbols.get(service, ())}
    allowed |= {name for name, begun in kernel.completes.items() if allowed.intersection(begun)}
    calls = Counter[tuple[str, str]]()
    for function in observed.own:
        if function.core in evidence.cores and function.name not in params.asking:
            for called, times in function.calls:
                calls[function.name, called] += times
    exempt = _looks_at_clock(kernel, services, calls) + _asks_for_core(kernel, observed.own, evidence.cores)
    own = {own_function.name for own_function in observed.own}
    edge = _EDGE * (len(evidence.decoded.counts) + len(evidence.cores))
    strange = {
        (by, called): times
        for (by, called), times in calls.items()
        if times - exempt[by, called] > edge and called not in allowed | own and _is_kernels(called, evidence)
    }
    problems = [f"{by} called {called} {times} times" for (by, called), times in sorted(strange.items())]
    known = sum(times for (_, called), times in calls.items() if called in allowed)
    return finding(
        params.rule, demands, problems[:4], [f"{known} calls of {', '.join(sorted(services - {*_BRACKETS}))}"]
    )


def _looks_at_clock(
    kernel: Kernel, services: Collection[str], calls: Mapping[tuple[str, str], int]
) -> Counter[tuple[str, str]]:
    """Returns how often each caller may look at the clock for the calls that it tells a tick: once for each."""
    clock_services = [item for item in services if not TICKS_OF_THE_CLOCK.isdisjoint(kernel.arguments.get(item, ()))]
    ends = {name for service in clock_services for name in kernel.symbols.get(service, ())}
    looks = Counter[tuple[str, str]]()
    for (by, called), times in calls.items():
        if called in ends:
            looks.update({(by, clock): times for clock in kernel.symbols.get("tick_now", ())})
    return looks


def _asks_for_core(kernel: Kernel, own: Iterable[OwnFunction], cores: Container[int]) -> Counter[tuple[str, str]]:
    """Returns how often each handler may ask on which core it runs, and the port's function where it is not inlined."""
    asks = Counter[tuple[str, str]]()
    for function in own:
        if function.core in cores and function.name.startswith(_HANDLER):
            for name in kernel.several_cores.ask:
                asks.update({(function.name, name): function.entries, (_CORE, name): function.entries})
    return asks


def _is_kernels(called: str, evidence: Evidence) -> bool:
    return called not in {SUPERVISOR_CALL, INDIRECT} and function_kind(called, evidence.kernel) != LIBRARY


def _services_in_proofs(evidence: Evidence) -> set[str]:
    """Services that the benchmark's proofs speak of."""
    kinds = set[str]()
    for table in evidence.benchmark.proof:
        kinds |= {str(table[key]) for key in ("service", "services") if isinstance(table.get(key), str)}
        kinds |= {name for name in table.get("services", ()) if not isinstance(table.get("services"), str)}
        texts = [*table.get("rounds", ()), table.get("round", ()), table.get("besides", ())]
        steps = [
            item for one in texts for item in parse(present(one, evidence.benchmark.services), evidence.decoded.params)
        ]
        kinds |= {name for step in steps for name in _services(step)}
    return kinds


def _services(step: ExpectedStep) -> set[str]:
    inner = {name for part in step.parts for name in _services(part)}
    return inner | ({step.name} if step.kind == "call" else set())
