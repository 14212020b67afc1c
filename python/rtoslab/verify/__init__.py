"""Compares a stored run with its own raw data: `rtoslab runs verify`.

A seal shows that files are as they were stored. This shows that they state what was measured. The serial stream is
decoded again, every proof is judged again, every figure is computed again by this version of rtoslab, and what differs
from the stored result is named. Nothing is measured: `rtoslab run --fresh` does that."""

from rtoslab.verify.run import verify_run_or_sweep_folder
