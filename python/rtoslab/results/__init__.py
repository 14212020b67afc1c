"""A measured point: figures, findings, series of samples, and how they are stored in a file."""

from rtoslab.results.finding import ProofFinding, ProofVerdict
from rtoslab.results.handler_series import IDLE_TASK, handler_series_of, switches_by_pair, task_names, ticks_in_window
from rtoslab.results.latency_series import (
    instrument_of_image,
    instrument_readings,
    latency_series,
    observed_series_by_probe,
    series_facts,
)
from rtoslab.results.results import (
    AbsentSeries,
    EmptyMeasurementRepeats,
    FailedPoint,
    FunctionCodePlace,
    HeapUse,
    ImageBytes,
    MeasuredPoint,
    NotApplicable,
    PointId,
    ProgramWeight,
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
    join_series_with_samples,
)
from rtoslab.results.virtual_result import (
    BlockingCallUse,
    CoreCycles,
    CriticalSectionUse,
    FunctionUse,
    LockSleep,
    LockUse,
    VirtualObservations,
)
