"""Stores of points: run directories, the cache of results, the journal, manifests and stored evidence."""

from rtoslab.store.cache import ResultCache, result_key
from rtoslab.store.evidence_file import EVIDENCE_FILE, read_evidence, write_evidence
from rtoslab.store.journal import JOURNAL_FILE, Session, last_session, note_session, read_sessions, revision_of
from rtoslab.store.manifest import flatten, make_manifest, manifest_hash, serial_target, virtual_target
from rtoslab.store.point_store import store_point
from rtoslab.store.store import PLAN, RunDirectory, remove_unfinished, run_directories
from rtoslab.store.stored_point import (
    CONFORMANCE_FILE,
    MANIFEST,
    RESULT,
    UART,
    AnyResult,
    StoredPoint,
    altered_result,
    folder_name,
    point_files,
    read_files,
)
