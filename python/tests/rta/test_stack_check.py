"""A stack that runs over is named as the cause, not what the kernel does after it."""

import pytest

from rtoslab.base.errors import CheckError
from rtoslab.base.paths import find_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.rta.firmware import Row, make_firmware
from rtoslab.rta.stack_check import overrun_stacks
from rtoslab.rta.trace import run


def test_an_overrun_is_a_changed_end() -> None:
    assert overrun_stacks({1: b"a", 2: b"b"}, {1: b"a", 2: b"b"}) == 0
    assert overrun_stacks({1: b"a", 2: b"b"}, {1: b"a", 2: b"c"}) == 1


@pytest.mark.long
def test_a_stack_that_runs_over_is_named() -> None:
    """Without optimisation FreeRTOS for two cores needs more than the image's tasks have."""
    config = {"opt": "-O0", "configUSE_TIME_SLICING": "1"}
    firmware = make_firmware(Catalogue(find_root()), "freertos", "pico", config, cores=2)
    rows = [Row(2, 0, 831, 2, 1, core=0), Row(1, 0, 831, 2, 0, core=1), Row(48, 2, 91665, 0, 2, core=0)]
    with pytest.raises(CheckError, match=r"stacks? ran full: .* --config opt=-O2"):
        run(firmware, rows, 2 * 48 + 2)
