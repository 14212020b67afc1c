"""Sweeps: one measurement over many configurations, and what each option is worth.

`plan` reads a sweep's TOML and makes its points, `effects` tells from the stored points what each option does, `report`
turns that into tables and charts, `cluster` measures the same points on a Dask cluster.
"""
