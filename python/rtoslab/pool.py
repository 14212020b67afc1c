"""Points in parallel, one process each: a crash or a kill takes one point, never the experiment.

The parent alone hears Ctrl-C; it ends the processes it started, and what they had stored stays.
"""

import multiprocessing
import multiprocessing.connection
import os
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from rtoslab.catalogue import Catalogue
from rtoslab.errors import RtoslabError, RunError
from rtoslab.journal import note_session
from rtoslab.pipeline import Manner, Outcome, point_id, run_point
from rtoslab.plan import Plan, Point
from rtoslab.results import Failed
from rtoslab.store import RunDirectory, sweep

PROGRESS_INTERVAL_S = 0.1


@dataclass(frozen=True, slots=True)
class Note:
    """News about one point: a phase with its progress from 0 to 1, or the outcome."""

    index: int
    point: Point
    phase: str
    done: float
    outcome: Outcome | None = None


Listener = Callable[[Note], None]


@dataclass
class _Job:
    index: int
    point: Point
    process: BaseProcess
    receiver: "multiprocessing.connection.Connection[object, object]"
    outcome: Outcome | None = None
    error: RtoslabError | None = None


@dataclass
class _Pool:
    root: Path
    run: RunDirectory
    listener: Listener
    waiting: list[tuple[int, Point]]
    manner: Manner
    running: list[_Job] = field(default_factory=list)
    outcomes: dict[int, Outcome] = field(default_factory=dict)


def run_plan(
    root: Path,
    plan: Plan,
    out: Path,
    *,
    jobs: int = 2,
    listener: Listener = lambda _: None,
    manner: Manner = Manner(),  # noqa: B008 (it is frozen)
) -> list[Outcome]:
    """Every point of the plan, stored as it finishes; points in `out` already are kept, known ones come from the cache.

    `again` measures those too, and demands the same bytes.

    Raises the first environment error (a missing tool, a full disk) after ending the other processes.
    """
    catalogue = Catalogue(root)
    run = RunDirectory.create(out, plan.suite, [point_id(catalogue, point) for point in plan.points])
    sweep(out)
    note_session(out, root)
    pool = _Pool(root, run, listener, list(enumerate(plan.points)), manner)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["rtoslab.pipeline"])
    try:
        while pool.waiting or pool.running:
            while pool.waiting and len(pool.running) < max(1, jobs):
                pool.running.append(_start(context, pool))
            _listen(pool)
    finally:
        for job in pool.running:
            job.process.kill()
            job.process.join()
        sweep(out)
    return [pool.outcomes[index] for index in sorted(pool.outcomes)]


def _start(context: ForkServerContext, pool: _Pool) -> _Job:
    index, point = pool.waiting.pop(0)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(
        target=_work, args=(pool.root, point, pool.run.path, dict(os.environ), sender, pool.manner), daemon=True
    )
    process.start()
    sender.close()
    return _Job(index, point, process, receiver)


def _listen(pool: _Pool) -> None:
    ready = multiprocessing.connection.wait([job.receiver for job in pool.running], timeout=1.0)
    for job in [each for each in pool.running if each.receiver in ready]:
        try:
            message = job.receiver.recv()
        except EOFError:
            _finish(pool, job)
            continue
        if isinstance(message, Outcome):
            job.outcome = message
        elif isinstance(message, RtoslabError):
            job.error = message
        elif isinstance(message, tuple):
            pool.listener(Note(job.index, job.point, message[0], message[1]))


def _finish(pool: _Pool, job: _Job) -> None:
    job.process.join()
    job.receiver.close()
    pool.running.remove(job)
    if job.error is not None:
        raise job.error
    if job.outcome is None:
        code = job.process.exitcode
        message = f"The process that measured {job.point.label} died (exit code {code}); run again to retry it."
        failed = Failed(
            run_id="0" * 16,
            point=point_id(Catalogue(pool.root), job.point),
            stage="run",
            error=RunError.__name__,
            message=message,
        )
        job.outcome = Outcome(failed, pool.run.path, fresh=True)
    pool.outcomes[job.index] = job.outcome
    pool.listener(Note(job.index, job.point, "done", 1.0, job.outcome))


def _work(
    root: Path,
    point: Point,
    out: Path,
    environment: dict[str, str],
    sender: "multiprocessing.connection.Connection[object, object]",
    manner: Manner,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(environment)  # the fork server keeps that of its own start
    last = 0.0

    def progress(phase: str, done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PROGRESS_INTERVAL_S:
            last = now
            sender.send((phase, done))

    try:
        sender.send(run_point(Catalogue(root), point, RunDirectory(out), progress, manner=manner))
    except RtoslabError as error:
        sender.send(portable(error))
    except BrokenPipeError:
        return
    except Exception:  # noqa: BLE001 (the parent must hear of a bug, with its trace)
        sender.send(
            RtoslabError(f"A bug in rtoslab stopped {point.label}; please report this:\n{traceback.format_exc()}")
        )


def portable(error: RtoslabError) -> RtoslabError:
    """An error that survives the pipe whatever its constructor takes."""
    plain = RtoslabError(str(error))
    plain.exit_code = error.exit_code
    return plain
