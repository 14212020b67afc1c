"""Behaviour every kernel port must show before any of its numbers count.

`catalogue` says what is demanded, `judge` compares it with the notes of a scene, `examination` gets the suite's image
built and run, once for each content, or run as its user brought it.
"""

from rtoslab.conformance.examination import (
    ConformanceVerdict,
    check_image_conformance,
    check_port_conformance,
    check_whole_port_conformance,
    conformance_suite_measurement_point,
    conformance_suite_points,
    conformance_verdict_input_digest,
)
from rtoslab.conformance.judge import CheckOutcome
