"""Bytes of minimal programs, built for a paper's report, as values beside those of the measured points."""

from rtoslab.analyses import Value
from rtoslab.base import BuildError
from rtoslab.catalogue import Catalogue, PaperFolder
from rtoslab.footprint import weigh
from rtoslab.results import Failed, PointId

BENCHMARK = "footprint"


def weights(catalogue: Catalogue, paper: PaperFolder) -> tuple[list[Value], list[Failed]]:
    """Sections' bytes, counted as `size` does, of every program the paper asks for and whose kernel is here.

    A program that cannot be built is told as a failure and costs nothing else. Raises PlanError.
    """
    found: list[Value] = []
    failures = []
    for asked in paper.facts.footprint:
        if asked.kernel not in catalogue.kernels_here:
            continue
        point = PointId(
            benchmark=BENCHMARK,
            title=f"footprint of the program {asked.program}",
            kernel=asked.kernel,
            board=asked.board,
            cores=1,
            window_ms=0,
            config=dict(sorted({**asked.config, "program": asked.program}.items())),
        )
        try:
            weighed = weigh(catalogue, asked.kernel, asked.board, program=asked.program, config=asked.config)
        except BuildError as cause:
            why = {"stage": "build", "error": type(cause).__name__, "message": str(cause)}
            failures.append(Failed.model_validate({"run_id": "0" * 16, "point": point, **why}))
            continue
        board = catalogue.board(asked.board).facts
        found += [
            Value(point, "", board.clock.sys_hz, {}, BENCHMARK, BENCHMARK, section, size, "bytes", 1)
            for section, size in weighed.footprint.berkeley().items()
        ]
    return found, failures
