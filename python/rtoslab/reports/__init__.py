"""A document for readers: sections, written in any format."""

from rtoslab.reports.deviations import (
    MARK,
    Deviations,
    add_footnotes_for_deviating_kernels,
    add_kernel_deviation_footnotes,
    contract_deviations_by_kernel,
    deviation_footnote,
)
from rtoslab.reports.document import make_report_document
from rtoslab.reports.export_files import write_report_charts_and_tables
from rtoslab.reports.formats import report_formats
from rtoslab.reports.sections.parity import measurement_fairness_report_section
from rtoslab.reports.sections.wording import join_items_for_sentence
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
