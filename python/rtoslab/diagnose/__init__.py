"""One command that looks for what goes wrong in an image: `rtoslab diagnose` (docs/diagnose.md).

`board_runs` runs the image three times, the same to the cycle: quickly, under the observer, and for its stacks.
`task_history` says what tasks and handlers did, by the functions of `kernel_services`. `lock_holders` adds who held
what.

One module a detector: `taken_faults`, `deadlocks`, `stack_use`, `inversions`, `starved_tasks`, `interrupt_arrivals`,
`missed_periods`, `full_queues`, `long_masks`, `repeated_handlers`, `lost_wakeups`.

`named_places` turns numbers into names, `drawings` draws the timeline of a finding, `processor_load` says whose the
cycles were. `diagnosis` joins all, `diagnosis_findings` orders it, and `diagnosis_text` and `diagnosis_page` show it.
"""

from rtoslab.diagnose.diagnosis import FirmwareDiagnosis, diagnose_problems_of_image
from rtoslab.diagnose.diagnosis_limits import Limits
from rtoslab.diagnose.diagnosis_page import diagnosis_page
from rtoslab.diagnose.diagnosis_text import (
    cpu_load_and_stack_peak_table,
    diagnosis_as_json,
    diagnosis_closing_lines,
    diagnosis_finding_text_lines,
    diagnosis_heading_lines,
)
