"""The door to `charts`, whose libraries are heavy: an extra of the package, loaded as the first chart is drawn."""

from rtoslab.base import from_extra
from rtoslab.reports.table import ChartData


def drawn(chart: ChartData) -> str:
    """A chart as SVG. Raises ToolMissingError where the extra `report` is not installed."""
    with from_extra("report", "a report with charts"):
        from rtoslab.reports.charts import svg  # noqa: PLC0415 (altair takes a third of the time that a command starts in)

    return svg(chart)
