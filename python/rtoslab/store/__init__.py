"""Stores of points: run directories, the cache of results, the journal, manifests and stored evidence."""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.store.cache import ResultCache, measurement_result_cache_key
    from rtoslab.store.evidence_file import EVIDENCE_FILE, decode_evidence_file, encode_board_observations
    from rtoslab.store.folder_names import PLAN, POINTS, measurement_folder_name_prefix
    from rtoslab.store.journal import (
        JOURNAL_FILE,
        RunJournalSession,
        append_session_to_run_journal,
        git_revision,
        newest_measurement_session,
        read_journal_sessions,
        runs_with_newest_journal_sessions,
    )
    from rtoslab.store.manifest import (
        flatten_nested_json,
        make_measurement_manifest,
        manifest_hash,
        real_board_manifest_part,
        virtual_board_manifest_entries,
    )
    from rtoslab.store.point_store import store_point_files
    from rtoslab.store.store import RunDirectory, remove_leftover_temporary_folders
    from rtoslab.store.stored_point import (
        CONFORMANCE_FILE,
        MANIFEST,
        RESULT,
        UART,
        AnyResult,
        StoredMeasurementPoint,
        add_digests_to_point_files,
        failed_result_for_altered_files,
        parse_measurement_point_files,
        point_folder_name,
    )
else:
    __getattr__ = lazy_attribute_getter(__name__)
