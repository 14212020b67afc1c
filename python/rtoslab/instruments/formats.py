"""A profile for other people's viewers: folded stacks (flamegraph.pl, inferno) and speedscope's JSON."""

from collections import defaultdict
from typing import Any, Final

from rtoslab.instruments.profiler import Profile
from rtoslab.instruments.records import WAYS
from rtoslab.intake import escape_to_one_line

SPEEDSCOPE_SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
_WAITS: Final = {way: f"({way} wait)" if way in {"bus", "flash", "lock"} else f"({way})" for way in WAYS[1:]}


def cycles_by_call_path(profile: Profile, core: int) -> dict[tuple[str, ...], int]:
    """Returns the cycles of one core by call path. Waits are a separate frame at the path's end."""
    weights: dict[tuple[str, ...], int] = defaultdict(int)
    for spent in profile.spent:
        if spent.core == core:
            for way, cycles in zip(WAYS, spent.cycles, strict=True):
                if cycles:
                    weights[spent.stack if way == "execute" else (*spent.stack, _WAITS[way])] += cycles
    return dict(sorted(weights.items()))


def folded_stacks(profile: Profile) -> str:
    """Returns a profile as folded stacks: one line per call path with its cycles, for flamegraph.pl and inferno."""
    lines = [
        f"core {core};{';'.join(escape_to_one_line(frame).replace(';', ':') for frame in stack)} {cycles}"
        for core in range(len(profile.observed_cycles))
        for stack, cycles in cycles_by_call_path(profile, core).items()
    ]
    return "\n".join(lines) + "\n"


def speedscope_profile(profile: Profile) -> dict[str, Any]:
    """Returns a profile in speedscope's JSON format: one sampled profile per core, weights in cycles."""
    frames: dict[str, int] = {}
    profiles = []
    for core in range(len(profile.observed_cycles)):
        stacks = cycles_by_call_path(profile, core)
        samples = [[frames.setdefault(frame, len(frames)) for frame in stack] for stack in stacks]
        profiles.append(
            {
                "type": "sampled", "name": f"core {core}", "unit": "none", "startValue": 0,
                "endValue": sum(stacks.values()), "samples": samples, "weights": list(stacks.values()),
            }
        )  # fmt: skip
    return {
        "$schema": SPEEDSCOPE_SCHEMA,
        "exporter": "rtoslab",
        "name": f"{profile.label}, in cycles",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": profiles,
    }
