"""The table of docs/worst-case.md: the longest interrupt latencies of three kernels on five boards.

cd python && python -m tests.doc_worst_case    # measures and writes it anew, in a few minutes
"""

import json
from typing import Final

from rtoslab.base.paths import find_checkout_root
from tests.cli.test_cli import rtoslab
from tests.doc_parts import replace_part

PAGE: Final = find_checkout_root() / "docs" / "worst-case.md"
BOARDS: Final = ("pico", "nucleo-l073rz", "nucleo-f103rb", "nucleo-f446re", "nucleo-f767zi")
KERNELS: Final = ("freertos", "rt", "bare")
_HEAD: Final = (
    "| board | FreeRTOS, first | FreeRTOS, repeated | rt, first | rt, repeated | bare, first | bare, repeated |",
    "|---|---|---|---|---|---|---|",
)


def table_row(board: str) -> str:
    """The measured row of one board."""
    cells = [_longest_latencies(kernel, board, earlier) for kernel in KERNELS for earlier in (0, 3)]
    return f"| {' | '.join([board, *cells])} |"


def _longest_latencies(kernel: str, board: str, earlier: int) -> str:
    """The longest latencies to handler and task in cycles, over every phase of a tick."""
    done = rtoslab(
        "worst-case", "--kernel", kernel, "--board", board, "--service", "semaphore", "--span", "tick",
        "--earlier", str(earlier), "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    finding = json.loads(done.stdout)
    latencies = (finding["handler"], finding["task"])
    return " / ".join(str(latency["maximum_cycles"]) for latency in latencies if latency is not None)


def main() -> None:
    """Writes the page."""
    lines = [*_HEAD, *(table_row(board) for board in BOARDS)]
    PAGE.write_text(replace_part(PAGE.read_text(), "boards", "tests.doc_worst_case", lines), encoding="utf-8")


if __name__ == "__main__":
    main()
