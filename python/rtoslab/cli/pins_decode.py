"""`rtoslab pins decode`: a logic analyzer's capture to intervals, beside the virtual board's."""

from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.table import Table

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, PlanError, find_checkout_root
from rtoslab.captures import (
    OUT,
    LogicLevelCapture,
    PinEdgeRecording,
    PulseTrain,
    VoltageThreshold,
    find_pulses,
    read_capture,
    record_pins_of_virtual_board,
    resample_as_logic_analyzer,
    unknown_pulse_width_sentence,
)
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import config_option
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.names import CatalogueNameParam, FrequencyParam, VoltageParam
from rtoslab.plan import PlanOptions


@click.command("decode", short_help="Print the pulses in a capture file.")
@click.argument("capture", type=click.Path(path_type=Path))
@click.argument("benchmark", type=CatalogueNameParam("benchmarks"), required=False)
@click.option("--kernel", type=CatalogueNameParam("kernels"), help="The kernel of the BENCHMARK's image.")
@click.option("--board", type=CatalogueNameParam("boards"), help="The board of the BENCHMARK's image.")
@config_option
@click.option("--channel", help="The channel of the measurement pin.  [default: the only one with edges]")
@click.option(
    "--sample-rate",
    type=FrequencyParam(),
    help=("Also show the pulses that an analyzer with this rate would measure on the virtual pin."),
)
@click.option(
    "--threshold",
    type=VoltageParam(),
    help="The voltage between low and high, for an oscilloscope's capture.  [default: midway, for each channel]",
)
@click.option(
    "--hysteresis",
    type=VoltageParam(),
    help="The voltage must pass the threshold by half of this to change the level.  [default: a fifth of the swing]",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def pins_decode_command(
    capture: Path,
    benchmark: str | None,
    kernel: str | None,
    board: str | None,
    config: tuple[tuple[str, str], ...],
    channel: str | None,
    sample_rate: int | None,
    threshold: float | None,
    hysteresis: float | None,
    as_json: bool,
) -> int:
    """Read a CAPTURE and print the lengths of its pulses.

    A CAPTURE is a VCD file, a session of sigrok (.sr), a CSV or binary export of Saleae, or a CSV file of PulseView or
    of an oscilloscope. Voltages of an oscilloscope become levels by a threshold.

    With a BENCHMARK, the capture must contain a complete run of its image with the instrument `pin`. Each pulse is then
    assigned to its series and compared with the virtual board's run of the same image, in cycles.
    """
    if hysteresis is not None and hysteresis < 0:
        raise PlanError("--hysteresis is less than 0; give a voltage of 0 or more.")
    has_threshold = threshold is not None or hysteresis is not None
    capture_ = read_capture(capture, VoltageThreshold(threshold, hysteresis) if has_threshold else None)
    notes = [
        *capture_.notes,
        *(note for item in capture_.channels if (note := unknown_pulse_width_sentence(item, capture_.tick_s))),
    ]
    if benchmark is None:
        rows = [
            _pulse_length_statistics(item.name, find_pulses(item, capture_.tick_s, capture_.sample_s))
            for item in capture_.channels
        ]
        _print_pulse_statistics(
            {"capture": str(capture), "tick_s": float(capture_.tick_s), "channels": rows, "notes": notes},
            as_json=as_json,
        )
        if any(row["pulses"] for row in rows):
            return EXIT_OK
        click.echo("No channel has a complete pulse, so nothing was measured.", err=True)
        return EXIT_POINT_FAILED
    if kernel is None or board is None:
        raise PlanError(
            "The image that generated these pulses is not known; give --kernel and --board with the benchmark."
        )
    recording = record_pins_of_virtual_board(
        Catalogue(find_checkout_root()), benchmark, PlanOptions([kernel], [board], [1], None, dict(config))
    )
    sources = {
        "capture": recording.pulses_by_series(capture_.find_logic_channel(channel), capture_),
        "virtual": _measurement_pin_pulses_by_series(recording),
    }
    if sample_rate is not None:
        seen: LogicLevelCapture = resample_as_logic_analyzer(recording.capture, sample_rate)
        sources[f"virtual at {sample_rate / 1e6:g} MS/s"] = recording.pulses_by_series(
            seen.find_logic_channel(OUT), seen
        )
    rows = [
        {"series": ident, **_pulse_length_statistics(source, pulses[ident], recording.clock_hz)}
        for ident in recording.series
        for source, pulses in sources.items()
    ]
    _print_pulse_statistics(
        {"capture": str(capture), "image": recording.title, "series": rows, "notes": notes}, as_json=as_json
    )
    return EXIT_OK


def _measurement_pin_pulses_by_series(recording: PinEdgeRecording) -> dict[str, PulseTrain]:
    """Returns the pulses on the virtual board's measurement pin, by latency series."""
    return recording.pulses_by_series(recording.capture.find_logic_channel(OUT), recording.capture)


def _pulse_length_statistics(name: str, pulses: PulseTrain, clock_hz: int | None = None) -> dict[str, Any]:
    """Returns number, least, median and largest length of pulses: in cycles if the clock is known, else in
    microseconds."""
    lengths = (
        pulses.pulse_widths_in_cycles(clock_hz) if clock_hz is not None else pulses.pulse_widths_in_seconds() * 1e6
    )
    kinds = {"min": 0, "median": 50, "max": 100} if len(lengths) else {}
    unit = "cycles" if clock_hz is not None else "us"
    step = float(pulses.resolution_s) * (clock_hz if clock_hz is not None else 1e6)
    return {"name": name, "pulses": len(lengths), "unit": unit, "resolution": step,
            **{key: float(np.percentile(lengths, part)) for key, part in kinds.items()}}  # fmt: skip


def _print_pulse_statistics(result: dict[str, Any], *, as_json: bool) -> None:
    """Prints the figures of all pulses, as JSON or as a table."""
    if as_json:
        print_json_answer(result)
        return
    for note in result["notes"]:
        click.echo(f"warning: {note}", err=True)
    rows = result.get("series") or result["channels"]
    unit = rows[0]["unit"] if rows else ""
    first = ["series"] if "series" in result else []
    figures = ("min", "median", "max")
    table = Table(
        *first, "pulses of", "n", *(f"{key}, {unit}" for key in figures), "resolution", title=result.get("image")
    )
    for number, column in enumerate(table.columns):
        column.justify = "right" if number > len(first) else "left"
        column.no_wrap = number == 0
    before = None
    for row in rows:
        cells = [f"{row[key]:,.3f}" if key in row else "-" for key in (*figures, "resolution")]
        lead = [row["series"] if row["series"] != before else ""] if first else []
        before = row.get("series")
        table.add_row(*lead, row["name"], f"{row['pulses']:,}", *cells)
    PlainConsole().print(table)
