"""The phase sweep: one interrupt at every cycle of one run, and its longest time until handler and woken task begin.

`scenario` prepares the board where a sweep begins, `own_interrupts` tells what an image raises itself there,
`arrivals` sweeps, `places` names instructions, `worst_case` computes the result, `folder` and `document` store and show
it."""

from rtoslab.worst_case.arrivals import (
    InterruptSweepCycleRange,
    SweepInterruptedError,
    inject_interrupt_at_every_cycle,
    parse_sweep_cycle_range,
)
from rtoslab.worst_case.document import worst_case_latency_report
from rtoslab.worst_case.folder import (
    default_sweep_folder,
    find_inconsistent_sweep_values,
    is_sweep_folder,
    sweep_manifest,
    write_sweep_folder,
)
from rtoslab.worst_case.scenario import (
    WINDOW_MS,
    InterruptSweepScenario,
    InterruptSweepTarget,
    default_interrupt_sweep_benchmark,
    kernel_services_of_background_task,
    prepare_benchmark_sweep_scenario,
    prepare_elf_image_sweep_scenario,
    settings_for_background_service_calls,
)
from rtoslab.worst_case.worst_case import WorstCaseLatencyResult, find_worst_case_interrupt_latency
