"""Checks macros of a kernel's configuration with the firmware's build files, before anything is built."""

import difflib
import re
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from rtoslab.base import PlanError, build_folder, make_disk_error
from rtoslab.catalogue import Catalogue
from rtoslab.images.builder import build_failure_reason, expected_image_identity, is_image_built
from rtoslab.images.configuring import configure_image_build
from rtoslab.images.image_inputs import image_inputs_digest
from rtoslab.plan import POINT_KEYS, PlannedPoint

_NO_SETTING: Final = re.compile(r"has no setting `(\w+)`")
_NEAR: Final = re.compile(r"did you mean `(\w+)`")


def require_known_macros(catalogue: Catalogue, points: Iterable[PlannedPoint]) -> None:
    """Raises PlanError for a configuration macro that no kernel of the points has. Also StoreError, ToolMissingError.

    Each kernel is checked once for each set of macros. One whose image is built already has them.
    """
    requested: dict[tuple[str, frozenset[str]], PlannedPoint] = {}
    for point in points:
        if point.kernel_config and point.not_applicable is None:
            requested.setdefault((point.kernel, frozenset(point.kernel_config)), point)
    given = {name: {kernel for kernel, names in requested if name in names} for _, every in requested for name in every}
    lacking: dict[str, dict[str, str]] = {}
    for (kernel, _), point in requested.items():
        for name, near in _find_refused_macros(catalogue, point).items():
            lacking.setdefault(name, {})[kernel] = near
    for name, kernels in lacking.items():
        if given[name] == set(kernels):
            known = [*filter(None, kernels.values()), *difflib.get_close_matches(name, POINT_KEYS, n=1)]
            hint = f"did you mean {known[0]}?" if known else "its header in firmware/kernels lists the settings."
            kernels_text = ", ".join(sorted(kernels))
            raise PlanError(f"The setting {name} does not exist in {kernels_text}, or it may not be changed; {hint}")


def _find_refused_macros(catalogue: Catalogue, point: PlannedPoint) -> dict[str, str]:
    """Returns the point's configuration macros that its kernel lacks, each with the most similar known one or an empty
    text."""
    refused: dict[str, str] = {}
    while point.kernel_config:
        digest = image_inputs_digest(catalogue, point)
        if is_image_built(catalogue.root, point, digest):
            break
        output = _why_cmake_refuses(catalogue, point, digest)
        name = _NO_SETTING.search(output)
        if name is None or name[1] not in point.kernel_config:
            break  # what else there is to say, the build says
        near = _NEAR.search(output)
        refused[name[1]] = near[1] if near else ""
        point = replace(point, kernel_config={k: v for k, v in point.kernel_config.items() if k != name[1]})
    return refused


def _why_cmake_refuses(catalogue: Catalogue, point: PlannedPoint, digest: str) -> str:
    """Returns why CMake refuses a point's configuration. Empty if it accepts it. `digest`: that of the image's
    inputs."""
    parent = build_folder(catalogue.root)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix=".settings-", dir=parent) as folder,
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log,
        ):
            if configure_image_build(
                catalogue, point, expected_image_identity(digest), Path(folder), parent / "configured", log
            ):
                return ""
            log.seek(0)
            return build_failure_reason(log.read())
    except OSError as cause:
        raise make_disk_error("make a build folder in", parent, cause) from None
