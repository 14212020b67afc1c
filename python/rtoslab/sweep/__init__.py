"""Sweeps: one measurement over many configurations, and the effect of each option.

`plan` reads a sweep's TOML and makes its points, `effects` computes each option's effect from the stored points,
`report` makes tables and charts of them, `cluster` measures the same points on a Dask cluster."""

from rtoslab.sweep.cluster import measure_sweep_on_cluster
from rtoslab.sweep.plan import plan_sweep_points, read_sweep_plan
from rtoslab.sweep.report import make_sweep_report
