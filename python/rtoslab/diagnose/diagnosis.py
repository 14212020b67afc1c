"""Joins what the detectors find in the runs of one image."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rtoslab.base import SymbolError
from rtoslab.diagnose.board_runs import (
    FirmwareRunReplay,
    QuickImageRunObservations,
    RecordedRunHistory,
    observe_first_run,
    record_run_history,
)
from rtoslab.diagnose.deadlocks import find_deadlocks
from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding, sort_worst_findings_first
from rtoslab.diagnose.diagnosis_limits import Limits
from rtoslab.diagnose.full_queues import find_full_queues, unknown_queue_lengths_sentence
from rtoslab.diagnose.interrupt_arrivals import find_late_and_lost_interrupts
from rtoslab.diagnose.inversions import find_priority_inversions
from rtoslab.diagnose.kernel_services import SENDS, sentences_on_missing_services
from rtoslab.diagnose.lock_holders import find_task_locks
from rtoslab.diagnose.long_masks import (
    find_long_interrupt_masking,
    functions_with_core_asleep,
    name_of_masking_function,
    sort_longest_masked_intervals,
)
from rtoslab.diagnose.lost_wakeups import find_lost_wakeups
from rtoslab.diagnose.missed_periods import find_missed_periods
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.processor_load import ProcessorLoadShare, processor_load_shares
from rtoslab.diagnose.repeated_handlers import find_repeated_handlers
from rtoslab.diagnose.stack_use import StackUse, find_full_stacks, measure_stack_peaks
from rtoslab.diagnose.starved_tasks import find_starved_tasks
from rtoslab.diagnose.taken_faults import find_faults
from rtoslab.instruments import ObservedImage, Profile, profile_of_recording
from rtoslab.targets import KernelStructures


@dataclass(frozen=True, slots=True)
class LongestMaskedTime:
    """The longest time for which interrupts were masked after start-up, and where."""

    function: str
    place: str
    """Its function and line, and who called it."""
    cycles: int
    cycle: int


@dataclass(frozen=True, slots=True)
class FirmwareDiagnosis:
    """The result of `rtoslab diagnose` for one image: the faulty behaviour that was found, and loads and stacks beside
    it."""

    label: str
    board: str
    kernel: str | None
    clock_hz: int
    start_up_cycles: int
    end_cycle: int
    findings: tuple[DiagnosisFinding, ...]
    """Worst first."""
    loads: tuple[ProcessorLoadShare, ...]
    stacks: tuple[StackUse, ...]
    masked: LongestMaskedTime | None
    not_looked_for: tuple[str, ...]

    @property
    def failing_findings(self) -> tuple[DiagnosisFinding, ...]:
        """Returns the findings that make the command fail: all but notes."""
        return tuple(finding for finding in self.findings if finding.level != "note")


def diagnose_problems_of_image(subject: ObservedImage, limits: Limits) -> FirmwareDiagnosis:
    """Runs an image several times and returns what is wrong in it, such as deadlocks or full stacks. Raises RunError,
    ImageFileError, SymbolError."""
    overview = observe_first_run(subject)
    run = record_run_history(subject, overview)
    uses = measure_stack_peaks(subject, overview, run.history)
    names = RunNameFinder(subject, run, FirmwareRunReplay(subject))
    lengths = _queue_lengths(subject, run)
    profile = profile_of_recording(run.recording)
    findings = [
        *find_faults(subject, overview, FirmwareRunReplay(subject)),
        *find_full_stacks(uses, limits),
        *_task_lock_and_queue_findings(subject, run, names, lengths, limits),
        *find_late_and_lost_interrupts(run, overview, functions_with_core_asleep(profile), names, limits),
        *find_long_interrupt_masking(run.history, profile, overview, names, limits),
        *find_repeated_handlers(run.history, names, limits, has_unhandled=bool(overview.unhandled)),
    ]
    return FirmwareDiagnosis(
        label=subject.label,
        board=subject.board.id,
        kernel=subject.kernel.title if subject.kernel else None,
        clock_hz=run.recording.clock_hz,
        start_up_cycles=overview.start,
        end_cycle=overview.end,
        findings=sort_worst_findings_first([_reduce_ignored_finding_to_note(finding, limits) for finding in findings]),
        loads=processor_load_shares(run.history, names),
        stacks=uses.stacks,
        masked=_longest_interrupt_masking(profile, overview, names),
        not_looked_for=(
            *sentences_on_missing_services(subject.kernel, run.services),
            *names.unseen,
            *unknown_queue_lengths_sentence(run.history, lengths),
            *uses.unseen,
            *_sentence_on_unfinished_start_up(subject, overview),
        ),
    )


def _reduce_ignored_finding_to_note(finding: DiagnosisFinding, limits: Limits) -> DiagnosisFinding:
    """Returns the finding, changed to a mere note if the user's limits ignore its kind."""
    return replace(finding, level="note") if finding.kind in limits.ignore else finding


