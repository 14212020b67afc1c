"""The manifest as tables: what all points share once, what differs point by point."""

import hashlib
from collections.abc import Sequence

from rtoslab.analyses import cores_of, series_names, short_test
from rtoslab.base import canonical, count_text
from rtoslab.reports.table import Section, TableData
from rtoslab.store import StoredPoint, flatten

SHOWN = 3
"""The number of points with the same value that are named."""
_PER_POINT = ("elf_sha256", "build.run_id", "build.manifest", "build.bench")


def manifest_section(points: Sequence[StoredPoint]) -> Section | None:
    """Returns the manifests. None if no point has one."""
    with_manifest = [point for point in points if point.manifest]
    if not with_manifest:
        return None
    flats = [_flat(stored_point.manifest) for stored_point in with_manifest]
    shared = {
        key: value
        for key, value in flats[0].items()
        if key not in _PER_POINT and all(flat.get(key) == value for flat in flats)
    }
    varying = [
        key
        for key in dict.fromkeys(key for flat in flats for key in flat)
        if key not in shared and key not in _PER_POINT
    ]
    common = TableData(
        "Shared by all points", ("key", "value"), [[key, value] for key, value in sorted(shared.items())]
    )
    identity = TableData(
        "Point by point",
        ("test", "cores", "run id", "image SHA-256"),
        [
            [
                short_test(pair.result.point),
                cores_of(pair.result.point),
                pair.result.run_id,
                flat.get("elf_sha256", ""),
            ]
            for pair, flat in zip(with_manifest, flats, strict=True)
        ],
    )
    names = [
        f"{short_test(pair.result.point)} {name}"
        for pair, name in zip(with_manifest, _series(with_manifest), strict=True)
    ]
    differing = TableData(
        "What differs",
        ("key", "value", "of"),
        [row for key in sorted(varying) for row in _values(key, flats, names)],
    )
    prose = ("Everything that can change a number. The same manifest gives the same bytes of result on any machine.",)
    return Section(
        "manifest", "Manifest", prose, (), [identity, common, *([differing] if differing.rows else [])], folded=True
    )


def _series(points: Sequence[StoredPoint]) -> list[str]:
    return series_names([point.result.point for point in points])


def _values(key: str, flats: Sequence[dict[str, str]], names: Sequence[str]) -> list[list[str]]:
    """One row per distinct value, with the points that have it. Many are cut to the first ones."""
    holders: dict[str, list[str]] = {}
    for flat, name in zip(flats, names, strict=True):
        holders.setdefault(flat.get(key, "(not set)"), []).append(name)
    return [
        [key, value, "; ".join(who[:SHOWN]) + (f" and {len(who) - SHOWN} more" if len(who) > SHOWN else "")]
        for value, who in holders.items()
    ]


def _flat(manifest: dict[str, object]) -> dict[str, str]:
    """Without the list of source checksums (told by its own checksum) and conformance (which has its own section)."""
    manifest = {key: value for key, value in manifest.items() if key != "conformance"}
    build = manifest.get("build")
    if not isinstance(build, dict) or not isinstance(build.get("sources"), dict):
        return flatten(manifest)
    sources = build["sources"]
    digest = hashlib.sha256(canonical(sources).encode()).hexdigest()
    brief = {**build, "sources": f"{count_text(len(sources), 'file')}, SHA-256 of their list {digest[:16]}"}
    return flatten({**manifest, "build": brief})
