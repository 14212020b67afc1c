"""The manifests as tables: the values that all points share, and those that differ."""

import hashlib
from collections.abc import Sequence

from rtoslab.analyses import cores_and_pinning_text, distinct_point_names, short_test_name
from rtoslab.base import count_with_noun, to_canonical_json
from rtoslab.reports.table import ReportSection, TableData
from rtoslab.store import StoredMeasurementPoint, flatten_nested_json

SHOWN = 3
"""Of more points with the same value the rest is counted."""
_PER_POINT = ("elf_sha256", "build.run_id", "build.manifest", "build.bench")


def manifest_report_section(points: Sequence[StoredMeasurementPoint]) -> ReportSection | None:
    """Returns the report section with the points' manifests (what was built and how). None if no point has one."""
    with_manifest = [point for point in points if point.manifest]
    if not with_manifest:
        return None
    flats = [_flatten_manifest_without_details(stored_point.manifest) for stored_point in with_manifest]
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
                short_test_name(pair.result.point),
                cores_and_pinning_text(pair.result.point),
                pair.result.run_id,
                flat.get("elf_sha256", ""),
            ]
            for pair, flat in zip(with_manifest, flats, strict=True)
        ],
    )
    names = [
        f"{short_test_name(pair.result.point)} {name}"
        for pair, name in zip(with_manifest, _distinguishing_point_names(with_manifest), strict=True)
    ]
    differing = TableData(
        "What differs",
        ("key", "value", "of"),
        [row for key in sorted(varying) for row in _manifest_value_table_rows(key, flats, names)],
    )
    prose = (
        (
            "Everything that can change a figure. The same manifest gives the same result, byte for byte, on any "
            "machine."
        ),
    )
    return ReportSection(
        "manifest", "Manifest", prose, (), [identity, common, *([differing] if differing.rows else [])], folded=True
    )


def _distinguishing_point_names(points: Sequence[StoredMeasurementPoint]) -> list[str]:
    """Returns a name for each point: its kernel, board and configuration, as far as they differ."""
    return distinct_point_names([point.result.point for point in points])


def _manifest_value_table_rows(key: str, flats: Sequence[dict[str, str]], names: Sequence[str]) -> list[list[str]]:
    """Returns a table row for each distinct value that the manifests have under a key, with the first points that have
    it.

    `flats`: the manifests of the points named in `names`.
    """
    holders: dict[str, list[str]] = {}
    for flat, name in zip(flats, names, strict=True):
        holders.setdefault(flat.get(key, "(not set)"), []).append(name)
    return [
        [key, value, "; ".join(who[:SHOWN]) + (f" and {len(who) - SHOWN} more" if len(who) > SHOWN else "")]
        for value, who in holders.items()
    ]


def _flatten_manifest_without_details(manifest: dict[str, object]) -> dict[str, str]:
    """Returns a manifest as flat keys and values, without conformance results and with one digest for the list of
    sources."""
    manifest = {key: value for key, value in manifest.items() if key != "conformance"}
    build = manifest.get("build")
    if not isinstance(build, dict) or not isinstance(build.get("sources"), dict):
        return flatten_nested_json(manifest)
    sources = build["sources"]
    digest = hashlib.sha256(to_canonical_json(sources).encode()).hexdigest()
    brief = {**build, "sources": f"{count_with_noun(len(sources), 'file')}, SHA-256 of their list {digest[:16]}"}
    return flatten_nested_json({**manifest, "build": brief})
