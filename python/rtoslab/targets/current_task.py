"""The word that names the running task: its address, and how its writes are read where at times no task runs.

Kernels write this word in different ways, and each way misleads a simple reader. A kernel that writes "none" at every
switch seems to switch twice. A kernel that idles inside its switch's handler seems to stay in it for milliseconds. A
kernel that idles without writing its word seems to run the last task. A kernel that names the next task before it
switches seems to switch to tasks that never ran.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.catalogue import Kernel
from rtoslab.targets.event_kinds import (
    IDENT_CURRENT,
    IDENT_IDLE,
    IDENT_IDLE_OVER,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_WRITE,
)
from rtoslab.targets.events import EVENT
from rtoslab.targets.exceptions import task_switching_exceptions

_CORES: Final = 2


class OmittedTaskPointerWriteInserter:
    """Adds the writes of its word that a kernel omits while it idles (`idle_keeps_task` in kernel.toml).

    Such a kernel still names the task that ran last, and writes its word only if another task follows. The second
    label comes after this choice, and at every switch. The result has the form of a kernel that writes "no task", idles
    from the first label to the second, and then names the next task. Takes chunks in the order of time. The events of
    other kernels stay as they are.
    """

    def __init__(self, kernel: Kernel | None, current: Mapping[int, int]) -> None:
        """`current`: core -> the task that its word names as the events begin."""
        probes = kernel.probes if kernel else None
        self._is_active = probes is not None and probes.idle_keeps_task
        self._no_task = min(probes.values_that_mean_no_task, default=0) if probes else 0
        self._tasks = dict(current)
        """Core -> the task that runs, or will run next."""
        self._idles: dict[int, bool] = {}
        """Core -> whether it idles."""

    def filter_events(self, raw: bytes) -> bytes:
        """Returns a chunk of packed events with the omitted writes."""
        if not self._is_active or not raw:
            return raw
        events = np.frombuffer(raw, dtype=EVENT)
        is_included = np.ones(len(events), dtype=np.bool_)
        added: list[tuple[float, int, int]] = []
        for core in range(_CORES):
            self._find_omitted_task_writes_of_core(events, core, is_included, added)
        included = np.flatnonzero(is_included)
        places = [place for place, _, _ in added]
        writes = events[[round(place) for place in places]]
        writes["kind"], writes["value"] = KIND_WRITE, [value for _, value, _ in added]
        writes["id"] = [IDENT_CURRENT + core for _, _, core in added]
        order = np.argsort(np.concatenate([included, np.asarray(places, dtype=np.float64)]), kind="stable")
        return np.concatenate([events[included], writes])[order].tobytes()

    def _find_omitted_task_writes_of_core(
        self, events: NDArray[np.void], core: int, is_included: NDArray[np.bool_], added: list[tuple[float, int, int]]
    ) -> None:
        """Marks the events of a core that are left out, and adds (place among the events, value, core) of each omitted
        write."""
        mine = events["core"] == core
        labels = np.flatnonzero(_idle_begin_and_end_event_mask(events) & mine)
        idles = np.asarray(events["id"][labels] == IDENT_IDLE, dtype=np.bool_)
        turns = _mask_of_value_changes(idles, before=self._idles.get(core, False))
        is_included[labels[~idles & ~turns]] = False
        named = np.flatnonzero(_current_task_write_event_mask(events) & mine)
        done = 0
        for place, begins in zip(labels[turns].tolist(), idles[turns].tolist(), strict=True):
            done = self._label_events_with_current_task(events, core, named, done, place, is_included)
            added.append(
                (place - 0.25, self._no_task, core) if begins else (place + 0.25, self._tasks.get(core, 0), core)
            )
            self._idles[core] = begins
        self._label_events_with_current_task(events, core, named, done, len(events), is_included)

    def _label_events_with_current_task(
        self,
        events: NDArray[np.void],
        core: int,
        named: NDArray[np.intp],
        done: int,
        end: int,
        is_included: NDArray[np.bool_],
    ) -> int:
        """Notes the last task that a core's word was set to before the place `end`. A choice while the core idles is
        left out, because it is added after the second label. `done`: how many of `named` were noted before. Returns how
        many are now."""
        until = int(np.searchsorted(named, end))
        if until > done:
            self._tasks[core] = int(events["value"][named[until - 1]])
            if self._idles.get(core, False):
                is_included[named[done:until]] = False
        return until


class NoCurrentTaskEventRemover:
    """Removes the events in which the kernel writes "no task" to its current-task variable, so that each switch leads
    from task to task.

    If the kernel enters its idling code, one such write stays: the kernel switches to no task, and back. Takes chunks
    in the order of time.
    """

    def __init__(self, no_task: Collection[int]) -> None:
        self._no_task = sorted(no_task)
        self._idles: dict[int, bool] = {}
        """Core -> whether it has idled since a task was named."""

    def filter_events(self, raw: bytes) -> bytes:
        """Returns a chunk of packed events without the writes that say that no task runs."""
        if not self._no_task or not raw:
            return raw
        events = np.frombuffer(raw, dtype=EVENT)
        none = _current_task_write_event_mask(events) & np.isin(events["value"], self._no_task)
        named = _current_task_write_event_mask(events) & ~none
        labels = _idle_begin_and_end_event_mask(events)
        idles = labels & (events["id"] == IDENT_IDLE)
        begins = np.zeros(len(events), dtype=np.bool_)
        for core in range(_CORES):
            begins |= self._mask_of_first_idle_loop_passes(
                core, idles & (events["core"] == core), named & (events["id"] == IDENT_CURRENT + core)
            )
        task_events = events.copy()
        task_events["kind"][begins], task_events["value"][begins] = KIND_WRITE, self._no_task[0]
        task_events["id"][begins] = IDENT_CURRENT + events["core"][begins]
        return task_events[~(none | labels) | begins].tobytes()

    def _mask_of_first_idle_loop_passes(
        self, core: int, idles: NDArray[np.bool_], named: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Returns a mask of the passes of the kernel's idle loop on a core that are the first since a task was
        named."""
        at = np.flatnonzero(idles | named)
        is_start = np.zeros(len(idles), dtype=np.bool_)
        is_start[at] = _mask_of_value_changes(idles[at], before=self._idles.get(core, False)) & idles[at]
        if len(at):
            self._idles[core] = bool(idles[at[-1]])
        return is_start


