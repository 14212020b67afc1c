"""sigrok session files (.sr): a zip with `version`, `metadata` and the samples in `logic-1-1`, `logic-1-2` …"""

import configparser
import io
import re
import zipfile
import zlib
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.captures.capture import Capture, Channel, channel_of, merged
from rtoslab.captures.rates import rate_hz, rate_text
from rtoslab.errors import CaptureError

SUFFIX: Final = ".sr"
ABOUT: Final = "sigrok session (.sr)"
CHUNK_SAMPLES: Final = 4 << 20


def recognises(head: bytes) -> bool:
    """A zip file."""
    return head[:4] in {b"PK\x03\x04", b"PK\x05\x06"}


def read(data: bytes, name: str) -> Capture:
    """Raises CaptureError: no session, damaged, cut short, without logic channels."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as session:
            return _session(session, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as cause:
        raise CaptureError(f"{name} is damaged or cut short ({cause}); copy or save it again.") from None


def _session(session: zipfile.ZipFile, name: str) -> Capture:
    names = set(session.namelist())
    if "metadata" not in names:
        raise CaptureError(f"{name} is a zip file without `metadata`, so it is no sigrok session.")
    version = session.read("version").decode(errors="replace").strip() if "version" in names else ""
    if version not in {"1", "2"}:
        raise CaptureError(f"{name} is a sigrok session of version {version or 'none'}; versions 1 and 2 are known.")
    metadata = configparser.ConfigParser(interpolation=None)
    try:
        metadata.read_string(session.read("metadata").decode("utf-8"))
    except (configparser.Error, UnicodeDecodeError) as cause:
        raise CaptureError(f"{name}: its metadata cannot be read ({str(cause).splitlines()[0]}).") from None
    device = next((metadata[each] for each in metadata.sections() if "capturefile" in metadata[each]), None)
    if device is None:
        raise CaptureError(f"{name} has no logic channels (its metadata names no capturefile).")
    rate = rate_hz(device.get("samplerate", ""), name)
    unit = device.getint("unitsize", fallback=1)
    samples = _samples(session, device["capturefile"], unit, name)
    probes = {int(key[5:]) - 1: value for key, value in device.items() if re.fullmatch(r"probe[1-9]\d*", key)}
    if any(bit >= 8 * unit for bit in probes):
        raise CaptureError(f"{name}: a sample has {unit} bytes, too few for probe{max(probes) + 1}.")
    channels = tuple(_channel(label, samples[:, bit // 8] >> (bit % 8) & 1) for bit, label in sorted(probes.items()))
    return Capture(1 / Fraction(rate), channels, len(samples))


def _samples(session: zipfile.ZipFile, base: str, unit: int, name: str) -> NDArray[np.uint8]:
    parts = {int(each[len(base) + 1 :]): each for each in session.namelist() if re.fullmatch(rf"{base}-\d+", each)}
    if parts and sorted(parts) != list(range(1, len(parts) + 1)):
        missing = min(set(range(1, max(parts) + 1)) - set(parts))
        raise CaptureError(f"{name}: its part {base}-{missing} is missing; copy or save it again.")
    files = [parts[number] for number in sorted(parts)] or ([base] if base in session.namelist() else [])
    if not files:
        raise CaptureError(f"{name}: its samples ({base}) are missing; copy or save it again.")
    data = b"".join(session.read(each) for each in files)
    if unit < 1 or len(data) % unit:
        raise CaptureError(f"{name}: {len(data)} bytes are no whole number of samples of {unit} bytes.")
    return np.frombuffer(data, np.uint8).reshape(-1, unit)


def _channel(label: str, bits: NDArray[np.integer[Any]]) -> Channel:
    changes = np.flatnonzero(np.diff(bits)) + 1
    ticks = np.concatenate(([0], changes)) if len(bits) else np.zeros(0, np.int64)
    return channel_of(label, ticks.tolist(), bits[ticks].tolist())


def write(capture: Capture) -> bytes:
    """A tick is a sample; unknown levels read 0, as on a wire that nobody drives."""
    rate = rate_text(capture.tick_s)
    count = len(capture.channels)
    unit = max(1, -(-count // 8))
    probes = "".join(f"probe{number}={each.name}\n" for number, each in enumerate(capture.channels, 1))
    metadata = (
        "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\n"
        f"total probes={count}\nsamplerate={rate}\ntotal analog=0\n{probes}unitsize={unit}\n"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as session:
        # With the earliest date a zip can hold: the same capture gives the same bytes.
        def add(name: str, data: bytes | str) -> None:
            session.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)

        add("version", "2")
        add("metadata", metadata)
        for number, start in enumerate(range(0, max(1, capture.end_tick), CHUNK_SAMPLES), 1):
            add(f"logic-1-{number}", _packed(capture, unit, start, min(capture.end_tick, start + CHUNK_SAMPLES)))
    return out.getvalue()


def _packed(capture: Capture, unit: int, start: int, end: int) -> bytes:
    ticks, levels = merged(capture)
    words = np.zeros((len(ticks) + 1, unit), np.uint8)
    for column in range(len(capture.channels)):
        words[1:, column // 8] |= ((levels[:, column] == 1).astype(np.uint8) << (column % 8)).astype(np.uint8)
    place = np.searchsorted(ticks, np.arange(start, end), side="right")
    return words[place].tobytes()
