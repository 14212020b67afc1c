"""The strict form of `firmware/benchmarks/<id>/benchmark.toml`: what is measured and how it is proved."""

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from rtoslab.base import PlanError, StrictFileSchemaModel
from rtoslab.catalogue.kernel_facts import Kernel
from rtoslab.intake import parse_integer, quote_text


class BenchmarkMetric(StrictFileSchemaModel):
    """The table `metric` of benchmark.toml: what a benchmark counts, in which unit and on which cores."""

    id: str
    unit: str
    tasks: tuple[int, ...]
    """Indices of the tasks whose counters are added."""
    cores: tuple[int, ...] | None = None
    """Cores whose tasks count towards the result. None: all."""
    intervals: tuple[str, ...] = ()
    """Series of a latency benchmark that one count is made of: the same operation, for other instruments."""

    def does_benchmark_result_include_core(self, core: int) -> bool:
        """Whether the tasks of this core count towards the benchmark's result."""
        return self.cores is None or core in self.cores


RESULT_KINDS = ("counts", "latency")
"""The kinds of results that benchmarks give."""
EMPTY_SERIES = "instrument.empty"
"""The interval with nothing in it, which shows the cost of the instrument."""
SHOWN_IF_UNUSUAL: Final = frozenset({"pinned"})
"""Parameters that an image sends only where they are not as in benchmark.toml."""
TASK_LIMITS: Final = (2, 10)
"""The fewest and most tasks on a core that a parameter may ask for. The runner's names of tasks have one digit."""
_PARAMETER_MACRO: Final = "BENCH_PARAM_"
_ALL_TASKS: Final = "all"
_REPEATED: Final = "_each_task"
INSTRUMENTS = ("counter", "pin", "probe")
"""The instruments for latencies. firmware/instruments/ has their code."""


class LatencySeriesDescription(StrictFileSchemaModel):
    """The entry `[[series]]` of benchmark.toml: one interval that a latency benchmark samples, in cycles."""

    id: str
    """Dotted, stable, never reused: object, operation, outcome."""
    title: str
    starts: str
    """The event that starts it, in a reader's words. `ends` is the event that ends it."""
    ends: str
    instruments: tuple[str, ...] = ("counter", "pin", "probe")
    """The instruments that can measure it. Samples of others are no figure (the pin's own change, by the pin)."""
    overhead: str | None = None
    """Another series of the same benchmark that is part of this one and is subtracted in analyses."""
    rounds: int | str = 1
    """One interval lasts so many rounds, and analyses give the time of one. A name is a parameter's."""
    services: tuple[str, ...] = ()
    """Services it needs besides the benchmark's own. A kernel without them lacks only this series."""
    enters_handler: bool = False
    """The way to an interrupt's handler is inside, with the kernel's dispatcher where it has one."""
    stamped: Literal["asynchronous", "sender", "tick"] | None = None
    """What starts it: the event of the board's interrupt, and a timer tells the cycles since, or a message's sender on
    another core, which sends its reading of the counter, or the last tick before its end, and the tick's timer tells
    the cycles since. So no instrument is needed."""

    @model_validator(mode="after")
    def _require_counter_for_timestamped_series(self) -> "LatencySeriesDescription":
        """Raises ValueError for a series whose samples begin at a hardware timer's stamp, if not the counter alone
        measures it."""
        if self.stamped is not None and self.instruments != ("counter",):
            raise ValueError('a stamped series must have instruments = ["counter"]')
        return self


class ShownHandlersTable(StrictFileSchemaModel):
    """The table `handlers` of benchmark.toml: the kernel's exception handlers that are shown beside the counts."""

    show: Literal["tick", "switch"]
    """The tick's handler by the number of tasks it releases, or those that switch by pair of tasks."""


class PhaseSweepInterrupt(StrictFileSchemaModel):
    """The table `phase` of benchmark.toml: the interrupt of a phase sweep, and the place in the image that it watches.
    See `worst_case`.
    """

    interrupt: Literal["soft"]
    """The board's interrupt line that nothing else raises."""
    period: int
    """Tag of the mark at which a period of the background begins."""
    woken: int
    """Tag of the mark at which the task that the handler wakes executes first. An image without tasks has none."""
    given: int | None = None
    """Tag of the mark at which another task, which the handler wakes, is about to wake the task. If an image has it,
    the latency of the task counts from there."""


class ConfiguredStackSize(StrictFileSchemaModel):
    """The stack size of each task in a configuration that needs another one than `stack_bytes`.
    The last one that fits applies. A key that is left out fits every configuration.
    """

    cores: int | None = Field(default=None, ge=1)
    opt: str = Field(default="", pattern="^(-O[0123sg])?$")
    param: str = Field(default="", pattern="^([a-z_]+=[0-9]+)?$")
    """A value of a parameter, as in `events=2`."""
    bytes: int = Field(ge=1)


