"""Which points of the same benchmark on the same board are not measured alike, concept by concept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from rtoslab.catalogue import Catalogue, Kernel
from rtoslab.parity.board_settings import absent_value, concept_of_setting, state_concept, state_facts
from rtoslab.parity.concepts import CONCEPTS, Concept, facts_of, kernel_of, keys_of, option_value
from rtoslab.parity.costs import AS_USUAL, Cost, cost_of
from rtoslab.reference import WORD
from rtoslab.results import PointId

MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """One point that takes part in a comparison."""

    who: str
    """The side it stands for: a kernel, a run, a configuration."""
    point: PointId
    manifest: dict[str, Any]
    state: Mapping[str, str | int] = field(default_factory=dict)
    """`Measured.state`. Empty where it was not read."""


@dataclass(frozen=True, slots=True)
class Unfairness:
    """One concept that differs, over all benchmarks where it does in the same way."""

    concept: Concept
    board: str
    values: dict[str, tuple[str, ...]]
    """In a reader's words -> who has it."""
    benchmarks: tuple[str, ...]
    costs: tuple[tuple[str, Cost], ...]
    """Kernel and change in words, and what was measured of it. Empty if nobody did."""

    @property
    def sentence(self) -> str:
        """The unfairness in one sentence."""
        sides = "; ".join(f"{words} for {_names(who)}" for words, who in self.values.items())
        return f"{self.concept.title}: {sides}. Unfair because {self.concept.why}."

    @property
    def cost(self) -> str:
        """Returns the cost in words, for the compared benchmarks if any was measured, else for those that were."""
        costs_text = [f"{change}: {_percent(item, self.benchmarks)}" for change, item in self.costs]
        unknown = "set it alike and measure again" if self.concept.of_state else "a sweep over it would tell"
        return "; ".join(costs_text) or f"not measured; {unknown}"


def alike(subjects: Iterable[Subject]) -> list[list[Subject]]:
    """Groups that a reader would compare: points of one benchmark, board and number of cores."""
    groups: dict[tuple[str, str, int], list[Subject]] = {}
    for subject in subjects:
        groups.setdefault((subject.point.benchmark, subject.point.board, subject.point.cores), []).append(subject)
    return list(groups.values())


def lint(catalogue: Catalogue, groups: Iterable[Sequence[Subject]], costs: Sequence[Cost] = ()) -> list[Unfairness]:
    """Returns what differs within each group."""
    merged: dict[tuple[str, str, str], Unfairness] = {}
    for group in groups:
        benchmark, board = group[0].point.benchmark, group[0].point.board
        for unfairnesses in _of_group(catalogue, group, board, benchmark, costs):
            key = (unfairnesses.concept.id, board, str(unfairnesses.values))
            known = merged.get(key)
            names = tuple(dict.fromkeys([*(known.benchmarks if known else ()), benchmark]))
            merged[key] = Unfairness(
                unfairnesses.concept, board, unfairnesses.values, names, known.costs if known else unfairnesses.costs
            )
    order = {item.id: at for at, item in enumerate(CONCEPTS)}
    return sorted(
        merged.values(),
        key=lambda unfairness: (order.get(unfairness.concept.id, len(order)), unfairness.concept.id, unfairness.board),
    )


def _of_group(
    catalogue: Catalogue, group: Sequence[Subject], board: str, benchmark: str, costs: Sequence[Cost]
) -> Iterable[Unfairness]:
    kernels = {_plain(item): kernel_of(catalogue, item.manifest, _plain(item)) for item in group}
    facts = [facts_of(item.manifest, kernels[_plain(item)]) for item in group]
    states = _states(group)
    facts = [known | state for known, state in zip(facts, states, strict=True)]
    reported: set[str] = set()
    for concept in (*CONCEPTS, *(state_concept(item) for item in sorted({key for state in states for key in state}))):
        holders: dict[str, list[Subject]] = {}
        for subject, known in zip(group, facts, strict=True):
            if concept.id in known:
                holders.setdefault(concept.words(known[concept.id]), []).append(subject)
        if len(holders) < 2 or (concept.of_state and concept_of_setting(concept.id) in reported):
            continue
        reported.add(concept.id)
        values = {words: tuple(dict.fromkeys(item.who for item in who)) for words, who in holders.items()}
        sides = [(who[0], facts[group.index(who[0])][concept.id]) for who in holders.values()]
        costs_ = tuple(_costs(concept, kernels, sides, costs))
        yield Unfairness(concept, board, values, (benchmark,), costs_)


def _states(group: Sequence[Subject]) -> list[dict[str, str]]:
    """The settings of each side as facts."""
    one_kernel = len({_plain(subject) for subject in group}) == 1
    states = [state_facts(subject.state, one_kernel=one_kernel) for subject in group]
    meanings = {key: absent_value(key) for state in states for key in state}
    absent = {key: words for key, words in meanings.items() if words is not None}
    return [{**absent, **state} if state else {} for state in states]


def _plain(subject: Subject) -> str:
    """The kernel's name, of a reference result without its mark."""
    return subject.point.kernel.removesuffix(WORD).rstrip()


def _costs(
    concept: Concept,
    kernels: Mapping[str, Kernel | None],
    sides: Sequence[tuple[Subject, str]],
    costs: Sequence[Cost],
) -> Iterable[tuple[str, Cost]]:
    """Yields what going from the first side's value to the second's costs each kernel that takes part."""
    (first, before), (second, after), *_ = sides
    for kernel, facts in kernels.items():
        key = "" if facts is None else keys_of(concept, facts)
        pairs = product(
            _option_forms(first, kernel, key, option_value(concept, before)),
            _option_forms(second, kernel, key, option_value(concept, after)),
        )
        board = first.point.board
        cost = next((cost for pair in pairs if (cost := cost_of(costs, kernel, board, key, pair))), None)
        if cost is not None:
            yield f"{kernel}, from {concept.words(before)} to {concept.words(after)}", cost


def _option_forms(subject: Subject, kernel: str, key: str, value: str) -> tuple[str, ...]:
    """How a sweep may have written a side's value: as it is, or, where the side asked for none, not at all."""
    unsaid = _plain(subject) == kernel and key not in subject.point.config
    return (value, AS_USUAL) if unsaid else (value,)


def _percent(cost: Cost, benchmarks: Sequence[str]) -> str:
    compared = {name: value for name, value in cost.percent.items() if name in benchmarks}
    ordered = sorted((compared or cost.percent).items(), key=lambda item: -abs(item[1]))
    shown = ", ".join(f"{name} {_signed_text(value)} %{_band(cost, name)}" for name, value in ordered[:MOST_NAMES])
    return shown + (f" and {len(ordered) - MOST_NAMES} smaller" if len(ordered) > MOST_NAMES else "")


def _band(cost: Cost, name: str) -> str:
    """The least and the most where they do not read alike, and whether it is or may be no more than placement."""
    least, most = map(_signed_text, cost.band.get(name, (0.0, 0.0)))
    band = [] if least == most else [f"{least} to {most}"]
    bands = [*band, *["placement"] * (name in cost.placement), *["one placement"] * (name in cost.one_placement)]
    return f" ({'; '.join(bands)})" if bands else ""


def _signed_text(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}"


def _names(who: Sequence[str]) -> str:
    return ", ".join(who[:MOST_NAMES]) + (f" and {len(who) - MOST_NAMES} more" if len(who) > MOST_NAMES else "")
