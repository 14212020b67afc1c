"""When a run directory was worked on, and on which revision of the checkout: one JSON line each time, never rewritten.

A point's own files bear no date, so that the same manifest gives the same bytes; the date stands here, beside them.
"""

import json
import os
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rtoslab.errors import disk_error

FILE = "journal.jsonl"
_PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class Session:
    """One call that measured into a run directory."""

    date: str
    """UTC, ISO 8601 to the second."""
    revision: str
    """Of the checkout's git commit, with `+` if files differ from it; empty if it is not a git checkout."""


def note_session(run: Path, root: Path) -> Session:
    """Appends a line for the present moment. Raises StoreError."""
    session = Session(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), revision_of(root))
    line = json.dumps(asdict(session)) + "\n"
    try:
        descriptor = os.open(run / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
    except OSError as cause:
        raise disk_error("write the journal of", run, cause) from None
    return session


def last_session(run: Path) -> Session:
    """The newest line; of a directory without a journal the date of its plan. Lines cut short are passed over."""
    try:
        lines = (run / FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in reversed(lines):
        try:
            fields = json.loads(line)
            return Session(str(fields["date"]), str(fields["revision"]))
        except (ValueError, KeyError, TypeError):
            continue
    written = datetime.fromtimestamp((run / _PLAN).stat().st_mtime, UTC)
    return Session(written.strftime("%Y-%m-%dT%H:%M:%SZ"), "")


def revision_of(root: Path) -> str:
    """The short hash of the commit that is checked out; empty if there is none to tell."""
    head = _git(root, "rev-parse", "--short=12", "HEAD")
    return head + ("+" if head and _git(root, "status", "--porcelain", "--untracked-files=no") else "")


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
