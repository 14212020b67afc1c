"""Tables of spinlocks between cores: how long each was held and waited for, and by which code."""

from collections import defaultdict

from rtoslab.base import TitledTable
from rtoslab.instruments.masked_interrupts import function_that_masked_interrupts
from rtoslab.instruments.profiler import Profile, SpinlockUse, innermost_function


def spinlock_tables(profile: Profile, top: int | None) -> tuple[TitledTable, TitledTable]:
    """Returns two tables of spinlocks: by call and by place in the code, the longest first.
    They are empty on one core.
    """
    return _spinlock_time_by_call_table(profile, top), _spinlock_time_by_code_location_table(profile, top)


def _spinlock_time_by_call_table(profile: Profile, top: int | None) -> TitledTable:
    """Returns a table of how long each call held and awaited spinlocks."""
    calls: dict[tuple[str, int, str, str], list[SpinlockUse]] = defaultdict(list)
    for lock in profile.locks:
        calls[
            lock.name, lock.core, _spinlock_use_text(lock), function_that_masked_interrupts(lock.start, profile)
        ].append(lock)
    rows = []
    for key, members in calls.items():
        count, total = sum(member.count for member in members), sum(member.total_cycles for member in members)
        longest = max(member.longest_cycles for member in members)
        rows.append((*key, count, longest, _microseconds_text(longest, profile), f"{total / count:.1f}", total))
    rows.sort(key=lambda row: (-row[5], row[:4]))
    columns = ("lock", "core", "what", "call", "count", "longest", "longest (us)", "mean", "all cycles")
    return TitledTable(
        "locks", "Spinlocks held and waited for, by call: cycles, the longest first", columns, rows[:top]
    )


def _spinlock_time_by_code_location_table(profile: Profile, top: int | None) -> TitledTable:
    """Returns a table of how long spinlocks were held and awaited, by places in the code."""
    rows = [
        (
            lock.name, lock.core, _spinlock_use_text(lock), lock.longest_cycles,
            _microseconds_text(lock.longest_cycles, profile), lock.count, lock.longest_start,
            f"{innermost_function(lock.start)}, {lock.start_line}",
            f"{innermost_function(lock.end)}, {lock.end_line}", " > ".join(lock.start),
        )
        for lock in sorted(profile.locks, key=lambda use: (-use.longest_cycles, use.lock, use.core, use.start))
    ]  # fmt: skip
    columns = (
        *("lock", "core", "what", "longest", "us", "count", "at cycle", "from"),
        *("to (of a wait: where its holder took it)", "call path"),
    )
    return TitledTable("lock_places", "Spinlocks, by place", columns, rows[:top])


def _spinlock_use_text(use: SpinlockUse) -> str:
    """Returns whether a lock was held or waited for, in words."""
    return "waited for" if use.waited else "held"


def _microseconds_text(cycles: int, profile: Profile) -> str:
    """Returns cycles as microseconds, as text."""
    return f"{cycles * 1e6 / profile.clock_hz:.2f}"