class Benchmark(StrictFileSchemaModel):
    """The content of `firmware/benchmarks/<id>/benchmark.toml`."""

    id: str
    title: str
    question: str
    paper: str = ""
    tasks_per_core: int
    """In benchmark.toml a number, or the macro of the parameter that gives it, such as `BENCH_PARAM_TASKS`."""
    task_parameter: str = ""
    """The parameter that gives the number of tasks. Empty: it is fixed."""
    stack_bytes: int
    stack: tuple[ConfiguredStackSize, ...] = ()
    priorities: int = 6
    """The number of different priorities that its tasks may have."""
    task_table: bool = False
    """Whether its tasks are a table in the image, which `rta.firmware` may rewrite."""
    min_cores: int = 1
    """The least number of cores for the roles of the test."""
    pair: bool = False
    """Whether its roles are those of two kernels, each in an image of its own on one core."""
    inside: str
    """The content of the measured loop, by design."""
    outside: str
    services: tuple[str, ...]
    kind: Literal["counts", "latency"] = "counts"
    """Its results: counts in a window, or samples of intervals."""
    metric: BenchmarkMetric = BenchmarkMetric(id="", unit="", tasks=())
    """The metric of counts."""
    window_ms: int = Field(default=0, ge=0)
    """For counts: the shortest window in which everything happens that its proofs need. A suite's shorter
    one is made so long. What the user asks for is not."""
    samples: int = 0
    """The samples of each series of a latency benchmark, unless asked for otherwise. `full_samples` in the paper's own
    run."""
    full_samples: int = 0
    samples_multiple: int = Field(default=1, ge=1)
    """The number of samples of each series must be a multiple of this number."""
    limit_ms: int = 10_000
    """The longest that taking the samples may last."""
    series: tuple[LatencySeriesDescription, ...] = ()
    """Of kind counts: intervals that only the virtual board observes, as many as there are in the window."""
    handlers: ShownHandlersTable | None = None
    """The handlers of a benchmark of kind counts whose tasks make the kernel do what is timed."""
    params: dict[str, int] = Field(default_factory=dict)
    picks: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Keyed by parameter: the service of the kernel that each of its values, counted from 0, stands for and needs."""
    phase: PhaseSweepInterrupt | None = None
    """The phase of a benchmark that can be swept."""
    proof: tuple[dict[str, Any], ...] = ()
    """One table per rule. Each rule checks its own keys, see `proofs`."""
    proof_templates: tuple[dict[str, Any], ...] = ()
    """With `task_parameter`: the tables of `proof` as in benchmark.toml, before they are written for each task."""

    @model_validator(mode="before")
    @classmethod
    def _read_task_parameter(cls, table: Any) -> Any:
        """Replaces the macro of the parameter that gives the number of tasks by the parameter's name and default."""
        macro = table.get("tasks_per_core") if isinstance(table, dict) else None
        if not isinstance(macro, str):
            return table
        name = macro.removeprefix(_PARAMETER_MACRO).lower()
        count = table.get("params", {}).get(name)
        if not macro.startswith(_PARAMETER_MACRO) or not isinstance(count, int):
            raise ValueError(f"tasks_per_core must be a number, or {_PARAMETER_MACRO} and the name of a parameter")
        if table.get("metric", {}).get("tasks") != _ALL_TASKS:
            raise ValueError(f'if a parameter gives the number of tasks, metric.tasks must be "{_ALL_TASKS}"')
        templates = tuple(table.get("proof", ()))
        return {
            **table,
            "tasks_per_core": count,
            "task_parameter": name,
            "metric": {**table["metric"], "tasks": tuple(range(count))},
            "proof": tuple(_expand_proof_table_for_each_task(item, count) for item in templates),
            "proof_templates": templates,
        }

    @model_validator(mode="after")
    def _require_keys_of_benchmark_kind(self) -> "Benchmark":
        """Raises ValueError for keys that do not belong to the benchmark's kind (counts or latency), or that this kind
        needs and that are missing."""
        probed = all(facts.instruments == ("probe",) for facts in self.series)
        if self.kind == "counts" and not (self.metric.id and probed):
            raise ValueError(
                'a benchmark of kind counts needs a [metric], and each [[series]] needs instruments = ["probe"]'
            )
        if self.kind == "latency" and (not self.series or self.samples < 1 or self.metric.id):
            raise ValueError("a benchmark of kind latency needs [[series]] and samples, and must not have a [metric]")
        names = [facts.id for facts in self.series]
        if len(set(names)) != len(names):
            raise ValueError("two [[series]] have the same id")
        if len({facts.stamped is None for facts in self.series}) > 1:
            raise ValueError("either all or none of the [[series]] may be stamped")
        return self

    def with_task_count_from_parameters(self, params: Mapping[str, str]) -> "Benchmark":
        """Returns the benchmark with as many tasks as its parameter says, and the proofs of these tasks.
        Without such a parameter, the benchmark itself. Raises PlanError for a number out of range.
        """
        if not self.task_parameter or self.task_parameter not in params:
            return self
        number = params[self.task_parameter]
        try:
            count = parse_integer(number, *TASK_LIMITS)
        except ValueError:
            raise PlanError(
                f"{self.id} has {TASK_LIMITS[0]} to {TASK_LIMITS[1]} tasks on each core, not {quote_text(number)}; "
                f"choose another param.{self.task_parameter}."
            ) from None
        metric = self.metric.model_copy(update={"tasks": tuple(range(count))})
        proof = tuple(_expand_proof_table_for_each_task(item, count) for item in self.proof_templates)
        return self.model_copy(update={"tasks_per_core": count, "metric": metric, "proof": proof})

    def restrict_to_kernel_services(self, kernel: Kernel) -> "Benchmark":
        """Returns the benchmark with only those series, services and proofs for which the kernel has the services."""
        series = tuple(
            _add_dispatcher_to_series_title(facts, kernel)
            for facts in self.series
            if not kernel.why_lacking_services(facts.services)
        )
        services = dict.fromkeys((*self.services, *(name for facts in series for name in facts.services)))
        absent = {facts.id for facts in self.series} - {facts.id for facts in series}
        proof = tuple(
            reduced for item in self.proof if (reduced := _remove_absent_series_from_proof(item, absent)) is not None
        )
        return self.model_copy(update={"series": series, "services": tuple(services), "proof": proof})

    def absent_series(self, kernel: Kernel) -> dict[LatencySeriesDescription, str]:
        """Returns the series (kinds of intervals) that cannot be measured with a kernel, each with the reason as a
        clause."""
        lacks = {facts: kernel.why_lacking_services(facts.services) for facts in self.series}
        return {reason: why for reason, why in lacks.items() if why is not None}

    def kernel_services_needed_by_benchmark(self, params: Mapping[str, str]) -> tuple[str, ...]:
        """Returns the kernel services that the benchmark needs with these parameters. Raises PlanError for an unknown
        value."""
        picked = []
        for name, services in self.picks.items():
            value = str(params.get(name, self.params[name]))
            try:
                picked.append(services[parse_integer(value, 0, len(services) - 1)])
            except ValueError:
                meanings = ", ".join(f"{number} ({service})" for number, service in enumerate(services))
                raise PlanError(f"{self.id} has no {name}={quote_text(value)}; choose one of {meanings}.") from None
        return (*self.services, *picked)

    @property
    def latency_series_ids(self) -> tuple[str, ...]:
        """Returns the ids of the measured series, in the image's numbering. Number 0 is the empty interval, which the
        runner adds."""
        return (EMPTY_SERIES, *(facts.id for facts in self.series))

    @property
    def usable_instruments(self) -> tuple[str, ...]:
        """Returns the instruments (counter, pin, probe) that can measure at least one of the benchmark's series."""
        return tuple(name for name in INSTRUMENTS if any(name in facts.instruments for facts in self.series))

    @property
    def does_interval_begin_at_timer_interrupt(self) -> bool:
        """Whether the benchmark's intervals begin at an interrupt of the board's asynchronous timer, which times
        them."""
        return any(facts.stamped == "asynchronous" for facts in self.series)

    @property
    def does_latency_begin_at_timer_tick(self) -> bool:
        """Whether the benchmark's intervals begin at a tick, whose timer times them."""
        return any(facts.stamped == "tick" for facts in self.series)

    @property
    def has_intervals_ending_on_other_core(self) -> bool:
        """Whether the benchmark's intervals begin on one core and end on another."""
        return any(facts.stamped == "sender" for facts in self.series)


