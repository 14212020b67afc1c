"""Turns a decoded and proved run into the stored point, from the firmware's report and the board's observations."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rtoslab.catalogue import Benchmark, Catalogue, Kernel
from rtoslab.images import berkeley_sizes, function_code_digests, read_elf_sections
from rtoslab.records import DecodedRun
from rtoslab.results import (
    AbsentSeries,
    BenchmarkProofFinding,
    BlockingCallUse,
    CoreCycles,
    CriticalSectionUse,
    EmptyMeasurementRawValues,
    FailedMeasurement,
    FunctionCodeLocation,
    FunctionExecutionCycles,
    HeapUse,
    ImageBytes,
    LockUse,
    MeasuredPoint,
    PointId,
    SeriesSamples,
    SleepCyclesDuringLockWait,
    StackUse,
    TaskCount,
    VirtualBoardObservations,
    latency_series,
    observed_series_by_probe,
    sample_series_of_kernel_handlers,
)
from rtoslab.store import EVIDENCE_FILE, UART, add_digests_to_point_files, encode_board_observations
from rtoslab.targets import IDLE, FunctionCycles, MeasurementWindowObservations, RunOutput


def make_measured_point(
    catalogue: Catalogue,
    identity: PointId,
    run_id: str,
    decoded: DecodedRun,
    output: RunOutput,
    proofs: tuple[BenchmarkProofFinding, ...],
) -> MeasuredPoint:
    """Returns the measured point as it is stored, from the decoded run and the observations. `proofs` must all hold."""
    kernel = catalogue.find_kernel(identity.kernel).facts
    whole = catalogue.find_benchmark(identity.benchmark).facts.with_task_count_from_parameters(decoded.params)
    benchmark = whole.restrict_to_kernel_services(kernel)
    window = decoded.windows[0]
    names = {(task.core, task.index): task.name for task in decoded.tasks}
    checks: dict[str, dict[int, int]] = {}
    for check in decoded.checks:
        checks.setdefault(check.name, {})[check.core] = check.value
    heap = decoded.heap
    return MeasuredPoint(
        run_id=run_id,
        point=identity,
        metric=benchmark.metric.id or benchmark.id,
        unit=benchmark.metric.unit or "cycles",
        metric_tasks=benchmark.metric.tasks,
        metric_cores=tuple(
            core for core in range(identity.cores) if benchmark.metric.does_benchmark_result_include_core(core)
        ),
        clock_hz=decoded.begin.clock_hz,
        window_ticks=window.close_ticks - window.open_ticks,
        timer_hz=decoded.begin.timer_hz,
        counters=tuple(
            TaskCount(core=count.core, index=count.index, count=count.count_in_window) for count in decoded.counts
        ),
        heap=HeapUse(size_bytes=heap.size_bytes, peak_bytes=heap.peak_bytes, allocations=heap.allocations)
        if heap
        else None,
        stacks=tuple(
            StackUse(
                core=stack.core,
                index=stack.index,
                name=names.get((stack.core, stack.index), "?"),
                used_bytes=stack.used_bytes,
                size_bytes=stack.size_bytes,
            )
            for stack in decoded.stacks
        ),
        rulers=tuple(
            EmptyMeasurementRawValues(name=ruler.name, core=ruler.core, unit=ruler.unit, repeats=ruler.repeats)
            for ruler in decoded.rulers
        ),
        checks=checks,
        params=decoded.params,
        proofs=proofs,
        virtual=_virtual_board_observations(output, kernel),
        state=dict(output.observed.state) if output.observed else {},
        series=_sample_series_of_measurement(benchmark, decoded, output.observed),
        absent_series=tuple(
            AbsentSeries(id=item.id, title=item.title, reason=why) for item, why in whole.absent_series(kernel).items()
        ),
    )


def _sample_series_of_measurement(
    benchmark: Benchmark, decoded: DecodedRun, observed: MeasurementWindowObservations | None
) -> tuple[SeriesSamples, ...]:
    """Returns the series of samples of a point: of a latency benchmark's intervals, or of the kernel's handlers."""
    if benchmark.kind == "latency":
        return latency_series(benchmark, decoded, observed)
    if benchmark.series:
        return observed_series_by_probe(benchmark, observed)
    handled = observed.handled if observed else None
    return sample_series_of_kernel_handlers(handled, decoded, benchmark) if benchmark.handlers and handled else ()


def _virtual_board_observations(output: RunOutput, kernel: Kernel) -> VirtualBoardObservations | None:
    """Returns the virtual board's observations as they are stored. None for a real board."""
    if output.stats is None or output.observed is None:
        return None
    return VirtualBoardObservations(
        cores=tuple(
            CoreCycles.model_validate({"core": core, **stats}) for core, stats in enumerate(output.stats["cores"])
        ),
        locks=tuple(
            LockUse.model_validate({"name": kernel.locks.get(lock["lock"], f"spinlock {lock['lock']}"), **lock})
            for lock in output.stats["locks"]
        ),
        functions=tuple(map(_function_cycles_for_storage, output.functions)),
        waits=tuple(BlockingCallUse(core=core, **asdict(item)) for core, item in sorted(output.observed.waits.items())),
        lock_sleeps=cycles_slept_for_kernel_lock(output.stats["cores"], output.functions, kernel),
        critical=tuple(
            CriticalSectionUse(core=core, **asdict(item)) for core, item in sorted(output.observed.critical.items())
        ),
        event_count=output.observed.event_count,
        event_digest=output.observed.event_digest,
        warnings=output.warnings,
    )


