"""Session files of sigrok (.sr): zips with `version`, `metadata` and samples in `logic-1-1`, `logic-1-2` and so on."""

import io
import re
import zipfile
from collections.abc import Sequence
from typing import Final

import numpy as np

from rtoslab.base import CaptureError
from rtoslab.captures.capture import LogicLevelCapture, merge_logic_channel_level_changes, require_known_logic_levels
from rtoslab.captures.packed_levels import PackedSampleReader
from rtoslab.captures.rates import parse_rate_hz, sample_rate_text
from rtoslab.intake import (
    CHANNELS,
    MEMBER_TEXT_BYTES,
    LimitedZipFile,
    escape_to_one_line,
    open_zip_archive,
    parse_integer,
    quote_text,
)

SUFFIX: Final = ".sr"
ABOUT: Final = "sigrok session (.sr)"
CHUNK_SAMPLES: Final = 4 << 20
_PART_DIGITS: Final = 6
"""The digits of a part's number. An archive holds fewer members than that."""


def recognises_format(head: bytes) -> bool:
    """Whether a file is a zip file, as a session of sigrok is."""
    return head[:4] in {b"PK\x03\x04", b"PK\x05\x06"}


def decode_capture(data: bytes, name: str) -> LogicLevelCapture:
    """Returns the capture in a session file of sigrok. Raises CaptureError if it is none, damaged, without logic
    channels, or too large."""
    with open_zip_archive(data, name, CaptureError) as session:
        return _read_sigrok_session_capture(session, name)


def _read_sigrok_session_capture(session: LimitedZipFile, name: str) -> LogicLevelCapture:
    """Returns the capture in an open session file of sigrok. Raises CaptureError."""
    names = set(session.names)
    if "metadata" not in names:
        raise CaptureError(
            f"{name} is a zip file without `metadata`, so it is not a sigrok session; export a session (.sr)."
        )
    version = _zip_member_text(session, "version") if "version" in names else ""
    if version not in {"1", "2"}:
        raise CaptureError(
            f"{name} is a sigrok session of version {escape_to_one_line(version[:40]) or 'none'}; "
            "versions 1 and 2 can be read."
        )
    device = next(
        (
            group
            for group in _parse_sigrok_metadata_groups(_zip_member_text(session, "metadata"), name)
            if "capturefile" in group
        ),
        None,
    )
    if device is None:
        raise CaptureError(
            f"{name} has no logic channels (its metadata contains no capturefile); record logic channels."
        )
    rate = parse_rate_hz(device.get("samplerate", ""), name)
    try:
        unit = parse_integer(device.get("unitsize", "1"), 1, CHANNELS // 8)
    except ValueError as cause:
        raise CaptureError(f"{name}: its unitsize {cause}.") from None
    probes = {int(key[5:]) - 1: label for key, label in device.items() if re.fullmatch(r"probe[1-9]\d{0,8}", key)}
    if any(bit >= 8 * unit for bit in probes):
        raise CaptureError(f"{name}: a sample has {unit} bytes, too few for probe{max(probes) + 1}.")
    channels = PackedSampleReader(name, unit, [(label, bit) for bit, label in sorted(probes.items())])
    for part in _zip_sample_file_names(session.names, device["capturefile"], name):
        for piece in session.read_archive_member_in_pieces(part):
            channels.add_logic_sample_bytes(piece)
    capture = channels.to_capture(1 / rate)
    if not capture.end_tick:
        raise CaptureError(f"{name} has no samples; record or save it again.")
    return capture


def _zip_member_text(session: LimitedZipFile, member: str) -> str:
    """Returns the text of a member of the session's zip file."""
    return session.read_member(member, MEMBER_TEXT_BYTES).decode("utf-8").strip()


def _parse_sigrok_metadata_groups(text: str, name: str) -> list[dict[str, str]]:
    """Returns the groups of keys and values in a session's metadata, in order. Keys are in lower case."""
    groups: list[dict[str, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        key, sign, value = (part.strip() for part in content.partition("="))
        if content.startswith("[") and content.endswith("]"):
            groups.append({})
        elif content and not content.startswith(("#", ";")):
            if not sign or not groups or key.lower() in groups[-1]:
                raise CaptureError(
                    f"{name}: its metadata cannot be read (line {number}, {quote_text(content)}, is not a key with a "
                    "value, or the key is repeated); save the session again."
                )
            groups[-1][key.lower()] = value
    return groups


def _zip_sample_file_names(names: Sequence[str], base: str, name: str) -> list[str]:
    """Returns the names of the zip members with the samples, in order: `logic-1-1` and so on, or `logic-1` alone."""
    parts: dict[int, str] = {}
    for part in names:
        digits = part.removeprefix(f"{base}-")
        if digits == part or not digits.isdecimal() or not digits.isascii():
            continue
        if digits.startswith("0") or len(digits) > _PART_DIGITS or int(digits) in parts:
            raise CaptureError(
                f"{name}: its part {quote_text(part)} is there twice or has a wrong name; copy or save it again."
            )
        parts[int(digits)] = part
    missing = next((number for number in range(1, len(parts) + 1) if number not in parts), None)
    if missing is not None:
        raise CaptureError(
            f"{name}: its part {escape_to_one_line(base[:40])}-{missing} is missing; copy or save it again."
        )
    parts_in_order = [parts[number] for number in sorted(parts)] or [part for part in names if part == base]
    if not parts_in_order:
        raise CaptureError(f"{name}: its samples ({escape_to_one_line(base[:40])}) are missing; copy or save it again.")
    return parts_in_order


def encode_capture(capture: LogicLevelCapture) -> bytes:
    """Returns a session file of sigrok with a sample for each tick. Unknown levels at the ends become 0."""
    require_known_logic_levels(capture, ABOUT)
    rate = sample_rate_text(capture.tick_s)
    count = len(capture.channels)
    unit = max(1, -(-count // 8))
    probes = "".join(f"probe{number}={channel.name}\n" for number, channel in enumerate(capture.channels, 1))
    metadata = (
        "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\n"
        f"total probes={count}\nsamplerate={rate}\ntotal analog=0\n{probes}unitsize={unit}\n"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as session:
        # With the earliest date a zip can hold: the same capture gives the same bytes.
        def add_zip_member(name: str, data: bytes | str) -> None:
            """Adds a file of this name to the zip file."""
            session.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)

        add_zip_member("version", "2")
        add_zip_member("metadata", metadata)
        for number, start in enumerate(range(0, max(1, capture.end_tick), CHUNK_SAMPLES), 1):
            add_zip_member(
                f"logic-1-{number}",
                _packed_samples_between(capture, unit, start, min(capture.end_tick, start + CHUNK_SAMPLES)),
            )
    return out.getvalue()


def _packed_samples_between(capture: LogicLevelCapture, unit: int, start: int, end: int) -> bytes:
    """Returns the samples of all channels from tick `start` to `end`, `unit` bytes each."""
    ticks, levels = merge_logic_channel_level_changes(capture)
    words = np.zeros((len(ticks) + 1, unit), np.uint8)
    for column in range(len(capture.channels)):
        words[1:, column // 8] |= ((levels[:, column] == 1).astype(np.uint8) << (column % 8)).astype(np.uint8)
    place = np.searchsorted(ticks, np.arange(start, end), side="right")
    return words[place].tobytes()
