"""The suite's image built and run, again without each scene that did not come to its end.

A scene that gets stuck or faults must not hide the results of the other scenes.
"""

from dataclasses import replace

from rtoslab.base import DecodeError, RunError, VoidRunError
from rtoslab.catalogue import Catalogue
from rtoslab.conformance.judge import ConformanceOutput, UnfinishedConformanceTest
from rtoslab.images import build_measurement_point_image
from rtoslab.plan import PlannedPoint
from rtoslab.records import (
    DecodedRun,
    ExpectedImageIdentity,
    decode_records,
    decode_unfinished_run,
    read_wire_constants,
)
from rtoslab.targets import ExternalImage, Progress, RunOutput, VirtualBenchmarkRunRequest, run_virtual_benchmark

LIMIT_S = 120
"""The limit of virtual time, for the tick rate's span and for all other scenes each: a slow tick makes them long."""
MOST_BROKEN_SCENES = 8
"""Scenes that the image can leave out, `leave_out_0` to `leave_out_7`."""
_NEVER_LEFT_OUT = "tick_rate"
"""The scene of the window that the virtual board waits for."""


def run_conformance_suite(
    catalogue: Catalogue, point: PlannedPoint, progress: Progress
) -> tuple[ConformanceOutput | None, str | None]:
    """Runs the conformance suite's image, again without each scene that did not end. Returns its output, and why the
    last run did not end.

    The output is None if no run reported anything. The reason is None if the last run ended.
    """
    broken: list[UnfinishedConformanceTest] = []
    earlier: list[DecodedRun] = []
    while True:
        params = {
            f"leave_out_{index}": str(conformance_test_name_hash(item.scene)) for index, item in enumerate(broken)
        }
        built = build_measurement_point_image(catalogue, replace(point, params={**point.params, **params}))
        output = _run_suite_image(catalogue, point, built.elf_path.read_bytes(), built.elf_path.name, progress)
        try:
            decoded = decode_records(output.uart, read_wire_constants(catalogue.root), built.expected)
        except DecodeError as cause:
            begun = _decode_unfinished_run(catalogue, output.uart, built.expected)
            scene = None if begun is None else _find_unfinished_conformance_test(begun, cause, output.failure)
            if begun is not None and scene is not None and len(broken) < MOST_BROKEN_SCENES:
                earlier.append(begun)
                broken.append(scene)
                continue
            failure = str(cause) if isinstance(cause, VoidRunError) else output.failure or str(cause)
            return _output_of_incomplete_test_suite(begun, broken, earlier), failure
        return ConformanceOutput(decoded, output.stats, tuple(broken), tuple(earlier)), output.failure


def run_external_conformance_image(
    catalogue: Catalogue, point: PlannedPoint, image: ExternalImage, progress: Progress
) -> tuple[ConformanceOutput | None, str | None]:
    """Runs an image of the conformance suite that was built elsewhere. Returns the same as `run_conformance_suite`.

    A broken scene hides all later ones.
    """
    output = _run_suite_image(catalogue, point, image.content, image.path.name, progress)
    try:
        decoded = decode_records(
            output.uart, read_wire_constants(catalogue.root), image.image_identity_expected_in_records
        )
    except DecodeError as cause:
        begun = _decode_unfinished_run(catalogue, output.uart, image.image_identity_expected_in_records)
        failure = str(cause) if isinstance(cause, VoidRunError) else output.failure or str(cause)
        if begun is None:
            return None, failure
        scene = _find_unfinished_conformance_test(begun, cause, output.failure)
        return ConformanceOutput(begun, None, (scene,) if scene else (), is_complete=False, is_external=True), failure
    return ConformanceOutput(decoded, output.stats, is_external=True), output.failure


def _output_of_incomplete_test_suite(
    begun: DecodedRun | None, broken: list[UnfinishedConformanceTest], earlier: list[DecodedRun]
) -> ConformanceOutput | None:
    """Returns the suite's output if its last run (`begun`) did not end. None if no run reported anything."""
    plays = [*earlier, *([] if begun is None else [begun])]
    return ConformanceOutput(plays[-1], None, tuple(broken), tuple(plays[:-1]), is_complete=False) if plays else None


def conformance_test_name_hash(scene: str) -> int:
    """Returns the FNV-1a hash of a scene's name in 32 bits, as in firmware/conformance/notes.c."""
    hashed = 2166136261
    for byte in scene.encode():
        hashed = (hashed ^ byte) * 16777619 & 0xFFFFFFFF
    return hashed


def _find_unfinished_conformance_test(
    begun: DecodedRun, cause: DecodeError, failure: str | None
) -> UnfinishedConformanceTest | None:
    """Returns the scene in which the suite's run stopped. None if no scene is the cause, or it cannot be left out."""
    if not begun.checks or begun.checks[-1].name == _NEVER_LEFT_OUT:
        return None
    scene, core = begun.checks[-1].name, begun.checks[-1].core
    if any(sample.metric == f"{scene}/{core}" for sample in begun.samples):
        return None
    if not isinstance(cause, VoidRunError):
        return UnfinishedConformanceTest(scene, core, f"got stuck: {failure or cause}")
    if cause.fields.get("detail") == scene:
        return UnfinishedConformanceTest(scene, core, "got stuck")
    facts = " ".join(f"{key}={value}" for key, value in cause.fields.items() if key != "run")
    return UnfinishedConformanceTest(
        scene, core, f"ended in {'an' if cause.kind[0] in 'aeo' else 'a'} {cause.kind} ({facts})"
    )


def _decode_unfinished_run(catalogue: Catalogue, uart: bytes, expected: ExpectedImageIdentity) -> DecodedRun | None:
    """Returns the records of a run that did not end. None if there are none."""
    try:
        return decode_unfinished_run(uart, read_wire_constants(catalogue.root), expected)
    except DecodeError:
        return None


def _run_suite_image(
    catalogue: Catalogue, point: PlannedPoint, image: bytes, name: str, progress: Progress
) -> RunOutput:
    """Runs the conformance suite's image on the virtual board. Returns its output."""
    board = catalogue.find_board(point.board).facts
    job = VirtualBenchmarkRunRequest(
        image=image,
        name=name,
        board=board,
        kernel=catalogue.find_kernel(point.kernel).facts.kernel_facts_for_architecture(board.cpu),
        clock_hz=point.clock_hz or board.clock.sys_hz,
        cores=point.cores,
        window_ms=LIMIT_S * 1000,
        settings=point.timing,
        sending_limit_s=LIMIT_S,
    )
    try:
        return run_virtual_benchmark(job, lambda _, done: progress("conformance", done))
    except RunError as cause:
        return RunOutput(b"", failure=str(cause))
