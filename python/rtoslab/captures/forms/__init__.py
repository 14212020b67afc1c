"""File forms of logic captures, one file each: a file here is the registration.

A form has `SUFFIX`, `ABOUT`, `recognises(head) -> bool` for the first bytes of a file, `read(data, name) -> Capture`
and `write(capture) -> bytes`; forms of samples write what `sampling.sampled` gives.
"""

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

from rtoslab.captures.capture import Capture
from rtoslab.errors import CaptureError, UnknownNameError, disk_error

HEAD_BYTES = 4096


@cache
def forms() -> dict[str, ModuleType]:
    """Every form by name."""
    found = {info.name: importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in found.items() if hasattr(module, "recognises")}


def read_capture(path: Path) -> Capture:
    """A capture in any form, told by its content. Raises CaptureError."""
    try:
        data = path.read_bytes()
    except OSError as cause:
        raise CaptureError(f"{path} cannot be read ({cause.strerror}); check the path.") from None
    for module in forms().values():
        if module.recognises(data[:HEAD_BYTES]):
            capture: Capture = module.read(data, path.name)
            if not capture.channels:
                raise CaptureError(f"{path.name} holds no digital channel; export at least one.")
            return capture
    known = "; ".join(module.ABOUT for module in forms().values())
    raise CaptureError(f"{path.name} is no capture in a form that is known; these are: {known}.")


def write_capture(capture: Capture, path: Path, form: str | None = None) -> None:
    """In a form by name, by default the one with the path's suffix. Raises CaptureError, UnknownNameError."""
    if form is None:
        fitting = [name for name, module in forms().items() if path.suffix == module.SUFFIX]
        if len(fitting) != 1:
            among = f"say --form with one of {', '.join(fitting or forms())}"
            raise CaptureError(f"The suffix of {path.name} does not tell the form; {among}.")
        (form,) = fitting
    if form not in forms():
        raise UnknownNameError("form of captures", form, forms())
    try:
        path.write_bytes(forms()[form].write(capture))
    except OSError as cause:
        raise disk_error("write", path, cause) from None
