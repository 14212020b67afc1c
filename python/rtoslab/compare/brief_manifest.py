"""The brief form of a manifest in a baseline: little enough to read, enough to tell why figures may differ."""

import hashlib
import json
from collections.abc import Mapping
from typing import Final

COMPILER: Final = "compiler"
VIRTUAL_BOARD: Final = "virtual board"
_AS_TEXT: Final = {
    COMPILER: ("build.compiler.banner",),
    "newlib": ("build.compiler.newlib",),
    "flags": ("build.flags",),
    "kernel": ("build.kernel_version",),
    "kernel package": ("build.kernel_package.sha256",),
    VIRTUAL_BOARD: ("target.sources_sha256",),
}
"""Entries that are copied, with short hashes. `_HASHED` has those that become one hash."""
_HASHED: Final = {
    "board": ("board.",),
    "compiler calls": ("build.calls.",),
    "configuration": (
        "build.kernel_config.",
        "build.params.",
        "build.clock",
        "build.features.",
        "build.data",
        "build.code",
    ),
    "firmware sources": ("build.sources.",),
    "timing rules": ("target.settings.",),
}
_SHORT: Final = 12


def shorten_manifest_for_baseline(flat: Mapping[str, str]) -> dict[str, str]:
    """Returns a flat manifest (key path -> text) shortened to what a baseline stores. Empty for an empty manifest."""
    if not flat:
        return {}
    texts = {name: " ".join(flat.get(key, "") for key in keys) for name, keys in _AS_TEXT.items()}
    brief = {
        name: value[:_SHORT] if name in {"kernel package", VIRTUAL_BOARD} else value for name, value in texts.items()
    }
    for name, prefixes in _HASHED.items():
        rows = sorted((key, value) for key, value in flat.items() if key.startswith(prefixes))
        brief[name] = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:_SHORT]
    return brief
