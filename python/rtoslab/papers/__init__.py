"""A published paper beside a run of ours: its figures, its claims, its slips, its conditions.

A folder `papers/<key>/` with a paper.toml is the registration; everything a report says of a paper stands there.
"""
