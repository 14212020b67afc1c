"""Two kernels, each on one core, against the same kernels with one core alone, and against one kernel on both cores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses.counts_per_second import counts_per_second_of_point
from rtoslab.analyses.cycles import cycle_use_of_cores, lock_wait_cycles
from rtoslab.results import MeasuredPoint, PointId

BESIDE: Final = "beside"
CORE: Final = "core"
_PAIR_KEYS: Final = frozenset({BESIDE, CORE, "ram"})
"""The options that a kernel with the board to itself does not have."""


@dataclass(frozen=True, slots=True)
class CoreCyclesPerBenchmarkCount:
    """The cycles of one core for one of its counts, and those spent waiting."""

    cycles: float
    bus_wait: float
    flash_wait: float
    lock_wait: float


@dataclass(frozen=True, slots=True)
class KernelPair:
    """A test of two kernels that ran at the same time, one on each core."""

    cores: tuple[MeasuredPoint, MeasuredPoint]
    """By core."""
    single: tuple[MeasuredPoint | None, MeasuredPoint | None]
    """The same kernels on one core, with the board to themselves. None: not measured."""
    shared: MeasuredPoint | None
    """One kernel on both cores, if both are the same one and it was measured."""

    @property
    def test_title(self) -> str:
        """Returns the title of the test."""
        return self.cores[0].point.title

    @property
    def kernel_names(self) -> str:
        """Returns the names of the kernels, core 0's first."""
        return "+".join(point.point.kernel for point in self.cores)

    @property
    def configuration_text(self) -> str:
        """Returns the pair's settings as text, without those that make it a pair. Empty for the default settings."""
        config = self.cores[0].point.config
        return ", ".join(f"{key}={value}" for key, value in config.items() if key not in {BESIDE, CORE})

    @property
    def kernel_rates_hz(self) -> tuple[float, float]:
        """Returns the counts per second of the kernels on core 0 and core 1."""
        one, other = (counts_per_second_of_point(point).total_hz for point in self.cores)
        return one, other

    @property
    def kernel_speeds_relative_to_running_alone(self) -> tuple[float | None, float | None]:
        """Returns each kernel's rate divided by its rate with the board to itself. None if that was not measured."""
        one, other = (
            counts_per_second_of_point(point).total_hz / counts_per_second_of_point(single).total_hz
            if single is not None
            else None
            for point, single in zip(self.cores, self.single, strict=True)
        )
        return one, other

    @property
    def work_in_single_core_units(self) -> float | None:
        """Returns the work of both kernels in units of one core alone: 2 is perfect. None if one was not measured
        alone."""
        one, other = self.kernel_speeds_relative_to_running_alone
        return None if one is None or other is None else one + other

    @property
    def single_kernel_speedup_over_one_core(self) -> float | None:
        """Returns the work of one kernel on both cores, in units of one core alone. None if that was not measured."""
        single = self.single[0]
        if self.shared is None or single is None:
            return None
        return counts_per_second_of_point(self.shared).total_hz / counts_per_second_of_point(single).total_hz

    @property
    def gain_over_shared_kernel(self) -> float | None:
        """Returns the rate of both kernels divided by that of one kernel on both cores. None if that was not
        measured."""
        return (
            None
            if self.shared is None
            else sum(self.kernel_rates_hz) / counts_per_second_of_point(self.shared).total_hz
        )


def kernel_pairs(points: Iterable[MeasuredPoint]) -> list[KernelPair]:
    """Returns the pairs of measured points whose kernels ran at the same time on the two cores of a board."""
    measured = list(points)
    pairs = []
    for point in measured:
        if point.point.config.get(CORE) != "0":
            continue
        other = _find_point_by_identity(measured, _measurement_point_of_second_kernel(point.point))
        if other is not None:
            single = tuple(
                _find_point_by_identity(measured, _point_id_without_second_kernel(item.point, 1))
                for item in (point, other)
            )
            same = point.point.kernel == other.point.kernel
            shared = (
                _find_point_by_identity(measured, _point_id_without_second_kernel(point.point, 2)) if same else None
            )
            pairs.append(KernelPair((point, other), (single[0], single[1]), shared))
    return pairs


def mean_cycles_per_benchmark_count(point: MeasuredPoint) -> CoreCyclesPerBenchmarkCount | None:
    """Returns a measured point's cycles for one count, mean over the cores. None for a real board."""
    shares = cycle_use_of_cores(point)
    counts = sum(share.counts for share in shares)
    if not counts:
        return None
    return CoreCyclesPerBenchmarkCount(
        sum(share.cycles for share in shares) / counts,
        sum(share.parts["bus wait"] for share in shares) / counts,
        sum(share.parts["flash wait"] for share in shares) / counts,
        sum(lock_wait_cycles(share.parts) for share in shares) / counts,
    )


def _find_point_by_identity(points: Sequence[MeasuredPoint], identity: PointId) -> MeasuredPoint | None:
    """Returns the measured point with this identity. None if it was not measured."""
    return next((point for point in points if point.point == identity), None)


def _measurement_point_of_second_kernel(point: PointId) -> PointId:
    """Returns the identity of the kernel on core 1 that ran beside the kernel of `point` on core 0."""
    config = {**point.config, BESIDE: point.kernel, CORE: "1"}
    return point.model_copy(update={"kernel": point.config[BESIDE], "config": dict(sorted(config.items()))})


def _point_id_without_second_kernel(point: PointId, cores: int) -> PointId:
    """Returns the identity of the same kernel without the kernel beside it, on this number of cores."""
    config = {key: value for key, value in point.config.items() if key not in _PAIR_KEYS}
    return point.model_copy(update={"cores": cores, "config": config})
