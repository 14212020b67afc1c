"""A measured point: figures, findings, series of samples, and how they are stored in a file."""

from rtoslab.results.finding import BenchmarkProofFinding, ProofVerdict
from rtoslab.results.handler_series import (
    IDLE_TASK,
    context_switches_by_task_pair,
    sample_series_of_kernel_handlers,
    task_names,
    ticks_in_window,
)
from rtoslab.results.latency_series import (
    interval_readings_of_instrument,
    latency_series,
    measuring_instrument_of_image,
    observed_series_by_probe,
    series_facts,
)
from rtoslab.results.results import (
    AbsentSeries,
    BuildOnlyProgramSize,
    EmptyMeasurementRawValues,
    FailedMeasurement,
    FunctionCodeLocation,
    HeapUse,
    ImageBytes,
    MeasuredPoint,
    NotApplicableMeasurement,
    PointId,
    ResultFile,
    SeriesSamples,
    StackUse,
    TaskCount,
)
from rtoslab.results.sample_file import (
    COLUMNS,
    SAMPLES_FILE,
    decode_parquet_columns,
    encode_sample_file,
    join_latency_series_with_samples,
)
from rtoslab.results.virtual_result import (
    BlockingCallUse,
    CoreCycles,
    CriticalSectionUse,
    FunctionExecutionCycles,
    LockUse,
    SleepCyclesDuringLockWait,
    VirtualBoardObservations,
)
