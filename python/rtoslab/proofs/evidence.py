"""The evidence and the verdict of a proof."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import Field

from rtoslab.base import CatalogueError, StrictFileSchemaModel
from rtoslab.catalogue import SHOWN_IF_UNUSUAL, Benchmark, Board, Kernel
from rtoslab.proofs.code_lengths import (
    CodeLength,
    code_length_table_key,
    executes_measured_code,
    measured_benchmark_code_length,
)
from rtoslab.proofs.known_code import BenchmarkCodeLimits, measured_benchmark_code_limits
from rtoslab.records import DecodedRun, MeasurementWindowCounter
from rtoslab.results import BenchmarkProofFinding, ProofVerdict
from rtoslab.targets import ALL_CORES, MeasurementWindowObservations, TaskSwitch

LOOP_100_CYCLES: Final = 1407
"""The cycles of the calibration loop on a Pico with -O2."""

USUAL_PACE: Final = 2.5
"""The most cycles for an instruction of the benchmark's own code that runs from the cache: 1.3 to 2.4 were observed."""

_CONTROL_CORE: Final = 0
"""The core of the task that opens and closes the window."""
_COUNTER_READ_US: Final = 8
"""The longest time, of both edges of the window together, between an edge and the read of another core's counters."""
_CODE_SETTINGS: Final = frozenset({"opt", "lto", "compiler"})
"""The keys of a point's configuration that change how the benchmark is compiled."""
_PACE_SETTINGS: Final = frozenset({"code", "data", "clock_hz", "wait_states"})
"""The keys that change how long an instruction takes."""
_PACE_GROUPS: Final = ("feature.", "timing.")

Condition = Annotated[str, Field(pattern=r"^[a-z_]+ [=>] [0-9]+$")]
"""`shared = 1`, `cores > 1`: a parameter of the benchmark, or the number of cores, against a number.
`queue = 1`: what is measured needs that service; `tasks = 1`: where there are any, `tasks = 0`: without a kernel;
`sliced = 1`: a kernel that slices time among equals, asked or not; `timeout_adds_ticks = 1`: one whose time-outs last
a tick longer; `heap_sleeps = 1`: several cores share a heap after a mutex; `timer_task = 1`: a task of the kernel's
calls the functions of timers; `timer_restarts = 1`: the function of a periodic timer starts it again;
`tick_call = 1`: reading the tick's number calls a function of the kernel."""


class BenchmarkProofParameters(StrictFileSchemaModel):
    """The keys that every proof in benchmark.toml has."""

    rule: str
    when: tuple[Condition, ...] = ()
    """The rule is judged only where all of these conditions hold."""


