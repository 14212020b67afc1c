"""The strict form of `firmware/kernels/<id>/kernel.toml`. Unknown keys are refused."""

from collections.abc import Iterable
from functools import reduce
from typing import Literal

from pydantic import Field, model_validator

from rtoslab.base import StrictFileSchemaModel
from rtoslab.catalogue.user_kernels import KernelExportRequirements, KernelTreeRequirements


class WatchedKernelSymbols(StrictFileSchemaModel):
    """The table `probes` of kernel.toml: the kernel's symbols that the virtual board watches.
    The image is not touched.
    """

    current_task_single: str
    """Word that points at the running task's control block, kernel built for one core: `symbol`, or `symbol+offset`
    with a number or an absolute symbol."""
    current_task_smp: str | tuple[str, ...] | None = None
    """The same word of a kernel built for several cores: that of core 0, or a list with the word of each core."""
    current_task_smp_stride_bytes: int = 4
    """From the word of one core to that of the next, if only core 0's is named."""
    no_task_value: int | tuple[int, ...] = ()
    """Values of the word while no task runs, as at every switch of some kernels."""
    named_before_switch: bool = False
    """The scheduler writes the word as it chooses, before the switch and perhaps several times: the last one counts."""
    tick_symbol: str | None = None
    tick_lines: dict[str, int] = Field(default_factory=dict)
    """Keyed by the `chip` of a board: the interrupt line that SysTick's handler requests, in which the kernel does the
    work of a tick. None where SysTick's handler does it."""
    switch_symbol: str | None = None
    select_symbol: str | None = None
    """The function that chooses the next task, called by the switch's handler."""
    top_priority_symbol: str | None = None
    """Word that holds the most urgent ready priority as a number, where the kernel searches down from it."""
    heap_symbol: str | None = None
    idle_symbols: tuple[str, ...] = ()
    idle_labels: tuple[tuple[str, str], ...] = ()
    """For a kernel without an idle task: it idles from the first label of a pair until it comes to the second. Each is
    `symbol` or `symbol+offset`."""
    idle_keeps_task: bool = False
    """While the kernel idles, its word still names the last task. The first label is the function in which it idles.
    The second is the place that it comes to after each choice of the next task."""

    @property
    def current_task_words(self) -> tuple[str, ...]:
        """Returns the expressions for the words that point at running tasks, of images for one core and for several."""
        smp = self.current_task_smp or ()
        return (self.current_task_single, *((smp,) if isinstance(smp, str) else smp))

    @property
    def values_that_mean_no_task(self) -> frozenset[int]:
        """Returns the values of the kernel's current-task variable that mean "no task"."""
        return frozenset([self.no_task_value] if isinstance(self.no_task_value, int) else self.no_task_value)


class PermittedKernelDifferences(StrictFileSchemaModel):
    """The table `behaviour` of kernel.toml: the differences between kernels that the contract permits.
    Conformance measures all but the last ten. The virtual board's probes report these.
    """

    ready_order: Literal["made_ready", "woken_first"] = "made_ready"
    """The place of a task that a task of another priority makes ready: after its equals, or before them."""
    wake_order: Literal["urgent", "first"] = "urgent"
    """Which of the tasks that wait for an object is woken: the most urgent, or that which has waited longest."""
    event_wait_returns: Literal["set", "matched"] = "set"
    """The result of a wait for bits: all that were set, or those it waited for."""
    sleep_adds_ticks: Literal[0, 1] = 0
    timeout_adds_ticks: Literal[0, 1] = 0
    sleep_until_late: Literal["returns", "restarts"] = "returns"
    """The effect of a sleep until a past tick, which returns at once: the period stays, or restarts from now."""
    heap_align_bytes: Literal[8, 4] = 8
    heap_lock: Literal["none", "spinning", "sleeping"] = "none"
    """The lock of the heap: only a masked core or scheduler, a spinlock, or a mutex."""
    queue_lock: Literal["none", "spinning", "sleeping"] = "none"
    """The lock of data that all queues of the image share, such as a table of descriptors."""
    lock_wait: Literal["spinning", "asleep"] = "spinning"
    """How a core waits for a lock of the kernel's that another core holds. Asleep, it looks idle."""
    handler_entry: Literal["vector", "kernel"] = "vector"
    """Whether a handler of ours is the vector itself, or called by code of the kernel's."""
    switch_exceptions: tuple[Literal["pendsv", "svcall", "systick", "hardfault"], ...] = ("pendsv",)
    """The exceptions in which the kernel switches tasks, or with `switch_mode` "thread", the exceptions with which it
    resumes a task that an interrupt has preempted."""
    switch_mode: Literal["handler", "thread"] = "handler"
    """Where the kernel exchanges the registers of two tasks: in an exception handler, or in a function that a task
    calls."""
    same_tick_order: Literal["slept", "any"] = "slept"
    """The order in which equal tasks of a core become ready that one tick wakes: that in which they began to sleep, or
    any."""
    interrupt_masking: Literal["core", "lines"] = "core"
    """How the kernel masks interrupts: by a register of the core, or by disabling their lines one by one."""
    timer_callback: Literal["task", "interrupt"] = "task"
    """What calls the functions of timers: a task of the kernel's, or the handler of the tick."""
    timer_restart: Literal["kernel", "function"] = "kernel"
    """What starts a periodic timer again: the kernel, or its function because timers of the kernel expire once."""
    float_context: Literal["when_used", "always"] = "when_used"
    """Which tasks have a floating-point context: those that have used the unit, or all."""


