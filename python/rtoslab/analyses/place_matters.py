"""Tests whether a point's figures may depend on the place of its code. The build answers this, not an observation.

A figure in one placement is exact, so a difference between two such figures seems to come from the code. This is only
true if a fetch takes the same time at every address.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rtoslab.images import OPTIONS, optimisation_levels
from rtoslab.results import MeasuredPoint
from rtoslab.store import StoredMeasurementPoint

FLASH: Final = "flash"
_BY_HALFWORDS: Final = "cortex-m0plus"
"""The core that fetches an instruction on a halfword as fast as one on a word."""
_BY_WORDS: Final = ("cortex-m3", "cortex-m4")
"""Cores that fetch words: a 32-bit instruction on an odd halfword may take one more cycle."""
_ON_WORDS: Final = {"-O2", "-O3", "-Ofast"}
"""With these GCC puts every function on a word, with the others only on a halfword."""


def does_timing_depend_on_code_addresses(manifest: Mapping[str, Any]) -> bool:
    """Whether the addresses of the code may change the figures of a measured point, by its manifest. They do not on one
    core without caches that fetches without waiting. If the manifest lacks a setting, they may."""
    build, board = manifest.get("build"), manifest.get("board")
    if not isinstance(build, Mapping) or not isinstance(board, Mapping) or build.get("cores") != 1:
        return True
    clock = build.get("clock")
    waits = clock.get("wait_states") if isinstance(clock, Mapping) else None
    if build.get("code", FLASH) == FLASH and waits != "0":
        return True
    core = str(board.get("core", ""))
    return core != _BY_HALFWORDS and not (core.startswith(_BY_WORDS) and _are_functions_word_aligned(build))


def _are_functions_word_aligned(build: Mapping[str, Any]) -> bool:
    """Whether the compiler aligned all functions to words. `build` is the manifest's table of that name."""
    compiler, calls = build.get("compiler"), build.get("calls")
    flags = {"*.c": {OPTIONS: build.get("flags", [])}}  # of a build whose calls were not recorded
    levels = optimisation_levels(calls if isinstance(calls, Mapping) else {"groups": flags, "files": {}})
    is_gcc = isinstance(compiler, Mapping) and compiler.get("id") == "GNU"
    return is_gcc and levels <= _ON_WORDS and build.get("data") != "kernel"


def results_depending_on_addresses(points: Iterable[StoredMeasurementPoint]) -> frozenset[int]:
    """Returns the Python ids of those measured results whose figures may depend on the addresses of their code."""
    return frozenset(
        id(point.result)
        for point in points
        if isinstance(point.result, MeasuredPoint) and does_timing_depend_on_code_addresses(point.manifest)
    )
