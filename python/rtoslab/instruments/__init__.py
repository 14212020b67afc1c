"""Instruments no oscilloscope has: where every cycle went, who held interrupts and locks, what ran when.

A `subject` is what is observed (a benchmark's window, or a stretch of any image); `session` runs it under the virtual
board's observer; `profile` and `interrupts` turn what that took into values with names and source lines, `tables`,
`flame`, `html`, `formats` show them, `difference` sets two profiles against each other. `timeline` tells what ran when,
`perfetto` and `vcd` write it.
"""
