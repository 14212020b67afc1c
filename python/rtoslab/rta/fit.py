"""Overheads of a kernel on a board, from task sets made to show them, run on the virtual board."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from pydantic import ValidationError

from rtoslab.catalogue import Catalogue
from rtoslab.closure import sources_digest
from rtoslab.errors import CheckError, OverheadsError
from rtoslab.files import make_folder, write_whole
from rtoslab.intake.objects import read_object
from rtoslab.paths import build_folder
from rtoslab.rta.firmware import Firmware, Row
from rtoslab.rta.lines import fit, upper
from rtoslab.rta.overheads import Interrupt, Job, Kernel, Overheads, Switch, Tick
from rtoslab.rta.samples import Samples, collect
from rtoslab.rta.trace import Trace, run
from rtoslab.rta.work import Work
from rtoslab.run.board import simulator_fingerprint

_SEED: Final = 2021
_MIXED: Final = 8
_MIXED_TICKS: Final = 60
_STEPS: Final = 48
"""Places of a tick in what the kernel does between two jobs."""

Progress = Callable[[str, float], None]


def measure(catalogue: Catalogue, firmware: Firmware, work: Work, progress: Progress = lambda *_: None) -> Overheads:
    """Fits the overheads, or finds them fitted for the same image, virtual board and way to fit. Raises CheckError."""
    digest = hashlib.sha256(
        json.dumps(
            [
                sources_digest(__name__),
                firmware.build.elf_sha256,
                simulator_fingerprint(),
                sorted(firmware.point.timing.items()),
            ]
        ).encode()
    ).hexdigest()
    kept = build_folder(catalogue.root) / "overheads" / f"{firmware.kernel.id}-{firmware.board.id}-{digest[:16]}.json"
    try:
        return Overheads.model_validate(read_object(kept, "the overheads", OverheadsError))
    except (OverheadsError, ValidationError):
        pass
    traces: list[Trace] = []
    for rows, ticks in (sets := list(_sets(firmware, work))):
        traces.append(run(firmware, rows, ticks))
        progress("overheads", len(traces) / (len(sets) * 2))
    reach = max(each.begin - each.release for each in traces[0].jobs)
    for rows, ticks in (sets := list(_meetings(firmware, work, reach))):
        traces.append(run(firmware, rows, ticks))
        progress("overheads", len(traces) / (len(sets) * 2))
    found = fitted(collect(traces, work), firmware)
    make_folder(kept.parent)
    write_whole(kept, found.model_dump_json(indent=1), "the overheads")
    return found


def _sets(firmware: Firmware, work: Work) -> Iterator[tuple[list[Row], int]]:
    """So many tasks released together, for every number of tasks; then tasks that preempt one another for long."""
    most = min(firmware.most_tasks, firmware.priorities)
    for count in range(1, most + 1):
        short = work.lasting(firmware.tick_cycles // 50)
        yield [Row(4, 0, *short, most - 1 - at) for at in range(count)], 24
    random = Random(_SEED)  # noqa: S311 (the same sets every time)
    for _ in range(_MIXED):
        count = random.randint(most // 2, most)
        periods = [random.choice((2, 3, 4, 5, 7, 9, 11, 13)) for _ in range(count)]
        share = 0.6 / count
        yield (
            [
                Row(period, 0, *work.lasting(int(period * firmware.tick_cycles * share * random.uniform(0.5, 1.2))), at)
                for at, period in enumerate(periods)
            ],
            _MIXED_TICKS,
        )


def _meetings(firmware: Firmware, work: Work, reach: int) -> Iterator[tuple[list[Row], int]]:
    """Pairs of tasks, each pair at ticks of its own. The first works until so shortly before a tick that the tick falls
    into its end, the switch to the second, or its start. With and without a task that this tick releases."""
    length = 4 * reach
    pairs = (firmware.most_tasks - 1) // 2
    wanted = [firmware.tick_cycles - reach + 40 - length * step // _STEPS for step in range(_STEPS)]
    for at in range(0, _STEPS, pairs):
        part = wanted[at : at + pairs]
        period = 3 * len(part)
        rows = []
        for place, cycles in enumerate(part):
            rows.append(Row(period, 3 * place, *work.lasting(cycles), 5))
            rows.append(Row(period, 3 * place, *work.lasting(reach), 4))
        yield rows, 2 * period
        yield [*rows, Row(1, 0, *work.lasting(200), 6)], 2 * period


def fitted(samples: Samples, firmware: Firmware) -> Overheads:
    """The models, from samples. Raises CheckError where some of a kind are missing."""
    for what, found in (
        ("ticks that release none, one and more tasks", len(samples.tick) > 2),
        ("switches up, down, to and from the idle task", len(samples.switch) == 3 and bool(samples.down)),
        ("starts and ends of jobs", bool(samples.start and samples.end)),
        ("interrupted jobs", bool(samples.around and samples.entry)),
    ):
        if not found:
            raise CheckError(
                f"No overheads can be fitted for {firmware.kernel.id} on {firmware.board.id}: "
                f"the virtual board saw no {what}."
            )
    tick_base, tick_each = upper(samples.tick)
    down_base, down_each = upper({distance - 1: cycles for distance, cycles in samples.down.items()})
    end_base, end_each = upper(samples.end)
    around, entry = max(samples.around), max(samples.entry)
    kinds = {name: max(cycles) for name, cycles in samples.switch.items()}
    tick = {"base": tick_base, "each": tick_each, "around": max(around, entry)}

    def deferred(is_end: bool, tasks: int, released: int, cycles: int) -> int:
        usual = end_base + end_each * tasks if is_end else max(samples.start)
        return cycles - usual - tick["around"] - tick["base"] - tick["each"] * released

    return Overheads(
        kernel=firmware.kernel.id,
        board=firmware.board.id,
        clock_hz=firmware.clock_hz,
        config={**firmware.point.kernel_config, "opt": firmware.point.opt},
        note="measured on the virtual board; largest values observed",
        tick=Tick(
            period_cycles=firmware.tick_cycles,
            base_cycles=tick_base,
            per_task_cycles=tick_each,
            deferred_cycles=max([0, *(deferred(*each) for each in samples.interrupted)]),
        ),
        switch=Switch(
            up_cycles=kinds["up"],
            down_cycles=down_base,
            down_per_priority_cycles=down_each,
            to_idle_cycles=kinds["to_idle"],
            from_idle_cycles=kinds["from_idle"],
        ),
        interrupt=Interrupt(entry_cycles=entry, exit_cycles=max(0, around - min(samples.entry))),
        job=Job(start_cycles=max(samples.start), end_cycles=end_base, end_per_task_cycles=end_each),
        masks=Kernel(masked_cycles=max(samples.delayed, default=0)),
        fit=(
            fit("tick", "base + slope for each task released", samples.tick),
            fit("switch up", "constant", {0: samples.switch["up"]}),
            fit(
                "switch down",
                "base at one priority below, slope for each further",
                {d - 1: c for d, c in samples.down.items()},
            ),
            fit("switch to idle", "constant", {0: samples.switch["to_idle"]}),
            fit("switch from idle", "constant", {0: samples.switch["from_idle"]}),
            fit("entry of an interrupt", "constant", {0: samples.entry}),
            fit("entry and exit of an interrupt", "constant", {0: samples.around}),
            fit("start of a job", "constant", {0: samples.start}),
            fit("end of a job", "base + slope for each task of the set", samples.end),
            *([fit("tick waits for the kernel", "constant", {0: samples.delayed})] if samples.delayed else []),
        ),
    )
