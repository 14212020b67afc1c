"""When a run directory was worked on, and on which revision of the checkout: one JSON line each time, never rewritten.

A point's own files bear no date, so that the same manifest gives the same bytes. The date stands here, beside them.
Each line bears its own digest, and one that was altered is passed over with a warning. Silently passed over is only the
beginning of a line at the very end, whose writer was killed. The next writer takes it away, or it would be before
its own line and spoil that.
"""

import hashlib
import json
import os
import subprocess
import warnings
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rtoslab.base import AlteredError, AlteredWarning, disk_error, exclusive_lock
from rtoslab.intake import STORED_BYTES, parse_object, read_bytes

JOURNAL_FILE = "journal.jsonl"
_PLAN = "plan.json"
_LOCK = ".journal.lock"
_LONGEST: Final = 1000
"""Bytes: no line has so many."""


@dataclass(frozen=True, slots=True)
class Session:
    """One call that measured into a run directory."""

    date: str
    """UTC, ISO 8601 to the second."""
    revision: str
    """The revision of the checkout's git commit, with `+` if files differ from it. Empty if it is not a git checkout.
    """


def note_session(run: Path, root: Path) -> Session:
    """Appends a line for the present moment. Raises StoreError."""
    session = Session(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), revision_of(root))
    line = session_line(session)
    try:
        # Another writer may be at it, whose line is not cut but unfinished.
        with exclusive_lock(run / _LOCK), (run / JOURNAL_FILE).open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _LONGEST))
            end = file.read(_LONGEST)
            rest = end.rpartition(b"\n")[2]
            if _is_cut(rest) and len(rest) < _LONGEST:
                file.truncate(size - len(rest))
            elif rest:
                line = "\n" + line
            file.write(line.encode())
    except OSError as cause:
        raise disk_error("write the journal of", run, cause) from None
    return session


def session_line(session: Session) -> str:
    """A journal's line."""
    fields = asdict(session)
    return json.dumps({**fields, "sha256": _digest(fields)}) + "\n"


def _digest(fields: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


def last_session(run: Path) -> Session:
    """The newest line. A directory without a journal has the date of its plan. An altered line is an AlteredWarning."""
    try:
        sessions = read_sessions(run)
    except AlteredError as cause:
        warnings.warn(str(cause), AlteredWarning, stacklevel=2)
        sessions = _whole_lines(run)
    if sessions:
        return sessions[-1]
    written = datetime.fromtimestamp((run / _PLAN).stat().st_mtime, UTC)
    return Session(written.strftime("%Y-%m-%dT%H:%M:%SZ"), "")


def read_sessions(run: Path) -> list[Session]:
    """Every whole line, the oldest first. Raises AlteredError."""
    sessions = []
    for number, item in enumerate(_lines(run), 1):
        if item is None:
            raise AlteredError(
                f"Line {number} of {run / JOURNAL_FILE} was altered after it was written; "
                "delete it if no copy can be had."
            )
        sessions.append(item)
    return sessions


def _whole_lines(run: Path) -> list[Session]:
    try:
        return [line for line in _lines(run) if line is not None]
    except AlteredError:  # it cannot be read at all
        return []


def _lines(run: Path) -> list[Session | None]:
    """Yields the sessions. None for a complete line that was altered."""
    if not (run / JOURNAL_FILE).exists():
        return []
    *lines, rest = read_bytes(run / JOURNAL_FILE, STORED_BYTES, "the journal", AlteredError).split(b"\n")
    return [_session(line) for line in (lines if not rest or _is_cut(rest) else [*lines, rest])]


def _is_cut(rest: bytes) -> bool:
    """Whether what follows the last line feed is the beginning of a line. A whole one lacks its line feed at most."""
    return b"}" not in rest


def _session(line: bytes) -> Session | None:
    try:
        fields = parse_object(line)
        session = Session(fields["date"], fields["revision"])
    except (ValueError, KeyError, TypeError):
        return None
    return session if session_line(session).encode() == line + b"\n" else None


def revision_of(root: Path) -> str:
    """Returns the short hash of the commit that is checked out. Empty if `root` is not the top of a git checkout.

    An installed package may be in a folder of somebody else's checkout, whose commit says nothing of it.
    """
    top, _, head = _git(root, "rev-parse", "--show-toplevel", "--short=12", "HEAD").partition("\n")
    if not head or Path(top).resolve() != root.resolve():
        return ""
    return head + ("+" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
