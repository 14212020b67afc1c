"""Readers' names for the values on a paper's axes: `FreeRTOS V10.2.1` for `freertos`, `semaphore give` for a call."""

from collections.abc import Mapping, Sequence

from rtoslab.catalogue import Catalogue, PaperFolder
from rtoslab.papers.sources import MeasuredValueOrigin
from rtoslab.results import MeasuredPoint
from rtoslab.store import AnyResult


def reader_names(
    catalogue: Catalogue, paper: PaperFolder, results: Sequence[AnyResult], sources: Mapping[str, MeasuredValueOrigin]
) -> dict[str, str]:
    """Returns readable names for kernels with their versions, boards, benchmarks and series, by id. Names that the
    paper gives are preferred. A series is named by the first benchmark that has it."""
    names: dict[str, str] = {}
    for benchmark in catalogue.benchmarks.values():
        names.setdefault(benchmark.id, benchmark.facts.title)
        for series in benchmark.facts.series:
            names.setdefault(series.id, series.title)
    names |= {board.id: board.facts.title for board in catalogue.boards.values()}
    names |= {entry.id: entry.facts.title for entry in catalogue.kernels.values()}
    stated = {item.kernel for item in paper.facts.version}
    names |= {kernel: title for kernel, title in paper.facts.kernels.items() if kernel not in stated}
    for kernel, title in ((item, paper.facts.kernels.get(item, item)) for item in stated):
        versions = dict.fromkeys(
            sources[result.run_id].version
            for result in results
            if isinstance(result, MeasuredPoint) and result.point.kernel == kernel and result.run_id in sources
        )
        names[kernel] = " or ".join(_title_with_version(title, version) for version in versions) or title
    return names | paper.facts.names


def _title_with_version(title: str, version: str) -> str:
    """Returns a kernel's title with its version. In a title such as `FreeRTOS 9` the version replaces the number."""
    name, _, number = title.rpartition(" ")
    if number.isdecimal() and version.lstrip("vV").startswith(f"{number}."):
        title = name
    return f"{title} {version}".strip()
