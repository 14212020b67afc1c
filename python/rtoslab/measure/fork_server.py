"""Loaded by the server that forks the processes that measure: what each of them would load and find out for itself.

Which sources took part in a result is the same for all, and took longer than to take a known point from the cache.
"""

import gc

from rtoslab.base import one_look, sources_digest
from rtoslab.conformance import examine
from rtoslab.measure.pipeline import run_point

COLLECT_AFTER = (50_000, 20, 100)
"""Imports and points make few cycles of references: looking for them took a seventh of a point's time."""

gc.set_threshold(*COLLECT_AFTER)
with one_look():
    for each in (run_point, examine):
        sources_digest(each.__module__)
