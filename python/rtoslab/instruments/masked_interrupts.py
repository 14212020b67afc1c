"""Tables of masked interrupts: for how long, and by which call of the kernel."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

from rtoslab.base import TitledTable, Value
from rtoslab.instruments.names import INLINED
from rtoslab.instruments.profiler import InterruptMaskingIntervals, Profile, Stack, innermost_function
from rtoslab.targets import APPLICATION


def group_priorities_with_equal_masking(profile: Profile) -> list[tuple[str, tuple[InterruptMaskingIntervals, ...]]]:
    """Groups interrupt priorities that were masked in the same intervals, the most urgent first. A group's name is such
    as `0x50 to 0xf0`."""
    by_priority: dict[int, list[InterruptMaskingIntervals]] = defaultdict(list)
    for held in profile.held:
        by_priority[held.priority].append(held)
    groups = []
    for _, same in groupby(
        sorted(by_priority), key=lambda priority: [_key_of_masked_interval(held) for held in by_priority[priority]]
    ):
        members = list(same)
        name = f"{members[0]:#04x}" + (f" to {members[-1]:#04x}" if len(members) > 1 else "")
        groups.append((name, tuple(by_priority[members[0]])))
    return groups


def _key_of_masked_interval(held: InterruptMaskingIntervals) -> tuple[object, ...]:
    """Returns those fields of masked intervals that are equal for priorities masked in the same intervals."""
    return (
        held.core, held.opener, held.opener_line, held.closer, held.closer_line, held.count, held.total_cycles,
        held.longest_start,
    )  # fmt: skip


def function_that_masked_interrupts(stack: Stack, profile: Profile) -> str:
    """Returns the name of the handler, kernel function or application function in which interrupts were masked. `stack`
    is the call path there."""
    if " [exception " in stack[0]:
        return stack[0].partition(" [")[0]
    names = [name for name in stack if not name.endswith(INLINED)]
    own = [index for index, name in enumerate(names) if profile.classes.get(name, APPLICATION) == APPLICATION]
    entered = own[-1] + 1 if own else 0
    return names[entered] if entered < len(names) else names[-1]


def masked_interrupt_tables(profile: Profile, top: int | None) -> tuple[TitledTable, TitledTable]:
    """Returns two tables of masked interrupts, of `top` rows: by call, and the single places with the longest times."""
    return _masked_time_by_call_table(profile, top), _longest_interrupt_masking_table(profile, top)


def _masked_time_by_call_table(profile: Profile, top: int | None) -> TitledTable:
    """Returns a table of how long interrupts were masked, by call."""
    rows: list[Sequence[Value]] = []
    for name, held in group_priorities_with_equal_masking(profile):
        calls: dict[tuple[int, str], list[InterruptMaskingIntervals]] = defaultdict(list)
        for interval in held:
            calls[interval.core, function_that_masked_interrupts(interval.opener, profile)].append(interval)
        ordered = sorted(calls.items(), key=lambda item: (-_longest_masked_cycles(item[1]), item[0]))
        for (core, call), members in ordered[:top]:
            count, total = sum(member.count for member in members), sum(member.total_cycles for member in members)
            share = 100 * total / max(1, profile.observed_cycles[core])
            longest = _longest_masked_cycles(members)
            rows.append(
                (
                    name,
                    core,
                    call,
                    count,
                    longest,
                    _microseconds_text(longest, profile),
                    f"{total / count:.1f}",
                    f"{share:.2f}",
                )
            )
    columns = ("priority", "core", "call", "count", "longest", "longest (us)", "mean", "% of time")
    return TitledTable("masked", "Interrupts masked, by call: cycles, the longest first", columns, rows)


def _longest_interrupt_masking_table(profile: Profile, top: int | None) -> TitledTable:
    """Returns a table of the longest times with masked interrupts, with the places that masked and unmasked them."""
    rows: list[Sequence[Value]] = []
    for name, held in group_priorities_with_equal_masking(profile):
        for interval in sorted(held, key=lambda held: (-held.longest_cycles, held.opener))[:top]:
            opened, closed = (
                f"{innermost_function(interval.opener)}, {interval.opener_line}",
                f"{innermost_function(interval.closer)}, {interval.closer_line}",
            )
            rows.append(
                (
                    name, interval.core, interval.longest_cycles, _microseconds_text(interval.longest_cycles, profile),
                    interval.count, interval.longest_start, opened, closed, " > ".join(interval.opener),
                )
            )  # fmt: skip
    columns = ("priority", "core", "longest", "us", "count", "at cycle", "opened by", "closed by", "call path")
    return TitledTable("longest", "The longest intervals with interrupts masked, by begin and end", columns, rows)


def _longest_masked_cycles(held: Iterable[InterruptMaskingIntervals]) -> int:
    """Returns the cycles of the longest of these intervals."""
    return max(interval.longest_cycles for interval in held)


def _microseconds_text(cycles: int, profile: Profile) -> str:
    """Returns cycles as microseconds at the profile's clock, as text."""
    return f"{cycles * 1e6 / profile.clock_hz:.2f}"
