"""Sentences on which kernel is faster at what, and by how much: for each board, number of cores and configuration.

Nothing is averaged: every ratio is of two kernels at one test under the same conditions. No difference is claimed
between two figures within the bands of their placements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses import Ratio
from rtoslab.base import count_text
from rtoslab.reports.sections.speed_figures import NamedTest, SpeedFigure
from rtoslab.reports.sections.wording import MOST, cores_words, faster_by, join_listed

SAME: Final = 0.001
"""Two figures that differ by less than this part are called alike."""
UNDOABLE: Final = "no difference that the placement of the code could not undo"
IN_ONE: Final = "in one placement of the code each"
"""Where a difference may be one of the places alone."""
_PARAGRAPHS: Final = 8
"""Of more combinations of board, cores and configuration than this the answer names the first ones."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The conditions that must be equal for figures to be compared."""

    board: str
    cores: int
    conditions: str
    is_rate: bool

    def words(self, scopes: Sequence["Scope"], *more: str) -> str:
        """`On the Raspberry Pi Pico, one core: `, with the differences among scopes. Empty if nothing does."""
        several_boards = len({scope.board for scope in scopes}) > 1
        several_cores = {scope.cores for scope in scopes} != {1}
        parts = [f"the {self.board}"] * several_boards + [cores_words(self.cores)] * several_cores
        parts += [self.conditions] * bool(self.conditions)
        on = [f"{'With' if parts[0] == self.conditions else 'On'} {', '.join(parts)}"] if parts else []
        by = [] if self.is_rate else ["by the median of each interval"]
        text = ", ".join([*on, *by, *more])
        return f"{text[0].upper()}{text[1:]}: " if text else ""


def scopes_of(figures: Sequence[SpeedFigure]) -> dict[Scope, list[SpeedFigure]]:
    """Figures that may be compared, together. Boards in their order, on each the smallest number of cores first."""
    scopes: dict[Scope, list[SpeedFigure]] = {}
    for figure in figures:
        scopes.setdefault(Scope(figure.board, figure.cores, figure.conditions, figure.is_rate), []).append(figure)
    boards = list(dict.fromkeys(figure.board for figure in figures))
    return {
        scope: scopes[scope]
        for scope in sorted(
            scopes,
            key=lambda scope: (boards.index(scope.board), scope.conditions != "", not scope.is_rate, scope.cores),
        )
    }


def rival_sentences(figures: Sequence[SpeedFigure]) -> list[str]:
    """One paragraph for each scope in which several kernels have figures."""
    scopes = scopes_of(figures)
    sentences = [
        f"{scope.words(list(scopes), *([IN_ONE] if rests_on_place(mine) else []))}{text}"
        for scope, mine in scopes.items()
        if len({figure.kernel for figure in mine}) > 1 and (text := _comparison_text(mine))
    ]
    if len(sentences) > _PARAGRAPHS:
        left = len(sentences) - _PARAGRAPHS
        sentences = [
            *sentences[:_PARAGRAPHS],
            f"The tables have {left} more combinations of board, cores and configuration.",
        ]
    return sentences


def rests_on_place(figures: Sequence[SpeedFigure]) -> bool:
    """Whether another placement of the code might have given other figures."""
    return any(not figure.figure.is_known for figure in figures)


def figure_sentences(figures: Sequence[SpeedFigure]) -> list[str]:
    """The figures themselves, for scopes in which they are beside nothing."""
    scopes = scopes_of(figures)
    return [f"{scope.words(list(scopes))}{_plainly(mine)}" for scope, mine in scopes.items()][:_PARAGRAPHS]


def _plainly(figures: Sequence[SpeedFigure]) -> str:
    kernel, verb, to = figures[0].kernel, *(("reaches", "at") if figures[0].is_rate else ("takes", "for"))
    if len(figures) <= MOST:
        return (
            f"{kernel} {verb} {join_listed([f'{figure.text} {to} {figure.test.with_figure()}' for figure in figures])}."
        )
    ordered = sorted(figures, key=lambda figure: figure.figure.median)
    ends = " to ".join(
        f"{speed_figure.text} {to} {speed_figure.test.with_figure()}" for speed_figure in (ordered[0], ordered[-1])
    )
    return f"{kernel} {verb} from {ends}, over {count_text(len(figures), 'test')}."


