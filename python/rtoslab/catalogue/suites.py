"""The strict form of `papers/<key>/suite.toml`: what a paper measured, or what belongs together."""

from typing import Final, Literal

from pydantic import Field, model_validator

from rtoslab.base import Strict


class Claim(Strict):
    """What a paper says of its figures, to be computed again; `analyses.claims` has a rule for each kind."""

    id: str
    section: str
    says: str
    kind: Literal[
        "throughput_drops",
        "per_core_drops",
        "gains_less",
        "heap_grows",
        "ascending",
        "not_longer",
        "least",
        "most",
        "ratio",
        "ratio_less",
        "alike",
        "distinct",
        "no_spread",
        "spread",
        "first_step_largest",
        "steps_shrink",
        "gradual",
    ]
    benchmarks: tuple[str, ...] = ()
    """For the kinds that compare one core with several."""
    of: tuple[dict[str, str | int], ...] = ()
    """For the others: where each value lies, see `analyses.values.Value.axis`."""
    where: dict[str, str | int] = Field(default_factory=dict)
    """What all of `of` have in common."""
    at: tuple[dict[str, str | int], ...] = ()
    """Places at which it must hold, each on its own; empty: `where` is the only one."""
    leaders: int = 1
    """Of `least` and `most`: how many of `of`, from the first on, lead the others."""
    along: str = ""
    """The axis of a sequence of values."""
    bound: float = 0.0
    """How much it takes; each kind says of what."""
    bound_from: str = ""
    """Where the bound comes from: the paper's words, or what they are taken as, and why."""
    needs: tuple[str, ...] = ()
    """Kernels without which it cannot be told."""
    rows: tuple[int, ...] = ()
    """Ids of published.csv where it stands."""

    @model_validator(mode="after")
    def _with_a_source(self) -> "Claim":
        if (self.bound != 0 or self.kind in _BOUND) != bool(self.bound_from):
            raise ValueError(f"a claim of kind {self.kind} needs both bound and bound_from, or neither")
        return self


_BOUND: Final = frozenset({"ratio", "alike", "per_core_drops", "first_step_largest", "steps_shrink", "gradual"})
"""Kinds that say nothing without a bound."""
TIMED: Final = frozenset(
    {"ascending", "not_longer", "least", "most", "ratio", "alike", "distinct", "no_spread", "spread"}
)
"""Kinds that may compare times, and then ask what the paper's instrument could tell apart."""


class Resolution(Strict):
    """The smallest difference of two times that a paper's instrument shows."""

    seconds: float = Field(ge=0)
    source: str


class Experiment(Strict):
    """What is measured together: each benchmark with each kernel, board, number of cores and step of the sweep."""

    benchmarks: tuple[str, ...]
    kernels: tuple[str, ...]
    boards: tuple[str, ...]
    cores: tuple[int, ...] = (1,)
    window_ms: int = 250
    paper_window_ms: int | None = None
    """The paper's own window, for `--full`."""
    config: dict[str, str] = Field(default_factory=dict)
    """As in `--config`."""
    full_config: dict[str, str] = Field(default_factory=dict)
    """What `--full` changes of it: the paper's own durations and numbers of samples."""
    sweep: dict[str, tuple[str | int, ...]] = Field(default_factory=dict)
    """A key of `--config` to the values it takes: every combination is measured, unless the user says one."""
    bring_your_own: tuple[str, ...] = ()
    """Kernels that are measured as soon as a folder of that name stands in firmware/kernels/."""


class Suite(Experiment):
    """`papers/<key>/suite.toml`, `papers/<key>/suites/<id>.toml`: which points a paper measured.

    A suite of one experiment says it at the top; one of several has a table `[[experiment]]` for each.
    """

    id: str
    title: str
    paper: str
    benchmarks: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    boards: tuple[str, ...] = ()
    experiment: tuple[Experiment, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """All experiments, that of the top first."""
        return (self, *self.experiment) if self.benchmarks else self.experiment
