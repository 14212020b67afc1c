"""Sentences on what more cores bring each kernel, what they cost it, and why: per kernel, board and configuration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses import Gain, Loss, Places, Ratio, gains, losses
from rtoslab.reports.sections.rivals import IN_ONE, is_alike, is_undoable, rests_on_place
from rtoslab.reports.sections.speed_figures import NamedTest, SpeedFigure
from rtoslab.reports.sections.wording import join_listed, number_word, times

BOUND_PART: Final = 0.9
"""A lock held for this share of the window bounds the throughput."""
_WORTH_SAYING: Final = 0.05
"""A cause that is nowhere this share of a loss is left to the table."""
_CAUSES: Final = {
    "spinlock wait": "waiting for spinlocks",
    "asleep for a lock": "sleeping until a lock is free",
    "kernel": "more instructions of the kernel (above all to take and give locks)",
    "bus wait": "waiting for the bus that the cores share",
    "flash wait": "waiting for the flash",
    "C library": "the C library",
    "exception entry and exit": "entering and leaving exceptions",
}
"""In a reader's words, in the order of telling."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """One test of a kernel with all cores and with one."""

    name: NamedTest
    figure: SpeedFigure
    """With all cores."""
    gain: Gain
    ratio: Ratio


def second_core_sentences(figures: Sequence[SpeedFigure], places: Places) -> list[str]:
    """One paragraph for each kernel, board, number of cores and configuration with a figure on one core beside it."""
    counting = [figure for figure in figures if figure.is_rate]
    by_point = {id(speed_figure.point): speed_figure for speed_figure in counting}
    points = [speed_figure.point for speed_figure in counting]
    groups: dict[tuple[str, str, int, str], list[_Pair]] = {}
    for gain in gains(points):
        many, one = by_point[id(gain.many.point)], by_point[id(gain.one.point)]
        ratio = many.figure.over(one.figure)
        key = (many.kernel, many.board, many.cores, many.conditions)
        groups.setdefault(key, []).append(_Pair(many.test, many, gain, ratio))
    explained = {id(loss.gain.many.point): loss for loss in losses(points)}
    heads = _heads(list(groups))
    return [
        " ".join(filter(None, (_bring(heads[key], key[2], pairs), _why(pairs, explained), _heap(pairs, places))))
        for key, pairs in groups.items()
    ]


def _heads(keys: Sequence[tuple[str, str, int, str]]) -> dict[tuple[str, str, int, str], str]:
    """`FreeRTOS`, with board and configuration where they differ."""
    several_boards = len({board for _, board, _, _ in keys}) > 1
    several_conditions = len({conditions for _, _, _, conditions in keys}) > 1
    return {
        key: " ".join(
            filter(
                None,
                (key[0], f"on the {key[1]}" * several_boards, f"with {key[3]}" * bool(several_conditions and key[3])),
            )
        )
        for key in keys
    }


def _bring(head: str, cores: int, pairs: Sequence[_Pair]) -> str:
    subject = "The second core" if cores == 2 else f"More cores, {number_word(cores)} against one,"
    verbs: dict[str, Callable[[Ratio], bool]] = {
        "raises": lambda ratio: ratio.value > 1 and not is_undoable(ratio),
        "lowers": lambda ratio: ratio.value < 1 and not is_undoable(ratio),
    }
    parts: list[str] = []
    unequal = [pair for pair in pairs if not is_alike(pair.ratio)]
    for verb, holds in verbs.items():
        mine = sorted((item for item in unequal if holds(item.ratio)), key=lambda item: -abs(item.ratio.value - 1))
        if mine:
            names = join_listed([item.name.with_figure(times(item.ratio)) for item in mine])
            whose = "it" if parts else f"the total throughput of {head}"
            parts.append(f"{verb if cores == 2 else verb.removesuffix('s')} {whose} at {names}")
    placed = [item.name.with_figure(times(item.ratio)) for item in unequal if is_undoable(item.ratio)]
    if placed:
        verb = "changes" if cores == 2 else "change"
        whose = "it" if parts else f"the total throughput of {head}"
        parts.append(f"{verb} {whose} at {join_listed(placed)} by no more than the place of the code does")
    same = [pair.name.with_figure() for pair in pairs if is_alike(pair.ratio)]
    if same:
        whose = "it" if parts else f"the total throughput of {head}"
        parts.append(f"{'leaves' if cores == 2 else 'leave'} {whose} as it was at {join_listed(same)}")
    placement_note = f", {IN_ONE}" if rests_on_place([pair.figure for pair in pairs]) else ""
    return f"{subject} {' and '.join(parts)}{placement_note}."


