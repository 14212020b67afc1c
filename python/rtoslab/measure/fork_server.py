"""Loads modules and facts before the processes that measure are forked, so that they share them."""

import gc

from rtoslab.base import package_digest
from rtoslab.conformance import check_port_conformance  # noqa: F401 (loaded for what is forked)
from rtoslab.measure.pipeline import measure_and_store_point  # noqa: F401 (the same)

# A point makes few cycles of references: looking for them took a seventh of its time. What is forked keeps to this.
gc.set_threshold(50_000, 20, 100)
package_digest()