@dataclass(frozen=True, slots=True)
class BenchmarkProofEvidence:
    """Everything that the proofs of one run examine: the firmware's records, the probes' observations, and known
    facts."""

    decoded: DecodedRun
    observed: MeasurementWindowObservations | None
    benchmark: Benchmark
    board: Board
    kernel: Kernel
    samples: int = 0
    """The requested samples of each series. 0: the benchmark counts."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The point's configuration: the settings that differ from board.toml and kernel.toml."""
    beside: DecodedRun | None = None
    """The records of the kernel that ran in an image of its own on the other core. None: there was none."""
    fifo_line: int | None = None
    """The interrupt line of the words that the other kernel sends. None: there is no other kernel."""

    @property
    def cores(self) -> range:
        """Returns the numbers of the cores that the kernel ran on."""
        return range(self.decoded.begin.cores)

    @property
    def are_tasks_pinned(self) -> bool:
        """Whether each task ran on its own core alone. Otherwise any task may be the cause of an event on a core: the
        kernel chooses the core, or the benchmark's calls bind tasks to other cores."""
        return self.decoded.params.get("pinned") != "0" and "affinity" not in self.benchmark.services

    @property
    def core_groups_for_count_comparison(self) -> list[tuple[str, list[int]]]:
        """Returns the name and the cores of each group of cores whose counts are compared. If tasks are pinned to
        cores, each core is a group. Otherwise all cores are one group, because a task may run on any of them."""
        if self.are_tasks_pinned:
            return [(f"core {core}", [core]) for core in self.metric_cores]
        return [("all cores", list(self.cores))]

    @property
    def task_groups_with_shared_counter(self) -> list[tuple[str, int]]:
        """Returns the name and the core of each group of tasks that count together: one group per core if tasks are
        pinned to cores, else one with `ALL_CORES`."""
        if self.are_tasks_pinned or len(self.cores) == 1:
            return [(f"core {core}", core) for core in self.cores]
        return [("all cores", ALL_CORES)]

    @property
    def metric_cores(self) -> list[int]:
        """Returns the cores whose tasks count towards the benchmark's result."""
        return [core for core in self.cores if self.benchmark.metric.does_benchmark_result_include_core(core)]

    @property
    def known_benchmark_code_limits(self) -> BenchmarkCodeLimits:
        """Returns the measured limits of the benchmark's own code, such as its instructions per round."""
        return measured_benchmark_code_limits(self.benchmark.id)

    def known_instructions(self) -> float | None:
        """Returns the most instructions of the benchmark's own code in one round of its loop. None if the kernel has no
        known limit, or if a setting changes the code of the benchmark and the port."""
        return self._kernel_specific_limit(self.known_benchmark_code_limits.instructions)

    def known_benchmark_code_cycles(self) -> float | None:
        """Returns the most cycles of the benchmark's own code between two kernel calls or switches. None if the kernel
        has no known limit, or if a setting changes the code or its speed."""
        return (
            self._kernel_specific_limit(self.known_benchmark_code_limits.own_cycles)
            if self.is_instruction_speed_usual()
            else None
        )

    def count_executed_instructions(self, core: int) -> int:
        """Returns how many instructions of the benchmark's own code a core executed at least once in the measurement
        window."""
        own = self.observed.own if self.observed else ()
        return sum(part.instructions for function in own if function.core == core for part in function.stretches)

    def benchmark_code_instruction_limits(self, core: int) -> CodeLength | None:
        """Returns the fewest and the most instructions of the benchmark's own code that a core should execute. None if
        they were not measured for these settings, or if a second kernel runs on the other core."""
        if self.beside is not None or self.observed is None or not executes_measured_code(self.settings):
            return None
        return measured_benchmark_code_length(
            self.benchmark.id, self.code_length_key_of_core(core), self.observed.compiler
        )

    def code_length_key_of_core(self, core: int) -> str:
        """Returns the key of this run's code on a core in the table of code lengths."""
        is_latency = self.benchmark.kind == "latency"
        instrument = f"{self.decoded.params.get('instrument')} {self.samples} samples" if is_latency else ""
        return code_length_table_key(self.kernel.id, self.board.chip, core, len(self.cores), instrument)

    def is_instruction_speed_usual(self) -> bool:
        """Whether no setting of the run changes how long an instruction takes, such as clock or wait states."""
        return not any(key in _PACE_SETTINGS or key.startswith(_PACE_GROUPS) for key in self.settings)

    def _kernel_specific_limit(self, of_kernels: Mapping[str, float]) -> float | None:
        """Returns this kernel's limit from a table of limits per kernel. None if there is none, or if it does not hold
        for this run.

        It does not hold if a second kernel on the other core uses the bus and the cache, or for an image that was built
        elsewhere with unknown options.
        """
        known = self.known_benchmark_code_limits
        if self.beside is not None or self.observed is None or not self.observed.compiler:
            return None
        changes = {key for key in self.settings if key in _CODE_SETTINGS or key.startswith("param.")}
        if self.kernel.id not in of_kernels or changes - {f"param.{known.per}"}:
            return None
        return of_kernels[self.kernel.id] * (int(self.decoded.params[known.per]) if known.per else 1)

    def meets_condition(self, condition: Condition) -> bool:
        """Whether a condition of a proof, such as `cores > 1`, holds in this run. Raises CatalogueError for an unknown
        name."""
        name, sign, number = condition.split()
        tasks = int(any(task.handle for task in self.decoded.tasks))
        sliced = int(self.kernel.time_slice_ticks > 0)
        values: dict[str, int | str] = {
            **{service: int(service in self.benchmark.services) for service in self.kernel.services},
            "cores": len(self.cores),
            "tasks": tasks,
            "sliced": sliced,
            "timeout_adds_ticks": self.kernel.behaviour.timeout_adds_ticks,
            "timer_task": int(self.kernel.behaviour.timer_callback == "task"),
            "timer_restarts": int(self.kernel.behaviour.timer_restart == "function"),
            "tick_call": int("tick_now" in self.kernel.symbols),
            "heap_sleeps": int(len(self.cores) > 1 and self.kernel.behaviour.heap_lock == "sleeping"),
            "queue_sleeps": int(len(self.cores) > 1 and self.kernel.behaviour.queue_lock == "sleeping"),
            **{key: str(value) for key, value in self.benchmark.params.items() if key in SHOWN_IF_UNUSUAL},
            **{key: self.decoded.params[key] for key in self.benchmark.params if key in self.decoded.params},
        }
        value = values.get(name)
        if value is None:
            raise CatalogueError(
                f"A proof of {self.benchmark.id} asks for {name!r}, which is not a parameter of "
                "it; correct benchmark.toml."
            )
        return int(value) == int(number) if sign == "=" else int(value) > int(number)

    def count_collisions(self, core: int, service: str) -> int | None:
        """Returns how many calls of a service on a core found their object in use by another task or core. None without
        probes.

        In a kernel whose functions do not report them, these are the switches out of a call of `service` to a task not
        under test.
        """
        if self.observed is None or self.kernel.probes is None:
            return None
        if core in self.observed.waits:
            return self.observed.waits[core].failed
        tasks = {
            task.handle for task in self.decoded.tasks if task.core == core
        } - self.control_blocks_of_runner_tasks()
        return sum(
            count
            for switch, count in self.task_switch_counts_on_core(core).items()
            if switch.cause == service and switch.before in tasks and switch.after not in tasks
        )

    def addresses_of_called_kernel_objects(self, core: int, service: str) -> set[int]:
        """Returns the addresses of the objects (first arguments) with which a core called a kernel service in the
        window."""
        assert self.observed is not None
        return {value for where, name, value in self.observed.objects if (where, name) == (core, service)}

    @property
    def max_time_slices(self) -> int:
        """Returns the most switches in the window, among equal tasks of a core, that the kernel's time slicing may
        cause."""
        period = self.kernel.time_slice_ticks
        return (self.window_ticks + 1) // period if period else 0

    @property
    def window_ticks(self) -> int:
        """Returns the number of kernel ticks in the measurement window, by the firmware's time stamps of its two
        ends."""
        begin, (window, *_) = self.decoded.begin, self.decoded.windows
        return (window.close_ticks - window.open_ticks) * int(self.decoded.params["tick_hz"]) // begin.timer_hz

    def metric_count(self, core: int) -> int:
        """Returns the sum of those task counters on one core that make up the benchmark's result."""
        return sum(
            count.count_in_window
            for count in self.decoded.counts
            if count.core == core and self._does_counter_belong_to_result(count)
        )

    def event_tolerance(self, tolerance: int, cores: Collection[int], events_per_count: float) -> float:
        """Returns by how many events on these cores, such as kernel calls, the observed number may differ from the
        required one. `tolerance`: for each core.

        Counts may also be outside the window that the virtual board observes: the control task reads the counters of
        other cores than its own before the window opens and after it closes.
        """
        late = sum(self.metric_count(core) for core in cores if core != _CONTROL_CORE)
        late_counts = late * _COUNTER_READ_US // self.decoded.begin.window_us
        return tolerance * len(cores) + late_counts * events_per_count

    def task_counters_of_benchmark_result(self, core: int) -> dict[int, int]:
        """Returns those task counters on one core that make up the benchmark's result, by task index."""
        return {
            count.index: count.count_in_window
            for count in self.decoded.counts
            if count.core == core and self._does_counter_belong_to_result(count)
        }

    def _does_counter_belong_to_result(self, count: MeasurementWindowCounter) -> bool:
        """Whether a task's counter is part of the benchmark's result."""
        return count.index in self.benchmark.metric.tasks and self.benchmark.metric.does_benchmark_result_include_core(
            count.core
        )

    def task_handle(self, core: int, index: int) -> int | None:
        """Returns the address of a task's control block. None if it is unknown."""
        handles = [
            task.handle for task in self.decoded.tasks if (task.core, task.index) == (core, index) and task.handle
        ]
        return handles[0] if handles else None

    def ring_of_tasks(self) -> tuple[int, ...]:
        """Returns the indices of the tasks that take turns by the benchmark's proof `rotation`. Empty without one."""
        rings = [table for table in self.benchmark.proof if table["rule"] == "rotation"]
        applying = [ring for ring in rings if all(map(self.meets_condition, ring.get("when", ())))]
        return tuple(applying[0]["tasks"]) if applying else ()

    def tasks_in_round_robin_order(self, core: int, indices: Collection[int]) -> list[int | None]:
        """Returns the control blocks of equal tasks of a core, in the order in which they take turns.

        This is the order of the indices. If one tick may wake tasks of the kernel in any order, it is the order of most
        switches from the first task on, provided that all tasks take turns in it.
        """
        handles = [self.task_handle(core, index) for index in indices]
        if self.kernel.behaviour.same_tick_order == "slept" or self.observed is None:
            return handles
        turn = handles[:1]
        switches = self.task_switch_counts_on_core(core)
        while len(turn) < len(handles):
            after = {switch.after: count for switch, count in switches.items() if switch.before == turn[-1]}
            turn.append(max(after, key=lambda handle: after[handle], default=None))
        return turn if set(turn) == set(handles) else handles

    def control_blocks_of_runner_tasks(self) -> set[int]:
        """Returns the control blocks of the runner's tasks that are not under test, such as the one that opens the
        window."""
        return {task.handle for task in self.decoded.tasks if task.index >= self.benchmark.tasks_per_core}

    def task_switch_counts_on_core(self, core: int) -> Counter[TaskSwitch]:
        """Returns how often each context switch happened on one core, without switches into or out of a control
        task."""
        assert self.observed is not None
        controls = self.control_blocks_of_runner_tasks()
        return Counter(
            {
                switch: count
                for switch, count in self.observed.switches.items()
                if switch.core == core and not {switch.before, switch.after} & controls
            }
        )

    def switch_counts_by_task_and_core(self) -> defaultdict[int | None, Counter[int]]:
        """Returns how often each core switched to each task: the task's control block, then the core."""
        switches: defaultdict[int | None, Counter[int]] = defaultdict(Counter)
        for core in self.cores:
            for switch, count in self.task_switch_counts_on_core(core).items():
                switches[switch.after][core] += count
        return switches

    def board_slowdown_over_pico(self) -> float:
        """Returns how many times slower this board is than a Pico with -O2, on which the limits of code were measured.
        At least 1.

        It is measured by the image's calibration loop, which only counts.
        """
        loops = [
            ruler.repeats[-1] for ruler in self.decoded.rulers if ruler.name == "loop_100" and ruler.unit == "cycles"
        ]
        return max(1.0, max(loops, default=0) / LOOP_100_CYCLES)

    def benchmark_code_cycle_limit(self, cycles: float) -> int:
        """Returns the most cycles of the benchmark's own code between two kernel calls on this board. `cycles` is the
        limit with the fewest cores that the benchmark supports.

        The limit grows with the number of cores: cores that share a cache evict each other's lines and wait for each
        other's misses.
        """
        return int(cycles * self.board_slowdown_over_pico() * len(self.cores) / self.benchmark.min_cores)

    def benchmark_code_slowdown(self, core: int) -> float:
        """Returns how many times longer than usual an instruction of the benchmark's own code took on a core. At least
        1.

        If the kernel's code drives it out of the cache in each round, an instruction takes ten cycles or twenty.
        """
        own = self.observed.own if self.observed else ()
        parts = [part for function in own if function.core == core for part in function.stretches]
        executed = sum(part.instructions * part.executions for part in parts)
        return max(1.0, sum(part.cycles for part in parts) / max(executed, 1) / USUAL_PACE)

    @property
    def is_benchmark_code_length_limited(self) -> bool:
        """Whether another proof of the benchmark limits the instructions of its own code in a round."""
        bounds = [table for table in self.benchmark.proof if "instructions" in table]
        return any(all(map(self.meets_condition, table.get("when", ()))) for table in bounds)

    def firmware_self_check_values(self, core: int) -> dict[str, int]:
        """Returns the values of the firmware's self-checks on one core, by name."""
        return {check.name: check.value for check in self.decoded.checks if check.core == core}


