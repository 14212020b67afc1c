"""The observations that a point needs from the virtual board."""

from rtoslab.catalogue import Benchmark, Board, Catalogue
from rtoslab.plan import Point
from rtoslab.proofs import services_to_watch
from rtoslab.targets import FIRST_EXTERNAL, SYSTICK, VirtualBenchmarkJob


def virtual_board_job(
    catalogue: Catalogue, point: Point, image: bytes, name: str, pair: tuple[bytes, bytes] | None = None
) -> VirtualBenchmarkJob:
    """Returns the description of a point's run on the virtual board, with what is to be observed. `pair` has the image
    of the other core and the one that contains both, if there are two."""
    board = catalogue.find_board(point.board).facts
    kernel = catalogue.find_kernel(point.kernel).facts
    benchmark = (
        catalogue.find_benchmark(point.benchmark).facts.with_parameters(point.params).only_for_services_of(kernel)
    )
    return VirtualBenchmarkJob(
        image=image,
        name=name,
        board=board,
        kernel=kernel.facts_for_architecture(board.cpu),
        clock_hz=point.clock_hz or board.clock.sys_hz,
        cores=point.cores,
        window_ms=point.window_ms,
        watched_services=services_to_watch(benchmark),
        latency=point.instrument is not None or bool(benchmark.series),
        handlers=benchmark.handlers is not None,
        stamping_exception=_exception_that_stamps(benchmark, board),
        settings=point.timing,
        core=point.core,
        started=pair[1] if pair else None,
        sender=pair[0] if pair and benchmark.ends_on_other_core else None,
    )


def _exception_that_stamps(benchmark: Benchmark, board: Board) -> int | None:
    """Returns the number of the exception at whose event stamped intervals begin. None if the benchmark has no such
    intervals."""
    if benchmark.begins_at_stamped_tick:
        return SYSTICK
    return FIRST_EXTERNAL + board.irq.asynchronous if benchmark.begins_at_stamped_interrupt else None
