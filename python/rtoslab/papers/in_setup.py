"""A paper's figures and statements in another set-up of its authors, beside those of the suites."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rtoslab.analyses import ClaimVerdict, MeasuredValue
from rtoslab.catalogue import PaperFirmwareConfiguration
from rtoslab.papers.compare import ComparedFigure


@dataclass(frozen=True)
class PaperSetupResults:
    """A paper's figures and statements under one of its set-ups (another configuration that its authors may have
    used)."""

    setup: PaperFirmwareConfiguration
    run_ids: frozenset[str]
    """Points of the set-up. All other points are those of the suites."""
    compared: dict[int, ComparedFigure]
    """Keyed by id of the published row."""
    verdicts: tuple[ClaimVerdict, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    """A value on an axis -> its name for a reader. A kernel's has the version that it has here."""
    values: tuple[MeasuredValue, ...] = ()
    """The values of the points of the set-up, each with the point of the suites that it stands for."""

    def paper_values_changed_by_configuration(self) -> dict[int, ComparedFigure]:
        """Returns the compared figures whose value was measured under the set-up, by row id."""
        return {
            ident: compared_row
            for ident, compared_row in self.compared.items()
            if compared_row.value is not None and compared_row.value.run_id in self.run_ids
        }
