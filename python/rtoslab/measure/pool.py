"""Points in parallel on a few processes that measure one after the other: a crash or a kill takes one point.

A process continues to the next point because much is the same for each (modules, files of the catalogue, hashes of the
sources and of the simulator). One that died is replaced. The parent alone hears Ctrl-C and signals to end. It ends the
processes it started, and what they had stored stays.
"""

import gc
import multiprocessing
import multiprocessing.connection
import os
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from rtoslab import interrupts
from rtoslab.base import (
    RtoslabError,
    RunError,
    clear_expired_file_contents_cache,
    file_contents_cache,
    memoize_by_contents,
)
from rtoslab.catalogue import Catalogue
from rtoslab.measure.identity import identity_of_point
from rtoslab.measure.pipeline import MeasurementPointOutcome, MeasureOptions, measure_and_store_point
from rtoslab.plan import MeasurementPlan, PlannedPoint
from rtoslab.results import FailedMeasurement
from rtoslab.store import RunDirectory, append_session_to_run_journal, remove_leftover_temporary_folders
from rtoslab.targets import is_simulator_panic

PROGRESS_INTERVAL_S = 0.1
CACHE_SCOPE_S: Final = 1.0
"""The points of one process share what was read of the sources for this long. Each build reads them anew."""


@dataclass(frozen=True, slots=True)
class MeasurementPointProgress:
    """The progress of one point: its phase and the part of it that is done, from 0 to 1, or the outcome."""

    index: int
    point: PlannedPoint
    phase: str
    done: float
    outcome: MeasurementPointOutcome | None = None


Listener = Callable[[MeasurementPointProgress], None]
_Pipe = multiprocessing.connection.Connection


@dataclass
class _WorkerProcess:
    """A process that measures points, and the pipe to it."""

    process: BaseProcess
    pipe: "_Pipe[PlannedPoint, object]"
    index: int | None = None
    """The index of the point that it measures. None while it waits for one."""


@dataclass
class _WorkerPool:
    """The worker processes of a plan, its waiting points and its outcomes."""

    root: Path
    run: RunDirectory
    points: tuple[PlannedPoint, ...]
    listener: Listener
    options: MeasureOptions
    context: ForkServerContext
    waiting: deque[int]
    workers: list[_WorkerProcess] = field(default_factory=list)
    outcomes: dict[int, MeasurementPointOutcome] = field(default_factory=dict)

    @property
    def busy_workers(self) -> list[_WorkerProcess]:
        """Returns the worker processes that are measuring a point."""
        return [worker for worker in self.workers if worker.index is not None]


def measure_points_of_plan(
    root: Path,
    plan: MeasurementPlan,
    out: Path,
    *,
    jobs: int = 2,
    listener: Listener = lambda _: None,
    options: MeasureOptions = MeasureOptions(),  # noqa: B008 (it is frozen)
) -> list[MeasurementPointOutcome]:
    """Measures every point of a plan in several processes. Returns the outcomes in the plan's order.

    Stores each outcome as soon as its point is finished. Points that are in `out` already stay, known ones come from
    the cache. With `options.again` the known ones are measured too, and must give the same bytes. Raises the first
    environment error (a missing tool, a full disk) after it has ended the other processes.
    """
    catalogue = Catalogue(root)
    run = RunDirectory.create_run_directory(
        out, plan.suite, [identity_of_point(catalogue, point) for point in plan.points]
    )
    remove_leftover_temporary_folders(out)
    append_session_to_run_journal(out, root)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["rtoslab.measure.fork_server"])
    pool = _WorkerPool(root, run, plan.points, listener, options, context, deque(range(len(plan.points))))
    try:
        while pool.waiting or pool.busy_workers:
            _assign_points_to_workers(pool, max(1, jobs))
            _receive_messages(pool)
    finally:
        for worker in pool.workers:
            worker.process.kill()
            worker.process.join()
        remove_leftover_temporary_folders(out)
    return [pool.outcomes[index] for index in sorted(pool.outcomes)]


def _assign_points_to_workers(pool: _WorkerPool, jobs: int) -> None:
    """Gives waiting points to idle worker processes, and to new ones while fewer than `jobs` are busy."""
    while pool.waiting and len(pool.busy_workers) < jobs:
        idle = [item for item in pool.workers if item.index is None]
        worker = idle[0] if idle else _start_worker(pool)
        worker.index = pool.waiting.popleft()
        with suppress(OSError):  # it died just now. `_receive_messages` will notice
            worker.pipe.send(pool.points[worker.index])


