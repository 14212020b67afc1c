"""The page on the papers says what the reference results give."""

from tests.paper_page import PAGE, update_page


def test_counts_on_the_page_equal_the_references() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == update_page(text), "run `make docs`"
