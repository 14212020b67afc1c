"""Sentences on which kernel is faster at what, and by how much: for each board, number of cores and configuration.

Nothing is averaged: every ratio is of two kernels at one test under the same conditions. No difference is claimed
between two figures within the bands of their placements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses import MeasuredValueRatio
from rtoslab.base import count_with_noun
from rtoslab.reports.sections.speed_figures import KernelSpeed, ReadableTestName
from rtoslab.reports.sections.wording import (
    MOST_LISTED,
    core_count_in_words,
    join_items_for_sentence,
    speed_ratio_in_words,
)

SAME_WITHIN: Final = 0.001
"""Two figures that differ by a smaller part are called alike."""
WITHIN_PLACEMENT: Final = "only differences that the placement of the code could reverse"
IN_ONE_PLACEMENT: Final = "in one placement of the code each"
"""Said where a difference may come from the placements alone."""
_PARAGRAPHS: Final = 8
"""Of more combinations of board, cores and configuration the answer names only the first ones."""


@dataclass(frozen=True, slots=True)
class KernelComparisonConditions:
    """The conditions that two kernels' figures must share to be compared: board, number of cores, configuration."""

    board: str
    cores: int
    conditions: str
    is_rate: bool

    def conditions_as_sentence_start(self, scopes: Sequence["KernelComparisonConditions"], *more: str) -> str:
        """Returns the beginning of a sentence, such as `On the Raspberry Pi Pico, one core: `. It names only what
        differs between `scopes`.

        Empty if nothing does. `more`: further phrases.
        """
        several_boards = len({scope.board for scope in scopes}) > 1
        several_cores = {scope.cores for scope in scopes} != {1}
        parts = [f"the {self.board}"] * several_boards + [core_count_in_words(self.cores)] * several_cores
        parts += [self.conditions] * bool(self.conditions)
        on = [f"{'With' if parts[0] == self.conditions else 'On'} {', '.join(parts)}"] if parts else []
        by = [] if self.is_rate else ["by the median of each interval"]
        text = ", ".join([*on, *by, *more])
        return f"{text[0].upper()}{text[1:]}: " if text else ""


def group_kernel_speeds_by_conditions(
    figures: Sequence[KernelSpeed],
) -> dict[KernelComparisonConditions, list[KernelSpeed]]:
    """Groups figures by the conditions under which they were measured.
    On each board, the smallest number of cores comes first.
    """
    scopes: dict[KernelComparisonConditions, list[KernelSpeed]] = {}
    for figure in figures:
        scopes.setdefault(
            KernelComparisonConditions(figure.board, figure.cores, figure.conditions, figure.is_rate), []
        ).append(figure)
    boards = list(dict.fromkeys(figure.board for figure in figures))
    return {
        scope: scopes[scope]
        for scope in sorted(
            scopes,
            key=lambda scope: (boards.index(scope.board), scope.conditions != "", not scope.is_rate, scope.cores),
        )
    }


def kernel_comparison_paragraphs(figures: Sequence[KernelSpeed]) -> list[str]:
    """Returns a paragraph that compares the kernels, for each board, number of cores and configuration with several of
    them."""
    scopes = group_kernel_speeds_by_conditions(figures)
    sentences = [
        scope.conditions_as_sentence_start(
            list(scopes), *([IN_ONE_PLACEMENT] if do_speeds_depend_on_code_placement(mine) else [])
        )
        + text
        for scope, mine in scopes.items()
        if len({figure.kernel for figure in mine}) > 1 and (text := _kernel_comparison_sentences(mine))
    ]
    if len(sentences) > _PARAGRAPHS:
        left = len(sentences) - _PARAGRAPHS
        sentences = [
            *sentences[:_PARAGRAPHS],
            f"The tables show {left} more combinations of board, cores and configuration.",
        ]
    return sentences


def do_speeds_depend_on_code_placement(figures: Sequence[KernelSpeed]) -> bool:
    """Whether another placement of the code might have given other figures than one of these."""
    return any(not figure.figure.is_known for figure in figures)


def kernel_speed_sentences(figures: Sequence[KernelSpeed]) -> list[str]:
    """Returns a sentence with the figures under each condition, for runs in which there is nothing to compare."""
    scopes = group_kernel_speeds_by_conditions(figures)
    return [
        f"{scope.conditions_as_sentence_start(list(scopes))}{_kernel_speeds_sentence(mine)}"
        for scope, mine in scopes.items()
    ][:_PARAGRAPHS]


def _kernel_speeds_sentence(figures: Sequence[KernelSpeed]) -> str:
    """Returns a sentence with the figures of one kernel. Many figures are reduced to the slowest and the fastest."""
    kernel, verb, to = figures[0].kernel, *(("reaches", "at") if figures[0].is_rate else ("takes", "for"))
    if len(figures) <= MOST_LISTED:
        parts = [f"{figure.text_with_unit} {to} {figure.test.with_figure()}" for figure in figures]
        return f"{kernel} {verb} {join_items_for_sentence(parts)}."
    ordered = sorted(figures, key=lambda figure: figure.figure.median)
    ends = " to ".join(
        f"{speed_figure.text_with_unit} {to} {speed_figure.test.with_figure()}"
        for speed_figure in (ordered[0], ordered[-1])
    )
    return f"{kernel} {verb} from {ends}, over {count_with_noun(len(figures), 'test')}."


def _group_kernel_speeds_by_test(figures: Sequence[KernelSpeed]) -> dict[ReadableTestName, list[KernelSpeed]]:
    """Groups figures by test, with one figure of each kernel."""
    tests: dict[ReadableTestName, list[KernelSpeed]] = {}
    for figure in figures:
        mine = tests.setdefault(figure.test, [])
        if figure.kernel not in {other.kernel for other in mine}:
            mine.append(figure)
    return tests


