"""Pin edges, whether a virtual board's or an analyzer's: read from any form, written to any, decoded by one path.

`capture` is what all share, `forms/` one file a file form, `pins` the virtual board's edges, `sampling` what an
analyzer of a given rate would have seen, `pulses` the intervals.
"""
