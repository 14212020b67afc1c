"""A measured point: figures, findings, series of samples, and how they are stored in a file."""

from rtoslab.results.finding import Finding, Verdict
from rtoslab.results.handler_series import IDLE_TASK, handler_series_of, switches, task_names, ticks
from rtoslab.results.latency_series import instrument_of, readings, series_facts, series_of
from rtoslab.results.results import (
    AbsentSeries,
    CodePlace,
    Counter,
    Failed,
    HeapUse,
    ImageBytes,
    MeasuredPoint,
    NotApplicable,
    PointId,
    ResultFile,
    RulerRepeats,
    SeriesSamples,
    StackUse,
    Weight,
)
from rtoslab.results.sample_file import COLUMNS, SAMPLES_FILE, join, read_columns, write_samples
from rtoslab.results.virtual_result import CoreCycles, CriticalUse, FunctionUse, LockSleep, LockUse, Virtual, Waits
