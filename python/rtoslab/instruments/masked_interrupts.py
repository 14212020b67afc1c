"""The interrupts-off record: how long interrupts were masked, by whom, in which call of the kernel."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

from rtoslab.base import Table, Value
from rtoslab.instruments.names import INLINED
from rtoslab.instruments.profiler import MaskedIntervals, Profile, Stack, function_of
from rtoslab.targets import APPLICATION


def priority_groups(profile: Profile) -> list[tuple[str, tuple[MaskedIntervals, ...]]]:
    """Priorities that were masked alike, together: `0x00`, or `0x50 to 0xf0`; the most urgent first."""
    by_priority: dict[int, list[MaskedIntervals]] = defaultdict(list)
    for held in profile.held:
        by_priority[held.priority].append(held)
    groups = []
    for _, same in groupby(sorted(by_priority), key=lambda priority: [_shape(held) for held in by_priority[priority]]):
        members = list(same)
        name = f"{members[0]:#04x}" + (f" to {members[-1]:#04x}" if len(members) > 1 else "")
        groups.append((name, tuple(by_priority[members[0]])))
    return groups


def _shape(held: MaskedIntervals) -> tuple[object, ...]:
    return (
        held.core, held.opener, held.opener_line, held.closer, held.closer_line, held.count, held.total_cycles,
        held.longest_start,
    )  # fmt: skip


def owner(stack: Stack, profile: Profile) -> str:
    """The call in which it happened: a handler; else the kernel's function that the application called; else the
    application's own."""
    if " [exception " in stack[0]:
        return stack[0].partition(" [")[0]
    names = [name for name in stack if not name.endswith(INLINED)]
    own = [index for index, name in enumerate(names) if profile.classes.get(name, APPLICATION) == APPLICATION]
    entered = own[-1] + 1 if own else 0
    return names[entered] if entered < len(names) else names[-1]


def interrupt_tables(profile: Profile, top: int | None) -> tuple[Table, Table]:
    """Returns one table by call, and one of the single places with the longest intervals."""
    return _by_call(profile, top), _longest(profile, top)


def _by_call(profile: Profile, top: int | None) -> Table:
    rows: list[Sequence[Value]] = []
    for name, held in priority_groups(profile):
        calls: dict[tuple[int, str], list[MaskedIntervals]] = defaultdict(list)
        for interval in held:
            calls[interval.core, owner(interval.opener, profile)].append(interval)
        ordered = sorted(calls.items(), key=lambda item: (-_longest_of(item[1]), item[0]))
        for (core, call), members in ordered[:top]:
            count, total = sum(member.count for member in members), sum(member.total_cycles for member in members)
            share = 100 * total / max(1, profile.observed_cycles[core])
            longest = _longest_of(members)
            rows.append(
                (name, core, call, count, longest, _us(longest, profile), f"{total / count:.1f}", f"{share:.2f}")
            )
    columns = ("priority", "core", "call", "count", "longest", "longest (us)", "mean", "% of time")
    return Table("masked", "Interrupts masked, by call: cycles, the longest first", columns, rows)


def _longest(profile: Profile, top: int | None) -> Table:
    rows: list[Sequence[Value]] = []
    for name, held in priority_groups(profile):
        for interval in sorted(held, key=lambda held: (-held.longest_cycles, held.opener))[:top]:
            opened, closed = (
                f"{function_of(interval.opener)}, {interval.opener_line}",
                f"{function_of(interval.closer)}, {interval.closer_line}",
            )
            rows.append(
                (
                    name, interval.core, interval.longest_cycles, _us(interval.longest_cycles, profile), interval.count,
                    interval.longest_start, opened, closed, " > ".join(interval.opener),
                )
            )  # fmt: skip
    columns = ("priority", "core", "longest", "us", "count", "at cycle", "opened by", "closed by", "call path")
    return Table("longest", "The longest intervals with interrupts masked, by opener and closer", columns, rows)


def _longest_of(held: Iterable[MaskedIntervals]) -> int:
    return max(interval.longest_cycles for interval in held)


def _us(cycles: int, profile: Profile) -> str:
    return f"{cycles * 1e6 / profile.clock_hz:.2f}"
