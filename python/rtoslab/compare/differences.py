"""Lists the differences between the manifests of two sides. They come before any figure, because they may explain all
of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.compare.matching import Pair
from rtoslab.compare.sides import STATE

_OF_ONE_POINT: Final = ("build.run_id", "build.manifest", "build.bench", "elf_sha256", "conformance.digest")
_FIRST: Final = (
    STATE,
    "build.compiler",
    "build.flags",
    "build.calls",
    "build.kernel_version",
    "build.kernel_package",
    "build.kernel_config",
)
COMPILER: Final = "build.compiler.banner"
SIMULATOR: Final = "target.sources_sha256"
NOT_SET: Final = "(not set)"
_SETTING: Final = "build.kernel_config."


@dataclass(frozen=True, slots=True)
class Difference:
    """One key with one pair of values."""

    key: str
    before: str
    after: str
    points: int
    """So many pairs differ in it."""


def differences(pairs: Sequence[Pair]) -> list[Difference]:
    """Every key of the manifests that differs, compiler and kernel first, then by name. The last ones are settings
    that one kernel's configuration has and the other's lacks. Two kernels have hundreds."""
    counts: dict[tuple[str, str, str], int] = {}
    for pair in pairs:
        for key, before, after in _differing(pair.before.manifest, pair.after.manifest):
            counts[key, before, after] = counts.get((key, before, after), 0) + 1
    result = [Difference(*key, points) for key, points in counts.items()]
    return sorted(
        result, key=lambda difference: (_rank(difference), difference.key, difference.before, difference.after)
    )


def _rank(difference: Difference) -> int:
    if difference.key.startswith(_SETTING) and NOT_SET in (difference.before, difference.after):
        return 2
    return 0 if difference.key.startswith(_FIRST) else 1


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> Iterable[tuple[str, str, str]]:
    if not before or not after:  # a side that keeps figures alone
        return
    states = [any(key.startswith(STATE) for key in side) for side in (before, after)]
    left_out = _OF_ONE_POINT if all(states) else (*_OF_ONE_POINT, STATE)  # of one side nobody read it
    for key in sorted({*before, *after}):
        if key.startswith(left_out):
            continue
        mine, other = before.get(key, NOT_SET), after.get(key, NOT_SET)
        if mine != other:
            yield key, mine, other


def condense(differences: Sequence[Difference], shown: int = 12) -> list[Difference]:
    """The same for a table: of many source files the first, then how many more."""
    sources = [difference for difference in differences if difference.key.startswith("build.sources.")]
    rest = [difference for difference in differences if not difference.key.startswith("build.sources.")]
    brief = [
        Difference(difference.key, _brief(difference.before), _brief(difference.after), difference.points)
        for difference in (*rest, *sources[:shown])
    ]
    if len(sources) > shown:
        brief.append(Difference("build.sources", f"{len(sources) - shown} more files", "", 0))
    return brief


def _brief(value: str) -> str:
    """A hash by its first twelve digits."""
    is_hash = len(value) == 64 and all(letter in "0123456789abcdef" for letter in value)
    return value[:12] if is_hash else value
