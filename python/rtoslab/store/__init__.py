"""Stores of points: run directories, the cache of results, the journal, manifests and stored evidence."""

from rtoslab.store.cache import ResultCache, result_key
from rtoslab.store.evidence_file import EVIDENCE_FILE, decode_evidence, encode_evidence
from rtoslab.store.journal import (
    JOURNAL_FILE,
    JournalSession,
    append_session,
    git_revision,
    last_session,
    read_sessions,
)
from rtoslab.store.manifest import flatten_nested_json, make_manifest, manifest_hash, serial_target, virtual_target
from rtoslab.store.point_store import store_point_files
from rtoslab.store.store import PLAN, RunDirectory, remove_interrupted_folders, run_directories
from rtoslab.store.stored_point import (
    CONFORMANCE_FILE,
    MANIFEST,
    RESULT,
    UART,
    AnyResult,
    StoredPoint,
    failed_result_of_altered_point,
    parse_point_files,
    point_files,
    point_folder_name,
)
