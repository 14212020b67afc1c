"""Every wait without end in a port is stated in its kernel's facts, so that `kernel_calls` compares it in each call."""

import re
from collections.abc import Iterator

import pytest

from rtoslab.base import find_checkout_root
from rtoslab.catalogue import Catalogue

PORTS = find_checkout_root() / "firmware/kernels"
WITHOUT_END = ("portMAX_DELAY", "osWaitForever", "TX_WAIT_FOREVER", "RT_WAITING_FOREVER", "K_FOREVER", "TIME_INFINITE")
FUNCTION = re.compile(r"^static inline [^;{]*?\bport_(\w+)\([^{;]*\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
WORD = 0xFFFF_FFFF


def waits_without_end(kernel: str) -> Iterator[str]:
    """Yields the services of a kernel's port whose functions wait without end."""
    headers = [PORTS / kernel / "port.h", *sorted(PORTS.glob(f"{kernel}/services/*/port_*.h"))]
    for header in (path for path in headers if path.is_file()):
        for service, code in FUNCTION.findall(header.read_text()):
            if any(word in code for word in WITHOUT_END):
                yield service


WAITS = [
    (path.name, service)
    for path in sorted(PORTS.iterdir())
    if path.is_dir()
    for service in waits_without_end(path.name)
]


@pytest.mark.parametrize(("kernel", "service"), WAITS)
def test_wait_without_end_is_stated(kernel: str, service: str) -> None:
    facts = Catalogue(find_checkout_root()).ports[kernel].facts
    stated = (*facts.arguments.get(service, ()), *facts.further_arguments.get(service, ()))
    assert WORD in stated, f"{service} of {kernel} waits without end; state the argument in kernel.toml"


def test_ports_with_waits_are_found() -> None:
    assert {kernel for kernel, _ in WAITS} >= {"freertos", "rtx", "threadx", "rtthread", "zephyr", "chibios"}
    assert ("freertos", "timer_start") in WAITS