class WaitFunctions(StrictFileSchemaModel):
    """The kernel functions that run when a blocking call has to wait. They are counted, not watched."""

    collided: tuple[str, ...]
    """Once for each call that did not find its object free."""
    failed: tuple[str, ...]
    """Once for each attempt that failed: a call may try several times before it blocks or succeeds."""
    blocked: tuple[str, ...] = ()
    """Once for each time the task was put into the object's list of waiting tasks."""


class CriticalNestingCounter(StrictFileSchemaModel):
    """The kernel's variable that counts how deep critical sections are nested."""

    nesting: tuple[str, ...]
    """Words that hold the depth, an array of one a core where it runs on several. Of the names an image has one."""
    stride_bytes: int = 4


class MulticoreKernelFacts(StrictFileSchemaModel):
    """The facts of a kernel that are different on several cores."""

    ask: tuple[str, ...] = ()
    """Functions by which the port asks on which core it runs. None where it reads a register."""
    interrupt: tuple[str, ...] = ()
    """Functions that interrupt one other core, once a call."""
    ticks: Literal["one", "each"] = "one"
    """The cores whose SysTick makes the kernel's ticks: one core's for all, or each core's for its own tasks."""
    inline_wait: int = 0
    """Instructions of the loop that waits for the kernel's lock, if the kernel's headers expand it in the caller."""
    lines: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    """Keyed by the `chip` of a board: of each core, the interrupt line by which the kernel's other cores interrupt it.
    """


class ArchitectureDifferences(StrictFileSchemaModel):
    """The facts of kernel.toml that are different in a kernel's port for one architecture."""

    symbols: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class TaskControlBlockMembers(StrictFileSchemaModel):
    """The members of a kernel's task control block that a debugger reads, named as in the kernel's sources."""

    type: str
    name: str
    """The task's name: an array of characters, or a pointer to them."""
    stack: str
    """The stack's lowest address."""
    stack_pointer: str
    """While the task does not run: where its context lies."""
    bytes: str | None = None
    """The stack's size, where the block keeps it. Else the next one, or the last two."""
    words: str | None = None
    """The stack's size in words of four bytes."""
    priority: str | None = None
    """The priority the task has now, in the kernel's own numbers. `urgent_first`: the lowest is the most urgent."""
    number: str | None = None
    """The member with a task's identity in calls, if that is neither its control block nor its priority."""
    urgent_first: bool = False
    top_call: str | None = None
    """A function that is called for each new task with the stack's upper end as its first argument."""
    top_offset_bytes: int = 0
    """From that argument to the stack's true end."""


class HeapFreeList(StrictFileSchemaModel):
    """The list of a heap's free pieces, in the order of their addresses. Its last member is no memory."""

    head: str
    """The variable that the list begins with."""
    type: str
    """The structure at the begin of each piece, and of the head."""
    next: str
    """Its member that points at the next piece."""
    mask: str = ""
    """A variable that these pointers are combined with by exclusive or, where the image has it."""


