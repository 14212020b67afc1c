"""The axes of a point, as they are stored with its result."""

from rtoslab.catalogue import Catalogue
from rtoslab.plan import DEFAULT_COMPILER, Point
from rtoslab.results import PointId


def point_id(catalogue: Catalogue, point: Point) -> PointId:
    """The axes of a point, as stored."""
    config = {
        **dict(point.kernel_config),
        **{f"param.{key}": value for key, value in point.params.items()},
        **{f"feature.{key}": str(value) for key, value in point.features.items()},
        **{key: str(value) for key, value in point.timing.items()},
    }
    if point.instrument is not None:
        config["instrument"] = point.instrument
        config["samples"] = str(point.samples)
    if point.opt != Point.__dataclass_fields__["opt"].default:
        config["opt"] = point.opt
    if point.compiler != DEFAULT_COMPILER:
        config["compiler"] = point.compiler
    if point.lto:
        config["lto"] = "1"
    if point.placement:
        config["placement"] = str(point.placement)
    if point.code != Point.__dataclass_fields__["code"].default:
        config["code"] = point.code
    if point.data is not None:
        config["data"] = point.data
    for name in ("warmup_ms", "clock_hz", "wait_states"):
        if getattr(point, name) is not None:
            config[name] = str(getattr(point, name))
    title = catalogue.benchmark(point.benchmark).facts.title
    return PointId(
        benchmark=point.benchmark,
        title=title,
        kernel=point.kernel,
        board=point.board,
        cores=point.cores,
        window_ms=point.window_ms,
        config=dict(sorted(config.items())),
    )
