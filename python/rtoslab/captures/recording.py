"""A latency benchmark's image on the virtual board with its pins recorded from reset to end, and which pulse is what.

A real analyzer sees pulses, not what they time. The same image makes the same pulses in its window on silicon, in the
same order, so the virtual board's run tells which series each belongs to, counted from the end of the capture. If a
sample is longer than the shortest pulse, some may be missing. Then pulses are matched by their begin."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import CaptureError, PlanError, RunError, count_with_noun
from rtoslab.captures.capture import LogicChannel, LogicLevelCapture
from rtoslab.captures.pins import capture_from_events
from rtoslab.captures.pulses import PulseTrain, find_pulses
from rtoslab.catalogue import Benchmark, Catalogue
from rtoslab.images import build_measurement_point_image
from rtoslab.plan import PlannedPoint, PlanOptions, make_measurement_plan
from rtoslab.results import series_facts
from rtoslab.targets import (
    CHUNK_CYCLES,
    DONE_SYMBOL,
    EVENT,
    IDENT_MARK,
    IDENT_WINDOW,
    KIND_PIN,
    KIND_WRITE,
    SENDING_LIMIT_S,
    WINDOW_SYMBOL,
    Progress,
    apply_timing_settings_to_virtual_board,
    convert_simulator_errors,
    decode_measured_intervals_from_events,
    find_symbol_address,
    load_image_into_board,
    make_board_at_reset,
    pin_number_in_events,
    read_interval_marker_addresses,
)

OUT: Final = "out"
"""Name of the channel of the measurement's pin."""
TAIL_HZ: Final = 1000
"""A capture continues for one period of this frequency after its last edge: a millisecond."""
LEAST_MATCHED_PART: Final = 0.95
"""The least part of the pulses that must be at their expected times if some are too short to see."""


@dataclass(frozen=True, slots=True)
class PinEdgeRecording:
    """The pin edges of a run on the virtual board, with the series of each pulse."""

    title: str
    capture: LogicLevelCapture
    clock_hz: int
    series: tuple[str, ...]
    """Ids of the series, in the image's numbering."""
    pulse_series: tuple[int, ...]
    """The series number of each pulse in the window."""
    pulses_after_window: int
    """How many pulses come after the window."""

    def pulses_by_series(self, channel: LogicChannel, capture: LogicLevelCapture) -> dict[str, PulseTrain]:
        """Returns the pulses of a capture of the same image in its measurement window, by measured series. Pulses that
        were not recorded are left out. Raises CaptureError if the pulses do not match those of the image."""
        pulses, image_pulses = (
            find_pulses(channel, capture.tick_s, capture.sample_s),
            self._pulses_of_recorded_firmware_run(),
        )
        is_coarse = (
            len(image_pulses.width_ticks) and float(pulses.resolution_s) > image_pulses.pulse_widths_in_seconds().min()
        )
        places = (
            _match_pulses_by_time(image_pulses, pulses)
            if is_coarse
            else _match_recorded_pulses_to_image_pulses(image_pulses, pulses)
        )
        places, order = places[: len(self.pulse_series)], np.array(self.pulse_series)
        _require_known_series(pulses, places)
        seen = places >= 0
        return {
            ident: pulses.select_pulses(places[seen & (order == number)]) for number, ident in enumerate(self.series)
        }

    def count_pulses_shorter_than(self, length_s: float) -> tuple[int, int]:
        """Returns how many of the image's pulses, from the window's opening on, are shorter than a time, and how many
        there are."""
        seconds = self._pulses_of_recorded_firmware_run().pulse_widths_in_seconds()
        return int((seconds < length_s).sum()), len(seconds)

    def _pulses_of_recorded_firmware_run(self) -> PulseTrain:
        """Returns the pulses of the recorded run on the virtual board, from the opening of the measurement window
        on."""
        return find_pulses(self.capture.channels[0], self.capture.tick_s).last_pulses(
            len(self.pulse_series) + self.pulses_after_window
        )


def _require_known_series(pulses: PulseTrain, places: NDArray[np.int64]) -> None:
    """Raises CaptureError if an unknown level after the first of these pulses makes it unsure which series they belong
    to."""
    starts = pulses.start_ticks[places[places >= 0]]
    late = pulses.unsure_ticks[pulses.unsure_ticks > starts[0]] if len(starts) else pulses.unsure_ticks
    if len(late):
        raise CaptureError(
            f"The level is unknown (x or z) {count_with_noun(len(late), 'time')} among the window's pulses, first at "
            f"{float(late[0] * pulses.tick_s):.9f} s, so the pulses cannot be assigned to their series; record "
            "again."
        )


def _match_recorded_pulses_to_image_pulses(image_pulses: PulseTrain, pulses: PulseTrain) -> NDArray[np.int64]:
    """Returns the index in `pulses` of each pulse of the image, which are the last ones. Raises CaptureError if there
    are too few."""
    missing = len(image_pulses.width_ticks) - len(pulses.width_ticks)
    if missing > 0:
        _require_known_series(pulses, np.arange(0))
        raise CaptureError(
            f"The capture holds {len(pulses.width_ticks)} complete pulses, but the image generates "
            f"{len(image_pulses.width_ticks)} in its measured window; record from before the reset to the end of "
            "the run."
        )
    return np.arange(len(image_pulses.width_ticks)) - missing


