"""The parts that all other packages use: errors, files, locks, paths, canonical JSON, programs of others."""

from typing import TYPE_CHECKING

from rtoslab.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from rtoslab.base import tools
    from rtoslab.base.architecture_facts import cross_tool_name, load_architecture, without_thumb_bit
    from rtoslab.base.canonical_json import to_canonical_json
    from rtoslab.base.contents import (
        FileStamp,
        ListingRow,
        contents_cache,
        expire_contents_cache,
        file_listing,
        file_state_stamp,
        files_below,
        join_listing,
        make_listing_rows,
        memoize_by_contents,
        package_digest,
        sha256_of,
    )
    from rtoslab.base.counting import all_count_text, count_text
    from rtoslab.base.digest_line import content_seal, prepend_digest, strip_digest
    from rtoslab.base.errors import (
        EXIT_ERROR,
        EXIT_INTERRUPTED,
        EXIT_OK,
        EXIT_POINT_FAILED,
        EXIT_REGRESSION,
        AlteredError,
        AlteredWarning,
        BoardResetError,
        BoardSilentError,
        BoardWarning,
        BuildError,
        CaptureError,
        CatalogueError,
        CheckError,
        ConformanceError,
        DebuggerError,
        DecodeError,
        FlashError,
        ImageFileError,
        LineNoiseError,
        OverheadsError,
        OverrideReceivedError,
        PlanError,
        PortError,
        RefusedError,
        ReportError,
        RtoslabError,
        RunError,
        SettingError,
        StaleSimulatorError,
        StoreError,
        SymbolError,
        TaskSetError,
        ToolMissingError,
        UnknownNameError,
        make_disk_error,
        nearest_name,
    )
    from rtoslab.base.extras import (
        absent_package_text,
        imports_of_extra,
        install_extra_text,
        missing_extra_package,
        require_extra,
    )
    from rtoslab.base.file_flags import combine_open_flags
    from rtoslab.base.file_locks import exclusive_lock, try_exclusive_lock
    from rtoslab.base.html_pages import render_template, web_page
    from rtoslab.base.output_files import STANDARD_OUTPUT, make_folder, write_whole
    from rtoslab.base.paths import (
        PROJECT_FILE,
        build_folder,
        find_project_folder,
        find_root,
        is_checkout,
        results_folder,
        runs_folder,
    )
    from rtoslab.base.strict import StrictModel, strict_schema
    from rtoslab.base.toml_text import toml_key, toml_lines, toml_value
    from rtoslab.base.tools import CLANG_MISSING, COMPILERS, find_clang, program_output
    from rtoslab.base.value_table import Value, ValueTable
    from rtoslab.base.version import __version__
else:
    __getattr__ = lazy_names(__name__)
