"""File forms of logic captures, one file each: a file here is the registration.

A form has `SUFFIX`, `ABOUT`, `recognises(head) -> bool` for the first bytes of a file, `read(data, name) -> Capture`
and `write(capture) -> bytes`. Forms of samples write what `sampling.sampled` gives.
"""

import importlib
import pkgutil
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

from rtoslab.base import CaptureError, UnknownNameError, write_whole
from rtoslab.captures.capture import Capture
from rtoslab.captures.tracks import distinct
from rtoslab.intake import CAPTURE_BYTES, one_line, read_bytes

HEAD_BYTES = 4096
_ZIP = b"PK\x03\x04"
_BREAKING = re.compile(r"""^\$|[,;="'\s\x00-\x1f\x7f-\x9f\ud800-\udfff]""")


@cache
def capture_forms() -> dict[str, ModuleType]:
    """Every form by name."""
    modules = {info.name: importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in modules.items() if hasattr(module, "recognises")}


def read_capture(path: Path) -> Capture:
    """A capture in any form, told by its content. Raises CaptureError."""
    return parse_capture(read_bytes(path, CAPTURE_BYTES, "the capture", CaptureError), one_line(path.name))


def parse_capture(data: bytes, name: str) -> Capture:
    """The same of a file's content. `name` is the file's. Raises CaptureError."""
    for module in capture_forms().values():
        if module.recognises(data[:HEAD_BYTES]):
            capture: Capture = module.read(data, name)
            if not capture.channels:
                raise CaptureError(f"{name} holds no digital channel; export at least one.")
            return capture if module.recognises(_ZIP) else _with_cut_note(capture, data, name)
    known = "; ".join(module.ABOUT for module in capture_forms().values())
    raise CaptureError(f"{name} is no capture in a form that is known; these are: {known}.")


def _with_cut_note(capture: Capture, data: bytes, name: str) -> Capture:
    """Programs end the last line of a text. A file that was cut seldom ends with a whole line."""
    if data[-1:] in {b"\n", b"\r"}:
        return capture
    return replace(capture, notes=(*capture.notes, f"{name} does not end with a whole line; it may be cut short."))


def form_of(path: Path, form: str | None = None) -> str:
    """The name of the form that a path is written in: the one named, by default the one with its suffix.

    Raises CaptureError, UnknownNameError."""
    if form is None:
        fitting = [name for name, module in capture_forms().items() if path.suffix == module.SUFFIX]
        if len(fitting) != 1:
            among = f"say --form with one of {', '.join(fitting or capture_forms())}"
            raise CaptureError(f"The suffix of {path.name} does not tell the form; {among}.")
        (form,) = fitting
    if form not in capture_forms():
        raise UnknownNameError("form of captures", form, capture_forms())
    return form


def write_capture(capture: Capture, path: Path, form: str | None = None) -> None:
    """Writes a capture in the form that the path's ending names. Raises CaptureError, UnknownNameError."""
    write_whole(path, capture_forms()[form_of(path, form)].write(named(capture)), "the capture")


def named(capture: Capture) -> Capture:
    """Gives the channels names that every form accepts: no separators, quotes or line ends, no keyword of a VCD."""
    names = distinct("the capture", (_BREAKING.sub("_", channel.name) or "_" for channel in capture.channels))
    return replace(
        capture, channels=tuple(replace(pair, name=name) for pair, name in zip(capture.channels, names, strict=True))
    )
