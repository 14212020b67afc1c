"""Stores the samples of a series as a distribution: how often each sample came, without their order.

Every figure that does not depend on the order of samples is the same from it. A sample is its cycles with everything
counted inside it. Its time is not stored."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain, repeat
from typing import Any, Final

from rtoslab.results import COLUMNS, SeriesSamples

STORED_COLUMNS: Final = tuple(name for name in COLUMNS if name != "start_cycle")


def samples_to_distribution(series: SeriesSamples) -> dict[str, Any]:
    """Returns a series of samples as a distribution: each distinct sample with how often it occurs.

    The rows ascend, so the same samples give the same text in any order.
    """
    columns = [name for name in STORED_COLUMNS if getattr(series, name)]
    samples = Counter(zip(*(getattr(series, name) for name in columns), strict=True))
    return {
        **series.model_dump(mode="json", exclude=set(COLUMNS)),
        "columns": columns,
        "rows": [[count, *sample] for sample, count in sorted(samples.items())],
    }


def count_distribution_values(stored: Mapping[str, Any]) -> int:
    """Returns how many values the samples of a stored distribution have. Raises ValueError."""
    counts: list[int] = [row[0] for row in stored["rows"]]
    if not all(type(count) is int and count > 0 for count in counts):
        raise ValueError("a distribution's row does not begin with a number of samples")
    return sum(counts) * len(stored["columns"])


def expand_sample_distribution(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the samples of a stored distribution as the fields of `SeriesSamples`. Equal samples are next to each
    other.

    Raises ValueError.
    """
    plain = {name: value for name, value in stored.items() if name not in {"columns", "rows"}}
    columns, rows = stored["columns"], stored["rows"]
    if not set(columns) <= set(STORED_COLUMNS) or any(len(row) != len(columns) + 1 for row in rows):
        raise ValueError("a distribution's rows do not fit its columns")
    return {
        **plain,
        "cycles": (),
        **{
            name: tuple(chain.from_iterable(repeat(row[place], row[0]) for row in rows))
            for place, name in enumerate(columns, start=1)
        },
    }
