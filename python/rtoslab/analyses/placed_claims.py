"""A paper's statements judged in each placement of a run.

The trap it prevents: a statement that holds because of where the linker happened to put the code. One that some
placements bear out and others do not is neither confirmed nor contradicted.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rtoslab.analyses.claims import ClaimVerdict
from rtoslab.analyses.middle_placement import PlacedPoint
from rtoslab.analyses.placed_times import PLACEMENT, unplaced
from rtoslab.base import all_of, counted
from rtoslab.results import Measured


def points_by_place(placed: Sequence[PlacedPoint]) -> list[list[Measured]]:
    """The points as they would be in one placement each, axes without it; one that stands in fewer is in all."""
    count = max((len(each.all) for each in placed), default=1)
    rows = [[each.all[min(place, len(each.all) - 1)] for each in placed] for place in range(count)]
    return [[each.model_copy(update={"point": unplaced(each.point)}) for each in row] for row in rows]


def joined_verdicts(places: Sequence[Sequence[ClaimVerdict]]) -> tuple[ClaimVerdict, ...]:
    """Each statement judged in all placements."""
    return tuple(_verdict(each) for each in zip(*places, strict=True))


def _verdict(places: Sequence[ClaimVerdict]) -> ClaimVerdict:
    first = places[0]
    if all(each.seen == first.seen and each.outcome == first.outcome for each in places):
        return first
    outcomes = Counter(each.outcome for each in places)
    if len(outcomes) == 1:
        return replace(first, seen=f"in {all_of(len(places), 'placement')}; in the linker's order {first.seen}")
    untold = next((each for each in places if each.outcome not in {"same", "different", "tie"}), None)
    if untold is not None:
        return untold
    split = ", ".join(f"{outcome} in {count}" for outcome, count in outcomes.most_common())
    examples = "; ".join(_example(places, outcome) for outcome in outcomes)
    return replace(first, outcome="placement", seen=f"{split} of {counted(len(places), 'placement')}: {examples}")


def _example(places: Sequence[ClaimVerdict], outcome: str) -> str:
    number, verdict = next((number, each) for number, each in enumerate(places) if each.outcome == outcome)
    return f"{PLACEMENT} {number}: {verdict.seen}"
