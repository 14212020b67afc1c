"""The citation of a report and its exports: a sentence, a BibTeX entry, the licence.

Version, commit and date are those of the run, by its manifests and journals, and never those of the moment: the same
run gives the same bytes. A report of no stored run names this version and the checkout's commit.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from rtoslab.base import CatalogueError, __version__, find_checkout_root
from rtoslab.reports.table import ReportDocument
from rtoslab.store import RunJournalSession, git_revision, newest_measurement_session

AUTHORS: Final = "The rtoslab contributors"
SUBTITLE: Final = "a laboratory for real-time kernels"
LICENCE: Final = (
    "Licence: figures and reference results of the rtoslab project under CC BY 4.0, its code under MIT or Apache-2.0. "
    "Figures that others published are theirs; what you measured is yours."
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_VERSION: Final = re.compile(r"[\w.+-]{1,40}", re.ASCII)
_REVISION: Final = re.compile(r"[0-9a-f]{7,40}\+?")
_DATE: Final = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-[0-3][0-9]")


@dataclass(frozen=True, slots=True)
class Citation:
    """The citation of a report, for readers to copy."""

    sentence: str
    bibtex: str
    """An entry that BibTeX and biblatex read, with a line feed at its end."""
    licence: str = LICENCE


def citation_of(document: ReportDocument) -> Citation:
    """Returns the citation of a report, with the version, commits and dates of the runs that its points come from."""
    sessions = _last_measurement_sessions(document)
    versions = _distinct_texts_matching_pattern(
        _VERSION, (point.manifest.get("rtoslab") for point in document.points)
    ) or [__version__]
    commits = _distinct_texts_matching_pattern(
        _REVISION, (session.revision for session in sessions) if document.points else [_checkout_revision()]
    )
    dates = sorted(_distinct_texts_matching_pattern(_DATE, (session.date[:10] for session in sessions)))
    return make_citation(versions, [_commit_with_changes_text(commit) for commit in commits], dates)


def make_citation(versions: list[str], commits: list[str], dates: list[str]) -> Citation:
    """Returns the citation of these versions and commits of rtoslab. Dates are ISO 8601 and in order. There may be
    none."""
    version = ", ".join(versions)
    source = f"commit {', '.join(commits)}" if commits else ""
    run = f"run of {dates[0]}" if dates else ""
    run += f" to {dates[-1]}" if len(dates) > 1 else ""
    of_what = ", ".join(filter(None, (source, run)))
    sentence = f"{AUTHORS}. rtoslab: {SUBTITLE}, version {version}{f' ({of_what})' if of_what else ''}."
    fields = {
        "author": f"{{{AUTHORS}}}",
        "title": f"{{rtoslab}}: {SUBTITLE}",
        "howpublished": "Computer software",
        "version": version,
        "note": ", ".join(filter(None, (f"Version {version}", of_what))),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    if dates:
        year, month, _ = dates[-1].split("-")
        lines += [f"  year = {{{year}}},", f"  month = {_MONTHS[int(month) - 1]},"]
    return Citation(sentence, "\n".join(["@misc{rtoslab,", *lines, "}"]).replace("_", r"\_") + "\n")


def _last_measurement_sessions(document: ReportDocument) -> list[RunJournalSession]:
    """Returns the last session (one call of `rtoslab run`) of each run directory that the report's points come from."""
    sessions = []
    for run in dict.fromkeys(point.folder.parent.parent for point in document.points):
        with suppress(OSError):  # a failed point without stored data
            sessions.append(newest_measurement_session(run))
    return sessions


def _checkout_revision() -> str:
    """Returns the commit of this checkout of rtoslab. Empty without a checkout."""
    try:
        return git_revision(find_checkout_root())
    except CatalogueError:
        return ""


def _commit_with_changes_text(revision: str) -> str:
    """Returns a commit as text, with `with changes` if its files were edited (a `+` at its end)."""
    return f"{revision.removesuffix('+')} with changes" if revision.endswith("+") else revision


def _distinct_texts_matching_pattern(form: re.Pattern[str], texts: Iterable[object]) -> list[str]:
    """Returns the texts that match the regular expression `form`, each once.
    A manifest comes from outside, so it may contain others.
    """
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and form.fullmatch(text)))
