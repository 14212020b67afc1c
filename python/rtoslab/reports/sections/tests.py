"""The meaning of the tests' short names."""

from collections.abc import Sequence

from rtoslab.analyses import short_test_name
from rtoslab.catalogue import Catalogue
from rtoslab.reports.table import ReportSection, TableData
from rtoslab.results import MeasuredPoint


def tests_section(catalogue: Catalogue, points: Sequence[MeasuredPoint]) -> ReportSection | None:
    """Returns the report section that explains short names of tests such as T1. None if no test has one."""
    rows: dict[str, list[str]] = {}
    for point in points:
        short, benchmark = short_test_name(point.point), catalogue.benchmarks.get(point.point.benchmark)
        if short != point.point.benchmark and benchmark is not None and not point.has_latency_samples:
            name = point.point.title.removeprefix(short).strip()
            rows.setdefault(short, [short, name, benchmark.facts.question, benchmark.facts.inside, point.unit])
    if not rows:
        return None
    columns = ("test", "name", "question", "one count is", "what is counted")
    table = TableData("Tests by their short names", columns, list(rows.values()))
    return ReportSection("tests", "The tests", (), (), (table,), folded=True)
