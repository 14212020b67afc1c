"""A paper's experiments as a plan: the points of all its suites, without those whose benchmark is not there yet."""

from rtoslab.catalogue import Catalogue, PaperFolder
from rtoslab.plan import Options, Plan, Point, experiment_points


def paper_plan(catalogue: Catalogue, paper: PaperFolder, options: Options) -> Plan:
    """Every point of every suite of the paper, each once. Raises UnknownNameError, PlanError."""
    points: list[Point] = []
    for suite in paper.suites:
        for experiment in suite.experiments:
            there = tuple(each for each in experiment.benchmarks if each in catalogue.benchmarks)
            present = experiment.model_copy(update={"benchmarks": there})
            for point in experiment_points(catalogue, present, options):
                if point not in points:
                    points.append(point)
    return Plan(tuple(points), paper.key)


def missing_benchmarks(catalogue: Catalogue, paper: PaperFolder) -> list[str]:
    """Benchmarks that the paper's suites name and firmware/benchmarks/ does not have."""
    named = [name for suite in paper.suites for experiment in suite.experiments for name in experiment.benchmarks]
    return [name for name in dict.fromkeys(named) if name not in catalogue.benchmarks]
