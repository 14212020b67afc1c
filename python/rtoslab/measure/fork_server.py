"""Loaded by the server that forks the processes that measure: what each of them would load and find out for itself.

Which sources took part in a result is the same for all, and took longer than to take a known point from the cache.
"""

import gc

from rtoslab.base import one_look, sources_digest
from rtoslab.conformance import examine
from rtoslab.measure.pipeline import run_point

# A point makes few cycles of references: looking for them took a seventh of its time. What is forked keeps to this.
gc.set_threshold(50_000, 20, 100)
with one_look():
    for each in (run_point, examine):
        sources_digest(each.__module__)
