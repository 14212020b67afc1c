"""The answer in two sentences: which kernel leads for a use and by how much, and what speaks against it."""

from collections.abc import Mapping, Sequence
from typing import Final

from rtoslab.analyses import MeasuredValueRatio
from rtoslab.base import count_with_noun
from rtoslab.choose.board_comparison import KernelComparison, KernelScore
from rtoslab.choose.compared_operations import ComparedOperation
from rtoslab.reports import join_items_for_sentence

_WORTH_TELLING: Final = 1.1
"""The least factor of a disadvantage that the answer names."""
_MOST_ARGUMENTS: Final = 3
_MANY: Final = 3
"""A list names so many items, then the number of further ones."""
_MOST_REASONS: Final = 2
"""The largest number of different reasons that a sentence on several kernels gives."""


def kernel_ranking_sentences(comparison: KernelComparison, names: Mapping[str, str]) -> list[str]:
    """Returns the answer to which kernel is best for a use, as sentences. `names`: titles of kernels and board."""
    scores = comparison.kernel_scores
    left_out = _lacking_service_sentences(comparison, names)
    if len(comparison.kernel_ranking) == 1:
        only = (
            "kernel that is compared" if len(comparison.kernels) == 1 else "compared kernel with the required services"
        )
        return [f"{names[comparison.kernel_ranking[0]]} is the only {only}, so there is no ranking.", *left_out]
    left_out += _too_few_measured_values_sentences(comparison, names)
    if not scores:
        return ["These kernels have no figures of the same operations, so they are not ranked.", *left_out]
    leaders = [scores[0], *(score for score in scores[1:] if not _is_clearly_worse_than_best_kernel(scores[0], score))]
    sentences = [
        _best_kernel_sentences(comparison, scores, names)
        if len(leaders) == 1
        else _joint_best_kernels_sentence(comparison, leaders, names)
    ]
    return [*sentences, _disadvantages_sentence(comparison, scores[0].kernel, names), *left_out]


def _is_clearly_worse_than_best_kernel(first: KernelScore, other: KernelScore) -> bool:
    """Whether a kernel is clearly behind the first one."""
    return other is not first and other.ratio.is_known and other.ratio.smallest > 1


def _kernel_comparison_purpose_text(comparison: KernelComparison) -> str:
    """Returns the use of a comparison in words."""
    use = comparison.question.use
    return "By " + use if use.startswith("your") else "In general" if use == "general" else f"For {use}"


def _best_kernel_sentences(
    comparison: KernelComparison, scores: Sequence[KernelScore], names: Mapping[str, str]
) -> str:
    """Returns the sentences on the leading kernel and the distance of the next one and the last one."""
    first, second, last = scores[0], scores[1], scores[-1]
    leader, board = names[first.kernel], names[comparison.board]
    return " ".join(
        [
            f"{_kernel_comparison_purpose_text(comparison)} on the {board}, {leader} is the best kernel.",
            _gap_to_best_kernel_sentence(names[second.kernel], "next", second, "weighted mean"),
            *([] if last is second else [_gap_to_best_kernel_sentence(names[last.kernel], "last", last, "mean")]),
            (
                f"{leader} is the best, or as good as the best, in {first.firsts} of "
                f"{count_with_noun(first.operations, 'operation')}."
            ),
        ]
    )


def _gap_to_best_kernel_sentence(kernel: str, place: str, score: KernelScore, mean: str) -> str:
    """Returns the sentence on how much more a kernel needs than the leading one. `place` and `mean` are words."""
    operations = count_with_noun(score.operations, "operation")
    return (
        f"{kernel}, the {place} one, needs {ratio_as_times_phrase(score.ratio)} as much in the {mean} of {operations}."
    )


def _joint_best_kernels_sentence(
    comparison: KernelComparison, leaders: Sequence[KernelScore], names: Mapping[str, str]
) -> str:
    """Returns the sentence on kernels that lead together."""
    known = all(leader.ratio.is_known for leader in leaders)
    reason = (
        "another placement of the code could reverse their order"
        if known
        else "some figures were measured in only one placement of the code, and another one could reverse their order"
    )
    listed = _first_names_text([names[leader.kernel] for leader in leaders])
    use = _kernel_comparison_purpose_text(comparison)
    return f"{use} on the {names[comparison.board]}, {listed} are equally good: {reason}."


