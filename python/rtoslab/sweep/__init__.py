"""Sweeps: one measurement over many configurations, and what each option is worth.

`plan` reads a sweep's TOML and makes its points, `effects` tells from the stored points what each option does, `report`
turns that into tables and charts, `cluster` measures the same points on a Dask cluster.
"""

from rtoslab.sweep.cluster import run_on_cluster
from rtoslab.sweep.plan import read_sweep, sweep_points
from rtoslab.sweep.report import sweep_document
