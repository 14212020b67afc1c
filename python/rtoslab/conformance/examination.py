"""Whether a kernel's port conforms on one board with one configuration: built and run once, then remembered.

A kernel that wakes tasks in the wrong order or loses ticks may be fast, so its port is examined before it is measured.
A stored verdict contains a hash of all that could change it: the image's inputs, the virtual board, this package's own
rules."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rtoslab.base import (
    CatalogueError,
    ConformanceError,
    SettingError,
    StrictFileSchemaModel,
    exclusive_lock,
    memoize_by_contents,
    package_digest,
    to_canonical_json,
    write_file_atomically,
)
from rtoslab.catalogue import Catalogue, ConformanceCheck, offered_optional_services
from rtoslab.conformance.judge import CheckOutcome, ConformanceCheckResult, judge_conformance_checks
from rtoslab.conformance.play import run_conformance_suite, run_external_conformance_image
from rtoslab.images import (
    CONFORMANCE_IMAGE,
    build_measurement_point_image,
    image_inputs_digest,
    optional_services,
    optional_services_param,
)
from rtoslab.intake import CACHED_BYTES, read_bytes
from rtoslab.plan import DEFAULT_RAM, DEFAULT_WINDOW_MS, PlannedPoint
from rtoslab.targets import (
    ExternalImage,
    Progress,
    catalogue_with_kernel,
    simulator_fingerprint,
    simulator_sources_digest,
)


class ConformanceVerdict(StrictFileSchemaModel):
    """The conformance suite's verdict on one kernel, board, number of cores and configuration."""

    digest: str
    """The digest of everything that could change it."""
    kernel: str
    board: str
    cores: int
    findings: tuple[ConformanceCheckResult, ...]
    failure: str | None = None
    """Why the suite did not come to its end. None if it did."""

    @property
    def is_kernel_port_conformant(self) -> bool:
        """Whether every applicable check of the port was made and holds."""
        outcomes = {finding.outcome for finding in self.findings}
        return self.failure is None and CheckOutcome.HOLDS in outcomes and CheckOutcome.FAILS not in outcomes

    @property
    def contract_deviation_reasons(self) -> dict[str, str]:
        """Returns, for each check that fails as kernel.toml declares, what was observed and the declared reason."""
        return {finding.title: finding.saw for finding in self.findings if finding.outcome is CheckOutcome.DEVIATES}

    @property
    def conformance_outcome_counts_text(self) -> str:
        """Returns how many checks hold, fail and so on, as text: `12 hold, 1 n/a`."""
        counts = {outcome: sum(finding.outcome is outcome for finding in self.findings) for outcome in CheckOutcome}
        words = {CheckOutcome.HOLDS: "hold", CheckOutcome.FAILS: "fail", CheckOutcome.DEVIATES: "deviate"}
        text = [
            f"{count} {outcome.value if count == 1 else words.get(outcome, outcome.value)}"
            for outcome, count in counts.items()
            if count
        ]
        return ", ".join(text) or "nothing was seen"

    def require_port_conforms(self) -> None:
        """Raises ConformanceError if the port does not conform. The message names the failed checks."""
        if self.is_kernel_port_conformant:
            return
        reasons = [
            f"{finding.title} demands that {finding.demands}, but core {finding.core}: {finding.saw}."
            for finding in self.findings
            if finding.outcome is CheckOutcome.FAILS
        ]
        if self.failure is not None:
            reasons.insert(0, self.failure)
        raise ConformanceError(
            f"The port of {self.kernel} does not conform on {self.board} in this configuration, so none of its "
            f"figures is valid: {' '.join(reasons) or 'no check applies.'}"
        )

    def outcomes_by_conformance_check(self) -> dict[str, Any]:
        """Returns the outcome of each check, as manifests store it, with the reason if it does not apply."""
        checks: dict[str, str] = {}
        for finding in self.findings:
            is_exempt = finding.outcome in (CheckOutcome.NOT_APPLICABLE, CheckOutcome.DEVIATES)
            words = f"{finding.outcome.value}: {finding.saw}" if is_exempt else finding.outcome.value
            if checks.get(finding.check, CheckOutcome.HOLDS.value) == CheckOutcome.HOLDS.value:
                checks[finding.check] = words
        return {"digest": self.digest, "checks": checks}


