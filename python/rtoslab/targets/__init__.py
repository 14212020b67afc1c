"""The targets that run images: the virtual board, and its observations."""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_names

if TYPE_CHECKING:
    from rtoslab.targets import steps
    from rtoslab.targets.attachments import DeviceRequest, parse_device
    from rtoslab.targets.benchmark_symbols import DONE_SYMBOL, SENDING_LIMIT_S, SETUP_LIMIT_S, WINDOW_SYMBOL
    from rtoslab.targets.board import (
        MOST_CYCLES,
        SymbolIndex,
        apply_timing_settings,
        find_address,
        first_symbol_per_address,
        fitting_boards,
        is_simulator_panic,
        load_image,
        make_machine,
        parse_cycle_count,
        parse_pin,
        pin_number,
        require_cores,
        simulator_errors,
        simulator_fingerprint,
        timing_settings,
    )
    from rtoslab.targets.board_guess import likely_boards, same_core_boards
    from rtoslab.targets.board_state import (
        FLOAT_CONTEXTS,
        ISR_URGENCY,
        OFF_AFTER_RESET,
        enabled_priorities,
        interrupt_registers,
    )
    from rtoslab.targets.current_task import HandlerIdleFilter
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
    from rtoslab.targets.external_image import ExternalImage, read_external_image, with_kernel
    from rtoslab.targets.faults import (
        FAULT_NAMES,
        BoardMemoryCopy,
        Fault,
        core_state,
        fault_entries,
        fault_returns,
        frame_registers,
        read_fault,
    )
    from rtoslab.targets.handlings import UNKNOWN, HandlerRuns
    from rtoslab.targets.heap_pieces import HEAP_PIECES
    from rtoslab.targets.intervals import MarkedInterval, MarkedIntervals, find_intervals
    from rtoslab.targets.machine import VirtualMachine
    from rtoslab.targets.marks import read_marks
    from rtoslab.targets.observe import ALL_CORES, BenchmarkFunction, OwnCodeSpan, TaskSwitch, WindowObservations
    from rtoslab.targets.origin import simulator_sources, simulator_version, timing_version
    from rtoslab.targets.own_code import INDIRECT, SUPERVISOR_CALL
    from rtoslab.targets.packed_events import latest_events, order_events, unpack_events
    from rtoslab.targets.profiles import APPLICATION, CORE_INTERRUPT, IDLE, LIBRARY, FunctionCycles, function_class
    from rtoslab.targets.simulation import SimRequest, SimResult, parse_script, simulate_image, unescape_text
    from rtoslab.targets.steps import CALL, HANDLER, INTERRUPT, ObservedStep
    from rtoslab.targets.structures import (
        KernelStructures,
        StructureMemberPlace,
        find_structure_members,
        read_text_member,
    )
    from rtoslab.targets.task_words import current_task_addresses, find_word_address, watch_idling
    from rtoslab.targets.unhandled import unhandled_exceptions
    from rtoslab.targets.vector_table import find_exception
    from rtoslab.targets.virtual import (
        CHUNK_CYCLES,
        Progress,
        RunOutput,
        VirtualBenchmarkJob,
        run_virtual_benchmark,
    )
    from rtoslab.targets.virtual_board import VirtualBoard
    from rtoslab.targets.watched_run import DrivenPinLevel
else:
    __getattr__ = lazy_names(__name__)
