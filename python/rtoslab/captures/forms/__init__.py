"""File forms of logic captures, one file each: a file here is the registration.

A form has `SUFFIX`, `ABOUT`, `recognises_format(head) -> bool` for the first bytes of a file,
`decode_capture(data, name) -> Capture` and `encode_capture(capture) -> bytes`. A form of voltages also decodes with the
`VoltageThreshold` of its levels. Forms of samples encode what `sampling.resample_capture` gives.
"""

import importlib
import pkgutil
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

from rtoslab.base import CaptureError, UnknownNameError, write_file_atomically
from rtoslab.captures.capture import LogicLevelCapture
from rtoslab.captures.tracks import append_numbers_to_repeated_labels
from rtoslab.captures.voltages import VoltageThreshold
from rtoslab.intake import CAPTURE_BYTES, decode_utf8, escape_to_one_line, read_bytes

HEAD_BYTES = 4096
FORMS_OF_VOLTAGES = {"oscilloscope"}
_BINARY_FORMS = {"sigrok", "saleae_binary"}
_BREAKING = re.compile(r"""^\$|[,;="'\s\x00-\x1f\x7f-\x9f\ud800-\udfff]""")


@cache
def capture_format_modules() -> dict[str, ModuleType]:
    """Returns the Python module of each file format of captures, by the format's name."""
    modules = {info.name: importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in modules.items() if hasattr(module, "recognises_format")}


def read_capture(path: Path, threshold: VoltageThreshold | None = None) -> LogicLevelCapture:
    """Reads a capture file in any known format, which is found by the content. `threshold` is for formats with
    voltages. Raises CaptureError."""
    return parse_capture(
        read_bytes(path, CAPTURE_BYTES, "the capture", CaptureError), escape_to_one_line(path.name), threshold
    )


def parse_capture(data: bytes, name: str, threshold: VoltageThreshold | None = None) -> LogicLevelCapture:
    """Returns the capture in the content of a file, in any known format. `name` is the file's, for messages. Raises
    CaptureError."""
    data = decode_utf8(data, name, CaptureError)
    for form, module in capture_format_modules().items():
        if module.recognises_format(data[:HEAD_BYTES]):
            if threshold is not None and form not in FORMS_OF_VOLTAGES:
                raise CaptureError(f"{name} contains logic levels, not voltages; omit --threshold and --hysteresis.")
            capture: LogicLevelCapture = module.decode_capture(
                data, name, *([threshold] if threshold is not None else [])
            )
            if not capture.channels:
                raise CaptureError(f"{name} contains no digital channel; export at least one.")
            return capture if form in _BINARY_FORMS else _with_incomplete_file_note(capture, data, name)
    known = "; ".join(module.ABOUT for module in capture_format_modules().values())
    raise CaptureError(f"{name} is not a capture in a known format; known formats are: {known}.")


def _with_incomplete_file_note(capture: LogicLevelCapture, data: bytes, name: str) -> LogicLevelCapture:
    """Adds a note to the capture if its file's last line has no end, because the file may be incomplete."""
    if data[-1:] in {b"\n", b"\r"}:
        return capture
    return replace(
        capture, notes=(*capture.notes, (f"{name} does not end with a complete line, so the file may be truncated."))
    )


def choose_capture_format(path: Path, form: str | None = None) -> str:
    """Returns the name of the file format in which to write a capture to `path`: `form`, or if that is None, the only
    format with the path's suffix. Raises CaptureError if no format or several have this suffix, UnknownNameError if
    `form` is unknown."""
    if form is None:
        candidates = [name for name, module in capture_format_modules().items() if path.suffix == module.SUFFIX]
        if len(candidates) != 1:
            among = f"add --form with one of {', '.join(candidates or capture_format_modules())}"
            raise CaptureError(f"The format cannot be seen from the suffix of {path.name}; {among}.")
        (form,) = candidates
    if form not in capture_format_modules():
        raise UnknownNameError("capture format", form, capture_format_modules())
    return form


def write_capture(capture: LogicLevelCapture, path: Path, form: str | None = None) -> None:
    """Writes a capture in the format `form`, or in that of the path's suffix. Raises CaptureError, UnknownNameError."""
    write_file_atomically(
        path,
        capture_format_modules()[choose_capture_format(path, form)].encode_capture(
            with_portable_channel_names(capture)
        ),
        "the capture",
    )


def with_portable_channel_names(capture: LogicLevelCapture) -> LogicLevelCapture:
    """Returns the capture with channel names that every file format accepts: no separators, quotes or line ends."""
    names = append_numbers_to_repeated_labels(
        "the capture", (_BREAKING.sub("_", channel.name) or "_" for channel in capture.channels)
    )
    return replace(
        capture, channels=tuple(replace(pair, name=name) for pair, name in zip(capture.channels, names, strict=True))
    )
