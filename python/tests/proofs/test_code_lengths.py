"""The table of measured code lengths: its keys, and the table that comes with rtoslab."""

from rtoslab.base import CatalogueError
from rtoslab.intake import read_toml_table
from rtoslab.proofs import CODE_LENGTHS
from rtoslab.proofs.code_lengths import CodeLengths, code_length_table_key


def test_code_lengths_differ_by_family_core_and_instrument() -> None:
    assert (
        code_length_table_key("rt", "stm32f446", 0, 1, "")
        == code_length_table_key("rt", "stm32f407", 0, 1, "")
        == "rt stm32f4"
    )
    keys = {
        code_length_table_key("rt", "rp2040", core, 2, instrument)
        for core in (0, 1)
        for instrument in ("pin 200 samples", "pin 12 samples")
    }
    assert len(keys) == 4


def test_shipped_code_lengths_can_be_read() -> None:
    table = read_toml_table(CODE_LENGTHS, "the lengths", CatalogueError)
    lengths = CodeLengths.model_validate(table).lengths
    assert {"t1_arithmetic", "call_times", "mutex"} <= set(lengths)
    assert all(0 < length.least <= length.most for rows in lengths.values() for length in rows.values())
