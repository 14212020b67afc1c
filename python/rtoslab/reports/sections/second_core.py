"""Sentences on what more cores gain and cost, and why: for each kernel, board and configuration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses import (
    CodePlacementLookup,
    MeasuredValueRatio,
    MulticoreGain,
    MulticorePerformanceLoss,
    multicore_performance_losses,
    multicore_throughput_gains,
)
from rtoslab.reports.sections.rivals import (
    IN_ONE_PLACEMENT,
    do_speeds_depend_on_code_placement,
    is_ratio_difference_negligible,
    is_within_code_placement_effect,
)
from rtoslab.reports.sections.speed_figures import KernelSpeed, ReadableTestName
from rtoslab.reports.sections.wording import join_items_for_sentence, ratio_as_factor_text, spell_number

BOUND_PART: Final = 0.9
"""A lock held for this share of the window bounds the throughput."""
_WORTH_SAYING: Final = 0.05
"""A cause with a smaller share of every loss is only in the table."""
_CAUSES: Final = {
    "spinlock wait": "waiting for spinlocks",
    "asleep for a lock": "sleeping until a lock is free",
    "kernel": "more instructions of the kernel (above all to take and give locks)",
    "bus wait": "waiting for the bus that the cores share",
    "flash wait": "waiting for the flash",
    "C library": "the C library",
    "exception entry and exit": "entering and leaving exceptions",
}
"""Causes in words, in the order of the sentence."""


@dataclass(frozen=True, slots=True)
class _SingleAndMulticoreTest:
    """One test of a kernel on all cores and on one."""

    name: ReadableTestName
    figure: KernelSpeed
    """With all cores."""
    gain: MulticoreGain
    ratio: MeasuredValueRatio


def second_core_sentences(figures: Sequence[KernelSpeed], places: CodePlacementLookup) -> list[str]:
    """Returns a paragraph on what more cores gain and cost, for each kernel, board and configuration."""
    counting = [figure for figure in figures if figure.is_rate]
    by_point = {id(speed_figure.point): speed_figure for speed_figure in counting}
    points = [speed_figure.point for speed_figure in counting]
    groups: dict[tuple[str, str, int, str], list[_SingleAndMulticoreTest]] = {}
    for gain in multicore_throughput_gains(points):
        many, one = by_point[id(gain.many_cores.point)], by_point[id(gain.one_core.point)]
        ratio = many.figure.ratio_to(one.figure)
        key = (many.kernel, many.board, many.cores, many.conditions)
        groups.setdefault(key, []).append(_SingleAndMulticoreTest(many.test, many, gain, ratio))
    explained = {id(loss.gain.many_cores.point): loss for loss in multicore_performance_losses(points)}
    heads = _kernel_sentence_subjects_by_key(list(groups))
    return [
        " ".join(
            filter(
                None,
                (
                    _multicore_gain_sentence(heads[key], key[2], pairs),
                    _throughput_loss_causes_sentence(pairs, explained),
                    _multicore_extra_heap_use_sentence(pairs, places),
                ),
            )
        )
        for key, pairs in groups.items()
    ]


def _kernel_sentence_subjects_by_key(keys: Sequence[tuple[str, str, int, str]]) -> dict[tuple[str, str, int, str], str]:
    """Returns the subject of the sentences for each key: the kernel, with board and configuration where these
    differ."""
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


def _multicore_gain_sentence(head: str, cores: int, pairs: Sequence[_SingleAndMulticoreTest]) -> str:
    """Returns the sentence on how more cores change the throughput. `head`: its grammatical subject."""
    subject = "The second core" if cores == 2 else f"More cores, {spell_number(cores)} against one,"
    verbs: dict[str, Callable[[MeasuredValueRatio], bool]] = {
        "raises": lambda ratio: ratio.value > 1 and not is_within_code_placement_effect(ratio),
        "lowers": lambda ratio: ratio.value < 1 and not is_within_code_placement_effect(ratio),
    }
    parts: list[str] = []
    unequal = [pair for pair in pairs if not is_ratio_difference_negligible(pair.ratio)]
    for verb, holds in verbs.items():
        mine = sorted((item for item in unequal if holds(item.ratio)), key=lambda item: -abs(item.ratio.value - 1))
        if mine:
            names = join_items_for_sentence([item.name.with_figure(ratio_as_factor_text(item.ratio)) for item in mine])
            whose = "it" if parts else f"the total throughput of {head}"
            parts.append(f"{verb if cores == 2 else verb.removesuffix('s')} {whose} at {names}")
    placed = [
        item.name.with_figure(ratio_as_factor_text(item.ratio))
        for item in unequal
        if is_within_code_placement_effect(item.ratio)
    ]
    if placed:
        verb = "changes" if cores == 2 else "change"
        whose = "it" if parts else f"the total throughput of {head}"
        parts.append(
            f"{verb} {whose} at {join_items_for_sentence(placed)} by no more than the placement of the code does"
        )
    same = [pair.name.with_figure() for pair in pairs if is_ratio_difference_negligible(pair.ratio)]
    if same:
        whose = "it" if parts else f"the total throughput of {head}"
        parts.append(f"{'leaves' if cores == 2 else 'leave'} {whose} as it was at {join_items_for_sentence(same)}")
    placement_note = (
        f", {IN_ONE_PLACEMENT}" if do_speeds_depend_on_code_placement([pair.figure for pair in pairs]) else ""
    )
    return f"{subject} {' and '.join(parts)}{placement_note}."


def _throughput_loss_causes_sentence(
    pairs: Sequence[_SingleAndMulticoreTest], explained: Mapping[int, MulticorePerformanceLoss]
) -> str:
    """Returns the sentence on what the additional cycles per count were used for, with ranges over the tests. Empty if
    no throughput was lost."""
    lost = [
        loss
        for pair in pairs
        if (loss := explained.get(id(pair.gain.many_cores.point)))
        and pair.ratio.value < 1
        and _extra_cycles_per_loop_pass(loss) > 0
    ]
    parts: list[str] = []
    for cause, words in _CAUSES.items():
        shares = [
            max(0.0, loss.multicore_extra_cycles_by_cause[cause] / _extra_cycles_per_loop_pass(loss)) for loss in lost
        ]
        if max(shares, default=0.0) >= _WORTH_SAYING:
            parts.append(f"{words} {'takes' if not parts else ''} {_percent_range_text(shares)}".replace("  ", " "))
    if not parts:
        return ""
    over = f" (each a range over the {spell_number(len(lost))} tests that lose throughput)" if len(lost) > 1 else ""
    return (
        f"Where throughput is lost, a count takes additional cycles. Of these, {join_items_for_sentence(parts)}{over}."
    )


def _extra_cycles_per_loop_pass(loss: MulticorePerformanceLoss) -> float:
    """Returns how many more cycles a count takes on several cores."""
    return loss.many_cores.total_cycles - loss.one_core.total_cycles


def _percent_range_text(shares: Sequence[float]) -> str:
    """Returns the range of some shares as text, in percent."""
    least, most = (f"{100 * share:.0f}" for share in (min(shares), max(shares)))
    return f"{least} %" if least == most else f"{least} to {most} %"


def limiting_lock_sentences(figures: Sequence[KernelSpeed]) -> list[str]:
    """Returns a sentence for each lock that is held nearly all the time, and so limits the throughput of its kernel."""
    by_point = {id(speed_figure.point): speed_figure for speed_figure in figures if speed_figure.is_rate}
    held: dict[tuple[str, str, str], list[tuple[ReadableTestName, float]]] = {}
    for loss in multicore_performance_losses([speed_figure.point for speed_figure in by_point.values()]):
        figure = by_point[id(loss.gain.many_cores.point)]
        if loss.lock is not None and loss.lock.held_part >= BOUND_PART:
            key = (figure.kernel, figure.board, loss.lock.name)
            held.setdefault(key, []).append((figure.test, loss.lock.held_part))
    several = len({board for _, board, _ in held}) > 1
    return [
        f"{kernel}{f' on the {board}' if several else ''} holds its {lock} for "
        f"{100 * min(part for _, part in parts):.0f} % of the window{' or more' if len(parts) > 1 else ''} at "
        f"{_join_distinct_test_names([test for test, _ in parts])}. So the cores take turns there, even if they use "
        "different objects."
        for (kernel, board, lock), parts in held.items()
    ]


def _join_distinct_test_names(tests: Sequence[ReadableTestName]) -> str:
    """Returns the tests' names as a list in a sentence, each test once."""
    return join_items_for_sentence(list(dict.fromkeys(test.with_figure() for test in tests)))


def _multicore_extra_heap_use_sentence(pairs: Sequence[_SingleAndMulticoreTest], places: CodePlacementLookup) -> str:
    """Returns the sentence on how much more heap several cores use at most. Empty if no test uses more."""
    grown = []
    for pair in pairs:
        many, one = pair.gain.many_cores.point, pair.gain.one_core.point
        if many.heap and one.heap:
            peaks = [
                places.range_of_measured_values(point, lambda at: at.heap.peak_bytes if at.heap else 0)
                for point in (many, one)
            ]
            more = peaks[0].subtract_measured_value(peaks[1])
            if more.smallest == more.largest or not more.smallest <= 0 <= more.largest:
                grown.append(more.median)
    grown = [more for more in grown if more > 0]
    if not grown:
        return ""
    least, most = min(grown), max(grown)
    return (
        f"The peak of its heap grows by {f'{least:,.0f}' if least == most else f'{least:,.0f} to {most:,.0f}'} bytes."
    )