def _by_test(figures: Sequence[SpeedFigure]) -> dict[NamedTest, list[SpeedFigure]]:
    tests: dict[NamedTest, list[SpeedFigure]] = {}
    for figure in figures:
        mine = tests.setdefault(figure.test, [])
        if figure.kernel not in {other.kernel for other in mine}:
            mine.append(figure)
    return tests


def _comparison_text(figures: Sequence[SpeedFigure]) -> str:
    kernels = list(dict.fromkeys(figure.kernel for figure in figures))
    tests = _by_test(figures)
    shared = {test: mine for test, mine in tests.items() if len(mine) > 1}
    if not shared:
        return ""
    ahead: dict[str, list[tuple[float, str]]] = {}
    alike: dict[str, list[NamedTest]] = {}
    for test, mine in shared.items():
        first, second, last = _rank(mine)
        ratio = first.speed_over(second)
        if is_alike(ratio):
            alike.setdefault(f"{_front(first, second, kernels)} are within 0.1 % of each other", []).append(test)
        elif is_undoable(ratio):
            alike.setdefault(f"{_front(first, second, kernels)} show {UNDOABLE}", []).append(test)
        else:
            ahead.setdefault(first.kernel, []).append(
                (ratio.value, test.with_figure(*_leads(ratio, first, second, last, kernels)))
            )
    parts = [_leader(kernel, ahead[kernel], kernels, len(shared)) for kernel in kernels if kernel in ahead]
    sentences = [f"{part}." for part in parts]
    sentences += [
        f"At {join_listed([name.with_figure() for name in names])}, {words}." for words, names in alike.items()
    ]
    return " ".join([*sentences, *_absent(kernels, tests)])


def is_alike(ratio: Ratio) -> bool:
    """Whether two figures are the same to a reader, in whichever placement."""
    return max(abs(value - 1) for value in (ratio.value, ratio.least, ratio.most)) < SAME


def is_undoable(ratio: Ratio) -> bool:
    """Whether some choice of placements makes two figures equal, or turns their order round."""
    return ratio.is_known and not ratio.is_claimed


def _rank(figures: Sequence[SpeedFigure]) -> tuple[SpeedFigure, SpeedFigure, SpeedFigure]:
    """The fastest, the next and the slowest. With two kernels the last two are one."""
    ordered = sorted(figures, key=lambda figure: figure.figure.median, reverse=figures[0].is_rate)
    return ordered[0], ordered[1], ordered[-1]


def _front(first: SpeedFigure, second: SpeedFigure, kernels: Sequence[str]) -> str:
    """The subject of a tie. With three kernels and more it names those at the front."""
    both = [kernel for kernel in kernels if kernel in {first.kernel, second.kernel}]
    return "the two" if len(kernels) == 2 else f"the fastest, {both[0]} and {both[1]},"


def _leads(
    ratio: Ratio, first: SpeedFigure, second: SpeedFigure, last: SpeedFigure, kernels: Sequence[str]
) -> list[str]:
    """Says by how much the first is ahead of the next and of the slowest. With two kernels one lead suffices."""
    if len(kernels) == 2:
        return [faster_by(ratio)]
    if second is last:
        return [f"{_than(faster_by(ratio))} {second.kernel}"]
    over = first.speed_over(last)
    return [f"{_than(faster_by(ratio))} {second.kernel}", f"{_than(faster_by(over))} {last.kernel}"]


def _than(words: str) -> str:
    return f"{words} as" if words.endswith("as fast") else f"{words} than"


def _leader(kernel: str, items: Sequence[tuple[float, str]], kernels: Sequence[str], tests: int) -> str:
    """`FreeRTOS is faster than NuttX at …`. The largest lead first."""
    ordered = [text for _, text in sorted(items, key=lambda item: -item[0])]
    others = [entry for entry in kernels if entry != kernel]
    rank = f"faster than {others[0]}" if len(others) == 1 else "the fastest"
    share = f" in {len(items)} of {count_text(tests, 'test')}" if tests > 1 else ""
    return f"{kernel} is {rank}{share}: {join_listed(ordered)}"


def _absent(kernels: Sequence[str], tests: dict[NamedTest, list[SpeedFigure]]) -> list[str]:
    lacking = {
        kernel: [test.with_figure() for test, mine in tests.items() if kernel not in {figure.kernel for figure in mine}]
        for kernel in kernels
    }
    return [f"{kernel} has no figure for {join_listed(names)}." for kernel, names in lacking.items() if names]