def _expand_proof_table_for_each_task(proof: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Returns a proof's table for a number of tasks.

    `tasks = "all"` becomes the tasks' indices. A list whose key ends with `_each_task` is
    repeated for each task. In its texts `{task}` is the task's index and `{next}` that of the next one. After the last
    task comes task 0.
    """
    written: dict[str, Any] = {}
    for key, value in proof.items():
        if key.endswith(_REPEATED):
            repeated = [_proof_list_item_for_task(part, task, count) for task in range(count) for part in value]
            written[key.removesuffix(_REPEATED)] = repeated
        else:
            written[key] = list(range(count)) if (key, value) == ("tasks", _ALL_TASKS) else value
    return written


def _proof_list_item_for_task(part: Any, task: int, count: int) -> Any:
    """Returns an item of a proof's list for one task."""
    return part.format(task=task, next=(task + 1) % count) if isinstance(part, str) else part


def _add_dispatcher_to_series_title(series: LatencySeriesDescription, kernel: Kernel) -> LatencySeriesDescription:
    """Returns a series with the kernel's dispatcher in its title, if the kernel's code runs before the handler."""
    if not series.enters_handler or kernel.behaviour.handler_entry == "vector":
        return series
    return series.model_copy(update={"title": f"{series.title}, through the kernel's dispatcher"})


def _remove_absent_series_from_proof(proof: Mapping[str, Any], absent: Collection[str]) -> dict[str, Any] | None:
    """Returns a proof's table without the absent series. None if the proof concerns absent series only."""
    named = proof.get("series")
    if named is None:
        return dict(proof)
    if isinstance(named, str):
        return None if named in absent else dict(proof)
    left = [name for name in named if name not in absent]
    return {**proof, "series": left} if left else None
