"""The targets that run images: the virtual board, and its observations."""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.targets import steps
    from rtoslab.targets.attachments import BusDeviceRequest, parse_device_request
    from rtoslab.targets.benchmark_symbols import DONE_SYMBOL, SENDING_LIMIT_S, SETUP_LIMIT_S, WINDOW_SYMBOL
    from rtoslab.targets.board import (
        MOST_CYCLES,
        SymbolIndex,
        apply_timing_settings_to_virtual_board,
        boards_that_fit_image,
        convert_simulator_errors,
        find_symbol_address,
        first_symbol_per_address,
        is_simulator_panic,
        load_image_into_board,
        make_board_at_reset,
        parse_cycle_count,
        parse_pin_number,
        pin_number_in_events,
        require_board_has_cores,
        simulator_fingerprint,
        timing_settings,
    )
    from rtoslab.targets.board_guess import boards_likely_for_image, boards_with_core_of_image
    from rtoslab.targets.board_state import (
        FLOAT_CONTEXTS,
        ISR_URGENCY,
        OFF_AFTER_RESET,
        interrupt_controller_registers,
        priorities_of_enabled_interrupts,
        read_startup_board_settings,
        read_systick_period_in_cycles,
    )
    from rtoslab.targets.call_arguments import NOT_STATED, CallArguments
    from rtoslab.targets.core_view import make_single_core_board_view
    from rtoslab.targets.current_task import IdleInHandlerEventFilter, OmittedTaskPointerWriteInserter
    from rtoslab.targets.debugging import TaskRow, serve_gdb
    from rtoslab.targets.event_kinds import (
        IDENT_CURRENT,
        IDENT_MARK,
        IDENT_WINDOW,
        KIND_CALL,
        KIND_EXCEPTION_ENTER,
        KIND_EXCEPTION_EXIT,
        KIND_EXEC,
        KIND_LOCK_BUSY,
        KIND_LOCK_FREE,
        KIND_LOCK_TAKEN,
        KIND_PIN,
        KIND_RETURN,
        KIND_THREAD,
        KIND_WRITE,
    )
    from rtoslab.targets.events import EVENT
    from rtoslab.targets.exceptions import (
        FIRST_EXTERNAL,
        NMI,
        PENDSV,
        SVCALL,
        SYSTICK,
        exception_name,
        task_switching_exceptions,
    )
    from rtoslab.targets.external_image import ExternalImage, catalogue_with_kernel, read_external_image
    from rtoslab.targets.faults import (
        FAULT_NAMES,
        BoardMemoryCopy,
        Fault,
        core_state_as_fault,
        fault_handler_entries,
        first_fault_handler_return_cycles,
        read_processor_fault,
        registers_of_exception_frame,
    )
    from rtoslab.targets.handlings import UNKNOWN, HandlerRunColumns
    from rtoslab.targets.heap_pieces import HEAP_PIECES
    from rtoslab.targets.intervals import (
        LatencyBenchmarkIntervals,
        MeasuredCodeInterval,
        decode_measured_intervals_from_events,
    )
    from rtoslab.targets.machine import VirtualBoardMachine
    from rtoslab.targets.marks import read_interval_marker_addresses
    from rtoslab.targets.observe import (
        ALL_CORES,
        BenchmarkFunction,
        EquallyExecutedCodeRange,
        MeasurementWindowObservations,
        TaskSwitch,
    )
    from rtoslab.targets.origin import simulator_sources_digest, simulator_version, timing_version
    from rtoslab.targets.own_code import INDIRECT, SUPERVISOR_CALL
    from rtoslab.targets.packed_events import events_in_time_order, latest_event_of_each_probe, unpack_events
    from rtoslab.targets.profiles import APPLICATION, CORE_INTERRUPT, IDLE, LIBRARY, FunctionCycles, function_category
    from rtoslab.targets.simulation import (
        SimulationResult,
        SimulationRunOptions,
        parse_serial_input_script,
        simulate_image,
        unescape_text,
    )
    from rtoslab.targets.steps import CALL, HANDLER, INTERRUPT, ObservedBenchmarkStep
    from rtoslab.targets.structures import (
        KernelStructures,
        StructureMemberLayout,
        find_structure_members,
        read_structure_member_text,
    )
    from rtoslab.targets.task_words import current_task_addresses, find_memory_word_address, watch_idle_code
    from rtoslab.targets.unhandled import cores_in_default_handlers, cores_in_endless_handlers
    from rtoslab.targets.vector_table import find_exception_number
    from rtoslab.targets.virtual import (
        CHUNK_CYCLES,
        Progress,
        RunOutput,
        VirtualBenchmarkRunRequest,
        run_virtual_benchmark,
    )
    from rtoslab.targets.virtual_board import VirtualBoard
    from rtoslab.targets.watched_run import DrivenPinLevel
else:
    __getattr__ = lazy_attribute_getter(__name__)