def _start_worker(pool: _WorkerPool) -> _WorkerProcess:
    """Starts a worker process, which measures points, and adds it to the pool."""
    mine, its = pool.context.Pipe()
    process = pool.context.Process(
        target=_run_measurement_worker_process,
        args=(pool.root, pool.run.path, dict(os.environ), its, pool.options),
        daemon=True,
    )
    process.start()
    its.close()
    worker = _WorkerProcess(process, mine)
    pool.workers.append(worker)
    return worker


def _receive_messages(pool: _WorkerPool) -> None:
    """Handles the messages of the worker processes: progress, an outcome, an error, or the end of the process."""
    ready = multiprocessing.connection.wait([item.pipe for item in pool.busy_workers], timeout=1.0)
    for worker in [item for item in pool.busy_workers if item.pipe in ready]:
        assert worker.index is not None
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            message = _remove_dead_worker(pool, worker, worker.index)
        if isinstance(message, RtoslabError):
            raise message
        if isinstance(message, MeasurementPointOutcome):
            index, worker.index = worker.index, None
            pool.outcomes[index] = message
            pool.listener(MeasurementPointProgress(index, pool.points[index], "done", 1.0, message))
        elif isinstance(message, tuple):
            pool.listener(MeasurementPointProgress(worker.index, pool.points[worker.index], message[0], message[1]))


def _remove_dead_worker(pool: _WorkerPool, worker: _WorkerProcess, index: int) -> MeasurementPointOutcome:
    """Removes a worker process that died. Returns the failure of its point, which has this index."""
    worker.process.join()
    worker.pipe.close()
    pool.workers.remove(worker)
    point, code = pool.points[index], worker.process.exitcode
    message = (
        f"The process that measured {point.label} ended unexpectedly (exit code {code}); run the same "
        "command again to retry it."
    )
    return _failed_point_outcome(pool.root, pool.run.path, point, message)


def _failed_point_outcome(root: Path, out: Path, point: PlannedPoint, message: str) -> MeasurementPointOutcome:
    """Returns the failure of a point with a message. It is not stored, so that the next try may succeed."""
    identity = identity_of_point(Catalogue(root), point)
    failed = FailedMeasurement(run_id="0" * 16, point=identity, stage="run", error=RunError.__name__, message=message)
    return MeasurementPointOutcome(failed, out, fresh=True)


def _run_measurement_worker_process(
    root: Path, out: Path, environment: dict[str, str], pipe: "_Pipe[object, PlannedPoint]", options: MeasureOptions
) -> None:
    """Runs in a worker process: receives points, measures them, and sends their progress and then the outcome or
    error."""
    interrupts.ignore_signals()
    os.environ.clear()  # the fork server keeps that of its own start, with what was taken away since
    os.environ.update(environment)
    gc.freeze()  # what is imported stays
    last = 0.0

    def send_progress_to_parent_process(phase: str, done: float) -> None:
        """Sends a point's progress to the parent, at most every PROGRESS_INTERVAL_S."""
        nonlocal last
        now = time.monotonic()
        if now - last >= PROGRESS_INTERVAL_S:
            last = now
            pipe.send((phase, done))

    try:
        with file_contents_cache():
            while True:
                point = pipe.recv()
                clear_expired_file_contents_cache(older_than_s=CACHE_SCOPE_S)
                last = 0.0  # the first news of each point is sent, however soon it follows the point before
                pipe.send(_measure_point(root, out, point, send_progress_to_parent_process, options))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is gone


@memoize_by_contents
def _cached_catalogue(root: Path) -> Catalogue:
    """Returns the catalogue of a checkout, which is read again only if its files changed."""
    return Catalogue(root)


def _measure_point(
    root: Path, out: Path, point: PlannedPoint, progress: Callable[[str, float], None], options: MeasureOptions
) -> MeasurementPointOutcome | RtoslabError:
    """Measures one point in a worker process. Returns its outcome, or the error to raise in the parent."""
    try:
        return measure_and_store_point(_cached_catalogue(root), point, RunDirectory(out), progress, options=options)
    except RtoslabError as error:
        return picklable_error(error)
    except BrokenPipeError:
        raise
    except Exception:  # noqa: BLE001 (the parent must hear of a bug, with its trace)
        return RtoslabError(f"A bug in rtoslab stopped {point.label}; please report this:\n{traceback.format_exc()}")
    except BaseException as bug:
        if not is_simulator_panic(bug):
            raise
        return _failed_point_outcome(
            root, out, point, f"The simulator failed while it measured {point.label}: {bug}; please report it."
        )


def picklable_error(error: RtoslabError) -> RtoslabError:
    """Returns an error with the same message and exit code that can be sent through a pipe."""
    plain = RtoslabError(str(error))
    plain.exit_code = error.exit_code
    return plain
