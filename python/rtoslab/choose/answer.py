"""The answer in two sentences: which kernel leads for a use and by how much, and what speaks against it."""

from collections.abc import Mapping, Sequence
from typing import Final

from rtoslab.analyses import Ratio
from rtoslab.base import count_text
from rtoslab.choose.board_comparison import Comparison, Score
from rtoslab.choose.compared_operations import Operation

_WORTH_TELLING: Final = 1.1
"""A disadvantage by a smaller factor is no argument."""
_MOST_ARGUMENTS: Final = 3
_MANY: Final = 3
"""Of more kernels than this a list gives their number."""


def answer(comparison: Comparison, names: Mapping[str, str]) -> list[str]:
    """Returns sentences. `names` are the kernels' titles."""
    scores = comparison.scores
    left_out = [_lacks(kernel, comparison, names) for kernel in comparison.kernels if comparison.lacking[kernel]]
    if len(comparison.ranked_kernels) == 1:
        return [f"{names[comparison.ranked_kernels[0]]} is the only kernel here that has what is needed.", *left_out]
    left_out += _too_little_known(comparison, names)
    if not scores:
        return ["No figures are here that these kernels share, so none is ranked.", *left_out]
    leaders = [scores[0], *(score for score in scores[1:] if not _is_behind(scores[0], score))]
    sentences = [_lead(comparison, scores, names) if len(leaders) == 1 else _tie(comparison, leaders, names)]
    return [*sentences, _against(comparison, scores[0].kernel, names), *left_out]


def _is_behind(first: Score, other: Score) -> bool:
    return other is not first and other.ratio.is_known and other.ratio.least > 1


def _use(comparison: Comparison) -> str:
    use = comparison.question.use
    return "By " + use if use.startswith("your") else "Over all" if use == "general" else f"For {use}"


def _lead(comparison: Comparison, scores: Sequence[Score], names: Mapping[str, str]) -> str:
    first, second, last = scores[0], scores[1], scores[-1]
    sentence = (
        f"{_use(comparison)} on the {names[comparison.board]} {names[first.kernel]} leads: in the weighted mean of "
        f"{count_text(second.operations, 'operation')} {names[second.kernel]} needs {times(second.ratio)} as much"
    )
    if last is not second:
        sentence += f" and {names[last.kernel]} {times(last.ratio)}"
        sentence += f" in {last.operations}" if last.operations != second.operations else ""
    return f"{sentence}. It is the best, or as good as the best, in {first.firsts} of {first.operations}."


def _tie(comparison: Comparison, leaders: Sequence[Score], names: Mapping[str, str]) -> str:
    known = all(leader.ratio.is_known for leader in leaders)
    reason = (
        "their figures differ by less than the place of the code is worth"
        if known
        else "some figures stand in one placement of the code, and another could turn them round"
    )
    listed = _names_text([names[leader.kernel] for leader in leaders])
    return f"{_use(comparison)} on the {names[comparison.board]} {listed} cannot be told apart: {reason}."


def _against(comparison: Comparison, kernel: str, names: Mapping[str, str]) -> str:
    result = disadvantages(comparison, kernel)[:_MOST_ARGUMENTS]
    arguments = [f"{operation.title} {times(ratio)} that of {names[other]}" for operation, other, ratio in result]
    lacks = comparison.services.get(kernel, {})
    weighted = [item for item in comparison.operations if item.id in comparison.question.weights]
    absent = dict.fromkeys(service for item in weighted for service in item.services if service in lacks)
    arguments += [f"it has no {_names_text([*absent])}"] if absent else []
    if not arguments:
        return f"Nothing that was measured speaks against {names[kernel]}."
    return f"Against {names[kernel]}: {'; '.join(arguments)}."


def disadvantages(comparison: Comparison, kernel: str) -> list[tuple[Operation, str, Ratio]]:
    """Returns the operations in which another ranked kernel is clearly better, the largest factor first."""
    arguments = []
    for operation in comparison.operations:
        best = comparison.best(operation, comparison.ranked_kernels)
        mine = comparison.cell(kernel, operation).band
        if not best or mine is None or kernel in best or not mine.least:
            continue
        theirs = comparison.cell(best[0], operation).band
        if theirs is not None and theirs.least > 0:
            ratio = comparison.ratio(kernel, best[0], operation)
            if ratio.is_claimed and ratio.value >= _WORTH_TELLING:
                arguments.append((operation, best[0], ratio))
    return sorted(arguments, key=lambda row: -row[2].value)


def _lacks(kernel: str, comparison: Comparison, names: Mapping[str, str]) -> str:
    return f"{names[kernel]} is not ranked: it has no {_names_text(comparison.lacking[kernel])}."


def times(ratio: Ratio) -> str:
    """Returns `1.72 times`, with the band where the place of the code moves it."""
    text, least, most = (f"{number:.2f}" for number in (ratio.value, ratio.least, ratio.most))
    return f"{text} times" if least == most else f"{text} times ({least} to {most})"


def _names_text(words: Sequence[str]) -> str:
    if len(words) > _MANY:
        return f"{', '.join(words[:_MANY])} and {len(words) - _MANY} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _too_little_known(comparison: Comparison, names: Mapping[str, str]) -> list[str]:
    whole = len(comparison.counted_operations)
    return [
        f"{names[kernel]} is not ranked: it has figures of {count} of {count_text(whole, 'operation')}."
        for kernel, count in comparison.too_little_known.items()
        if whole
    ]


def partly_present_text(comparison: Comparison, names: Mapping[str, str]) -> str:
    """Returns which operations count only between some of the ranked kernels. Empty: none."""
    services = [
        f"{operation.title} (not {_names_text([names[kernel] for kernel in kernels])})"
        for operation, kernels in comparison.partly_present
    ]
    return f"These count only between kernels that have such a figure: {'; '.join(services)}." if services else ""
