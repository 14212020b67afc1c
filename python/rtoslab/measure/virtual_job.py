"""The observations that a point needs from the virtual board."""

from rtoslab.catalogue import Benchmark, Board, Catalogue
from rtoslab.plan import PlannedPoint
from rtoslab.proofs import services_to_watch
from rtoslab.targets import FIRST_EXTERNAL, SYSTICK, VirtualBenchmarkRunRequest


def make_virtual_benchmark_job(
    catalogue: Catalogue, point: PlannedPoint, image: bytes, name: str, pair: tuple[bytes, bytes] | None = None
) -> VirtualBenchmarkRunRequest:
    """Returns the description of a point's run on the virtual board, with what is to be observed. `pair` has the image
    of the other core and the one that contains both, if there are two."""
    board = catalogue.find_board(point.board).facts
    kernel = catalogue.find_kernel(point.kernel).facts
    benchmark = (
        catalogue.find_benchmark(point.benchmark)
        .facts.with_task_count_from_parameters(point.params)
        .restrict_to_kernel_services(kernel)
    )
    return VirtualBenchmarkRunRequest(
        image=image,
        name=name,
        board=board,
        kernel=kernel.kernel_facts_for_architecture(board.cpu),
        clock_hz=point.clock_hz or board.clock.sys_hz,
        cores=point.cores,
        window_ms=point.window_ms,
        watched_services=services_to_watch(benchmark),
        latency=point.instrument is not None or bool(benchmark.series),
        handlers=benchmark.handlers is not None,
        stamping_exception=_exception_that_starts_intervals(benchmark, board),
        settings=point.timing,
        core=point.core,
        started=pair[1] if pair else None,
        sender=pair[0] if pair and benchmark.has_intervals_ending_on_other_core else None,
    )


def _exception_that_starts_intervals(benchmark: Benchmark, board: Board) -> int | None:
    """Returns the number of the exception at whose event stamped intervals begin. None if the benchmark has no such
    intervals."""
    if benchmark.does_latency_begin_at_timer_tick:
        return SYSTICK
    return FIRST_EXTERNAL + board.irq.asynchronous if benchmark.does_interval_begin_at_timer_interrupt else None