def _why(pairs: Sequence[_Pair], explained: Mapping[int, Loss]) -> str:
    """Returns the causes of the loss, as their range over those tests that lose throughput."""
    lost = [
        loss
        for pair in pairs
        if (loss := explained.get(id(pair.gain.many.point))) and pair.ratio.value < 1 and _loss(loss) > 0
    ]
    parts: list[str] = []
    for cause, words in _CAUSES.items():
        shares = [max(0.0, loss.extra[cause] / _loss(loss)) for loss in lost]
        if max(shares, default=0.0) >= _WORTH_SAYING:
            parts.append(f"{words} {'takes' if not parts else ''} {_range(shares)}".replace("  ", " "))
    if not parts:
        return ""
    over = f" (each the range over these {number_word(len(lost))} tests)" if len(lost) > 1 else ""
    return f"Of the cycles that a count costs more where it loses, {join_listed(parts)}{over}."


def _loss(loss: Loss) -> float:
    """Cycles that a count costs a core more."""
    return loss.many.total - loss.one.total


def _range(shares: Sequence[float]) -> str:
    least, most = (f"{100 * share:.0f}" for share in (min(shares), max(shares)))
    return f"{least} %" if least == most else f"{least} to {most} %"


def lock_sentences(figures: Sequence[SpeedFigure]) -> list[str]:
    """Returns, per kernel, board and lock, where one lock is held nearly all the time, so that it bounds the
    throughput."""
    by_point = {id(speed_figure.point): speed_figure for speed_figure in figures if speed_figure.is_rate}
    held: dict[tuple[str, str, str], list[tuple[NamedTest, float]]] = {}
    for loss in losses([speed_figure.point for speed_figure in by_point.values()]):
        figure = by_point[id(loss.gain.many.point)]
        if loss.lock is not None and loss.lock.held_part >= BOUND_PART:
            key = (figure.kernel, figure.board, loss.lock.name)
            held.setdefault(key, []).append((figure.test, loss.lock.held_part))
    several = len({board for _, board, _ in held}) > 1
    return [
        f"{kernel}{f' on the {board}' if several else ''} holds its {lock} for "
        f"{100 * min(part for _, part in parts):.0f} % of the window{' or more' if len(parts) > 1 else ''} at "
        f"{_tests([test for test, _ in parts])}: there the cores take turns, whatever objects they use."
        for (kernel, board, lock), parts in held.items()
    ]


def _tests(tests: Sequence[NamedTest]) -> str:
    return join_listed(list(dict.fromkeys(test.with_figure() for test in tests)))


def _heap(pairs: Sequence[_Pair], places: Places) -> str:
    grown = []
    for pair in pairs:
        many, one = pair.gain.many.point, pair.gain.one.point
        if many.heap and one.heap:
            peaks = [places.band(point, lambda at: at.heap.peak_bytes if at.heap else 0) for point in (many, one)]
            more = peaks[0].less(peaks[1])
            if more.least == more.most or not more.least <= 0 <= more.most:
                grown.append(more.median)
    grown = [more for more in grown if more > 0]
    if not grown:
        return ""
    least, most = min(grown), max(grown)
    return (
        f"The peak of its heap grows by {f'{least:,.0f}' if least == most else f'{least:,.0f} to {most:,.0f}'} bytes."
    )