def _match_pulses_by_time(image_pulses: PulseTrain, pulses: PulseTrain) -> NDArray[np.int64]:
    """Returns the index in `pulses` of each pulse of the image by their start times, -1 for one that was not recorded.
    Raises CaptureError if too few match."""
    sample_s = float(pulses.resolution_s)
    long_enough = np.flatnonzero(image_pulses.pulse_widths_in_seconds() > sample_s)
    begins, seen = (item.start_ticks * float(item.tick_s) for item in (image_pulses, pulses))
    places = np.full(len(begins), -1, np.int64)
    if len(seen) and len(long_enough):
        shifted = begins - begins[long_enough[-1]] + seen[-1]
        places = np.clip(np.searchsorted(seen, shifted - sample_s), 0, len(seen) - 1)
        places[np.abs(seen[places] - shifted) > 1.5 * sample_s] = -1
    if not len(long_enough) or np.mean(places[long_enough] >= 0) < LEAST_MATCHED_PART:
        raise CaptureError(
            f"With a sample every {sample_s * 1e9:.0f} ns some of the image's pulses are too short to "
            "be recorded, and the others do not begin at the expected times; record at a higher rate."
        )
    return places


def pin_latency_measurement_point(catalogue: Catalogue, benchmark: str, options: PlanOptions) -> PlannedPoint:
    """Returns the point of a latency benchmark that measures by a pin. Raises PlanError if the options do not select
    one."""
    config = {**options.config, "instrument": "pin"}
    plan = make_measurement_plan(
        catalogue, [benchmark], PlanOptions(options.kernels, options.boards, options.cores, None, config)
    )
    if len(plan.points) != 1 or plan.points[0].instrument is None:
        raise PlanError(
            f"{benchmark} is not one latency benchmark, so its pulses have no series; name one latency "
            "benchmark (`rtoslab list benchmarks`)."
        )
    (point,) = plan.points
    if point.not_applicable is not None:
        raise PlanError(f"{benchmark} is n/a on {point.board} with {point.kernel}: {point.not_applicable}.")
    return point


def record_pins_of_virtual_board(
    catalogue: Catalogue, benchmark: str, options: PlanOptions, progress: Progress = lambda *_: None
) -> PinEdgeRecording:
    """Builds the image that measures by a pin, and records its pin edges on the virtual board. Raises PlanError,
    BuildError, RunError."""
    point = pin_latency_measurement_point(catalogue, benchmark, options)
    progress("building", 0.0)
    built = build_measurement_point_image(catalogue, point)
    whole = catalogue.find_benchmark(point.benchmark).facts.with_task_count_from_parameters(point.params)
    facts = whole.restrict_to_kernel_services(catalogue.find_kernel(point.kernel).facts)
    return _record_pin_edges(catalogue, point, facts, built.elf_path.read_bytes(), progress)


def _record_pin_edges(
    catalogue: Catalogue, point: PlannedPoint, facts: Benchmark, image: bytes, progress: Progress
) -> PinEdgeRecording:
    """Runs the image to its end and returns its pin edges, with the series of each pulse in the window."""
    board = catalogue.find_board(point.board).facts
    machine = make_board_at_reset(board, cores=point.cores)
    apply_timing_settings_to_virtual_board(machine, point.timing)
    load_image_into_board(machine, image, point.label)
    with convert_simulator_errors(RunError):
        machine.watch_write(find_symbol_address(machine, WINDOW_SYMBOL), IDENT_WINDOW)
        machine.until(find_symbol_address(machine, DONE_SYMBOL))
    for mark in read_interval_marker_addresses(image, point.label):
        machine.watch_exec(mark.address, IDENT_MARK + 2 * mark.series + mark.is_end)
    machine.trace_pins(True)
    events = bytearray()
    limit = int((facts.limit_ms / 1000 * 2 + SENDING_LIMIT_S) * (point.clock_hz or board.clock.sys_hz))
    stop = machine.run(0)
    while stop["reason"] != "until" and machine.cycle() < limit:
        stop = machine.run(CHUNK_CYCLES)
        events += machine.take_events()
        machine.take_uart()
        progress("running", machine.cycle() / limit)
        if stop["reason"] not in {"cycles", "until"}:
            raise RunError(f"The virtual board stopped ({stop['reason']}): {stop['detail']}.")
    pin = pin_number_in_events(board.pins.out)
    clock_hz = machine.clock_hz()
    values = np.frombuffer(bytes(events), EVENT)
    edges = values["cycle"][values["kind"] == KIND_PIN]
    end = min(machine.cycle(), int(edges.max(initial=0)) + clock_hz // TAIL_HZ)
    capture = capture_from_events(bytes(events), {pin: OUT}, clock_hz, 0, end)
    windows = values[(values["kind"] == KIND_WRITE) & (values["id"] == IDENT_WINDOW)]
    opened, closed = (windows["cycle"][windows["value"] == state][:1] for state in (1, 2))
    if not len(opened) or not len(closed):
        raise RunError("The image did not begin and end its measured window; `rtoslab run` shows why.")
    inside = values[(values["cycle"] >= opened[0]) & (values["cycle"] <= closed[0])]
    intervals = decode_measured_intervals_from_events(inside.tobytes(), (), {}, pin)
    starts = find_pulses(capture.channels[0], capture.tick_s).start_ticks
    order = tuple(interval.series for interval in intervals.intervals)
    if len(order) != len(intervals.pulses):
        raise RunError(
            f"{len(order)} intervals, but {len(intervals.pulses)} pulses were observed in the measured window."
        )
    return PinEdgeRecording(
        title=f"{facts.title}, {catalogue.find_kernel(point.kernel).facts.title} on {board.title}",
        capture=capture,
        clock_hz=clock_hz,
        series=tuple(fact.id for fact in series_facts(facts)),
        pulse_series=order,
        pulses_after_window=int((starts > int(closed[0])).sum()),
    )
