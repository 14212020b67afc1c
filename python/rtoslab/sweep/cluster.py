"""Measures the points of a sweep on a Dask cluster: each worker measures whole points with its own checkout, and this
process stores them.

A worker needs the same rtoslab checkout and the same compiler (checked by hashes), and its simulator. Builds and
results stay in the worker's own folders, which several workers may share (RTOSLAB_BUILD, RTOSLAB_CACHE). A lost worker
costs the points that it was measuring: the scheduler gives them to another one."""

import asyncio
import concurrent.futures
import logging
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtoslab.base import RtoslabError, StoreError, ToolMissingError, find_checkout_root, package_digest
from rtoslab.catalogue import Catalogue
from rtoslab.images import image_inputs_digest
from rtoslab.measure import (
    Listener,
    MeasurementPointOutcome,
    MeasurementPointProgress,
    MeasureOptions,
    identity_of_point,
    measure_and_store_point,
    picklable_error,
)
from rtoslab.plan import MeasurementPlan, PlannedPoint
from rtoslab.store import AnyResult, RunDirectory, StoredMeasurementPoint, append_session_to_run_journal
from rtoslab.targets import simulator_sources_digest

CONNECT_LIMIT_S = 30
WORKERS_LIMIT_S = 60
"""The longest time to wait for a worker, from the beginning on and after the last one was lost."""
POLL_S = 5
"""The time between two checks for workers."""
_LOST_STATES = frozenset({"cancelled", "lost"})
"""The client's states of points whose scheduler it lost."""


@dataclass(frozen=True, slots=True)
class PointFromWorker:
    """A measured point as a cluster's worker sends it."""

    result: AnyResult
    folder: str = ""
    """Its folder in the run directory. Empty if nothing is to be stored."""
    files: dict[str, bytes] | None = None
    cached: bool = False
    note: str = ""
    error: RtoslabError | None = None
    worker: str = ""
    """Address and machine of the worker that could not measure the point."""


def measure_sweep_on_cluster(
    root: Path,
    plan: MeasurementPlan,
    out: Path,
    scheduler: str,
    *,
    listener: Listener = lambda _: None,
    options: MeasureOptions = MeasureOptions(),  # noqa: B008 (it is frozen)
) -> list[MeasurementPointOutcome]:
    """Measures every point of a sweep on a Dask cluster, and stores each as it comes back. Returns the outcomes in the
    plan's order."""
    catalogue = Catalogue(root)
    run = RunDirectory.create_run_directory(
        out, plan.suite, [identity_of_point(catalogue, item) for item in plan.points]
    )
    append_session_to_run_journal(out, root)
    finished = dict(_already_stored_points(catalogue, plan, run))
    for index, outcome in finished.items():
        listener(MeasurementPointProgress(index, plan.points[index], "done", 1.0, outcome))
    with _connect_dask_client(scheduler) as client:
        sources = {
            index: _digests_to_match_on_worker(root, point)
            for index, point in enumerate(plan.points)
            if index not in finished
        }
        with _report_lost_scheduler(scheduler):
            waiting = {
                client.submit(measure_point_on_worker, plan.points[index], mine, options, pure=False, retries=2): index
                for index, mine in sources.items()
            }
        for future in _iterate_completed_dask_futures(client, list(waiting), scheduler):
            index = waiting.pop(future)
            outcome = _store_measurement_from_worker(
                run, _receive_point_from_worker(future, plan.points[index], scheduler)
            )
            finished[index] = outcome
            listener(MeasurementPointProgress(index, plan.points[index], "done", 1.0, outcome))
    return [finished[index] for index in sorted(finished)]