class HeapBlockChain(StrictFileSchemaModel):
    """The chain of all blocks of a heap, used and free, in the order of their addresses. The last one is no memory."""

    first: str
    """The variable that points at the first block."""
    last: str
    """The variable that points at the last one."""
    type: str
    """The structure at the begin of each block."""
    next: str
    """Its member that says how far the next block is from the first one."""
    used: str
    """Its member that is 0 in a free block."""


class KernelMemory(StrictFileSchemaModel):
    """The memory that a kernel allocates at run time, and where it comes from."""

    pool_symbol: str
    """The memory it takes from: its heap, or an array of the port's that stands for one."""
    pool_free_symbol: str | None = None
    """Word that holds the least ever free. Or the next one."""
    pool_used_symbol: str | None = None
    """Word that holds what is taken."""
    task_block: TaskControlBlockMembers | None = None
    free_list: HeapFreeList | None = None
    """How the heap's free pieces are found. Or the next one."""
    block_chain: HeapBlockChain | None = None


class KernelObjectMembers(StrictFileSchemaModel):
    """The members of a kernel's object structure (such as a semaphore), named as in its sources, for proofs."""

    type: str
    members: dict[str, str]
    """What benchmarks' proofs call it (`length`, `item_bytes`, `maximum`, `used`, `bits`) -> the member. One of a
    structure inside is `outer.inner`."""
    nonzero: tuple[str, ...] = ()
    """Members that are zero in objects of another kind with the same structure: in FreeRTOS a mutex has no head."""


Argument = str | int
"""What R0 or R1 holds as a function begins: a word for what a proof names, or a number that it must be."""


class EarlierVersion(StrictFileSchemaModel):
    """The names that earlier versions of a kernel lack, and their replacements.
    Whether a tree has it is read in the tree: what headers say of their version has been wrong.
    """

    name: str
    """A function, macro or structure. What C needs in its place is for the port to say."""
    since: str
    """The version that it came with."""
    lacks: tuple[str, ...] = ()
    """Services that need it."""
    symbols: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    arguments: dict[str, tuple[Argument, ...]] = Field(default_factory=dict)
    further_arguments: dict[str, tuple[Argument, ...]] = Field(default_factory=dict)
    silent: tuple[str, ...] = ()
    """Services whose function gives nothing back yet: none of `[results]`."""
    objects: dict[str, KernelObjectMembers] = Field(default_factory=dict)
    waits: WaitFunctions | None = None
    behaviour: dict[str, int | str | tuple[str, ...]] = Field(default_factory=dict)
    """Facts of `[behaviour]`."""
    probes: dict[str, str] = Field(default_factory=dict)
    """Symbols of `[probes]`."""
    memory: dict[str, str] = Field(default_factory=dict)
    """Symbols of `[memory]`."""
    task_block: dict[str, str] = Field(default_factory=dict)
    """Members of `[memory.task_block]`."""


class OptionalServiceFacts(StrictFileSchemaModel):
    """The content of `services/<service>/service.toml` of a port: its facts about an optional service."""

    symbols: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    completes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    arguments: dict[str, tuple[Argument, ...]] = Field(default_factory=dict)
    further_arguments: dict[str, tuple[Argument, ...]] = Field(default_factory=dict)
    results: dict[str, int] = Field(default_factory=dict)
    behaviour: dict[str, int | str] = Field(default_factory=dict)
    """Facts of `[behaviour]`."""


