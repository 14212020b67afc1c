"""Selects the results for a paper's kernels: the authors' versions first, today's beside them, set-ups apart.

A statement about FreeRTOS 10.2.1 must not be judged by figures of today's FreeRTOS. A paper's `[[version]]` tables name
the trees of its versions. Their results count under the paper's name of the kernel. If today's version is used for a
point that they lack, its source says so."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rtoslab.analyses import measurement_id_without_code_placement
from rtoslab.catalogue import PaperFirmwareConfiguration, PaperFolder
from rtoslab.papers.setups import original_point_of_paper_setup_point, point_key_without_window_and_samples
from rtoslab.reference import StoredProgramSize
from rtoslab.results import BuildOnlyProgramSize, MeasuredPoint
from rtoslab.store import AnyResult, StoredMeasurementPoint


@dataclass(frozen=True, slots=True)
class MeasuredValueOrigin:
    """The source of the values of one measured point: kernel, version, run or reference."""

    kernel: str
    """The id under which it was measured, such as `freertos-10.2.1`."""
    version: str
    """The version in its sources. Empty if the manifest has none."""
    is_reference: bool
    is_authors_version: bool
    """Whether it is the version that the paper measured."""
    assumed: tuple[str, ...] = ()
    """Timing rules of its board graded `assumed`."""


@dataclass
class ResultsByVersion:
    """A paper's results sorted by their use: authors' versions, today's versions, set-ups."""

    main: list[AnyResult] = field(default_factory=list)
    today: dict[str, list[AnyResult]] = field(default_factory=dict)
    """Today's version of kernels whose authors' version is in `main`. Keys as in `setups`."""
    setups: dict[str, dict[str, list[AnyResult]]] = field(default_factory=dict)
    """Keyed by set-up, then by the point of the suites that they represent (`point_key_without_window_and_samples`), in
    all its placements."""


def value_origins_by_run_id(
    paper: PaperFolder,
    run: Sequence[StoredMeasurementPoint],
    beside: Sequence[StoredMeasurementPoint],
    own: Sequence[StoredProgramSize] = (),
    lent: Sequence[StoredProgramSize] = (),
) -> dict[str, MeasuredValueOrigin]:
    """Returns the source (kernel, version, run or reference) of every measured point and program size, by its run
    id."""
    points = [(point.result, point.manifest, mine) for mine in (False, True) for point in (beside if mine else run)]
    weights = [(weight.weight, weight.manifest, mine) for mine in (False, True) for weight in (lent if mine else own)]
    return {
        result.run_id: _make_measured_value_origin(paper, result.point.kernel, manifest, is_reference=is_reference)
        for result, manifest, is_reference in (*points, *weights)
        if isinstance(result, MeasuredPoint | BuildOnlyProgramSize)
    }


def _make_measured_value_origin(
    paper: PaperFolder, kernel: str, manifest: Mapping[str, Any], *, is_reference: bool
) -> MeasuredValueOrigin:
    """Returns the source (kernel, version) of a measured point, from its manifest."""
    build, target = manifest.get("build"), manifest.get("target")
    version = build.get("kernel_version", "") if isinstance(build, dict) else ""
    settings = target.get("settings", {}) if isinstance(target, dict) else {}
    assumed = sorted(key for key, rule in settings.items() if rule.get("grade") == "assumed")
    board = manifest.get("board", {})
    role = paper.facts.paper_kernel_by_source_tree.get(kernel)
    substitutes = {item.kernel for item in paper.facts.version if item.stands_in}
    rules = tuple(item for item in assumed if _does_timing_rule_apply_to_board(item, board))
    return MeasuredValueOrigin(kernel, str(version), is_reference, role is not None and role not in substitutes, rules)


def _does_timing_rule_apply_to_board(rule: str, board: Mapping[str, Any]) -> bool:
    """Whether a timing rule applies to the board. A rule of one core or chip has its name as a prefix."""
    of = rule.removeprefix("timing.").partition("_")[0]
    if re.fullmatch(r"m[0-9]+", of):
        return str(board.get("core", "")).startswith(f"cortex-{of}")
    if re.fullmatch(r"[fhl][0-9]", of):
        return str(board.get("chip", "")).startswith(f"stm32{of}")
    return True


