"""A measured point: figures, findings, series of samples, and how they are stored in a file."""

from rtoslab.results.finding import ProofFinding, ProofVerdict
from rtoslab.results.handler_series import IDLE_TASK, handler_series_of, switches_by_pair, task_names, ticks_of_window
from rtoslab.results.latency_series import (
    image_instrument,
    instrument_readings,
    latency_series,
    series_by_probe,
    series_facts,
)
from rtoslab.results.results import (
    AbsentSeries,
    CodePlace,
    FailedPoint,
    HeapUse,
    ImageBytes,
    MeasuredPoint,
    NotApplicable,
    PointId,
    ProgramWeight,
    ResultFile,
    RulerRepeats,
    SeriesSamples,
    StackUse,
    TaskCount,
)
from rtoslab.results.sample_file import COLUMNS, SAMPLES_FILE, decode_columns, encode_samples, join_samples
from rtoslab.results.virtual_result import (
    BlockingCallUse,
    CoreCycles,
    CriticalUse,
    FunctionUse,
    LockSleep,
    LockUse,
    VirtualObservations,
)
