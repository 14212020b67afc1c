"""The phase sweep: one interrupt at every cycle of one run, and how long it takes until handler and woken task begin.

`scenario` brings a board to where a sweep begins, `arrivals` sweeps, `places` names instructions, `worst_case` is what
came out, `folder` and `document` store and show it.
"""

from rtoslab.worst_case.arrivals import EndedSweepError, Span, choose_span, inject_at_every_cycle
from rtoslab.worst_case.document import make_document
from rtoslab.worst_case.folder import default_folder, is_sweep, manifest_of, recompute, write
from rtoslab.worst_case.scenario import (
    WINDOW_MS,
    Scenario,
    Target,
    of_benchmark,
    of_image,
    pick_service,
    services_to_pick,
    sweeping_benchmark,
)
from rtoslab.worst_case.worst_case import WorstCase, find
