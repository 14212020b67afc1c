"""Where points are kept: run directories, the cache of results, the journal, manifests and stored evidence."""

from rtoslab.store.cache import ResultCache, result_key
from rtoslab.store.evidence_file import EVIDENCE_FILE, read_evidence, write_evidence
from rtoslab.store.journal import JOURNAL_FILE, Session, last_session, note_session, read_sessions, revision_of
from rtoslab.store.manifest import flatten, make_manifest, manifest_hash, serial_target, virtual_target
from rtoslab.store.point_store import PointStore, keep
from rtoslab.store.store import PLAN, RunDirectory, remove_unfinished, run_directories
from rtoslab.store.stored_point import (
    CONFORMANCE_FILE,
    MANIFEST,
    RESULT,
    UART,
    AnyResult,
    StoredPoint,
    altered,
    folder_name,
    point_files,
    read_files,
    read_point,
)

__all__ = [
    "CONFORMANCE_FILE",
    "EVIDENCE_FILE",
    "JOURNAL_FILE",
    "MANIFEST",
    "PLAN",
    "RESULT",
    "UART",
    "AnyResult",
    "PointStore",
    "ResultCache",
    "RunDirectory",
    "Session",
    "StoredPoint",
    "altered",
    "flatten",
    "folder_name",
    "keep",
    "last_session",
    "make_manifest",
    "manifest_hash",
    "note_session",
    "point_files",
    "read_evidence",
    "read_files",
    "read_point",
    "read_sessions",
    "remove_unfinished",
    "result_key",
    "revision_of",
    "run_directories",
    "serial_target",
    "virtual_target",
    "write_evidence",
]
