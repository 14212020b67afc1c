"""Diagnoses as one self-contained page: each finding with its timeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from markupsafe import Markup

from rtoslab.base import TitledTable, __version__, html_page_style_and_script, render_template
from rtoslab.diagnose.diagnosis import FirmwareDiagnosis
from rtoslab.diagnose.diagnosis_findings import KINDS, DiagnosisFinding, FindingTimelineBar
from rtoslab.diagnose.diagnosis_text import (
    cpu_load_and_stack_peak_table,
    diagnosis_summary_sentences,
    finding_time_sentence,
    format_cycles_as_time,
    longest_interrupt_masking_sentence,
)

_WIDTH: Final = 900
_LABEL: Final = 150
_ROW: Final = 26
_BAR: Final = 16
_AXIS: Final = 24
_TICKS: Final = 5
_NARROWEST: Final = 0.8
_LETTER: Final = 6.6
_COLOURS: Final = {
    "runs": "#009E73", "ready": "#D55E00", "waits": "#E69F00", "holds": "#CC79A7", "handler": "#56B4E9",
    "masked": "#8c3a1f",
}  # fmt: skip
_LEGEND: Final = {
    "runs": "runs",
    "ready": "is ready but does not run", "waits": "waits in a call of the kernel", "handler": "handler runs",
    "masked": "interrupts masked",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _FindingOnPage:
    """A finding as the page of a diagnosis shows it."""

    kind: str
    level: str
    when: str
    title: str
    where: Sequence[str]
    drawing: Markup | None


@dataclass(frozen=True, slots=True)
class _DiagnosisOnPage:
    """A diagnosis as its page shows it."""

    of: str
    """Which image it is of, where there are several."""
    summary: str
    findings: Sequence[_FindingOnPage]
    table: TitledTable
    rest: Sequence[str]


def diagnosis_page(diagnoses: Mapping[str, FirmwareDiagnosis]) -> str:
    """Returns an HTML page with the diagnoses of some images, whose names are the keys."""
    return render_template(
        "rtoslab.diagnose",
        "templates/diagnosis.html.j2",
        title=", ".join(diagnoses),
        page=html_page_style_and_script(),
        version=__version__,
        diagnoses=[
            _diagnosis_for_template(name, diagnosis, len(diagnoses) > 1) for name, diagnosis in diagnoses.items()
        ],
        legend=tuple((text, _COLOURS[role]) for role, text in _LEGEND.items()),
    )


def _diagnosis_for_template(name: str, diagnosis: FirmwareDiagnosis, is_one_of_many: bool) -> _DiagnosisOnPage:
    """Returns one diagnosis in the form that the page's template needs."""
    masked = longest_interrupt_masking_sentence(diagnosis)
    return _DiagnosisOnPage(
        of=f" of {name}" if is_one_of_many else "",
        summary=" ".join([*diagnosis_summary_sentences(diagnosis), *([masked] if masked else [])]),
        findings=[_finding_as_template_values(finding, diagnosis.clock_hz) for finding in diagnosis.findings],
        table=cpu_load_and_stack_peak_table(diagnosis),
        rest=diagnosis.not_looked_for,
    )


def _finding_as_template_values(finding: DiagnosisFinding, clock_hz: int) -> _FindingOnPage:
    """Returns one finding in the form that the page's template needs."""
    kind = KINDS[finding.kind]
    drawing = draw_finding_timeline(finding, clock_hz)
    return _FindingOnPage(
        kind=kind[:1].upper() + kind[1:],
        level=finding.level,
        when=finding_time_sentence(finding, clock_hz),
        title=finding.title,
        where=finding.where,
        drawing=Markup(drawing) if drawing else None,  # noqa: S704 (ours)
    )


def draw_finding_timeline(finding: DiagnosisFinding, clock_hz: int) -> str:
    """Returns the timeline of a finding of a diagnosis as SVG. Empty if the finding has none."""
    spans = [span for track in finding.tracks for span in track.spans]
    if not spans:
        return ""
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    scale = (_WIDTH - _LABEL) / max(1, end - start)
    height = _ROW * len(finding.tracks) + _AXIS
    parts = [f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>']
    for row, track in enumerate(finding.tracks):
        y = row * _ROW + (_ROW - _BAR) / 2
        parts.append(
            f'<text x="0" y="{y + _BAR - 4:.1f}" fill="#000000">{escape(_shorten_timeline_label(track.name))}</text>'
        )
        parts += [_timeline_bar_svg(span, start, scale, y, clock_hz) for span in track.spans]
    parts += _time_axis_svg(start, end, scale, height, clock_hz)
    label = escape(f"{KINDS[finding.kind]}: {finding.title}", quote=True)
    return (
        f'<svg class="marks" role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {height}" '
        f'xmlns="http://www.w3.org/2000/svg" font-family="Arial, Liberation Sans, sans-serif" font-size="12">'
        f"{''.join(parts)}</svg>"
    )


def _shorten_timeline_label(name: str) -> str:
    """Returns a name, cut to the width of a timeline's label."""
    room = int(_LABEL / _LETTER) - 1
    return name if len(name) <= room else name[: room - 1] + "…"


def _timeline_bar_svg(span: FindingTimelineBar, start: int, scale: float, y: float, clock_hz: int) -> str:
    """Returns a bar of a timeline as SVG. `scale` is in pixels per cycle, and `y` is the top of its row."""
    x, width = _LABEL + (span.start - start) * scale, max(_NARROWEST, (span.end - span.start) * scale)
    what = _LEGEND.get(span.role, span.role) + (f" ({span.label})" if span.label else "")
    title = escape(f"{what}, from cycle {span.start:,}, {format_cycles_as_time(span.end - span.start, clock_hz)}")
    height = _BAR if span.role in {"runs", "handler", "masked"} else _BAR / 2
    return (
        f'<rect x="{x:.2f}" y="{y + (_BAR - height) / 2:.1f}" width="{width:.2f}" height="{height:g}" '
        f'fill="{_COLOURS[span.role]}"><title>{title}</title></rect>'
    )


def _time_axis_svg(start: int, end: int, scale: float, height: int, clock_hz: int) -> list[str]:
    """Returns the time axis of a timeline as SVG elements. `start` and `end` are cycles, `scale` is pixels per
    cycle."""
    y = height - _AXIS + 4
    parts = [f'<line x1="{_LABEL}" y1="{y}" x2="{_WIDTH}" y2="{y}" stroke="#555"/>']
    for number in range(_TICKS):
        cycle = start + (end - start) * number // (_TICKS - 1)
        x = _LABEL + (cycle - start) * scale
        anchor = "start" if number == 0 else "end" if number == _TICKS - 1 else "middle"
        text = f"{cycle / clock_hz * 1e3:,.3f} ms"
        parts.append(f'<line x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{y + 4}" stroke="#555"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 17}" text-anchor="{anchor}" fill="#000000">{text}</text>')
    return parts
