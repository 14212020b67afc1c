"""Reports of made-up verified points: every format says the same, HTML needs nothing from outside."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from rtoslab.base.errors import ReportError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.reports import report_formats
from rtoslab.reports.document import make_report_document
from rtoslab.reports.table import ReportDocument
from rtoslab.reports.terminal import print_point_results
from rtoslab.results.results import FailedMeasurement, NotApplicableMeasurement
from rtoslab.store.stored_point import AnyResult, StoredMeasurementPoint
from tests.fakes import measured_point, point


def document(*results: AnyResult) -> ReportDocument:
    manifest: dict[str, object] = {"build": {"kernel": "k", "flags": ["-O2"]}, "elf_sha256": "ab", "window_ms": 250}
    points = [StoredMeasurementPoint(Path("p"), result, manifest) for result in results]
    return make_report_document(Catalogue(find_checkout_root()), points, None)


WHOLE = document(measured_point(1, 1000), measured_point(2, 400, wait=3_000_000, heap=4800))
FAILED = FailedMeasurement(
    run_id="0" * 16, point=point(2), stage="proof", error="ProofError", message="did <not> switch"
)


def test_every_format_module_is_found() -> None:
    assert set(report_formats()) == {"html", "md", "csv", "json"}


def test_report_begins_with_the_answer() -> None:
    (answer,) = (section for section in WHOLE.shown_sections if section.leads)
    (text,) = answer.prose[:1]
    assert text.startswith("The second core lowers the total throughput of k at test (T2, x 0.80)")
    assert "waiting for spinlocks takes " in text
    assert "grows by 1,800 bytes" in text
    for name in ("md", "html"):
        page = report_formats()[name](WHOLE)
        assert page.index("The second core lowers") < page.index("2 points of 1 test were measured")


def test_html_is_self_contained() -> None:
    html = report_formats()["html"](WHOLE)
    outside = [link for link in re.findall(r'(?:src|href)="([^"]*)"', html) if not link.startswith("#")]
    assert outside == []
    assert re.findall(r"<script[^>]*>", html) == ["<script>"]
    assert "@import" not in html
    assert "url(http" not in html
    assert html.count("<svg") == 4, "one gain is said, not drawn"
    assert "Total throughput with two cores divided by that with one: 0.80 (T2 test" in html
    assert len(html) < 3_000_000


def test_html_escapes_text_of_the_image() -> None:
    html = report_formats()["html"](document(measured_point(1), FAILED))
    assert "did &lt;not&gt; switch" in html
    assert "did <not> switch" not in html


def test_failed_point_has_no_figure_in_any_format() -> None:
    failed = document(FAILED)
    (row,) = csv.DictReader(io.StringIO(report_formats()["csv"](failed)))
    assert (row["status"], row["value"]) == ("failed", "")
    assert json.loads(report_formats()["json"](failed))["points"][0]["result"]["status"] == "failed"
    assert "derived" not in json.loads(report_formats()["json"](failed))["points"][0]
    assert "No point was measured" in report_formats()["md"](failed)


def test_na_points_are_listed() -> None:
    missing = NotApplicableMeasurement(run_id="0" * 16, point=point(2), reason="K has no heap service")
    assert "K has no heap service" in report_formats()["md"](document(measured_point(1), missing))


def test_na_points_are_in_every_format_with_their_reason() -> None:
    both = document(
        measured_point(1), NotApplicableMeasurement(run_id="0" * 16, point=point(2), reason="K has no heap service")
    )
    for suffix, render in report_formats().items():
        assert "K has no heap service" in render(both), suffix
    rows = list(csv.DictReader(io.StringIO(report_formats()["csv"](both))))
    assert [(row["status"], row["reason"], row["value"]) for row in rows if row["cores"] == "2"] == [
        ("n/a", "K has no heap service", "")
    ]


def test_terminal_lists_na_points(capsys: pytest.CaptureFixture[str]) -> None:
    absent = [
        NotApplicableMeasurement(run_id="0" * 16, point=point(2, name, title), reason="K has no heap")
        for name, title in (("t2", "T2 test"), ("t8", "T8 test"))
    ]
    print_point_results([measured_point(1, title="T2 test"), *absent], Console(width=120))
    output = capsys.readouterr().out
    assert "n/a T2, T8 k b 2 cores: K has no heap" in output
    assert re.search(r"T2 test +│ +4,000 │ +n/a", output)
    assert re.search(r"T8 test +│ +- │ +n/a", output)


def test_conformance_is_reported() -> None:
    checks = {"order": "holds", "fp": "n/a: B has no floating-point unit"}
    stored = StoredMeasurementPoint(Path("p"), measured_point(1), {"conformance": {"digest": "abc", "checks": checks}})
    text = report_formats()["md"](make_report_document(Catalogue(find_checkout_root()), [stored], None))
    assert "| k on b, 1 core | 1 | 0 | 0 | 0 | 1 | holds | abc |" in text
    assert "| k on b, 1 core | fp | B has no floating-point unit |" in text
    checks["order"] = "fails"
    text = report_formats()["md"](make_report_document(Catalogue(find_checkout_root()), [stored], None))
    assert "| k on b, 1 core | 0 | 1 | 0 | 0 | 1 | fails | abc |" in text
    checks |= {"order": "holds", "bits": "deviates: noted 1; declared: by design"}
    text = report_formats()["md"](make_report_document(Catalogue(find_checkout_root()), [stored], None))
    assert "| k on b, 1 core | 1 | 0 | 0 | 1 | 1 | deviates | abc |" in text
    assert "| k on b, 1 core | bits | noted 1; declared: by design |" in text


def test_csv_is_long_and_typed() -> None:
    rows = list(csv.DictReader(io.StringIO(report_formats()["csv"](WHOLE))))
    values = {(row["cores"], row["core"], row["quantity"]): (row["value"], row["unit"]) for row in rows}
    assert values["2", "", "throughput"] == ("3200.0", "counts/s")
    assert values["2", "1", "lock15.wait_cycles"] == ("3000000", "cycles")
    assert (
        sum(int(row["value"]) for row in rows if row["cores"] == "1" and row["quantity"].startswith("cycles."))
        == 31_250_000
    )


def test_json_has_results_and_gains() -> None:
    result = json.loads(report_formats()["json"](WHOLE))
    assert result["gains"][0]["gain"] == pytest.approx(0.8)
    assert result["points"][0]["derived"]["throughput_hz"] == 4000


def test_gains_of_several_kernels_are_separate() -> None:
    one = [measured_point(1, 1000), measured_point(2, 400)]
    other = [item.model_copy(update={"point": item.point.model_copy(update={"kernel": "q"})}) for item in one]
    text = report_formats()["md"](document(*one, *other))
    for kernel in ("k", "q"):
        assert re.search(rf"^\| [^|]+ \| {kernel}, 2 cores \(pinned\) \| x 0\.800 \| 40\.0% \|$", text, re.MULTILINE)


def test_same_points_give_the_same_report() -> None:
    again = document(measured_point(1, 1000), measured_point(2, 400, wait=3_000_000, heap=4800))
    for render in report_formats().values():
        assert render(again) == render(WHOLE)


def test_empty_run_is_refused() -> None:
    with pytest.raises(ReportError, match="no finished point"):
        document()
