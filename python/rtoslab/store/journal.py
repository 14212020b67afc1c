"""The journal of a run directory: when it was worked on, and on which revision of the checkout. One JSON line each
time, never rewritten.

A point's own files have no date, so that the same manifest gives the same bytes. The date is here, beside them. Each
line has its own digest, and an altered one is skipped with a warning. Only the beginning of a line at the very end,
whose writer was killed, is skipped silently. The next writer removes it, or it would spoil the line after it."""

import hashlib
import json
import os
import subprocess
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rtoslab.base import AlteredFileError, AlteredPointWarning, exclusive_lock, make_disk_error
from rtoslab.intake import STORED_BYTES, parse_json_object, read_bytes
from rtoslab.store.folder_names import PLAN

JOURNAL_FILE = "journal.jsonl"
_LOCK = ".journal.lock"
_MAX_LINE_BYTES: Final = 1000
"""Every line is shorter than this."""


@dataclass(frozen=True, slots=True)
class RunJournalSession:
    """One use of a run directory: when something was measured into it, and at which commit."""

    date: str
    """UTC, ISO 8601 to the second."""
    revision: str
    """The revision of the checkout's git commit, with `+` if files differ from it. Empty if it is not a git checkout.
    """


def append_session_to_run_journal(run: Path, root: Path) -> RunJournalSession:
    """Appends the present date and commit to a run directory's journal, and returns them. Raises StoreError."""
    session = RunJournalSession(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), git_revision(root))
    line = run_session_as_journal_line(session)
    try:
        # Another writer may be at it, whose line is not cut but unfinished.
        with exclusive_lock(run / _LOCK), (run / JOURNAL_FILE).open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MAX_LINE_BYTES))
            end = file.read(_MAX_LINE_BYTES)
            rest = end.rpartition(b"\n")[2]
            if _is_unfinished_line(rest) and len(rest) < _MAX_LINE_BYTES:
                file.truncate(size - len(rest))
            elif rest:
                line = "\n" + line
            file.write(line.encode())
    except OSError as cause:
        raise make_disk_error("write the journal of", run, cause) from None
    return session


def run_session_as_journal_line(session: RunJournalSession) -> str:
    """Returns a session as a line of the journal, with its digest."""
    fields = asdict(session)
    return json.dumps({**fields, "sha256": _journal_line_digest(fields)}) + "\n"


def _journal_line_digest(fields: dict[str, str]) -> str:
    """Returns a digest of a journal line's fields, 16 hex digits."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


def newest_measurement_session(run: Path) -> RunJournalSession:
    """Returns the newest session in a run directory's journal. A directory without a journal has the date of its plan.

    An altered line is left out, with an AlteredPointWarning.
    """
    try:
        sessions = read_journal_sessions(run)
    except AlteredFileError as cause:
        warnings.warn(str(cause), AlteredPointWarning, stacklevel=2)
        sessions = _read_unaltered_journal_sessions(run)
    if sessions:
        return sessions[-1]
    written = datetime.fromtimestamp((run / PLAN).stat().st_mtime, UTC)
    return RunJournalSession(written.strftime("%Y-%m-%dT%H:%M:%SZ"), "")


def runs_with_newest_journal_sessions(folders: Iterable[Path]) -> list[tuple[Path, RunJournalSession]]:
    """Returns the run directories among these folders and their direct subfolders, each with its newest session, oldest
    first."""
    runs: dict[Path, RunJournalSession] = {}
    for folder in folders:
        found = [folder] if (folder / PLAN).is_file() else sorted(path.parent for path in folder.glob(f"*/{PLAN}"))
        runs |= {run: newest_measurement_session(run) for run in found if run not in runs}
    return sorted(runs.items(), key=lambda item: (item[1].date, item[0].name))


def read_journal_sessions(run: Path) -> list[RunJournalSession]:
    """Returns all sessions in a run directory's journal, the oldest first. Raises AlteredFileError for an altered
    line."""
    sessions = []
    for number, item in enumerate(_parse_journal_sessions(run), 1):
        if item is None:
            raise AlteredFileError(
                f"Line {number} of {run / JOURNAL_FILE} was changed after it was written; restore the file from a "
                "copy, or delete the line."
            )
        sessions.append(item)
    return sessions


def _read_unaltered_journal_sessions(run: Path) -> list[RunJournalSession]:
    """Returns the sessions in those lines of the journal whose own digest is right. Empty if the file cannot be
    read."""
    try:
        return [line for line in _parse_journal_sessions(run) if line is not None]
    except AlteredFileError:  # it cannot be read at all
        return []


def _parse_journal_sessions(run: Path) -> list[RunJournalSession | None]:
    """Returns the session of each complete line of the journal, with None for an altered line. Empty without a
    journal."""
    if not (run / JOURNAL_FILE).exists():
        return []
    *lines, rest = read_bytes(run / JOURNAL_FILE, STORED_BYTES, "the journal", AlteredFileError).split(b"\n")
    return [
        _parse_journal_session(line) for line in (lines if not rest or _is_unfinished_line(rest) else [*lines, rest])
    ]


def _is_unfinished_line(rest: bytes) -> bool:
    """Whether `rest`, the text after a journal's last line feed, is a line that was not written to its end.

    A whole line lacks at most its line feed.
    """
    return b"}" not in rest


def _parse_journal_session(line: bytes) -> RunJournalSession | None:
    """Returns the session in a journal's line. None if the line was altered."""
    try:
        fields = parse_json_object(line)
        session = RunJournalSession(fields["date"], fields["revision"])
    except (ValueError, KeyError, TypeError):
        return None
    return session if run_session_as_journal_line(session).encode() == line + b"\n" else None


def git_revision(root: Path) -> str:
    """Returns the short hash of the checked-out commit, with `+` if files were edited. Empty if `root` is not the top
    of a git checkout.

    An installed package may be in a folder of somebody else's checkout, whose commit is none of its own.
    """
    top, _, head = _git_output(root, "rev-parse", "--show-toplevel", "--short=12", "HEAD").partition("\n")
    if not head or Path(top).resolve() != root.resolve():
        return ""
    return head + ("+" if _git_output(root, "status", "--porcelain", "--untracked-files=no") else "")


def _git_output(root: Path, *words: str) -> str:
    """Returns the output of a git command in the folder `root`. Empty if it fails."""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
