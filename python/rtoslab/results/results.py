"""The outcome of a point: measured, failed or n/a. Only `MeasuredPoint` has numbers, and it cannot hold a failed proof.

It prevents a number that is reported although a check failed. `MeasuredPoint` refuses at construction, so no later
stage can meet an unverified number."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rtoslab.base import StrictFileSchemaModel
from rtoslab.results.column import Samples
from rtoslab.results.finding import BenchmarkProofFinding, ProofVerdict
from rtoslab.results.stored_model import StoredResultModel
from rtoslab.results.virtual_result import VirtualBoardObservations

FORMAT = 1


class PointId(StoredResultModel):
    """The identity of a point (one measurement): benchmark, kernel, board, cores, window and configuration."""

    benchmark: str
    title: str
    kernel: str
    board: str
    cores: int
    window_ms: int
    config: dict[str, str]
    """Everything the user changed: kernel configuration, parameters, `opt`, `code`, timing."""


class TaskCount(StoredResultModel):
    """The final count of one task over the window."""

    core: int
    index: int
    count: int


class HeapUse(StoredResultModel):
    """The use of the kernel's heap at the end of a run."""

    size_bytes: int
    peak_bytes: int
    allocations: int | None = None
    """None if the kernel does not count them."""


class StackUse(StoredResultModel):
    """The use of one task's stack at the end of a run."""

    core: int
    index: int
    name: str
    used_bytes: int
    size_bytes: int


class ImageBytes(StoredResultModel):
    """The size of the image, as `arm-none-eabi-size` counts it. Its text includes the constants."""

    text_bytes: int
    data_bytes: int
    bss_bytes: int


class BuildOnlyProgramSize(StoredResultModel):
    """The size of a program that is built and never run, such as a kernel's minimal image."""

    run_id: str
    """The run id of its manifest."""
    point: PointId
    clock_hz: int
    image: ImageBytes


class EmptyMeasurementRawValues(StoredResultModel):
    """The raw repeats of an empty measurement, which show the instrument's overhead."""

    name: str
    core: int
    unit: str
    repeats: tuple[int, ...]


class FunctionCodeLocation(StoredResultModel):
    """The digest and the address of one function's code in an image."""

    digest: str
    """The digest of its instructions, whatever the place: `images.code_digests`."""
    address: int


class SeriesSamples(StoredResultModel):
    """One series of a latency benchmark: raw samples in the order they were taken, in cycles of the core's clock.

    The columns are of equal length, or empty where the target could not tell. On disk they are in samples.parquet.
    """

    id: str
    title: str
    instrument: str
    comparable: bool
    """False where this instrument cannot measure this operation. Its samples are kept, but are no figure of it."""
    overhead: str | None = None
    """Another series that is part of this one and is subtracted in analyses."""
    rounds: int = 1
    """Rounds in an interval. Analyses divide by it."""
    stamped: bool = False
    """Whether a hardware timer stamps the samples, from its own event on: nothing of the instrument is in them."""
    cycles: Samples
    """The instrument's readings, with its own cost (series instrument.empty)."""
    mark_cycles: Samples = ()
    """The same intervals, in the same image, between the marks: no instrument inside."""
    start_cycle: Samples = ()
    """The cycle since reset at which each began."""
    switches: Samples = ()
    """Context switches inside. The next two count entries of the tick's exception and of interrupt lines."""
    ticks: Samples = ()
    interrupts: Samples = ()
    steps: int | None = None
    """For a switch: the number of priorities that the kernel's search went down, the same in every sample. None: it
    does not search."""


class AbsentSeries(StoredResultModel):
    """A series of a latency benchmark that the kernel cannot serve, with the reason."""

    id: str
    title: str
    reason: str


class MeasuredPoint(StoredResultModel):
    """A measured point without a failed proof. Window and clock are those the firmware reported."""

    status: Literal["measured"] = "measured"
    format: Literal[1] = 1
    run_id: str
    point: PointId
    metric: str
    unit: str
    metric_tasks: tuple[int, ...]
    metric_cores: tuple[int, ...]
    """Cores whose tasks count towards the result."""
    clock_hz: int
    window_ticks: int
    timer_hz: int
    counters: tuple[TaskCount, ...]
    heap: HeapUse | None
    stacks: tuple[StackUse, ...]
    image: ImageBytes | None = None
    code: dict[str, FunctionCodeLocation] = Field(default_factory=dict)
    """The functions that were executed in the window and that the image has once. Empty where nothing observed them."""
    state: dict[str, str | int] = Field(default_factory=dict)
    """Point state: what changes cycles of the same code, as the window opened. Caches, wait states, prefetch, clocks,
    MPU, contexts of the FPU, pieces of the heap, urgencies of interrupts. Empty of points that were stored before it
    was read."""
    rulers: tuple[EmptyMeasurementRawValues, ...]
    checks: dict[str, dict[int, int]]
    params: dict[str, str]
    proofs: tuple[BenchmarkProofFinding, ...]
    virtual: VirtualBoardObservations | None
    deviations: dict[str, str] = Field(default_factory=dict)
    """The conformance checks that the kernel fails as its kernel.toml declares, with the observation and the reason."""
    series: tuple[SeriesSamples, ...] = ()
    """The series of a latency benchmark. `counters` then mean nothing."""
    absent_series: tuple[AbsentSeries, ...] = ()
    """The series that are n/a on this kernel."""

    @model_validator(mode="after")
    def _require_successful_proofs(self) -> "MeasuredPoint":
        """Raises ValueError if a proof failed, or if the result has no proof that applies."""
        if not self.proofs or any(proof.verdict is ProofVerdict.FAILS for proof in self.proofs):
            raise ValueError("a measured point needs proofs, and all must hold")
        if all(proof.verdict is ProofVerdict.UNSEEN for proof in self.proofs):
            raise ValueError("a measured point needs at least one proof that applies")
        return self

    @property
    def successful_proof_count(self) -> int:
        """Returns the number of proofs that hold. Proofs that could not be judged do not count."""
        return sum(proof.verdict is ProofVerdict.HOLDS for proof in self.proofs)

    @property
    def has_latency_samples(self) -> bool:
        """Whether the point has samples of intervals, and not counts in a window."""
        return bool(self.series)

    @property
    def instrument(self) -> str:
        """Returns the instrument of the point's samples: `counter`, `pin` or `probe`. Empty for counts."""
        return self.series[0].instrument if self.series else ""

    @property
    def window_s(self) -> float:
        """Returns the length of the measurement window in seconds."""
        return self.window_ticks / self.timer_hz


class FailedMeasurement(StoredResultModel):
    """A point that was run and has no figure, with the stage and the reason of the failure."""

    status: Literal["failed"] = "failed"
    format: Literal[1] = 1
    run_id: str
    point: PointId
    stage: Literal["build", "conformance", "run", "decode", "proof", "store"]
    """`store`: the stored files were altered. Such a result is made at reading and never written."""
    error: str
    message: str
    proofs: tuple[BenchmarkProofFinding, ...] = ()


class NotApplicableMeasurement(StoredResultModel):
    """A point that cannot be measured, with the reason."""

    status: Literal["n/a"] = "n/a"
    format: Literal[1] = 1
    run_id: str
    point: PointId
    reason: str


Result = Annotated[MeasuredPoint | FailedMeasurement | NotApplicableMeasurement, Field(discriminator="status")]


class ResultFile(StrictFileSchemaModel):
    """The content of a stored result of any kind: measured, failed or not applicable."""

    result: Result
