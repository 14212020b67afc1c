"""The parts that all other packages use: errors, files, locks, paths, canonical JSON, programs of others."""

from typing import TYPE_CHECKING

from rtoslab.base.lazy_names import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.base import tools
    from rtoslab.base.architecture_facts import cross_compiler_tool_name, load_architecture_facts, without_thumb_bit
    from rtoslab.base.canonical_json import to_canonical_json
    from rtoslab.base.contents import (
        FileStamp,
        ListingRow,
        all_files_below,
        clear_expired_file_contents_cache,
        file_contents_cache,
        file_digest_listing_rows,
        file_state_stamp,
        join_file_hash_rows,
        listing_of_file_hashes,
        memoize_by_contents,
        package_digest,
        sha256_of_file,
    )
    from rtoslab.base.counting import all_items_phrase, count_with_noun
    from rtoslab.base.digest_line import digest_of_values, prepend_digest_line, strip_digest_line
    from rtoslab.base.errors import (
        EXIT_ERROR,
        EXIT_INTERRUPTED,
        EXIT_OK,
        EXIT_POINT_FAILED,
        EXIT_REGRESSION,
        AlteredFileError,
        AlteredPointWarning,
        BoardResetError,
        BoardSilentError,
        BuildError,
        CaptureError,
        CatalogueError,
        ConformanceError,
        DebuggerError,
        DecodeError,
        FlashError,
        ImageFileError,
        LineNoiseError,
        OverheadsFileError,
        PlanError,
        RefusedError,
        ReportError,
        RtoslabError,
        RunError,
        SerialPortError,
        SettingError,
        StaleSimulatorError,
        StoreError,
        SymbolError,
        TaskSetCheckError,
        TaskSetError,
        ToolMissingError,
        UnknownNameError,
        UnmodelledFeatureWarning,
        VoidRunError,
        make_disk_error,
        most_similar_name,
    )
    from rtoslab.base.extras import (
        guard_optional_package_imports,
        how_to_install_extra,
        missing_extra_package,
        missing_module_sentence,
        require_optional_packages,
    )
    from rtoslab.base.file_flags import combine_open_flags
    from rtoslab.base.file_locks import exclusive_lock, try_exclusive_lock
    from rtoslab.base.html_pages import html_page_style_and_script, render_template
    from rtoslab.base.output_files import STANDARD_OUTPUT, make_folder, write_file_atomically
    from rtoslab.base.paths import (
        PROJECT_FILE,
        build_folder,
        cached_results_folder,
        default_runs_folder,
        find_checkout_root,
        find_project_folder,
        is_checkout,
    )
    from rtoslab.base.strict import StrictFileSchemaModel, strict_schema
    from rtoslab.base.toml_text import format_toml_key, toml_lines, toml_value
    from rtoslab.base.tools import CLANG_MISSING, COMPILERS, find_zig_with_clang, program_output
    from rtoslab.base.value_table import TitledTable, Value
    from rtoslab.base.version import __version__
else:
    __getattr__ = lazy_attribute_getter(__name__)
