"""Spinlocks between cores: how long each was held and waited for, and by what code."""

from collections import defaultdict

from rtoslab.base import Table
from rtoslab.instruments.masked_interrupts import owner
from rtoslab.instruments.profiler import LockUse, Profile, function_of


def lock_tables(profile: Profile, top: int | None) -> tuple[Table, Table]:
    """Returns one table by call and one by place, with the longest first. They are empty on one core."""
    return _by_call(profile, top), _by_place(profile, top)


def _by_call(profile: Profile, top: int | None) -> Table:
    calls: dict[tuple[str, int, str, str], list[LockUse]] = defaultdict(list)
    for lock in profile.locks:
        calls[lock.name, lock.core, _what(lock), owner(lock.start, profile)].append(lock)
    rows = []
    for key, members in calls.items():
        count, total = sum(member.count for member in members), sum(member.total_cycles for member in members)
        longest = max(member.longest_cycles for member in members)
        rows.append((*key, count, longest, _us(longest, profile), f"{total / count:.1f}", total))
    rows.sort(key=lambda row: (-row[5], row[:4]))
    columns = ("lock", "core", "what", "call", "count", "longest", "longest (us)", "mean", "all cycles")
    return Table("locks", "Spinlocks held and waited for, by call: cycles, the longest first", columns, rows[:top])


def _by_place(profile: Profile, top: int | None) -> Table:
    rows = [
        (
            lock.name, lock.core, _what(lock), lock.longest_cycles, _us(lock.longest_cycles, profile), lock.count,
            lock.longest_start, f"{function_of(lock.start)}, {lock.start_line}",
            f"{function_of(lock.end)}, {lock.end_line}", " > ".join(lock.start),
        )
        for lock in sorted(profile.locks, key=lambda use: (-use.longest_cycles, use.lock, use.core, use.start))
    ]  # fmt: skip
    columns = (
        *("lock", "core", "what", "longest", "us", "count", "at cycle", "from"),
        *("to (of a wait: where its holder took it)", "call path"),
    )
    return Table("lock_places", "Spinlocks, by place", columns, rows[:top])


def _what(use: LockUse) -> str:
    return "waited for" if use.waited else "held"


def _us(cycles: int, profile: Profile) -> str:
    return f"{cycles * 1e6 / profile.clock_hz:.2f}"