class Kernel(StrictFileSchemaModel):
    """The content of `firmware/kernels/<id>/kernel.toml`."""

    id: str
    title: str
    version: str = ""
    """Empty: what the tree says that its user names."""
    package: str = ""
    package_folder: str = ""
    licence: str = ""
    smp: bool
    owns_start: bool = False
    """Reset, vectors, faults and linker script are the kernel's, which calls ours when it is up."""
    turns_on: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Core -> features of a board that the kernel's own start-up turns on, whatever a configuration says."""
    sets: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Chip -> settings that the kernel's own start-up makes otherwise than the board's, by `board_state`'s names."""
    float_code: tuple[str, ...] = ()
    """Cores on which code of the kernel's own uses the floating-point unit, be it for moves: a task that has called it,
    or a handler of the kernel's, then has a floating-point context."""
    time_slice_ticks: int = 0
    """Ticks after which a task goes after its equals, where that cannot be switched off. 0: never."""
    static_bytes: int = Field(default=0, ge=0)
    """RAM that the kernel takes beside its heap: control blocks, stacks of its own; part of the board's budget."""
    services: dict[str, bool]
    reasons: dict[str, str] = Field(default_factory=dict)
    """Why a service (or `smp`) is lacking, in a reader's words."""
    behaviour: PermittedKernelDifferences = Field(default_factory=PermittedKernelDifferences)
    deviations: dict[str, str] = Field(default_factory=dict)
    """Conformance checks that the kernel is known to fail -> why. Its numbers count, and are marked."""
    probes: WatchedKernelSymbols | None = None
    memory: KernelMemory | None = None
    tree: KernelTreeRequirements | None = None
    """By what its parts are known in a tree that the user names. None: it is built from no tree."""
    export: KernelExportRequirements | None = None
    """For a kernel that is linked from exports of its user's own build."""
    earlier: tuple[EarlierVersion, ...] = ()
    """Differences of versions older than the one that the port was written for."""
    symbols: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The kernel functions that each service ends in."""
    completes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """A function that an application must call behind others -> those: the two calls are one service."""
    arguments: dict[str, tuple[Argument, ...]] = Field(default_factory=dict)
    """The arguments of the function that a service ends in: what R0 and R1 hold; see `proofs.course`. Not named: its
    object in R0."""
    further_arguments: dict[str, tuple[Argument, ...]] = Field(default_factory=dict)
    """What R2, R3 and the two words at the stack pointer hold as that function begins: a number that it must be, or
    `any`."""
    results: dict[str, int] = Field(default_factory=dict)
    """The result of that function on success. Services that cannot fail or do not report are not named."""
    objects: dict[str, KernelObjectMembers] = Field(default_factory=dict)
    """Keyed by kind, the first word of the names of its services."""
    waits: WaitFunctions | None = None
    critical: CriticalNestingCounter | None = None
    several_cores: MulticoreKernelFacts = Field(default_factory=MulticoreKernelFacts)
    cpus: dict[str, ArchitectureDifferences] = Field(default_factory=dict)
    """Keyed by the `cpu` of a board."""
    classes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Classes of functions by prefix. The first that fits counts."""
    parity: dict[str, str] = Field(default_factory=dict)
    """What makes a comparison unfair if it differs (`parity.concepts`): the macro that says it, or `=` and what is so
    whatever is configured."""
    locks: dict[int, str] = Field(default_factory=dict)
    """Hardware spinlocks by number."""

    @model_validator(mode="after")
    def _require_current_task_variable(self) -> "Kernel":
        """Raises ValueError for a kernel with tasks that does not say which word in memory names the running one."""
        if self.services.get("tasks") and self.probes is None:
            raise ValueError("a kernel with tasks must state under [probes] which word contains the running task")
        return self

    @property
    def is_lowest_number_most_urgent(self) -> bool:
        """Whether the kernel's lowest number is the most urgent priority."""
        return bool(self.memory and self.memory.task_block and self.memory.task_block.urgent_first)

    @property
    def why_masking_not_observed(self) -> str | None:
        """Returns why nobody sees how long the kernel masks interrupts, as a clause. None if the virtual board does."""
        if self.behaviour.interrupt_masking == "core":
            return None
        return f"{self.title} masks interrupts by disabling their lines, which is not observed"

    def why_service_lacking(self, service: str) -> str:
        """Returns why the kernel lacks a service (or `smp`), as a clause."""
        return self.reasons.get(service, "its kernel.toml says so")

    def why_lacking_services(self, services: Iterable[str]) -> str | None:
        """Returns why the kernel cannot offer all of these services, as a clause. None if it offers them."""
        for service in services:
            if not self.services.get(service, False):
                return f"{self.title} has no {service} service: {self.why_service_lacking(service)}"
        return None

    def find_declared_kernel_toml_value(self, name: str) -> str | None:
        """Returns the declared value of a service or of a key of `[behaviour]`, as a word. None if there is none."""
        if name in self.services:
            return str(self.services[name]).lower()
        value = getattr(self.behaviour, name, None) if name in PermittedKernelDifferences.model_fields else None
        return None if value is None else str(value)

    def arguments_of_observed_call(self, service: str) -> tuple[Argument, ...]:
        """Returns the meanings of the two observed arguments of a service's call: the first and the last that
        kernel.toml names."""
        words = self.arguments.get(service, ("object",))
        return words if len(words) <= 2 else (words[0], words[-1])

    def is_third_argument_recorded(self, function: str) -> bool:
        """Whether the third argument of a kernel function is observed in place of the second."""
        services = (service for service, names in self.symbols.items() if function in names)
        return any(len(self.arguments.get(service, ())) > 2 for service in services)

    def index_of_service_call_argument(self, service: str, word: str) -> int:
        """Returns the index (0 or 1) of the observed argument with this meaning, such as `bytes`. 0 if none has it."""
        words = self.arguments_of_observed_call(service)
        return words.index(word) if word in words else 0

    def mark_services_as_missing(self, services: Iterable[str]) -> "Kernel":
        """Returns the kernel's facts with these services marked as lacking."""
        return self.model_copy(update={"services": {**self.services, **dict.fromkeys(services, False)}})

    def add_optional_service_facts(self, facts: OptionalServiceFacts) -> "Kernel":
        """Returns the kernel's facts, completed by those about an optional service. Raises ValidationError."""
        behaviour = {**self.behaviour.model_dump(exclude_unset=True), **facts.behaviour}
        return self.model_copy(
            update={
                "symbols": {**self.symbols, **facts.symbols},
                "completes": {**self.completes, **facts.completes},
                "arguments": {**self.arguments, **facts.arguments},
                "further_arguments": {**self.further_arguments, **facts.further_arguments},
                "results": {**self.results, **facts.results},
                "behaviour": PermittedKernelDifferences.model_validate(behaviour),
            }
        )

    def kernel_facts_of_earlier_version(self, absent: Iterable[str]) -> "Kernel":
        """Returns the facts of an earlier version of the kernel, which lacks these names of `[[earlier]]`."""
        return reduce(
            _apply_earlier_kernel_version_changes, (earlier for earlier in self.earlier if earlier.name in absent), self
        )

    @property
    def needs_source_tree(self) -> bool:
        """Whether the kernel can be built only from a source tree that its user names."""
        return self.tree is not None and not self.package

    def reasons_by_missing_kernel_service(self) -> dict[str, str]:
        """Returns the services that the kernel lacks, each with the reason. `smp` is among them if it runs on one core
        only."""
        reasons = {
            service: self.why_service_lacking(service) for service, offered in self.services.items() if not offered
        }
        return reasons if self.smp else {**reasons, "smp": self.why_service_lacking("smp")}

    def kernel_facts_for_architecture(self, cpu: str) -> "Kernel":
        """Returns the kernel's facts for one architecture, such as `armv7m`."""
        differences = self.cpus.get(cpu, ArchitectureDifferences())
        return self.model_copy(update={"symbols": {**self.symbols, **differences.symbols}})


