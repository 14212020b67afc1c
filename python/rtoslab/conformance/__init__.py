"""Behaviour every kernel port must show before any of its numbers count.

`judge` knows what the notes of a scene must be, `gate` gets the suite's image built and run, once for each content.
"""

from rtoslab.conformance.gate import Conformance, examine
from rtoslab.conformance.judge import CheckFinding, Outcome, judge_all

__all__ = ["CheckFinding", "Conformance", "Outcome", "examine", "judge_all"]
