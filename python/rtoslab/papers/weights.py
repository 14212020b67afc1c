"""Bytes of minimal programs, built for a paper's report, as values beside those of the measured points."""

from rtoslab.analyses import Value
from rtoslab.catalogue import Catalogue, PaperFolder
from rtoslab.footprint import weigh
from rtoslab.results import PointId

BENCHMARK = "footprint"


def weights(catalogue: Catalogue, paper: PaperFolder) -> list[Value]:
    """Sections' bytes, counted as `size` does, of every program the paper asks for and whose kernel is here.

    Raises BuildError, PlanError.
    """
    found = []
    for asked in paper.facts.footprint:
        if asked.kernel not in catalogue.kernels_here:
            continue
        weighed = weigh(catalogue, asked.kernel, asked.board, program=asked.program, config=asked.config)
        point = PointId(
            benchmark=BENCHMARK,
            title=f"footprint of the program {asked.program}",
            kernel=asked.kernel,
            board=asked.board,
            cores=1,
            window_ms=0,
            config=dict(sorted({**asked.config, "program": asked.program}.items())),
        )
        board = catalogue.board(asked.board).facts
        found += [
            Value(point, "", board.clock.sys_hz, {}, BENCHMARK, BENCHMARK, section, size, "bytes", 1)
            for section, size in weighed.footprint.berkeley().items()
        ]
    return found
