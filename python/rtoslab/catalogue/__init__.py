"""The declarations in folders: boards, kernels, benchmarks, suites, papers. Every table is read strictly."""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.catalogue.benchmark import (
        EMPTY_SERIES,
        INSTRUMENTS,
        RESULT_KINDS,
        SHOWN_IF_UNUSUAL,
        Benchmark,
        LatencySeriesDescription,
    )
    from rtoslab.catalogue.boards import find_board, read_boards
    from rtoslab.catalogue.catalogue import FILES_OUTSIDE_IMAGES, PAGE_SUFFIX, SILICON_FILE, Catalogue
    from rtoslab.catalogue.claim_schemas import (
        TIMED,
        AxisChoices,
        AxisPlaces,
        PaperClaim,
        PaperInstrumentTimeResolution,
    )
    from rtoslab.catalogue.conformance_table import ConformanceCheck
    from rtoslab.catalogue.contract_services import OPTIONAL_FOLDER, OPTIONAL_SERVICES, offered_optional_services
    from rtoslab.catalogue.core_maps import DIVISIONS, PAIR_CORES
    from rtoslab.catalogue.defaults import DEFAULT_BOARD, DEFAULT_CODE, DEFAULT_KERNEL, DEFAULT_OPT, DEMO_SUITE
    from rtoslab.catalogue.folder_entries import CatalogueEntry
    from rtoslab.catalogue.kernel_facts import Argument, HeapBlockChain, HeapFreeList, Kernel, TaskControlBlockMembers
    from rtoslab.catalogue.kernel_tasks import CircularTaskLists, KernelTasks, TaskChain, TaskTable
    from rtoslab.catalogue.paper_folders import PaperFolder, PublishedValueRow, find_paper, read_papers
    from rtoslab.catalogue.paper_schemas import (
        PaperCondition,
        PaperFirmwareConfiguration,
        PaperMistake,
        PaperSection,
        RedrawnPaperChart,
        RedrawnTable,
        SampleTraceChart,
        SizeMeasurementProgram,
    )
    from rtoslab.catalogue.schemas import Board, FlashToolChipNames
    from rtoslab.catalogue.strict_files import read_validated_toml, validate_table
    from rtoslab.catalogue.suites import Experiment, MeasurementSuite
    from rtoslab.catalogue.trees import (
        PORTS_VARIABLE,
        SourceTree,
        kernel_export_identifier,
        kernel_port_folders,
        kernel_tree_description_as_toml,
        kernel_tree_path_environment_variable,
        make_source_tree_description,
        parse_kernel_export_identifier,
        read_user_kernel_trees,
        source_tree_description_path,
    )
    from rtoslab.catalogue.user_kernels import KernelExportRequirements, KernelTreeRequirements
else:
    __getattr__ = lazy_attribute_getter(__name__)
