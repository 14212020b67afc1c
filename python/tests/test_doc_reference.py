"""Generated pages are what the code would write today."""

from tests.doc_reference import FOLDER, generated, models


def test_generated_pages_are_fresh() -> None:
    stale = [path.name for path, text in generated().items() if not path.is_file() or path.read_text() != text]
    assert stale == [], "`make docs` writes them anew"


def test_no_schema_is_left_over() -> None:
    assert set((FOLDER / "schemas").glob("*.json")) == {path for path in generated() if path.suffix == ".json"}


def test_whole_files_have_schemas() -> None:
    assert {"SweepPlan", "Benchmark", "Board"} <= models().keys()
    assert len(models()) > 8
