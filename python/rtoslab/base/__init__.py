"""What all other packages use: errors, files, locks, paths, canonical JSON, the tools of others."""

from rtoslab.base import tools
from rtoslab.base.architecture import architecture, code_address, cross_tool, read_architecture
from rtoslab.base.canonical_json import canonical
from rtoslab.base.closure import sources_digest
from rtoslab.base.contents import Stamp, listing, sha256_of, stamp
from rtoslab.base.counting import counted
from rtoslab.base.dataclass_json import Reader, to_plain
from rtoslab.base.errors import (
    EXIT_ERROR,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_POINT_FAILED,
    EXIT_REGRESSION,
    AlteredError,
    AlteredWarning,
    BoardSilentError,
    BuildError,
    CaptureError,
    CatalogueError,
    CheckError,
    ConformanceError,
    DebuggerError,
    DecodeError,
    ImageFileError,
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
    disk_error,
)
from rtoslab.base.extras import extra
from rtoslab.base.file_locks import alone, alone_if_free
from rtoslab.base.open_flags import open_flags
from rtoslab.base.output_files import STANDARD_OUTPUT, make_folder, write_whole
from rtoslab.base.paths import build_folder, find_root, is_checkout, results_folder, runs_folder
from rtoslab.base.strict import Strict
from rtoslab.base.toml_text import toml_key, toml_rows, toml_value
from rtoslab.base.tools import CLANG_MISSING, COMPILERS, find_clang, said
from rtoslab.base.value_table import Table, Value
from rtoslab.base.version import __version__
from rtoslab.base.web_page import web_page

__all__ = [
    "CLANG_MISSING",
    "COMPILERS",
    "EXIT_ERROR",
    "EXIT_INTERRUPTED",
    "EXIT_OK",
    "EXIT_POINT_FAILED",
    "EXIT_REGRESSION",
    "STANDARD_OUTPUT",
    "AlteredError",
    "AlteredWarning",
    "BoardSilentError",
    "BuildError",
    "CaptureError",
    "CatalogueError",
    "CheckError",
    "ConformanceError",
    "DebuggerError",
    "DecodeError",
    "ImageFileError",
    "OverheadsError",
    "OverrideReceivedError",
    "PlanError",
    "PortError",
    "Reader",
    "RefusedError",
    "ReportError",
    "RtoslabError",
    "RunError",
    "SettingError",
    "StaleSimulatorError",
    "Stamp",
    "StoreError",
    "Strict",
    "SymbolError",
    "Table",
    "TaskSetError",
    "ToolMissingError",
    "UnknownNameError",
    "Value",
    "__version__",
    "alone",
    "alone_if_free",
    "architecture",
    "build_folder",
    "canonical",
    "code_address",
    "counted",
    "cross_tool",
    "disk_error",
    "extra",
    "find_clang",
    "find_root",
    "is_checkout",
    "listing",
    "make_folder",
    "open_flags",
    "read_architecture",
    "results_folder",
    "runs_folder",
    "said",
    "sha256_of",
    "sources_digest",
    "stamp",
    "to_plain",
    "toml_key",
    "toml_rows",
    "toml_value",
    "tools",
    "web_page",
    "write_whole",
]