def measure_point_on_worker(point: PlannedPoint, sources: tuple[str, ...], options: MeasureOptions) -> PointFromWorker:
    """Measures a point on a worker of the cluster in a temporary folder, and returns its files. `sources` are the
    digests that the worker's sources must have."""
    root = find_checkout_root()
    try:
        if _digests_to_match_on_worker(root, point) != sources:
            raise StoreError(
                f"The checkout {root} of a worker has another compiler, or other sources of the firmware, the "
                "simulator or rtoslab than this one; update both to the same revision and start the worker again."
            )
        with tempfile.TemporaryDirectory(prefix="rtoslab-") as folder:
            catalogue = Catalogue(root)
            run = RunDirectory.create_run_directory(Path(folder) / "run", None, [identity_of_point(catalogue, point)])
            outcome = measure_and_store_point(catalogue, point, run, options=options)
            if outcome.folder == run.path:
                return PointFromWorker(outcome.result)
            name = outcome.folder.name
            return PointFromWorker(
                outcome.result, name, run.read_point_files(name), cached=outcome.cached, note=outcome.note
            )
    except RtoslabError as error:
        return PointFromWorker(
            _empty_measurement_result(point, root), error=picklable_error(error), worker=_name_of_this_worker()
        )


def _name_of_this_worker() -> str:
    """Returns the address and machine name of this worker of the cluster."""
    from distributed import get_worker  # noqa: PLC0415

    try:
        return f"{get_worker().address} on {socket.gethostname()}"
    except ValueError:
        return socket.gethostname()


def _empty_measurement_result(point: PlannedPoint, root: Path) -> AnyResult:
    """Returns a result without content, for a point that a worker could not measure."""
    from rtoslab.results import NotApplicableMeasurement  # noqa: PLC0415

    return NotApplicableMeasurement(run_id="0" * 16, point=identity_of_point(Catalogue(root), point), reason="")


def _digests_to_match_on_worker(root: Path, point: PlannedPoint) -> tuple[str, ...]:
    """Returns the digests of the simulator, of rtoslab, and of the point's image, which must be equal on the worker and
    here."""
    return simulator_sources_digest(root), package_digest(), image_inputs_digest(Catalogue(root), point)


def _already_stored_points(
    catalogue: Catalogue, plan: MeasurementPlan, run: RunDirectory
) -> Iterator[tuple[int, MeasurementPointOutcome]]:
    """Yields index and outcome of those points of the plan that the run directory already has. Raises StoreError for
    one of another build or virtual board."""
    known: dict[str, StoredMeasurementPoint] = {
        stored_point.result.point.model_dump_json(): stored_point for stored_point in run.read_measured_points()
    }
    for index, point in enumerate(plan.points):
        stored = known.get(identity_of_point(catalogue, point).model_dump_json())
        if stored is None:
            continue
        build, target = stored.manifest.get("build"), stored.manifest.get("target")
        if isinstance(build, dict) and isinstance(target, dict):
            same_image = build.get("run_id") == image_inputs_digest(catalogue, point)[:16]
            if not same_image or target.get("sources_sha256") != simulator_sources_digest(catalogue.root):
                raise StoreError(
                    f"{stored.folder} was measured with another build or virtual board; choose another --out to "
                    "measure again."
                )
        yield index, MeasurementPointOutcome(stored.result, stored.folder, fresh=False)


def _store_measurement_from_worker(run: RunDirectory, shipped: PointFromWorker) -> MeasurementPointOutcome:
    """Stores a point that a worker sent in the run directory and returns its outcome."""
    if shipped.files is None:
        return MeasurementPointOutcome(shipped.result, run.path, fresh=True)
    if not run.contains_point(shipped.folder):
        run.store_point_files(shipped.folder, shipped.files)
    return MeasurementPointOutcome(
        shipped.result, run.point_path(shipped.folder), fresh=True, cached=shipped.cached, note=shipped.note
    )


