"""Whether a comparison is fair: what one side does that the other does not, and what that costs.

`concepts` says what is looked at and reads it out of a manifest, `findings` compares points, `costs` tells what a
difference is worth where points that differ in nothing else were measured.
"""