def _task_lock_and_queue_findings(
    subject: ObservedImage, run: RecordedRunHistory, names: RunNameFinder, lengths: Mapping[int, int], limits: Limits
) -> list[DiagnosisFinding]:
    """Returns the findings about tasks, locks and queues. `lengths` are those of queues, by address."""
    if subject.kernel is None:
        return []
    locks = find_task_locks(run.history)
    return [
        *find_deadlocks(run.history, locks, names),
        *find_priority_inversions(run.history, locks, names, limits),
        *find_starved_tasks(run.history, names, limits),
        *find_missed_periods(run.history, names),
        *find_lost_wakeups(run.history, names),
        *find_full_queues(run.history, lengths, names),
    ]


def _queue_lengths(subject: ObservedImage, run: RecordedRunHistory) -> Mapping[int, int]:
    """Returns the length (number of items) of each queue that the image sent to, by address, as far as it is known."""
    kernel = subject.kernel
    if kernel is None:
        return {}
    called: dict[str, set[int]] = {}
    for call in run.history.calls:
        if call.service.does_serve_any_kernel_service(*SENDS):
            called.setdefault(call.service.name, set()).add(call.object)
    try:
        objects = KernelStructures(subject.image, kernel).read_kernel_object_members(
            _make_end_of_run_memory_reader(run), called
        )
    except SymbolError:
        return {}
    return {
        address: facts["length"]
        for (_, address), facts in objects.items()
        if facts.get("length") and facts.get("item_bytes", 1)
    }


def _make_end_of_run_memory_reader(run: RecordedRunHistory) -> Callable[[int], int | None]:
    """Returns a function that reads a 32-bit word of memory at the end of the run."""
    machine: Any = run.recording.machine

    def read_word(address: int) -> int | None:
        """Returns a 32-bit word of memory at the end of the run."""
        return int.from_bytes(machine.read(address, 4), "little")

    return read_word


def _longest_interrupt_masking(
    profile: Profile, overview: QuickImageRunObservations, names: RunNameFinder
) -> LongestMaskedTime | None:
    """Returns the longest time for which interrupts were masked after start-up. None if they never were."""
    longest = sort_longest_masked_intervals(profile, overview)
    if not longest:
        return None
    held = longest[0][0]
    place = names.application_call_path_text(names.call_path(held.core, held.longest_start))
    return LongestMaskedTime(name_of_masking_function(held, profile), place, held.longest_cycles, held.longest_start)


def _sentence_on_unfinished_start_up(subject: ObservedImage, overview: QuickImageRunObservations) -> list[str]:
    """Returns a sentence if the image never finished its start-up. Empty if it did."""
    if overview.has_started:
        return []
    what = "no task ran" if subject.kernel else "no interrupt came"
    return [
        (f"everything about tasks and interrupts, because {what} in {overview.end:,} cycles; a longer --for may help.")
    ]