def _apply_earlier_kernel_version_changes(kernel: Kernel, change: EarlierVersion) -> Kernel:
    """Returns the facts of an earlier version of the kernel, without what the `[[earlier]]` table says it lacks."""
    why = f"it needs {change.name}, which exists since {kernel.title} {change.since}"
    update = {
        "reasons": {**kernel.reasons, **dict.fromkeys(change.lacks, why)},
        "symbols": {**kernel.symbols, **change.symbols},
        "arguments": {**kernel.arguments, **change.arguments},
        "further_arguments": {**kernel.further_arguments, **change.further_arguments},
        "results": {service: value for service, value in kernel.results.items() if service not in change.silent},
        "objects": {**kernel.objects, **change.objects},
        "waits": change.waits or kernel.waits,
        "behaviour": PermittedKernelDifferences.model_validate({**kernel.behaviour.model_dump(), **change.behaviour}),
        "probes": kernel.probes
        and WatchedKernelSymbols.model_validate({**kernel.probes.model_dump(), **change.probes}),
        "memory": kernel.memory and _kernel_memory_facts_of_earlier_version(kernel.memory, change),
    }
    return kernel.mark_services_as_missing(change.lacks).model_copy(update=update)


def _kernel_memory_facts_of_earlier_version(memory: KernelMemory, change: EarlierVersion) -> KernelMemory:
    """Returns the facts about memory for an earlier version of the kernel."""
    block = memory.task_block and {**memory.task_block.model_dump(), **change.task_block}
    return KernelMemory.model_validate({**memory.model_dump(), **change.memory, "task_block": block})