def sort_results_by_version(paper: PaperFolder, results: Iterable[AnyResult]) -> ResultsByVersion:
    """Sorts results into those of the versions that the paper measured, of today's versions, and of set-ups. If several
    versions exist for one point, the one that the paper names first counts."""
    plain: dict[str, list[AnyResult]] = {}
    in_setups: dict[str, dict[str, list[AnyResult]]] = {item.id: {} for item in paper.facts.setup}
    for result in results:
        point = result.point.model_copy(update={"kernel": _kernel_name_in_paper(paper, result)})
        meant = {setup.id: original_point_of_paper_setup_point(paper, setup, point) for setup in paper.facts.setup}
        for name, stood_for in meant.items():
            if stood_for is not None:
                key = point_key_without_window_and_samples(paper, measurement_id_without_code_placement(stood_for))
                in_setups[name].setdefault(key, []).append(
                    _rename_kernel_in_result(result, result.point.kernel, stood_for.config)
                )
        if not any(meant.values()):
            plain.setdefault(
                point_key_without_window_and_samples(paper, measurement_id_without_code_placement(point)), []
            ).append(result)
    matches = ResultsByVersion()
    for key, candidates in plain.items():
        best = _select_preferred_kernel_version_results(paper, candidates)
        role = _kernel_name_in_paper(paper, best[0])
        matches.main += [_rename_kernel_in_result(any_result, role) for any_result in best]
        todays = [candidate for candidate in candidates if candidate.point.kernel == role]
        if best[0].point.kernel != role and todays:
            matches.today[key] = todays
    for name, by_point in in_setups.items():
        best_of = {
            key: _select_preferred_kernel_version_results(paper, candidates) for key, candidates in by_point.items()
        }
        matches.setups[name] = {
            key: [_rename_kernel_in_result(any_result, _kernel_name_in_paper(paper, any_result)) for any_result in best]
            for key, best in best_of.items()
        }
    return matches


def sort_program_sizes_by_version(
    paper: PaperFolder, weights: Iterable[BuildOnlyProgramSize]
) -> tuple[list[BuildOnlyProgramSize], list[BuildOnlyProgramSize]]:
    """Sorts program sizes into those with the versions that the paper measured, and those with today's versions in
    their place."""
    by_point: dict[str, dict[str, BuildOnlyProgramSize]] = {}
    for weight in weights:
        role = paper.facts.paper_kernel_by_source_tree.get(weight.point.kernel, weight.point.kernel)
        plain = weight.model_copy(update={"point": weight.point.model_copy(update={"kernel": role})})
        by_point.setdefault(plain.point.model_dump_json(), {})[weight.point.kernel] = plain
    order = {tree: place for version in paper.facts.version for place, tree in enumerate(version.trees)}
    main, today = [], []
    for result in by_point.values():
        best = min(result, key=lambda kernel: order.get(kernel, len(order)))
        main.append(result[best])
        role = result[best].point.kernel
        if best != role and role in result:
            today.append(result[role])
    return main, today


def _kernel_name_in_paper(paper: PaperFolder, result: AnyResult) -> str:
    """Returns the paper's name for the kernel of a result."""
    return paper.facts.paper_kernel_by_source_tree.get(result.point.kernel, result.point.kernel)


def _rename_kernel_in_result(result: AnyResult, kernel: str, config: Mapping[str, str] | None = None) -> AnyResult:
    """Returns a result under another name of its kernel, and perhaps with other settings."""
    changed = {"kernel": kernel, "config": dict(result.point.config if config is None else config)}
    return result.model_copy(update={"point": result.point.model_copy(update=changed)})


def _select_preferred_kernel_version_results(paper: PaperFolder, candidates: Sequence[AnyResult]) -> list[AnyResult]:
    """Returns the results of that kernel version which the paper prefers, among several versions for the same
    points."""
    order = {tree: place for version in paper.facts.version for place, tree in enumerate(version.trees)}
    by_kernel: dict[str, list[AnyResult]] = {}
    for candidate in candidates:
        by_kernel.setdefault(candidate.point.kernel, []).append(candidate)
    measured = {
        name: [result for result in own if isinstance(result, MeasuredPoint)] for name, own in by_kernel.items()
    }
    is_named = any(name in order for name in by_kernel)

    def kernel_version_rank(name: str) -> tuple[bool, bool, int]:
        """Returns the sort key of a kernel version, the preferred one first."""
        return (is_named and name not in order, not measured[name], order.get(name, len(order)))

    best = min(by_kernel, key=kernel_version_rank)
    return [*measured[best]] or by_kernel[best]


def replace_results_of_paper_setup(
    paper: PaperFolder, plain: Sequence[AnyResult], changed: Mapping[str, Sequence[AnyResult]]
) -> list[AnyResult]:
    """Returns the results of the suites, with those replaced that a set-up changes. The length of the measurement may
    differ."""
    plain_results = (
        any_result
        for any_result in plain
        if point_key_without_window_and_samples(paper, measurement_id_without_code_placement(any_result.point))
        not in changed
    )
    return [*plain_results, *(result for results in changed.values() for result in results)]


def configuration_with_current_kernels(
    paper: PaperFolder, sorted_results: ResultsByVersion, sources: Mapping[str, MeasuredValueOrigin]
) -> PaperFirmwareConfiguration | None:
    """Returns a set-up that describes today's kernel versions. None if no other version than today's is used."""
    if not sorted_results.today:
        return None
    names = dict.fromkeys(
        f"{paper.facts.kernels.get(result.point.kernel, result.point.kernel)} {sources[result.run_id].version}".strip()
        for results in sorted_results.today.values()
        for result in results
        if isinstance(result, MeasuredPoint)
    )
    title = f"the kernels' current versions: {', '.join(names)}" if names else "the kernels' current versions"
    return PaperFirmwareConfiguration(
        id="today", title=title, evidence="The current versions of the kernels instead of the authors'."
    )
