"""Everything that can change a number, as one canonical JSON text, and the run id from its hash.

It has no time stamp and no path of a machine: the same manifest gives the same bytes of result, anywhere."""

import hashlib
import json
from pathlib import Path
from typing import Any

from rtoslab.base import __version__, to_canonical_json
from rtoslab.catalogue import Board
from rtoslab.images import BuiltImage
from rtoslab.plan import PlannedPoint
from rtoslab.targets import simulator_sources_digest, simulator_version, timing_settings, timing_version

FORMAT = 1


def virtual_board_manifest_entries(root: Path, point: PlannedPoint, board: Board) -> dict[str, Any]:
    """Returns what a manifest says of the virtual board: versions, sources, and timing settings, each with how well it
    is known (grade)."""
    chosen = {key.removeprefix("timing."): value for key, value in point.timing.items()}
    settings = {
        key: {"value": chosen.get(key.removeprefix("timing."), default), "grade": grade}
        for key, default, _, grade in timing_settings(board.chip)
    }
    return {
        "kind": "virtual",
        "chip": board.chip,
        "cores": point.cores if point.beside is None else board.cores,
        "version": simulator_version(),
        "timing_version": timing_version(board.chip),
        "sources_sha256": simulator_sources_digest(root),
        "settings": settings,
    }


def real_board_manifest_part(board: Board) -> dict[str, Any]:
    """Returns what a manifest says of a real board. The name of its serial port is left out, for it changes no
    number."""
    return {"kind": "serial", "chip": board.chip, "baud": board.uart.baud}


def make_measurement_manifest(
    point: PlannedPoint, board: Board, build: BuiltImage, target: dict[str, Any], conformance: dict[str, Any]
) -> dict[str, Any]:
    """Returns the manifest of a point: everything that can change its figures. `target`: the part about the board."""
    return {
        "format": FORMAT,
        "rtoslab": __version__,
        "build": build.info,
        "elf_sha256": build.elf_sha256,
        "board": board.model_dump(mode="json"),
        "window_ms": point.window_ms,
        "target": target,
        "conformance": conformance,
    }


def manifest_hash(manifest: dict[str, Any]) -> str:
    """Returns the SHA-256 (64 hex digits) of a manifest, the record of everything that can change a point's figures."""
    return hashlib.sha256(to_canonical_json(manifest).encode()).hexdigest()


def flatten_nested_json(value: object, path: str = "") -> dict[str, str]:
    """Returns nested JSON as a flat mapping from keys such as `a.b.c` to texts, for tables and comparisons."""
    if isinstance(value, dict):
        flat: dict[str, str] = {}
        for key, item in value.items():
            flat.update(flatten_nested_json(item, f"{path}.{key}" if path else str(key)))
        return flat
    return {path: value if isinstance(value, str) else json.dumps(value)}
