"""The strict forms of `papers/<key>/`: paper.toml, slips.toml, claims.toml. Figures only. No sentence of a paper."""

from typing import Literal

from pydantic import Field

from rtoslab.base import StrictFileSchemaModel
from rtoslab.catalogue.claim_schemas import PaperInstrumentTimeResolution


class PaperCondition(StrictFileSchemaModel):
    """One condition of a paper's measurement: the paper's value and ours."""

    what: str
    paper: str
    here: str = ""
    """Ours in words. Empty if it is read from the manifests."""
    manifest: str = ""
    """Paths in a point's manifest, such as `build.kernel build.kernel_version`. Every distinct reading is shown."""
    unit: str = ""
    only: str = ""
    """For a list in the manifest: only items that begin so."""


class RedrawnTable(StrictFileSchemaModel):
    """A table of a paper, redrawn with our figures beside the published ones."""

    title: str
    rows: tuple[int, ...]
    """Ids of published.csv, in the order of the paper."""
    across: tuple[str, ...] = ()
    """Columns of published.csv whose values stand side by side, such as `unit` or `kernel`."""
    names: dict[str, str] = Field(default_factory=dict)
    """Keyed by id: what a row is called instead of its metric."""
    note: str = ""
    chart: bool = True
    log: bool = False


class PublishedValueChartPosition(StrictFileSchemaModel):
    """The place of a published figure in a redrawn figure."""

    row: int
    """Id of published.csv."""
    x: str
    """Its place on the figure's axis."""
    series: tuple[str, ...]
    """Its places on the axes that make the figure's series."""


class RedrawnPaperChart(StrictFileSchemaModel):
    """A figure of a paper, redrawn from our values. The paper's text has no numbers for it."""

    title: str
    kind: Literal["bars", "lines"]
    where: dict[str, str | int | tuple[str | int, ...]]
    """Which values: axis -> the place, or the places, where they lie."""
    x: str
    """The axis along the figure."""
    series: str | tuple[str, ...]
    """The axis that makes its colours, or several: each combination is a series."""
    join: tuple[str, ...] = ()
    """Axes over which values become one mark, their median. Every other axis is drawn, or constant in each mark."""
    unit: str
    y_title: str
    x_title: str
    percent_of: dict[str, str | int] = Field(default_factory=dict)
    """The value at this place of the axes is 100 %. `unit` is then `%`."""
    log: bool = False
    labels: dict[str, str] = Field(default_factory=dict)
    """A place on an axis -> its name in the figure."""
    printed: tuple[PublishedValueChartPosition, ...] = ()
    """Figures of the paper's text that are drawn beside ours."""
    note: str = ""


class SampleTraceChart(StrictFileSchemaModel):
    """A chart of a run's samples one after another, as a logic analyser's trace shows them."""

    title: str
    where: dict[str, str | int | tuple[str | int, ...]]
    """Which points: axis -> the place, or the places, where they lie."""
    series: str
    """How the ids of the series begin whose samples are drawn."""
    colour: str
    """The axis that tells the points apart. Each has a panel of its own."""
    y_title: str
    note: str = ""


class PaperSection(StrictFileSchemaModel):
    """A section of a paper's report: one experiment of the paper."""

    id: str
    title: str
    prose: tuple[str, ...] = ()
    table: tuple[RedrawnTable, ...] = ()
    figure: tuple[RedrawnPaperChart, ...] = ()
    over_time: tuple[SampleTraceChart, ...] = ()


class SizeMeasurementProgram(StrictFileSchemaModel):
    """A program of firmware/footprint/ whose size is measured for a paper's report."""

    kernel: str
    board: str
    program: str = "minimal"
    config: dict[str, str] = Field(default_factory=dict)