def cycles_slept_for_kernel_lock(
    cores: Sequence[Mapping[str, Any]], functions: Sequence[FunctionCycles], kernel: Kernel
) -> tuple[SleepCyclesDuringLockWait, ...]:
    """Returns the cycles that each core slept while it waited for the kernel's lock. Cores that idled are left out,
    because they may have slept for that reason. Empty for one core."""
    if kernel.behaviour.lock_wait != "asleep" or len(cores) < 2:
        return ()
    kinds = {core: {function.kind for function in functions if function.core == core} for core in range(len(cores))}
    return tuple(
        SleepCyclesDuringLockWait(core=core, cycles=stats["sleep_cycles"])
        for core, stats in enumerate(cores)
        if kinds[core] and IDLE not in kinds[core]
    )


def point_folder_files(
    folder: str,
    result: MeasuredPoint | FailedMeasurement,
    manifest: Mapping[str, object],
    output: RunOutput,
    elf: Path,
    files: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Returns the files of a measured or failed point's folder, with their seal. `files` are further ones to add."""
    if isinstance(result, MeasuredPoint):
        result = result.model_copy(update=result_fields_from_image(result, elf))
    seen = output.observed is not None or output.failure is not None
    evidence = {EVIDENCE_FILE: encode_board_observations(output)} if seen else {}
    return add_digests_to_point_files(folder, result, manifest, {**files, **evidence, UART: output.uart})


def result_fields_from_image(result: MeasuredPoint, elf: Path) -> dict[str, Any]:
    """Returns the fields of a result that come from its image: its size and the digests of its code.
    Raises ImageFileError.
    """
    sizes = ImageBytes(**{f"{name}_bytes": size for name, size in berkeley_sizes(read_elf_sections(elf)).items()})
    executed = {function.name for function in result.virtual.functions} if result.virtual else set()
    digests = function_code_digests(elf, executed)
    return {
        "image": sizes,
        "code": {
            name: FunctionCodeLocation(digest=digest, address=address)
            for name, (digest, address) in sorted(digests.items())
        },
    }


def _function_cycles_for_storage(function: FunctionCycles) -> FunctionExecutionCycles:
    """Returns the cycles of a function in the form in which they are stored."""
    return FunctionExecutionCycles(**asdict(function))
