"""Inputs nobody wrote on purpose: for every reader of what comes from outside, seeds and ways to damage them.

`make fuzz-inputs` runs a million of each kind; `test_inputs.py` a few hundred.
"""
