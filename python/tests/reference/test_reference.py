"""Reference results: what is kept gives the same figures, stands beside a run marked; an altered file is told."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.analyses import values_of_points
from rtoslab.base.errors import AlteredFileError, AlteredPointWarning, StoreError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import find_paper
from rtoslab.reference import (
    REFERENCE_MARK,
    StoredProgramSize,
    changes_since_reference,
    program_sizes_of_paper,
    read_reference_files,
    reference_points_for_unmeasured_kernels,
    reference_results_for_paper_kernels,
    write_reference_file,
)
from rtoslab.reference.distributions import expand_sample_distribution, samples_to_distribution
from rtoslab.reference.reference_file import (
    read_reference_file,
    reference_file_path,
    reference_file_paths,
    with_kernel_name,
)
from rtoslab.reference.shared_parts import (
    common_keys_and_values,
    merge_object_with_common_part,
    remove_shared_mapping_entries,
)
from rtoslab.reports import report_formats
from rtoslab.reports.document import make_report_document
from rtoslab.results.results import (
    BuildOnlyProgramSize,
    FailedMeasurement,
    ImageBytes,
    MeasuredPoint,
    NotApplicableMeasurement,
    SeriesSamples,
)
from rtoslab.store.stored_point import AnyResult, StoredMeasurementPoint
from tests.fakes import measured_point, point

OTHER = "other"


def manifest(**build: Any) -> dict[str, object]:
    return {
        "build": {"kernel": OTHER, "kernel_version": "1.5", "flags": ["-O2"], "sources": {}, **build},
        "target": {"kind": "virtual", "sources_sha256": "ab" * 32},
        "window_ms": 250,
    }


def stored_point(result: AnyResult, **build: Any) -> StoredMeasurementPoint:
    return StoredMeasurementPoint(Path("p"), result, manifest(**build))


def result_of_other_kernel(result: AnyResult) -> AnyResult:
    return with_kernel_name(stored_point(result), OTHER).result


def write_other_reference(root: Path, *results: AnyResult, **build: Any) -> Path:
    path = reference_file_path(root, "doe2020", OTHER)
    write_reference_file(path, [stored_point(result_of_other_kernel(result), **build) for result in results])
    return path


columns = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)),
    min_size=1, max_size=40,
)  # fmt: skip


def series(samples: list[tuple[int, ...]]) -> SeriesSamples:
    cycles, marks, switches, ticks, interrupts = zip(*samples, strict=True)
    return SeriesSamples(
        id="a.b", title="A", instrument="counter", comparable=True, cycles=cycles, mark_cycles=marks,
        start_cycle=tuple(range(len(samples))), switches=switches, ticks=ticks, interrupts=interrupts,
    )  # fmt: skip


@given(columns, st.randoms())
def test_distribution_contains_the_same_samples(samples: list[tuple[int, ...]], chance: Any) -> None:
    one = samples_to_distribution(series(samples))
    again = SeriesSamples.model_validate_json(json.dumps(expand_sample_distribution(json.loads(json.dumps(one)))))
    result = zip(again.cycles, again.mark_cycles, again.switches, again.ticks, again.interrupts, strict=True)
    assert sorted(result) == sorted(samples)
    assert again.start_cycle == ()
    chance.shuffle(samples)
    assert samples_to_distribution(series(samples)) == one, "whichever came first"


objects = st.recursive(
    st.integers(0, 3), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8
)
tables = st.lists(st.dictionaries(st.sampled_from("abc"), objects, max_size=3), min_size=1, max_size=4)


@given(tables)
def test_shared_and_own_parts_form_the_complete_manifest(manifests: list[dict[str, Any]]) -> None:
    common = common_keys_and_values(manifests)
    assert [
        merge_object_with_common_part(common, remove_shared_mapping_entries(item, common)) for item in manifests
    ] == manifests
    if len(manifests) == 1:
        assert common == manifests[0]


def test_reference_file_survives_writing_and_reading(tmp_path: Path) -> None:
    one, two = measured_point(1, 1000), measured_point(2, 400, wait=3_000_000, heap=4800)
    absent = NotApplicableMeasurement(run_id="0" * 16, point=point(4), reason="two cores")
    failed = FailedMeasurement(run_id="0" * 16, point=point(8), stage="proof", error="ProofError", message="no")
    path = write_other_reference(tmp_path, one, two, absent, failed)
    result = read_reference_file(path)
    assert [stored_point.result for stored_point in result.points] == [
        result_of_other_kernel(item) for item in (one, two, absent)
    ]
    assert result.points[0].manifest == manifest()
    before = path.read_bytes()
    write_other_reference(tmp_path, one, two, absent, failed)
    assert path.read_bytes() == before
    with pytest.raises(StoreError, match="No point was measured"):
        write_other_reference(tmp_path, failed)


def weight(kernel: str = OTHER, text: int = 14_000) -> StoredProgramSize:
    identity = point(1).model_copy(update={"benchmark": "footprint", "kernel": kernel, "window_ms": 0})
    sizes = ImageBytes(text_bytes=text, data_bytes=8, bss_bytes=900)
    return StoredProgramSize(
        Path("p"),
        BuildOnlyProgramSize(run_id="f" * 16, point=identity, clock_hz=216_000_000, image=sizes),
        {"build": {"sources": {"firmware/gone.c": "1" * 64}}},
    )


def test_footprint_is_stored_and_becomes_outdated_with_its_sources(tmp_path: Path) -> None:
    path = reference_file_path(tmp_path, "doe2020", OTHER)
    write_reference_file(path, [stored_point(result_of_other_kernel(measured_point(1, 1000)))], [weight()])
    result = read_reference_file(path)
    assert [stored_weight.weight for stored_weight in result.weights] == [weight().weight]
    assert result.weights[0].manifest == weight().manifest
    assert len(result.points) == 1
    assert "firmware/gone.c" in changes_since_reference(find_checkout_root(), result)
    assert program_sizes_of_paper(tmp_path, "doe2020") == list(result.weights)
    assert program_sizes_of_paper(tmp_path, "roe2021") == []


def test_every_changed_byte_is_reported_and_other_files_are_read(tmp_path: Path) -> None:
    path = write_other_reference(tmp_path, measured_point(1, 1000))
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(AlteredFileError, match=re.escape(str(path))):
            read_reference_file(path)
    with pytest.warns(AlteredPointWarning, match="rtoslab kernel reference refresh doe2020"):
        assert list(read_reference_files(tmp_path)) == []


@pytest.mark.parametrize("row", [[10**7, 1], [2**70, 1], [0, 1], [-1, 1], ["2", 1], []])
def test_row_with_too_many_samples_is_refused(row: list[Any], tmp_path: Path) -> None:
    path = reference_file_path(find_checkout_root(), "lentka2022", "ucos3")
    head, *points, _ = path.read_text().splitlines()
    report = json.loads(points[0])
    report["result"]["series"][0] |= {"columns": ["cycles"], "rows": [row]}
    lines = "".join(f"{item}\n" for item in [head, json.dumps(report)])
    copy = tmp_path / "lentka2022" / "ucos3.jsonl"
    copy.parent.mkdir()
    copy.write_text(lines + json.dumps({"sha256": hashlib.sha256(lines.encode()).hexdigest()}) + "\n")
    with pytest.raises(AlteredFileError, match="cannot be read"):
        read_reference_file(copy)


def test_reference_results_complete_a_run(tmp_path: Path) -> None:
    write_other_reference(tmp_path, measured_point(1, 500), measured_point(2, 800))
    mine = stored_point(measured_point(1, 1000))
    (beside,) = reference_points_for_unmeasured_kernels(tmp_path, [mine])
    assert beside.result.point.kernel == f"{OTHER} {REFERENCE_MARK}"
    assert isinstance(beside.result, MeasuredPoint)
    assert beside.result.counters == measured_point(1, 500).counters, "the same point, not that with two cores"
    other_window = mine.result.model_copy(update={"point": point(1).model_copy(update={"window_ms": 7})})
    assert reference_points_for_unmeasured_kernels(tmp_path, [replace(mine, result=other_window)]) == []
    assert (
        reference_points_for_unmeasured_kernels(
            tmp_path, [mine, stored_point(result_of_other_kernel(measured_point(1, 1)))]
        )
        == []
    ), "it was measured here"
    assert [
        stored_point.result.point.kernel
        for stored_point in reference_results_for_paper_kernels(tmp_path, "doe2020", [mine])
    ] == [
        OTHER,
        OTHER,
    ]
    assert reference_results_for_paper_kernels(tmp_path, "roe2021", [mine]) == []


def test_report_marks_reference_results_and_their_origin(tmp_path: Path) -> None:
    write_other_reference(
        tmp_path, measured_point(1, 500), tree={"repositories": [{"commit": "c0ffee" * 6, "dirty": True}]}
    )
    points = [stored_point(measured_point(1, 1000))]
    catalogue = Catalogue(find_checkout_root())
    single = make_report_document(catalogue, points, None)
    both = make_report_document(catalogue, points, None, reference_points_for_unmeasured_kernels(tmp_path, points))
    assert both.summary.startswith(single.summary), "it counts among the run's points nowhere"
    assert both.points == single.points
    text = report_formats()["md"](both)
    assert f"{OTHER} {REFERENCE_MARK}" in text
    assert "1.5, commit c0ffeec0ffee, edited" in text
    assert REFERENCE_MARK not in report_formats()["md"](single)


def test_report_counts_the_files_that_changed_since(tmp_path: Path) -> None:
    points = [stored_point(measured_point(1, 1000))]
    sources = {f"firmware/{name}.c": "0" * 64 for name in "abc"}
    for count, says in ((1, "; firmware/a.c |"), (3, "; 3 files of the firmware |")):
        write_other_reference(tmp_path, measured_point(1, 500), sources=dict(list(sources.items())[:count]))
        document = make_report_document(
            Catalogue(find_checkout_root()), points, None, reference_points_for_unmeasured_kernels(tmp_path, points)
        )
        assert says in report_formats()["md"](document)


def test_changed_files_are_named(tmp_path: Path) -> None:
    file = next((find_checkout_root() / "firmware" / "core").rglob("*.c"))
    name = str(file.relative_to(find_checkout_root()))
    path = write_other_reference(
        tmp_path, measured_point(1, 500), sources={name: "0" * 64, "firmware/gone.c": "1" * 64, "build/made.h": "2"}
    )
    assert changes_since_reference(find_checkout_root(), read_reference_file(path)) == [
        "the virtual board",
        name,
        "firmware/gone.c",
    ]


REFERENCES = reference_file_paths(find_checkout_root())


@pytest.mark.parametrize("path", REFERENCES, ids=lambda each: f"{each.parent.name}-{each.stem}")
def test_included_references_are_valid(path: Path) -> None:
    """Read, measured, of papers and kernels that there are, without a path of a machine."""
    reference = read_reference_file(path)
    assert (reference.paper, reference.kernel) == (path.parent.name, path.stem)
    catalogue = Catalogue(find_checkout_root())
    facts = find_paper(catalogue, reference.paper).facts
    assert reference.kernel in {*catalogue.kernels, *facts.kernels, *facts.paper_kernel_by_source_tree}
    run_ids = {stored_point.result.run_id for stored_point in reference.points}
    assert {placed_values.run_id for placed_values in reference.placed} <= run_ids
    results = [
        stored_point.result for stored_point in reference.points if isinstance(stored_point.result, MeasuredPoint)
    ]
    assert values_of_points(results)
    assert {result.point.benchmark for result in results} <= catalogue.benchmarks.keys()
    assert not re.search(r"[\"' =](/(?!tmp\"|var/|dev/|data\")[a-z]+/)", reference.points[0].folder.read_text())


def test_included_references_exist() -> None:
    """NuttX on one core and two for the newcomer, the kernels of paper 004."""
    present = {(reference.parent.name, reference.stem) for reference in REFERENCES}
    assert present >= {("vieira2026", "nuttx"), ("ungurean2020", "ucos2"), ("ungurean2020", "ucos3")}


def test_no_reference_names_a_path_of_the_machine_that_measured_it() -> None:
    path = re.compile(r"(?<![A-Za-z0-9_.@])/(?:home|root|tmp|work|Users)/")
    files = [file for file in (find_checkout_root() / "reference").rglob("*") if file.is_file()]
    assert files
    assert [file.name for file in files if path.search(file.read_text())] == []