class SupersededTaskSelectionFilter:
    """Removes the events in which the kernel chose a task, and then another one before it switched.

    Such a kernel writes its word whenever it chooses. A tick that wakes three tasks may write it three times, and one
    switch follows, to the task named last. Takes chunks in the order of time, and holds a choice back until a switch
    comes.
    """

    def __init__(self, switching: Collection[int]) -> None:
        """`switching`: the exceptions in which the kernel switches."""
        self._switching = sorted(switching)
        self._waiting = b""
        """Events since a choice that no switch has followed yet."""

    def filter_events(self, raw: bytes) -> bytes:
        """Returns a chunk of packed events without superseded choices. A choice at the end is held back for the next
        chunk."""
        raw = self._waiting + raw
        events = np.frombuffer(raw, dtype=EVENT)
        is_last = np.ones(len(events), dtype=np.bool_)
        end = len(events)
        for core in range(_CORES):
            names = (events["kind"] == KIND_WRITE) & (events["id"] == IDENT_CURRENT + core)
            is_switch = (events["kind"] == KIND_EXCEPTION_ENTER) & np.isin(events["id"], self._switching)
            at = np.flatnonzero(names | (is_switch & (events["core"] == core)))
            named = names[at]
            is_last[at[:-1][named[:-1] & named[1:]]] = False
            if len(at) and named[-1]:
                end = min(end, int(at[-1]))
        self._waiting = raw[end * EVENT.itemsize :]
        return events[:end][is_last[:end]].tobytes()

    def take_events_held_back_by_filter(self) -> bytes:
        """Returns the events that `filter_events` held back. Call it after the last chunk."""
        waiting, self._waiting = self._waiting, b""
        return waiting


class TaskSwitchEventFilter:
    """Filters a kernel's events so that each write of its current-task variable is a switch."""

    def __init__(self, kernel: Kernel) -> None:
        """`kernel`: its facts, as kernel.toml has them."""
        probes = kernel.probes
        self._tasks_only = NoCurrentTaskEventRemover(probes.values_that_mean_no_task if probes else frozenset())
        named_before = probes is not None and probes.named_before_switch
        self._last_named = SupersededTaskSelectionFilter(task_switching_exceptions(kernel)) if named_before else None

    def filter_events(self, raw: bytes, *, is_end: bool = False) -> bytes:
        """Returns the next chunk of packed events, in which each write of the current-task variable is a switch. With
        `is_end`, held-back events are included."""
        fresh = self._tasks_only.filter_events(raw)
        if self._last_named is None:
            return fresh
        fresh = self._last_named.filter_events(fresh)
        return fresh + self._last_named.take_events_held_back_by_filter() if is_end else fresh


def last_running_task_of_each_core(raw: bytes, no_task: Collection[int], now: dict[int, int]) -> dict[int, int]:
    """Returns the control block of the task that runs on each core, or that ran last if none runs. `raw` are the packed
    events so far, and `now` has the current-task variable of each core."""
    events = np.frombuffer(raw, dtype=EVENT)
    writes = events[_current_task_write_event_mask(events)]
    tasks = dict(now)
    for core, value in now.items():
        if value in no_task:
            mine = writes["value"][writes["id"] == IDENT_CURRENT + core]
            tasks[core] = int(mine[-1]) if len(mine) else value
    return tasks


