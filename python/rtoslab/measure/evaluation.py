"""Turns a target's output into a result: decode, prove, measure. The same input always gives the same result.

Nothing is run or stored here, so that a stored point can be evaluated again (`rtoslab runs verify`)."""

from rtoslab.base import DecodeError, PlanError, RunError, VoidRunError
from rtoslab.catalogue import PAIR_CORES, SHOWN_IF_UNUSUAL, Benchmark, Catalogue
from rtoslab.intake import quote_text
from rtoslab.measure.point_result import make_measured_point
from rtoslab.proofs import BenchmarkProofEvidence, judge_benchmark_proofs
from rtoslab.records import (
    DecodedRun,
    ExpectedImageIdentity,
    decode_records,
    is_valid_wire_format_field,
    read_wire_constants,
    split_record_streams_by_image,
)
from rtoslab.results import FailedMeasurement, MeasuredPoint, PointId, ProofVerdict
from rtoslab.targets import RunOutput


def decode_and_judge_output(
    catalogue: Catalogue, identity: PointId, run_id: str, output: RunOutput, expected: ExpectedImageIdentity
) -> MeasuredPoint | FailedMeasurement:
    """Decodes the output of a benchmark's run and judges its proofs. Returns the measured or failed point. Raises
    nothing for faults of the image."""
    benchmark = catalogue.find_benchmark(identity.benchmark).facts.restrict_to_kernel_services(
        catalogue.find_kernel(identity.kernel).facts
    )
    try:
        decoded, beside = _decode_streams_of_both_kernels(catalogue, identity, output.uart, expected)
        _require_image_reports_expected_point(decoded, identity)
        _require_reported_benchmark_parameters(decoded, benchmark)
    except VoidRunError as cause:
        return make_failed_measurement(identity, run_id, "run", cause)
    except DecodeError as cause:
        problem = RunError(output.failure) if output.failure else cause
        return make_failed_measurement(identity, run_id, "run" if output.failure else "decode", problem)
    if output.failure is not None:
        return make_failed_measurement(identity, run_id, "run", RunError(output.failure))
    try:
        proofs = judge_benchmark_proofs(gather_proof_evidence(catalogue, identity, output, decoded, beside))
    except DecodeError as cause:
        return make_failed_measurement(identity, run_id, "decode", cause)
    broken = [proof for proof in proofs if proof.verdict is ProofVerdict.FAILS]
    if broken:
        words = " ".join(f"{finding.rule} demands that {finding.demands}, but {finding.saw}." for finding in broken)
        message = f"{benchmark.title} did not do what its name says: {words}"
        return FailedMeasurement(
            run_id=run_id, point=identity, stage="proof", error="ProofError", message=message, proofs=proofs
        )
    return make_measured_point(catalogue, identity, run_id, decoded, output, proofs)


def gather_proof_evidence(
    catalogue: Catalogue, identity: PointId, output: RunOutput, decoded: DecodedRun, beside: DecodedRun | None = None
) -> BenchmarkProofEvidence:
    """Returns everything that the proofs of a run examine. `beside`: the records of the kernel on the other core.
    Raises DecodeError if the image says parameters that the benchmark cannot have."""
    board, kernel = catalogue.find_board(identity.board).facts, catalogue.find_kernel(identity.kernel).facts
    try:
        whole = catalogue.find_benchmark(identity.benchmark).facts.with_task_count_from_parameters(decoded.params)
    except PlanError as cause:
        raise DecodeError(0, str(cause)) from None
    benchmark = whole.restrict_to_kernel_services(kernel)
    samples = int(identity.config.get("samples", 0))
    # Of a kernel without symbols calls and tasks cannot be seen.
    observations = output.observed if kernel.symbols else None
    fifo = None if beside is None else _intercore_fifo_interrupt_number(catalogue, identity)
    return BenchmarkProofEvidence(
        decoded, observations, benchmark, board, kernel, samples, identity.config, beside, fifo
    )


def _intercore_fifo_interrupt_number(catalogue: Catalogue, identity: PointId) -> int | None:
    """Returns the number of the interrupt line by which words from the other core's kernel (through a FIFO) interrupt
    this core. None if there is none."""
    core_map = catalogue.find_dual_kernel_memory_map(catalogue.find_board(identity.board))
    if core_map is None:
        return None
    return core_map.core_image_layouts[int(identity.config["core"])].fifo_irq


def _decode_streams_of_both_kernels(
    catalogue: Catalogue, identity: PointId, raw: bytes, expected: ExpectedImageIdentity
) -> tuple[DecodedRun, DecodedRun | None]:
    """Returns the decoded records of the image, and those of the kernel on the other core (None without one). Raises
    VoidRunError, DecodeError."""
    constants = read_wire_constants(catalogue.root)
    beside = identity.config.get("beside")
    if beside is None:
        return decode_records(raw, constants, expected), None
    core, streams = int(identity.config["core"]), split_record_streams_by_image(raw)
    if len(streams) != PAIR_CORES:
        for stream in streams:
            decode_records(stream, constants)  # if it says what went wrong, this is raised
        raise DecodeError(0, f"{len(streams)} of two images have sent their records.")
    runs = [decode_records(stream, constants, expected if at == core else None) for at, stream in enumerate(streams)]
    other = runs[1 - core]
    if (other.begin.bench, other.begin.kernel) != (identity.benchmark, beside):
        raise DecodeError(
            0, f"the other core ran {other.begin.bench} on {other.begin.kernel}, not {identity.benchmark} on {beside}."
        )
    return runs[core], other


def make_failed_measurement(identity: PointId, run_id: str, stage: str, cause: Exception) -> FailedMeasurement:
    """Returns the failed point for an exception in one stage of its measurement, such as `build`."""
    return FailedMeasurement.model_validate(
        {"run_id": run_id, "point": identity, "stage": stage, "error": type(cause).__name__, "message": str(cause)}
    )


def _require_reported_benchmark_parameters(decoded: DecodedRun, benchmark: Benchmark) -> None:
    """Raises DecodeError if the image did not send a parameter of the benchmark, or sent no number."""
    for name in benchmark.params:
        if name not in decoded.params:
            if name in SHOWN_IF_UNUSUAL:
                continue
            raise DecodeError(0, f"the parameter {name} of {benchmark.id} was not sent.")
        if not is_valid_wire_format_field(decoded.params[name], "decimal"):
            raise DecodeError(0, f"the parameter {name} is {quote_text(decoded.params[name])}, which is no number.")


def _require_image_reports_expected_point(decoded: DecodedRun, identity: PointId) -> None:
    """Raises DecodeError if the image is of another benchmark, kernel or board, or did not measure exactly one
    window."""
    begin = decoded.begin
    stated = (begin.bench, begin.kernel, begin.board, begin.cores, begin.window_us)
    expected = (identity.benchmark, identity.kernel, identity.board, identity.cores, identity.window_ms * 1000)
    if stated != expected:
        raise DecodeError(0, f"the image says it is {stated}, but {expected} was asked for; flash the image again.")
    if len(decoded.windows) != 1:
        raise DecodeError(0, f"{len(decoded.windows)} windows were measured, one was asked for.")
