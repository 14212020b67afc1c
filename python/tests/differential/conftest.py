"""Tests of native code need a simulator that has it."""

import pytest

from rtoslab import _sim


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips the tests that compare native code with the interpreter, where all is interpreted."""
    if _sim.NATIVE_CODE:
        return
    for item in items:
        if item.path.name.startswith("test_jit"):
            item.add_marker(pytest.mark.skip(reason="this simulator has no native code"))
