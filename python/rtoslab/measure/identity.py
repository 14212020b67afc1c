"""The axes of a point, as they are stored with its result."""

from rtoslab.catalogue import Catalogue
from rtoslab.plan import POINT_OPTIONS, PlannedPoint
from rtoslab.results import PointId


def identity_of_point(catalogue: Catalogue, point: PlannedPoint) -> PointId:
    """Returns the identity of a point (benchmark, kernel, board, settings) as it is stored with its result."""
    config = {
        **dict(point.kernel_config),
        **{f"param.{key}": value for key, value in point.params.items()},
        **{f"feature.{key}": str(value) for key, value in point.features.items()},
        **{key: str(value) for key, value in point.timing.items()},
    }
    config |= {option.key: text for option in POINT_OPTIONS if (text := option.option_value_text(point)) is not None}
    title = catalogue.find_benchmark(point.benchmark).facts.title
    return PointId(
        benchmark=point.benchmark,
        title=title,
        kernel=point.kernel,
        board=point.board,
        cores=point.cores,
        window_ms=point.window_ms,
        config=dict(sorted(config.items())),
    )