def make_judged_proof_finding(
    rule: str, demands: str, problems: list[str], observations: list[str]
) -> BenchmarkProofFinding:
    """Returns the finding of a proof that was judged. The proof holds if there are no problems. `demands` says what the
    proof requires. `problems` and `observations` are sentences for the report."""
    verdict = ProofVerdict.FAILS if problems else ProofVerdict.HOLDS
    return BenchmarkProofFinding(rule=rule, demands=demands, saw="; ".join(problems or observations), verdict=verdict)


def make_unjudged_proof_finding(
    rule: str, demands: str, reason: str = "this target has no probes"
) -> BenchmarkProofFinding:
    """Returns the finding of a proof that could not be judged on this target, with the reason."""
    return BenchmarkProofFinding(rule=rule, demands=demands, saw=reason, verdict=ProofVerdict.UNSEEN)


def compare_event_count_with_required(
    where: str, counted: str, value: int, required: float, tolerance: float, extra: int = 0
) -> tuple[str, bool]:
    """Returns a sentence that compares a count of events with the required one, and whether they agree. Up to `extra`
    events more are accepted. A count of 0 never agrees."""
    more = f" and up to {extra} by time slices" if extra else ""
    sentence = f"{where}: {value} {counted}, {required:g} expected{more}"
    return sentence, value > 0 and -tolerance <= value - required <= tolerance + extra
