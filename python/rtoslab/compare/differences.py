"""Lists the differences between the manifests of two sides. They come before any figure, because they may explain all
of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.compare.matching import MeasuredPointPair
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
class ManifestDifference:
    """A key of the manifests that differs between two sides, with both values."""

    key: str
    before: str
    after: str
    points: int
    """The number of pairs that differ in it."""


def manifest_differences(pairs: Sequence[MeasuredPointPair]) -> list[ManifestDifference]:
    """Returns every key of the manifests that differs between the two sides of a comparison, compiler and kernel first.
    Settings that only one kernel's configuration has are last."""
    counts: dict[tuple[str, str, str], int] = {}
    for pair in pairs:
        for key, before, after in _manifest_keys_that_differ(pair.before.manifest, pair.after.manifest):
            counts[key, before, after] = counts.get((key, before, after), 0) + 1
    result = [ManifestDifference(*key, points) for key, points in counts.items()]
    return sorted(
        result,
        key=lambda difference: (
            _difference_sort_group(difference),
            difference.key,
            difference.before,
            difference.after,
        ),
    )


def _difference_sort_group(difference: ManifestDifference) -> int:
    """Returns the group by which a difference of manifests is sorted, 0 first."""
    if difference.key.startswith(_SETTING) and NOT_SET in (difference.before, difference.after):
        return 2
    return 0 if difference.key.startswith(_FIRST) else 1


def _manifest_keys_that_differ(before: Mapping[str, str], after: Mapping[str, str]) -> Iterable[tuple[str, str, str]]:
    """Yields each key that differs between two flat manifests, with both values. Nothing if one is empty."""
    if not before or not after:  # a side without manifests
        return
    states = [any(key.startswith(STATE) for key in side) for side in (before, after)]
    left_out = _OF_ONE_POINT if all(states) else (*_OF_ONE_POINT, STATE)  # of one side nobody read it
    for key in sorted({*before, *after}):
        if key.startswith(left_out):
            continue
        mine, other = before.get(key, NOT_SET), after.get(key, NOT_SET)
        if mine != other:
            yield key, mine, other


def shorten_manifest_differences(
    differences: Sequence[ManifestDifference], shown: int = 12
) -> list[ManifestDifference]:
    """Returns the differences of manifests for a table: of source files only the first `shown`, then how many more."""
    sources = [difference for difference in differences if difference.key.startswith("build.sources.")]
    rest = [difference for difference in differences if not difference.key.startswith("build.sources.")]
    brief = [
        ManifestDifference(
            difference.key, _shorten_hash(difference.before), _shorten_hash(difference.after), difference.points
        )
        for difference in (*rest, *sources[:shown])
    ]
    if len(sources) > shown:
        brief.append(ManifestDifference("build.sources", f"{len(sources) - shown} more files", "", 0))
    return brief


def _shorten_hash(value: str) -> str:
    """Returns the first twelve digits of a hash, any other value unchanged."""
    is_hash = len(value) == 64 and all(letter in "0123456789abcdef" for letter in value)
    return value[:12] if is_hash else value
