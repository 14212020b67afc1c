"""A document for readers: sections, written in any format."""

from rtoslab.reports.deviations import (
    MARK,
    Deviations,
    declared_deviations,
    deviation_footnote,
    mark_deviations,
    mark_report_of_deviating_kernels,
)
from rtoslab.reports.document import make_report_document
from rtoslab.reports.export_files import export_document
from rtoslab.reports.formats import report_formats
from rtoslab.reports.sections.parity import measurement_fairness_report_section
from rtoslab.reports.sections.wording import join_in_sentence
from rtoslab.reports.table import (
    ChartData,
    Record,
    ReportDocument,
    ReportSection,
    TableData,
    chart_range_ends,
    cycle_count_text,
    measured_value_with_range_text,
)
from rtoslab.reports.terminal import measured_point_label, print_point_results, print_proofs_of_points