def _disadvantages_sentence(comparison: KernelComparison, kernel: str, names: Mapping[str, str]) -> str:
    """Returns the sentence on the disadvantages of a kernel."""
    result = operations_with_clearly_better_rival(comparison, kernel)[:_MOST_ARGUMENTS]
    arguments = [
        f'"{operation.title}" is {ratio_as_times_phrase(ratio)} that of {names[other]}'
        for operation, other, ratio in result
    ]
    lacks = comparison.services.get(kernel, {})
    weighted = [item for item in comparison.operations if item.id in comparison.question.weights]
    absent = dict.fromkeys(service for item in weighted for service in item.services if service in lacks)
    arguments += (
        [f"it lacks {_first_names_text([_lacking_service_text(service, lacks[service]) for service in absent])}"]
        if absent
        else []
    )
    if not arguments:
        return f"{names[kernel]} is not clearly worse than another kernel in any operation."
    return f"Disadvantages of {names[kernel]}: {'; '.join(arguments)}."


def operations_with_clearly_better_rival(
    comparison: KernelComparison, kernel: str
) -> list[tuple[ComparedOperation, str, MeasuredValueRatio]]:
    """Returns the operations in which another ranked kernel is clearly better, the largest factor first."""
    arguments = []
    for operation in comparison.operations:
        best = comparison.best_kernels_for_operation(operation, comparison.kernel_ranking)
        mine = comparison.kernel_operation_value(kernel, operation).band
        if not best or mine is None or kernel in best or not mine.smallest:
            continue
        theirs = comparison.kernel_operation_value(best[0], operation).band
        if theirs is not None and theirs.smallest > 0:
            ratio = comparison.times_worse_than(kernel, best[0], operation)
            if ratio.differs_in_all_code_placements and ratio.value >= _WORTH_TELLING:
                arguments.append((operation, best[0], ratio))
    return sorted(arguments, key=lambda row: -row[2].value)


def _lacking_service_sentences(comparison: KernelComparison, names: Mapping[str, str]) -> list[str]:
    """Returns sentences on the kernels that lack required services, one sentence for each set of services."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for kernel in comparison.kernels:
        if comparison.lacking[kernel]:
            groups.setdefault(comparison.lacking[kernel], []).append(kernel)
    sentences = []
    for services, kernels in groups.items():
        is_one = len(kernels) == 1
        lacks = [
            _lacking_service_text(name, _reason_kernels_lack_service(comparison, kernels, name)) for name in services
        ]
        sentences.append(
            f"{join_items_for_sentence([names[kernel] for kernel in kernels])} {'is' if is_one else 'are'} not ranked, "
            f"because {'it lacks' if is_one else 'they lack'} {join_items_for_sentence(lacks)}."
        )
    return sentences


def _reason_kernels_lack_service(comparison: KernelComparison, kernels: Sequence[str], service: str) -> str:
    """Returns why kernels lack a service: their reasons, or nothing if these are more than a sentence can hold."""
    reasons = dict.fromkeys(comparison.services[kernel][service] for kernel in kernels)
    return "; ".join(reasons) if len(reasons) <= _MOST_REASONS else ""


def _lacking_service_text(service: str, reason: str) -> str:
    """Returns a service that a kernel lacks, with the reason. The name of the service alone could mislead: a kernel
    whose queues hold pointers lacks the port contract's `queue`, but it has queues.
    """
    return f"{service} ({reason})" if reason else service


def ratio_as_times_phrase(ratio: MeasuredValueRatio) -> str:
    """Returns a ratio as `1.72 times`, with its range if the placement of the code changes it."""
    text, least, most = (f"{number:.2f}" for number in (ratio.value, ratio.smallest, ratio.largest))
    return f"{text} times" if least == most else f"{text} times ({least} to {most})"


def _first_names_text(words: Sequence[str]) -> str:
    """Returns the first words of a list, and the number of further ones, for a sentence."""
    if len(words) > _MANY:
        return f"{', '.join(words[:_MANY])} and {len(words) - _MANY} more"
    return join_items_for_sentence(words)


def _too_few_measured_values_sentences(comparison: KernelComparison, names: Mapping[str, str]) -> list[str]:
    """Returns sentences on kernels with too few figures for a ranking."""
    whole = len(comparison.operations_used_in_ranking)
    return [
        f"{names[kernel]} is not ranked, because it has figures of only {count} of "
        f"{count_with_noun(whole, 'operation')}."
        for kernel, count in comparison.kernels_with_too_few_measurements.items()
        if whole
    ]