def _connect_dask_client(scheduler: str) -> Any:
    """Returns a Dask client that is connected to the scheduler at this address. Raises ToolMissingError,
    RtoslabError."""
    try:
        from distributed import Client  # noqa: PLC0415
    except ImportError:
        raise ToolMissingError(
            "--scheduler needs the package distributed, which is not installed; `pip install 'rtoslab[cluster]'` "
            "installs it."
        ) from None
    _require_dask_scheduler(scheduler)
    _silence_loggers()
    with _report_lost_scheduler(scheduler):
        return Client(scheduler, timeout=CONNECT_LIMIT_S, set_as_default=False)


def _silence_loggers() -> None:
    """Silences Dask's loggers, because a lost scheduler is reported once. Each module there has its own level."""
    for name in [*logging.root.manager.loggerDict, "tornado", "asyncio"]:
        if name.partition(".")[0] in {"distributed", "tornado", "asyncio"}:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _require_dask_scheduler(scheduler: str) -> None:
    """Raises RtoslabError if no Dask scheduler listens at this address."""
    host, _, port = scheduler.removeprefix("tcp://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_LIMIT_S).close()
    except (OSError, ValueError) as cause:
        raise RtoslabError(
            f"No Dask scheduler answers at {scheduler} ({type(cause).__name__}); start one with `dask scheduler`, and "
            "workers with `dask worker ADDRESS --nthreads 1`."
        ) from None


def _iterate_completed_dask_futures(client: Any, futures: list[Any], scheduler: str) -> Iterator[Any]:
    """Yields Dask's futures as they finish. Raises RtoslabError if the scheduler or all workers are lost."""
    left = set(futures)
    deadline_s = time.monotonic() + WORKERS_LIMIT_S
    while left:
        with _report_lost_scheduler(scheduler):
            done = _take_finished_futures(client, left)
            has_workers = bool(done or client.scheduler_info(n_workers=1)["workers"])
        yield from done
        left -= done
        if has_workers:
            deadline_s = time.monotonic() + WORKERS_LIMIT_S
        elif time.monotonic() > deadline_s:
            raise RtoslabError(
                f"The Dask scheduler at {scheduler} has had no worker for {WORKERS_LIMIT_S} s; start some with "
                "`dask worker ADDRESS --nthreads 1`. The received points are stored; run the same command again "
                "to continue."
            )


def _take_finished_futures(client: Any, futures: set[Any]) -> set[Any]:
    """Returns those of Dask's futures that finish within a moment."""
    from distributed import wait  # noqa: PLC0415

    try:
        with client.as_current():
            done: set[Any] = wait(futures, timeout=POLL_S, return_when="FIRST_COMPLETED").done
    except TimeoutError:
        return set()
    return done


@contextmanager
def _report_lost_scheduler(scheduler: str) -> Iterator[None]:
    """Converts Dask's exceptions for a lost scheduler to RtoslabError."""
    try:
        yield
    except (asyncio.CancelledError, concurrent.futures.CancelledError, OSError, TimeoutError):
        raise _lost_dask_scheduler_error(scheduler) from None


def _lost_dask_scheduler_error(scheduler: str) -> RtoslabError:
    """Returns the error for a lost Dask scheduler."""
    return RtoslabError(
        f"The Dask scheduler at {scheduler} was lost; the received points are stored, so run the same command "
        "again to continue."
    )


def _receive_point_from_worker(future: Any, point: PlannedPoint, scheduler: str) -> PointFromWorker:
    """Returns the point that a worker sent in a Dask future. Raises the worker's error."""
    if future.status in _LOST_STATES:
        raise _lost_dask_scheduler_error(scheduler)
    if future.status != "finished":
        cause = future.exception()
        raise RtoslabError(
            f"The cluster gave up {point.label} ({type(cause).__name__}: {cause}); the received points are stored, "
            "so run the same command again to continue."
        )
    shipped: PointFromWorker = future.result()
    future.release()
    if shipped.error is not None:
        problem = RtoslabError(f"The worker {shipped.worker} did not measure {point.label}: {shipped.error}")
        problem.exit_code = shipped.error.exit_code
        raise problem
    return shipped
