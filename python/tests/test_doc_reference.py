"""Generated pages are what the code would write today."""

import subprocess
import sys

from tests.doc_reference import FOLDER, generated, models
from tests.test_cli import HANG_S, ROOT

CHECK = """
from tests.doc_reference import generated
print([path.name for path, text in generated().items() if not path.is_file() or path.read_text() != text])
"""


def test_generated_pages_are_fresh() -> None:
    """In a process of its own, as `make docs` has: a command that was called keeps how its help was asked for."""
    done = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=ROOT / "python", capture_output=True, text=True, check=False, timeout=HANG_S,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == ("[]", ""), "`make docs` writes them anew"


def test_no_schema_is_left_over() -> None:
    assert set((FOLDER / "schemas").glob("*.json")) == {path for path in generated() if path.suffix == ".json"}


def test_whole_files_have_schemas() -> None:
    assert {"SweepPlan", "Benchmark", "Board"} <= models().keys()
    assert len(models()) > 8