def check_port_conformance(
    catalogue: Catalogue, point: PlannedPoint, progress: Progress = lambda *_: None
) -> ConformanceVerdict:
    """Returns whether a point's port conforms (its verdict), by runs of the conformance suite now or earlier. It
    includes the optional services that the point's benchmark needs.

    Raises BuildError and errors of the environment. A port that misbehaves is a verdict, not an error.
    """
    return _check_services(catalogue, point, optional_services(catalogue, point), progress)


def check_whole_port_conformance(
    catalogue: Catalogue, point: PlannedPoint, progress: Progress = lambda *_: None
) -> ConformanceVerdict:
    """Returns the verdict on a point's port with all optional services that its kernel offers. Raises the same as
    `check_port_conformance`."""
    offered = offered_optional_services(catalogue.find_kernel(point.kernel).facts)
    return _check_services(catalogue, point, offered, progress)


def _check_services(
    catalogue: Catalogue, point: PlannedPoint, services: Sequence[str], progress: Progress
) -> ConformanceVerdict:
    """Returns the verdict on a point's port with these optional services.

    The suite runs without optional services, and then with each of them alone, because the smallest board has no room
    for all in one image.
    """
    whole = _check_suite_image(catalogue, conformance_suite_measurement_point(point), progress)
    checks = catalogue.conformance_suite.check
    findings, digests = list(whole.findings), [whole.digest]
    for service in services:
        verdict = _check_suite_image(catalogue, conformance_suite_measurement_point(point, service), progress)
        shown = {check.id for check in checks if service in check.services}
        findings += [finding for finding in verdict.findings if finding.check in shown]
        digests.append(verdict.digest)
        whole = whole.model_copy(update={"failure": whole.failure or verdict.failure})
    order = [check.id for check in checks]
    findings.sort(key=lambda finding: order.index(finding.check))
    return whole.model_copy(update={"digest": _joint_digest(digests), "findings": tuple(findings)})


def _check_suite_image(catalogue: Catalogue, suite: PlannedPoint, progress: Progress) -> ConformanceVerdict:
    """Returns the verdict of one image of the suite, by a run now or earlier."""
    progress("conformance", 0.0)
    built = build_measurement_point_image(catalogue, suite)
    digest = _suite_digest(catalogue, suite)
    makers = f"{simulator_fingerprint()}-{package_digest()[:8]}"
    path = built.folder / f"conformance-{digest}-{makers}.verdict"
    with exclusive_lock(built.folder / ".conformance-lock"):  # points measured side by side wait for one verdict
        verdict = _read_stored_verdict(path)
        if verdict is None:
            verdict = _run_and_judge_suite(catalogue, suite, digest, progress)
            _write_conformance_verdict_file(path, verdict)
    return verdict


def check_image_conformance(
    catalogue_without_port: Catalogue,
    image: ExternalImage,
    timing: Mapping[str, int],
    progress: Progress = lambda *_: None,
) -> ConformanceVerdict:
    """Returns whether the port in an image of the conformance suite, built elsewhere, conforms. It is run each time.

    Raises SettingError for an image that is not the suite's.
    """
    begin = image.introduction.begin
    if begin.bench != CONFORMANCE_IMAGE:
        raise SettingError(
            f"{image.path} contains the benchmark {begin.bench}, not the conformance suite; measure it with "
            f"`rtoslab run --image {image.path} --board {begin.board}`."
        )
    catalogue = catalogue_with_kernel(catalogue_without_port, begin.kernel, begin.cores)
    kernel, board = catalogue.find_kernel(begin.kernel).facts, catalogue.find_board(begin.board).facts
    point = PlannedPoint(
        benchmark=CONFORMANCE_IMAGE,
        kernel=begin.kernel,
        board=begin.board,
        cores=begin.cores,
        window_ms=DEFAULT_WINDOW_MS,
        clock_hz=begin.clock_hz,
        timing=dict(timing),
    )
    played, failure = run_external_conformance_image(catalogue, point, image, progress)
    return ConformanceVerdict(
        digest=image.file_sha256[:16],
        kernel=begin.kernel,
        board=begin.board,
        cores=begin.cores,
        findings=()
        if played is None
        else judge_conformance_checks(catalogue.conformance_suite.check, played, kernel, board),
        failure=failure,
    )


def conformance_verdict_input_digest(catalogue: Catalogue, point: PlannedPoint) -> str:
    """Returns a digest of everything that a verdict on a point's port depends on: images, virtual board, kernel, rules.

    A verdict is cached under this and the digest of the judging code.
    """
    return _joint_digest([_suite_digest(catalogue, suite) for suite in conformance_suite_points(catalogue, point)])