class KernelVersion(StrictFileSchemaModel):
    """The version of a kernel that a paper measured, and the version measured here in its place."""

    kernel: str
    """As in `[kernels]`."""
    printed: str
    """As the paper prints it. `not stated`."""
    trees: tuple[str, ...] = ()
    """Ids of trees, exports and reference results that are the paper's version, the preferred first. Of points that
    the first lacks, the next count."""
    stands_in: str = ""
    """Why another version stands for it, where the paper's is not to be had."""


class LatencySeriesSubstitution(StrictFileSchemaModel):
    """A series that is shown in place of one that a kernel does not offer, in every figure and statement."""

    kernel: str
    metric: str
    """The series that the kernel lacks."""
    by: dict[str, str]
    """Axis -> where the values that stand for it lie: their benchmark and metric."""
    config: dict[str, str] = Field(default_factory=dict)
    """Their places on further axes, which their own benchmark does not have."""
    says: str
    """The substituted operation, in a few words."""


class PaperFirmwareConfiguration(StrictFileSchemaModel):
    """Another configuration in which a paper's authors may have built their firmware."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    title: str
    evidence: str
    """The evidence for it. A guess says that it is one."""
    config: dict[str, str] = Field(default_factory=dict)
    """As in `--config`, for every kernel."""
    kernel: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Further, by kernel. Without `config` the other kernels stay as the suites say."""
    benchmarks: tuple[str, ...] = ()
    """Empty: all that the suites name."""
    boards: tuple[str, ...] = ()
    """Empty: all that the suites name."""
    cores: tuple[int, ...] = ()
    """Empty: all that the suites name."""

    def kernel_config_changes_of_setup(self, kernel: str) -> dict[str, str]:
        """Returns the settings that the set-up changes for a kernel."""
        return {**self.config, **self.kernel.get(kernel, {})}


class Paper(StrictFileSchemaModel):
    """The content of `papers/<key>/paper.toml`."""

    title: str
    authors: str
    year: int
    published_in: str
    """Journal, proceedings or school, with volume and number."""
    doi: str = ""
    """Empty if it has none."""
    kernels: dict[str, str]
    """Kernels the paper measured: the id a folder in firmware/kernels/ would have -> its name."""
    version: tuple[KernelVersion, ...] = ()
    """The versions of these kernels that it measured."""
    resolution: PaperInstrumentTimeResolution | None = None
    """The resolution of the instrument its times were taken with. None: it counted cycles or iterations."""
    substitute: tuple[LatencySeriesSubstitution, ...] = ()
    names: dict[str, str] = Field(default_factory=dict)
    """A place on an axis -> its name in verdicts and figures, if its own title is unsuitable."""
    condition: tuple[PaperCondition, ...]
    part: tuple[PaperSection, ...]
    footprint: tuple[SizeMeasurementProgram, ...] = ()
    setup: tuple[PaperFirmwareConfiguration, ...] = ()

    @property
    def paper_kernel_by_source_tree(self) -> dict[str, str]:
        """Returns the paper's kernel for each id of a source tree or reference that is a version of it."""
        return {tree: version.kernel for version in self.version for tree in version.trees}


class PaperMistake(StrictFileSchemaModel):
    """A mistake or a precondition of a paper, with the figures that it concerns."""

    id: str
    kind: Literal["slip", "precondition", "fact"]
    """An error in print. Something the paper leaves unsaid. A figure that follows from others and does."""
    rows: tuple[int, ...] = ()
    """Ids of published.csv."""
    part: str = ""
    """A section it belongs to, if it touches no row of it."""
    says: str
    printed: float | None = None
    computed: str = ""
    """Arithmetic over published rows, such as `r68 - r70 - r72`: evaluated for every report."""
    unit: str = ""
    no_ratio: bool = False
    """The printed figure cannot be what its name says, so that ours over it says nothing. The reason is `says`."""


class PaperMistakesFile(StrictFileSchemaModel):
    """The content of `papers/<key>/slips.toml`."""

    slip: tuple[PaperMistake, ...] = ()