def _kernel_comparison_sentences(figures: Sequence[KernelSpeed]) -> str:
    """Returns sentences on which kernel is fastest at which tests. Empty if no test has figures of two kernels."""
    kernels = list(dict.fromkeys(figure.kernel for figure in figures))
    tests = _group_kernel_speeds_by_test(figures)
    shared = {test: mine for test, mine in tests.items() if len(mine) > 1}
    if not shared:
        return ""
    ahead: dict[str, list[tuple[float, str]]] = {}
    alike: dict[str, list[ReadableTestName]] = {}
    for test, mine in shared.items():
        first, second, last = _fastest_second_and_slowest_kernel(mine)
        ratio = first.speed_ratio_against(second)
        if is_ratio_difference_negligible(ratio):
            alike.setdefault(
                f"{_equally_fast_kernels_text(first, second, kernels)} are within 0.1 % of each other", []
            ).append(test)
        elif is_within_code_placement_effect(ratio):
            alike.setdefault(
                f"{_equally_fast_kernels_text(first, second, kernels)} show {WITHIN_PLACEMENT}", []
            ).append(test)
        else:
            ahead.setdefault(first.kernel, []).append(
                (ratio.value, test.with_figure(*_lead_of_fastest_kernel_texts(ratio, first, second, last, kernels)))
            )
    parts = [
        _faster_kernel_in_tests_clause(kernel, ahead[kernel], kernels, len(shared))
        for kernel in kernels
        if kernel in ahead
    ]
    sentences = [f"{part}." for part in parts]
    sentences += [
        f"At {join_items_for_sentence([name.with_figure() for name in names])}, {words}."
        for words, names in alike.items()
    ]
    return " ".join([*sentences, *_sentences_on_missing_test_values(kernels, tests)])


def is_ratio_difference_negligible(ratio: MeasuredValueRatio) -> bool:
    """Whether two figures differ by less than SAME_WITHIN in every placement."""
    return max(abs(value - 1) for value in (ratio.value, ratio.smallest, ratio.largest)) < SAME_WITHIN


def is_within_code_placement_effect(ratio: MeasuredValueRatio) -> bool:
    """Whether the difference of two figures is so small that another placement of the code could undo or reverse it."""
    return ratio.is_known and not ratio.differs_in_all_code_placements


def _fastest_second_and_slowest_kernel(figures: Sequence[KernelSpeed]) -> tuple[KernelSpeed, KernelSpeed, KernelSpeed]:
    """Returns the fastest, the second fastest and the slowest figure. With two kernels the last two are the same."""
    ordered = sorted(figures, key=lambda figure: figure.figure.median, reverse=figures[0].is_rate)
    return ordered[0], ordered[1], ordered[-1]


def _equally_fast_kernels_text(first: KernelSpeed, second: KernelSpeed, kernels: Sequence[str]) -> str:
    """Returns the subject of a sentence on two kernels that are alike. With three kernels or more it names the two."""
    both = [kernel for kernel in kernels if kernel in {first.kernel, second.kernel}]
    return "the two" if len(kernels) == 2 else f"the fastest, {both[0]} and {both[1]},"


def _lead_of_fastest_kernel_texts(
    ratio: MeasuredValueRatio, first: KernelSpeed, second: KernelSpeed, last: KernelSpeed, kernels: Sequence[str]
) -> list[str]:
    """Returns texts on how much the fastest kernel is ahead of the second and of the slowest. `ratio`: of the first to
    the second.

    With two kernels one text suffices.
    """
    if len(kernels) == 2:
        return [speed_ratio_in_words(ratio)]
    if second is last:
        return [f"{_append_than_or_as_to_comparison(speed_ratio_in_words(ratio))} {second.kernel}"]
    over = first.speed_ratio_against(last)
    return [
        f"{_append_than_or_as_to_comparison(speed_ratio_in_words(ratio))} {second.kernel}",
        f"{_append_than_or_as_to_comparison(speed_ratio_in_words(over))} {last.kernel}",
    ]


def _append_than_or_as_to_comparison(comparison: str) -> str:
    """Returns a comparison with "than" or "as" at its end: `17 % faster than`, `2.77 times as fast as`."""
    return f"{comparison} as" if comparison.endswith("as fast") else f"{comparison} than"


def _faster_kernel_in_tests_clause(
    kernel: str, items: Sequence[tuple[float, str]], kernels: Sequence[str], tests: int
) -> str:
    """Returns a clause such as `FreeRTOS is faster than NuttX in 3 of 5 tests: …`. `items`: leads with their texts,
    sorted here, the largest first."""
    ordered = [text for _, text in sorted(items, key=lambda item: -item[0])]
    others = [entry for entry in kernels if entry != kernel]
    rank = f"faster than {others[0]}" if len(others) == 1 else "the fastest"
    share = f" in {len(items)} of {count_with_noun(tests, 'test')}" if tests > 1 else ""
    return f"{kernel} is {rank}{share}: {join_items_for_sentence(ordered)}"


def _sentences_on_missing_test_values(
    kernels: Sequence[str], tests: dict[ReadableTestName, list[KernelSpeed]]
) -> list[str]:
    """Returns a sentence for each kernel that has no figure for some of the tests."""
    lacking = {
        kernel: [test.with_figure() for test, mine in tests.items() if kernel not in {figure.kernel for figure in mine}]
        for kernel in kernels
    }
    return [
        f"{kernel} has no figure for {join_items_for_sentence(names)}." for kernel, names in lacking.items() if names
    ]
