"""Observes a run: where every cycle went, masked interrupts and locks, what ran when, single calls.

A `subject` is a benchmark's window, or a section of any image, with its kernel by `image_kernel`. `session` runs it
under the virtual board's observer. `profiler` and `masked_interrupts` convert the records to values with names and
source lines. `profile_tables`, `flame`, `html`, `formats` show them, `difference` compares two profiles. `timelines`
says what ran when, `perfetto` and `vcd` write it, `trace_database` answers queries. `measured_calls` measures each
call of some `functions`. `call_counts` sums them up, `call_replay` replays the greatest ones, `call_tables` shows
them. `measured_intervals` measures from one instruction to another, `interval_tables` shows that."""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.instruments.call_counts import CallStatistics
    from rtoslab.instruments.call_tables import (
        calls_as_json,
        function_calls_table,
        longest_call_text_lines,
        notes_on_measured_calls,
        summary_line_of_measured_function,
    )
    from rtoslab.instruments.difference import profile_difference_tables
    from rtoslab.instruments.fault_report import DwarfCallerFinder, fault_sentences
    from rtoslab.instruments.formats import folded_stacks, speedscope_profile
    from rtoslab.instruments.html import profile_summary_text, render_profile_page
    from rtoslab.instruments.interval_tables import interval_as_json, interval_table, longest_interval_lines
    from rtoslab.instruments.lines import InlinedSourceLine, add_source_lines_to_warnings, find_source_lines
    from rtoslab.instruments.masked_interrupts import function_that_masked_interrupts
    from rtoslab.instruments.measured_calls import (
        MeasuredCalls,
        MeasuredFunction,
        MeasurementInterruptedError,
        measure_function_calls,
    )
    from rtoslab.instruments.measured_intervals import MeasuredInterval, MeasuredRunIntervals, measure_intervals
    from rtoslab.instruments.observed_machine import ObservedMachine
    from rtoslab.instruments.perfetto import perfetto_trace, read_trace_file
    from rtoslab.instruments.profile_tables import all_profile_tables, brief_profile_tables
    from rtoslab.instruments.profiler import (
        InterruptMaskingIntervals,
        Profile,
        ProfileInterruptedError,
        innermost_function,
        profile_image,
        profile_of_recording,
        read_execution_profile_file,
    )
    from rtoslab.instruments.records import INTERVAL, WAYS
    from rtoslab.instruments.session import (
        ObservationRequest,
        ObservedRunRecording,
        open_board_with_image,
        record_observed_run,
    )
    from rtoslab.instruments.show import table_for_terminal
    from rtoslab.instruments.subject import (
        DEFAULT_CYCLES,
        ImageObservationOptions,
        ObservedImage,
        ObservedRunSection,
        find_observed_image,
    )
    from rtoslab.instruments.survey import masked_interrupts_survey_table
    from rtoslab.instruments.task_list import KernelTaskLister
    from rtoslab.instruments.tasks import current_task_pointers, task_names_by_control_block
    from rtoslab.instruments.timelines import Timeline, record_timeline
    from rtoslab.instruments.totals import cycle_sums_by_function
    from rtoslab.instruments.trace_database import NAMED as NAMED_QUERIES
    from rtoslab.instruments.trace_database import TraceDatabase, timeline_as_trace_file_contents
    from rtoslab.instruments.vcd import timeline_as_vcd
else:
    __getattr__ = lazy_attribute_getter(__name__)
