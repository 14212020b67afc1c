"""The strict form of `papers/<key>/suite.toml`: what a paper measured, or what belongs together."""

from pydantic import Field

from rtoslab.base import StrictFileSchemaModel


class Experiment(StrictFileSchemaModel):
    """A group of measurements: each benchmark with each kernel, board, number of cores and step of the sweep."""

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
    """The changes of `config` by `--full`: the paper's own durations and numbers of samples."""
    sweep: dict[str, tuple[str | int, ...]] = Field(default_factory=dict)
    """A key of `--config` to the values it takes: every combination is measured, unless the user says one."""
    bring_your_own: tuple[str, ...] = ()
    """Kernels that are measured as soon as a folder of that name is in firmware/kernels/."""


class MeasurementSuite(Experiment):
    """The content of `papers/<key>/suite.toml` or `suites/<id>.toml`: the points that a paper measured.

    A suite of one experiment says it at the top. One of several has a table `[[experiment]]` for each.
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
        """Returns all experiments (groups of measurements) of the suite, that of the file's top level first."""
        return (self, *self.experiment) if self.benchmarks else self.experiment
