"""Options that go with `--image`. The image says what it is, so only the board and its timing can be set."""

from collections.abc import Mapping

from rtoslab.base import PlanError
from rtoslab.catalogue import DEFAULT_BOARD, Catalogue
from rtoslab.cli.names import split_names
from rtoslab.plan import parse_whole


def image_board_and_timing(
    catalogue: Catalogue, boards: tuple[str, ...], config: Mapping[str, str]
) -> tuple[str, dict[str, int]]:
    """Returns the board and the timing rules that are set. Raises PlanError for any other option."""
    other = [key for key in config if not key.startswith("timing.")]
    if other:
        raise PlanError(
            f"{other[0]} is a setting of the build, but the image is already built; only timing.KEY can be set."
        )
    named = split_names(boards, catalogue.boards) or (DEFAULT_BOARD,)
    if len(named) > 1:
        raise PlanError("An image is built for one board; name it with --board.")
    return named[0], {key: parse_whole(key, value) for key, value in config.items()}