def _joint_digest(digests: Sequence[str]) -> str:
    """Returns one digest of several. That of a single one is itself."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


def _suite_digest(catalogue: Catalogue, suite: PlannedPoint) -> str:
    """Returns a digest of everything that the verdict of one image of the suite depends on."""
    return _verdict_digest(catalogue, image_inputs_digest(catalogue, suite), suite.kernel, tuple(suite.timing.items()))


@memoize_by_contents
def _verdict_digest(catalogue: Catalogue, image: str, kernel: str, timing: tuple[tuple[str, int], ...]) -> str:
    """Returns the digest of `conformance_verdict_input_digest`. `image`: the digest of the suite's inputs."""
    rules = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    facts = catalogue.find_kernel(kernel).facts.model_dump(mode="json")
    everything = [image, simulator_sources_digest(catalogue.root), dict(timing), facts, rules]
    return hashlib.sha256(to_canonical_json(everything).encode()).hexdigest()[:16]


def conformance_suite_points(catalogue: Catalogue, point: PlannedPoint) -> list[PlannedPoint]:
    """Returns the points of the conformance suite that a point's port is checked by."""
    services = [None, *optional_services(catalogue, point)]
    return [conformance_suite_measurement_point(point, service) for service in services]


def conformance_suite_measurement_point(point: PlannedPoint, service: str | None = None) -> PlannedPoint:
    """Returns the point of the conformance suite in the configuration of another point, with one optional service or
    none."""
    return replace(
        point,
        benchmark=CONFORMANCE_IMAGE,
        window_ms=DEFAULT_WINDOW_MS,
        warmup_ms=None,
        params=optional_services_param([] if service is None else [service]),
        instrument=None,
        samples=None,
        placement=0,  # the placement of another image says nothing of this one
        beside=None,  # a port is checked with the board to itself
        core=None,
        ram=DEFAULT_RAM,
        not_applicable=None,
    )


def _run_and_judge_suite(
    catalogue: Catalogue, point: PlannedPoint, digest: str, progress: Progress
) -> ConformanceVerdict:
    """Runs the conformance suite for a point, and judges its output. `digest`: that of the verdict."""
    kernel, board = catalogue.find_kernel(point.kernel).facts, catalogue.find_board(point.board).facts
    checks = catalogue.conformance_suite.check
    unknown = kernel.deviations.keys() - {check.id for check in checks}
    if unknown:
        raise CatalogueError(
            f"kernel.toml of {kernel.id} declares a deviation of `{min(unknown)}`, which is not a check of "
            "firmware/conformance/conformance.toml; correct or remove it."
        )
    played, failure = run_conformance_suite(catalogue, point, progress)
    shown = _conformance_checks_of_image(catalogue, point)
    return ConformanceVerdict(
        digest=digest,
        kernel=point.kernel,
        board=point.board,
        cores=point.cores,
        findings=() if played is None else judge_conformance_checks(shown, played, kernel, board),
        failure=failure,
    )


def _conformance_checks_of_image(catalogue: Catalogue, point: PlannedPoint) -> list[ConformanceCheck]:
    """Returns the checks of the suite except those of optional services that the kernel offers and this image lacks."""
    offered = offered_optional_services(catalogue.find_kernel(point.kernel).facts)
    lacking = set(offered).difference(optional_services(catalogue, point))
    return [check for check in catalogue.conformance_suite.check if lacking.isdisjoint(check.services)]


def _read_stored_verdict(path: Path) -> ConformanceVerdict | None:
    """Returns a stored verdict. None if it is missing or altered, because then the suite runs again."""
    try:
        head, _, verdict = read_bytes(path, CACHED_BYTES, "the verdict", ConformanceError).partition(b"\n")
        return (
            ConformanceVerdict.model_validate_json(verdict)
            if head == _verdict_file_header_line(path, verdict)
            else None
        )
    except (ConformanceError, ValidationError):
        return None


def _write_conformance_verdict_file(path: Path, verdict: ConformanceVerdict) -> None:
    """Stores a verdict. Raises StoreError."""
    content = to_canonical_json(verdict.model_dump(mode="json")).encode()
    write_file_atomically(path, _verdict_file_header_line(path, content) + b"\n" + content, "the conformance verdict")


def _verdict_file_header_line(path: Path, content: bytes) -> bytes:
    """Returns the first line of a verdict's file: the file's name, and the digest of the rest."""
    return f"{path.name} {hashlib.sha256(content).hexdigest()}".encode()
