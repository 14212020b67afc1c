"""Builds the minimal programs of a paper's report. Their sizes are values beside those of the measured points."""

from collections.abc import Collection, Iterator
from pathlib import Path

from rtoslab.analyses import MeasuredValue
from rtoslab.base import BuildError
from rtoslab.catalogue import Catalogue, PaperFolder, SizeMeasurementProgram
from rtoslab.footprint import build_footprint_program
from rtoslab.reference import StoredProgramSize
from rtoslab.results import BuildOnlyProgramSize, FailedMeasurement, ImageBytes, PointId
from rtoslab.store import manifest_hash

BENCHMARK = "footprint"


def measure_minimal_program_sizes(
    catalogue: Catalogue, paper: PaperFolder, kernels: Collection[str]
) -> tuple[list[StoredProgramSize], list[FailedMeasurement]]:
    """Builds every minimal program whose size the paper's report needs. Returns the sizes, and the failures of programs
    that cannot be built. Raises PlanError."""
    weights = []
    failures = []
    for program in paper.facts.footprint:
        trees = (tree for tree, kernel in paper.facts.paper_kernel_by_source_tree.items() if kernel == program.kernel)
        for name in dict.fromkeys((program.kernel, *trees)):
            if name not in kernels:
                continue
            version = program.model_copy(update={"kernel": name})
            point = _minimal_program_measurement_point(version)
            try:
                weights.append(_measure_program_size(catalogue, version, point))
            except BuildError as cause:
                why = {"stage": "build", "error": type(cause).__name__, "message": str(cause)}
                failures.append(FailedMeasurement.model_validate({"run_id": "0" * 16, "point": point, **why}))
    return weights, failures


def program_size_values(weight: BuildOnlyProgramSize) -> Iterator[MeasuredValue]:
    """Yields the sizes of a program's sections in bytes as values, counted as the tool `size` does."""
    for section in ("text", "data", "bss"):
        size = getattr(weight.image, f"{section}_bytes")
        yield MeasuredValue(
            weight.point, weight.run_id, weight.clock_hz, {}, BENCHMARK, BENCHMARK, section, size, "bytes", 1
        )  # fmt: skip


def _minimal_program_measurement_point(program: SizeMeasurementProgram) -> PointId:
    """Returns the identity of a minimal program's point."""
    return PointId(
        benchmark=BENCHMARK,
        title=f"footprint of the program {program.program}",
        kernel=program.kernel,
        board=program.board,
        cores=1,
        window_ms=0,
        config=dict(sorted({**program.config, "program": program.program}.items())),
    )


def _measure_program_size(catalogue: Catalogue, program: SizeMeasurementProgram, point: PointId) -> StoredProgramSize:
    """Builds a program and returns its size."""
    weighed = build_footprint_program(
        catalogue, program.kernel, program.board, program=program.program, config=program.config
    )
    manifest: dict[str, object] = {"build": weighed.build.info, "elf_sha256": weighed.build.elf_sha256}
    sizes = {f"{section}_bytes": size for section, size in weighed.footprint.berkeley_sizes().items()}
    clock_hz = catalogue.find_board(program.board).facts.clock.sys_hz
    run_id = manifest_hash(manifest)[:16]
    return StoredProgramSize(
        Path(),
        BuildOnlyProgramSize(run_id=run_id, point=point, clock_hz=clock_hz, image=ImageBytes(**sizes)),
        manifest,
    )
