"""Test code only: what task sets are run on.

What a kernel costs on a board is measured once in a process: it takes long.
"""

from functools import cache

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.rta.bound_search import TaskSetTestBench


def search_bench(kernel: str, board: str, *config: str, events: int = 0, cores: int = 1) -> TaskSetTestBench:
    """Returns the bench of a kernel and board, built once. `config`: NAME=VALUE."""
    return _build_bench(kernel, board, config, events, cores)


@cache
def _build_bench(kernel: str, board: str, config: tuple[str, ...], events: int, cores: int) -> TaskSetTestBench:
    request = dict(item.split("=") for item in config)
    return TaskSetTestBench.build_task_set_test_bench(
        Catalogue(find_checkout_root()), kernel, board, request, events=events, cores=cores
    )