def _current_task_write_event_mask(events: NDArray[np.void]) -> NDArray[np.bool_]:
    """Returns a mask of the events that write a kernel's current-task variable."""
    is_word = (events["id"] >= IDENT_CURRENT) & (events["id"] < IDENT_CURRENT + _CORES)
    return np.asarray((events["kind"] == KIND_WRITE) & is_word, dtype=np.bool_)


def _idle_begin_and_end_event_mask(events: NDArray[np.void]) -> NDArray[np.bool_]:
    """Returns a mask of the events at which the kernel's idle code begins or ends."""
    is_idle = (events["id"] == IDENT_IDLE) | (events["id"] == IDENT_IDLE_OVER)
    return np.asarray((events["kind"] == KIND_EXEC) & is_idle, dtype=np.bool_)


def _mask_of_value_changes(values: NDArray[np.bool_], *, before: bool) -> NDArray[np.bool_]:
    """Returns a mask of the values that differ from their predecessor. `before` is the predecessor of the first."""
    return np.asarray(values != np.concatenate(([before], values[:-1])) if len(values) else values, dtype=np.bool_)


class IdleInHandlerEventFilter:
    """Replaces idling inside an exception handler in a stream of events by a return from the handler and a new entry.

    Takes chunks in the order of time. The labels' own events are left out.
    """

    def __init__(self) -> None:
        self._open: dict[int, list[int]] = {}
        """Core -> exceptions in progress."""
        self._idle: dict[int, int] = {}
        """Core -> the exception in which it idles."""
        self._labels: dict[int, bool] = {}
        """Core -> whether the last label was the one at which idling begins."""

    def filter_events(self, events: NDArray[np.void]) -> NDArray[np.void]:
        """Returns a chunk of events in which idling inside a handler is replaced by a return and an entry."""
        labels = _idle_begin_and_end_event_mask(events)
        handlers = (events["kind"] == KIND_EXCEPTION_ENTER) | (events["kind"] == KIND_EXCEPTION_EXIT)
        if not labels.any():
            self._track_exceptions(events[handlers])
            return events
        returns, is_kept = events.copy(), ~labels
        for at in np.flatnonzero(handlers | self._mask_of_idle_begin_end_events(events, labels)).tolist():
            if handlers[at]:
                self._track_exceptions(events[at : at + 1])
                continue
            reported = self._handler_event_replacing_idle_event(
                int(events["core"][at]), idles=events["id"][at] == IDENT_IDLE
            )
            if reported is not None:
                returns["kind"][at], returns["id"][at], returns["value"][at] = *reported, 0
                is_kept[at] = True
        return np.asarray(returns[is_kept])

    def _mask_of_idle_begin_end_events(self, events: NDArray[np.void], labels: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Returns a mask of the events at which idling begins or ends, without the further passes of the idle loop."""
        turns = np.zeros(len(events), dtype=np.bool_)
        for core in range(_CORES):
            at = np.flatnonzero(labels & (events["core"] == core))
            idles = np.asarray(events["id"][at] == IDENT_IDLE, dtype=np.bool_)
            turns[at] = _mask_of_value_changes(idles, before=self._labels.get(core, False))
            if len(at):
                self._labels[core] = bool(idles[-1])
        return turns

    def _handler_event_replacing_idle_event(self, core: int, *, idles: bool) -> tuple[int, int] | None:
        """Returns the event (kind, exception number) that replaces the begin or end of idling on a core. None outside a
        handler."""
        stack = self._open.setdefault(core, [])
        if idles and core not in self._idle and stack:
            self._idle[core] = stack.pop()
            return KIND_EXCEPTION_EXIT, self._idle[core]
        if not idles and core in self._idle:
            stack.append(self._idle[core])
            return KIND_EXCEPTION_ENTER, self._idle.pop(core)
        return None

    def _track_exceptions(self, events: NDArray[np.void]) -> None:
        """Updates which exception handlers are active, from these events."""
        for kind, core, number in zip(*(events[name].tolist() for name in ("kind", "core", "id")), strict=True):
            stack = self._open.setdefault(core, [])
            if kind == KIND_EXCEPTION_ENTER:
                stack.append(number)
            elif number in stack:
                stack.remove(number)


def idle_code_label_at(ranges: Sequence[tuple[int, int, str]], address: int) -> str | None:
    """Returns the label of the kernel's idle code that contains an address. None for other code. `ranges` are begin,
    end and label."""
    return next((name for begin, end, name in ranges if begin <= address < end), None)
