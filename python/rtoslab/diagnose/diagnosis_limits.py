"""The limits that a finding must exceed, from `[diagnose]` in rtoslab.toml."""

from rtoslab.project import ProjectDiagnosisLimits

Limits = ProjectDiagnosisLimits


def microseconds_to_cycles(microseconds: float, clock_hz: int) -> int:
    """Returns microseconds as cycles of a clock."""
    return int(microseconds * clock_hz / 1_000_000)
